"""NVIDIA Onyx: PFC, LLDP neighbours, and the running configuration, each of whose lines may name a range of ports."""

from __future__ import annotations

import re
from collections.abc import Iterable

from fabriscope.devices.system import Output, System, Told, mtu, numbers_of, small
from fabriscope.model.priorities import listed

_RANGE = re.compile(r"interface ethernet (\d+/\d+(?:/\d+)?)(?:-(\d+/\d+(?:/\d+)?))? (.+)")
_PFC_ROW = re.compile(r"(Eth\S+)\s+(On|Off|Auto)\s+(Enabled|Disabled)\s*", re.IGNORECASE)
_LAST_LINE = "cli default prefix-modes enable"
"""Of a whole configuration, whose first line takes it away."""
_ECN = re.compile(r"traffic-class (\d) congestion-control ecn minimum-absolute (\d+) maximum-absolute (\d+)")


def _flow_control(text: str, told: Told) -> None:
    if match := re.search(r"^\s*PFC\s*:\s*(enabled|disabled)", text, re.MULTILINE | re.IGNORECASE):
        told.tell("device.pfc_enabled", match[1].lower() == "enabled")
    match = re.search(r"^\s*Priority Enabled List\s*:[ \t]*([\d, \t]*)$", text, re.MULTILINE)
    paused = numbers_of(match[1]) if match else None
    for line in text.splitlines():
        if row := _PFC_ROW.fullmatch(line.strip()):
            told.port(row[1], "pfc_mode", row[2].lower())
            told.port(row[1], "pfc_is_operating", row[3].lower() == "enabled")
            told.port(row[1], "pfc_priorities", "none" if row[2].lower() == "off" else paused)


def _neighbours(text: str, told: Told) -> None:
    for line in text.splitlines():
        cells = re.split(r"\s{2,}", line.strip())
        if len(cells) == 4 and re.fullmatch(r"Eth\d\S*", cells[0]):
            told.port(cells[0], "neighbour_port", cells[2])
            told.port(cells[0], "neighbour_system", None if cells[3] == "Not Advertised" else cells[3])


def _configuration(text: str, told: Told) -> None:
    lines, of_port = port_lines(text)
    if match := re.search(r"^## .*(?:version|Version):? (\S+)", text, re.MULTILINE):
        told.tell("device.version", match[1])
    if any(line.startswith("dcb priority-flow-control enable") for line in lines):
        told.tell("device.pfc_enabled", True)
    elif _LAST_LINE in lines:
        told.tell("device.pfc_enabled", False)
    paused, ecn = listed(lossless(lines)), dict[str, list[str]]()
    for port, settings in of_port.items():
        for words in settings:
            _port(port, words, paused, ecn, told)
    if _LAST_LINE in lines:
        for port, settings in of_port.items():
            told.port(port, "pfc_watchdog", "pfc-wd" in settings)
    for port, queues in ecn.items():
        told.port(port, "ecn_queues", numbers_of(",".join(queues)))


def lossless(lines: Iterable[str]) -> set[int]:
    """Return the priorities that lines of the whole switch make lossless."""
    found = (re.fullmatch(r"dcb priority-flow-control priority (\d) enable", line) for line in lines)
    return {small(match[1], 7) for match in found if match}


def port_lines(text: str) -> tuple[list[str], dict[str, list[str]]]:
    """Return the lines of a configuration, and for each port what they say of it, without its name."""
    lines = [" ".join(line.split()) for line in text.splitlines() if not line.strip().startswith("#")]
    of_port: dict[str, list[str]] = {}
    for match in filter(None, map(_RANGE.fullmatch, lines)):
        for port in _ports(match[1], match[2]):
            of_port.setdefault(port, []).append(match[3])
    return lines, of_port


def _port(port: str, words: str, paused: str, ecn: dict[str, list[str]], told: Told) -> None:
    if match := re.fullmatch(r"mtu (\d+)(?: force)?", words):
        told.port(port, "mtu_bytes", mtu(match[1]))
    elif match := re.fullmatch(r"dcb priority-flow-control mode (on|off|auto)(?: force)?", words):
        told.port(port, "pfc_mode", match[1])
        told.port(port, "pfc_priorities", numbers_of(paused if match[1] != "off" else ""))
    elif match := re.fullmatch(r"qos trust (L2|L3|both|port)", words):
        told.port(port, "trust", {"L2": "cos", "L3": "dscp"}.get(match[1], match[1]))
    elif match := re.fullmatch(r"flowcontrol (receive|send) (on|off)(?: force)?", words):
        told.port(port, "rx_pause" if match[1] == "receive" else "tx_pause", match[2] == "on")
    elif match := re.fullmatch(r"speed (\d+)G(?:x\d+)?(?: force)?", words):
        told.port(port, "speed_bits_per_s", int(match[1]) * 10**9)
    elif match := _ECN.fullmatch(words):
        ecn.setdefault(port, []).append(match[1])
        told.port(port, f"ecn_{small(match[1], 7)}_bytes", f"{int(match[2]) * 1000} {int(match[3]) * 1000}")


def _ports(first: str, last: str | None) -> list[str]:
    """Return the ports of a range such as 1/1-1/32; raises ValueError for one that leads from card to card."""
    head, _, number = first.rpartition("/")
    other_head, _, other = (last or first).rpartition("/")
    if head != other_head or not int(number) <= int(other) <= 512:
        raise ValueError(f"{first}-{last} is no range of ports")
    return [f"Ethernet{head}/{at}" for at in range(int(number), int(other) + 1)]


def _is_neighbours(text: str) -> bool:
    return all(title in text for title in ("Local Interface", "Port ID", "System Name"))


def _is_configuration(text: str) -> bool:
    a_port = r"^\s*interface ethernet \d+/\d\S* (dcb|qos|traffic-class|mtu|pfc-wd)"
    return "cli default prefix-modes" in text or bool(re.search(a_port, text, re.MULTILINE))


SYSTEM = System(
    "onyx",
    (
        Output("show dcb priority-flow-control", lambda text: "Priority Enabled List" in text, _flow_control),
        Output("show lldp remote", _is_neighbours, _neighbours),
        Output("show running-config", _is_configuration, _configuration),
    ),
    "show running-config",
    _LAST_LINE,
)
