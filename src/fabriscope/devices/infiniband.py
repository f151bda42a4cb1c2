"""InfiniBand's own programs, saved where hosts cannot be asked: `ibstat` of a host, `perfquery` of any port."""

from __future__ import annotations

import re

from fabriscope.devices.system import Output, System, Told, whole

_CARD = re.compile(r"CA '(\S+)'")
_PORT = re.compile(r"\s+Port (\d+):")
_LINE = re.compile(r"\s+([A-Za-z ]+?):\s+(\S.*?)\s*")
_HEAD = re.compile(r"#\s*Port (?:extended )?counters: Lid (\d+) port (\d+)\b.*")
_COUNTER = re.compile(r"(\w+):\.+(\d+)")
_COUNTERS = {
    "SymbolErrorCounter": "symbol_error_count",
    "LinkErrorRecoveryCounter": "link_recovery_count",
    "LinkDownedCounter": "link_downed_count",
    "PortRcvErrors": "rx_error_count",
    "PortXmitDiscards": "tx_discard_count",
    "PortXmitWait": "tx_wait_count",
}


def _cards(text: str, told: Told) -> None:
    """Read `ibstat`; a port whose last line is missing may be cut, and tells nothing."""
    card, port, firmware = "", "", None
    pairs: dict[str, str] = {}
    for line in text.splitlines():
        if match := _CARD.fullmatch(line.strip()):
            card, port, firmware = match[1], "", None
        elif match := _PORT.fullmatch(line):
            port, pairs = match[1], {}
        elif match := _LINE.fullmatch(line):
            pairs = {**pairs, match[1]: match[2]}
            firmware = match[2] if match[1] == "Firmware version" else firmware
            if port and match[1] == "Link layer":
                _port(f"{card}/{port}", pairs, firmware, told)


def _port(name: str, pairs: dict[str, str], firmware: str | None, told: Told) -> None:
    is_up = pairs.get("State") == "Active"
    told.port(name, "is_up", is_up)
    told.port(name, "link_layer", pairs["Link layer"])
    told.port(name, "firmware_version", firmware)
    if is_up and "Rate" in pairs:  # the rate of a port that is down means nothing
        told.port(name, "speed_bits_per_s", whole(pairs["Rate"], 10**6) * 10**9)


def _counters(text: str, told: Told) -> None:
    name = ""
    for line in text.splitlines():
        if match := _HEAD.fullmatch(line.strip()):
            name = f"lid{match[1]}/{match[2]}"
        elif name and (match := _COUNTER.fullmatch(line.strip())) and match[1] in _COUNTERS:
            told.port(name, _COUNTERS[match[1]], whole(match[2]))


SYSTEM = System(
    "infiniband",
    (
        Output("ibstat", lambda text: bool(_CARD.match(text)) and "CA type:" in text, _cards),
        Output("perfquery", lambda text: bool(_HEAD.match(text.partition("\n")[0])), _counters),
    ),
)
