"""What `lspci -Dvv` tells of cards and of the bridges above them; of capabilities it tells root alone."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from fabriscope.hosts.access import Reading
from fabriscope.hosts.access.reading import Value
from fabriscope.model.host import Fact

LSPCI = "lspci -Dvv"
DEVICES = "/sys/bus/pci/devices"
"""Links whose targets name all bridges above a device."""
_ADDRESS = r"[0-9a-f]{4,8}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]"
_BLOCK = re.compile(rf"^({_ADDRESS}) (.*(?:\n[ \t].*)*)", re.MULTILINE)
_GPU = re.compile(
    r"(?:3D controller|VGA compatible controller|Display controller|Processing accelerators).*: "
    r"(?:NVIDIA|Advanced Micro Devices)"
)
_REQUEST = re.compile(r"\bMaxReadReq ([0-9]+) bytes")
_REQUEST_BYTES = (128, 256, 512, 1024, 2048, 4096)
_RELAXED = re.compile(r"\bDevCtl:[^:]*\bRlxdOrd([+-])")
_REDIRECTED = re.compile(r"\bACSCtl:[^:]*\bReqRedir([+-])")


def blocks(reading: Reading) -> Mapping[str, str]:
    """Return what is told of each device, by its address."""
    return dict(_BLOCK.findall(reading.output(LSPCI)[0]))


def of_card(reading: Reading, told: Mapping[str, str], head: str, address: str) -> list[Fact]:
    """Return how much a card asks for at once, whether its writes may pass others, and which bridges redirect them."""
    parts: dict[str, Callable[[], Value]] = {
        "max_read_request_bytes": lambda: _request_bytes(_block(told, address)),
        "relaxed_ordering": lambda: _flag(_RELAXED, _block(told, address)),
        "acs_redirecting": lambda: _redirecting(reading, told, address),
    }
    _, problem = reading.output(LSPCI)
    return [Fact(f"{head}.{name}", None, problem) if problem else _fact(f"{head}.{name}", tell)
            for name, tell in parts.items()]  # fmt: skip


def gpus(reading: Reading, told: Mapping[str, str]) -> Fact:
    """Return how many processors for graphics or learning the host has."""
    _, problem = reading.output(LSPCI)
    count = sum(_GPU.match(one) is not None for one in told.values())
    return Fact("pcie.gpu_count", None, problem) if problem else Fact("pcie.gpu_count", count)


def _fact(name: str, tell: Callable[[], Value]) -> Fact:
    try:
        return Fact(name, tell())
    except ValueError as error:
        return Fact(name, None, f"`{LSPCI}`: {error}")


def _block(told: Mapping[str, str], address: str) -> str:
    if address not in told:
        raise ValueError(f"{address or 'the card'} is not told of")
    if "<access denied>" in told[address]:
        raise ValueError("capabilities are told to root alone")
    return told[address]


def _request_bytes(block: str) -> int:
    match = _REQUEST.search(block)
    if match is None or int(match[1]) not in _REQUEST_BYTES:
        raise ValueError("no read request is told")
    return int(match[1])


def _flag(pattern: re.Pattern[str], block: str) -> bool:
    match = pattern.search(block)
    if match is None:
        raise ValueError("DevCtl is not told")
    return match[1] == "+"


def _redirecting(reading: Reading, told: Mapping[str, str], address: str) -> str:
    """Return the bridges above a card that send requests from card to card by way of the root (ACS)."""
    link = reading.links.get(f"{DEVICES}/{address}")
    if link is None:
        raise ValueError(f"{DEVICES}/{address} is no link: the bridges above it are not known")
    above = re.findall(_ADDRESS, link)[:-1]
    controls = {one: _REDIRECTED.search(_block(told, one)) for one in above}
    return " ".join(one for one, match in controls.items() if match is not None and match[1] == "+") or "none"
