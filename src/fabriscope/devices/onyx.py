"""NVIDIA Onyx: PFC, LLDP neighbours, and the running configuration, each of whose lines may name a range of ports."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from fabriscope.devices.system import Output, System, Told, Value, mtu, numbers_in, numbers_of, small
from fabriscope.model.priorities import NONE, listed, paired

_RANGE = re.compile(r"interface ethernet (\d+/\d+(?:/\d+)?)(?:-(\d+/\d+(?:/\d+)?))? (.+)")
_PFC_ROW = re.compile(r"(Eth\S+)\s+(On|Off|Auto)\s+(Enabled|Disabled)\s*", re.IGNORECASE)
_LAST_LINE = "cli default prefix-modes enable"
"""Of a whole configuration, whose first line takes it away."""
_WRED = re.compile(
    r"traffic-class (\d) congestion-control (ecn|red|both) minimum-(absolute|relative) (\d+) maximum-\S+ (\d+)"
)
_FEC = {"rs-fec": "rs", "fc-fec": "baser", "no-fec": "off"}
_MAPPED = re.compile(r"qos map dscp (\d[\d,-]*) to switch-priority (\d)")
_PRESETS = ("roce", "roce lossless")
_OF_PRESET: dict[str, Value] = {
    "pfc_mode": "on", "pfc_priorities": "3", "trust": "dscp", "ecn_queues": "3", "ecn_3_bytes": "150000 1500000",
}  # fmt: skip
"""Of every port, in one line of the configuration."""
_OFF: dict[str, Value] = {
    "pfc_mode": "off", "pfc_priorities": NONE, "ecn_queues": NONE, "wred_without_ecn_queues": NONE,
}  # fmt: skip
"""Of a port that a whole configuration says nothing of."""
_LISTS = ("pfc_priorities", "ecn_queues", "wred_without_ecn_queues", "dscp_to_priority")
"""Facts of several lines: where a configuration is cut some of them may be missing."""


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
    if match := re.search(r"^## (?:Product release|.*[Vv]ersion):? (\S+)", text, re.MULTILINE):
        told.tell("device.version", match[1])
    told.tell("device.host_name", next((line.split()[1] for line in lines if line.startswith("hostname ")), None))
    is_whole, preset = _LAST_LINE in lines, next((line for line in lines if re.fullmatch(r"roce(?: \S+)?", line)), "")
    if preset in _PRESETS or any(line.startswith("dcb priority-flow-control enable") for line in lines):
        told.tell("device.pfc_enabled", True)
    elif is_whole and not preset:
        told.tell("device.pfc_enabled", False)
    paused = listed(lossless(lines))
    for port, settings in of_port.items():
        usual = _OF_PRESET if preset in _PRESETS else _OFF if is_whole and not preset else {}
        for fact, value in _said(settings, paused, usual).items():
            if fact not in _LISTS or is_whole or f"no {_LAST_LINE}" not in lines:
                told.port(port, fact, value)
        if is_whole:
            told.port(port, "pfc_watchdog", "pfc-wd" in settings)
            told.port(port, "is_enabled", "shutdown" not in settings)


def _said(settings: Sequence[str], paused: str, usual: Mapping[str, Value]) -> dict[str, Value]:
    """Return the facts that lines tell of a port, and the usual ones where they say nothing."""
    found = dict(usual)
    marking, dropping = set[int](), set[int]()
    of_dscp = {dscp: dscp // 8 for dscp in range(64)}
    for words in settings:
        found |= _port(words, paused)
        if match := _WRED.match(words):
            (dropping if match[2] == "red" else marking).add(small(match[1], 7))
            if match[3] == "absolute" and match[2] != "red":
                found[f"ecn_{match[1]}_bytes"] = f"{int(match[4]) * 1000} {int(match[5]) * 1000}"
        elif match := _MAPPED.match(words):
            of_dscp |= dict.fromkeys(numbers_in(match[1]), small(match[2], 7))
    if marking or dropping:
        found |= {"ecn_queues": listed(marking), "wred_without_ecn_queues": listed(dropping - marking)}
    if found.get("trust") in ("dscp", "both"):
        found["dscp_to_priority"] = paired(of_dscp)
    return found


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
    # In place of a port that is split there are those that it is split into.
    split = [port for port, said in of_port.items() if any("-split-" in one for one in said if "module-type" in one)]
    return lines, {port: said for port, said in of_port.items() if port not in split}


def _port(words: str, paused: str) -> dict[str, Value]:
    """Return the facts of one line of a port."""
    words = words.removesuffix(" force")
    if match := re.fullmatch(r"mtu (\d+)", words):
        return {"mtu_bytes": mtu(match[1])}
    if match := re.fullmatch(r"dcb priority-flow-control mode (on|off|auto)", words):
        return {"pfc_mode": match[1], "pfc_priorities": paused if match[1] != "off" else NONE}
    if match := re.fullmatch(r"qos trust (L2|L3|both|port)", words):
        return {"trust": {"L2": "cos", "L3": "dscp"}.get(match[1], match[1])}
    if match := re.fullmatch(r"flowcontrol (receive|send) (on|off)", words):
        return {"rx_pause" if match[1] == "receive" else "tx_pause": match[2] == "on"}
    if match := re.fullmatch(r"speed (\d+)G(?:x\d+)?", words):
        return {"speed_bits_per_s": int(match[1]) * 10**9}
    if (match := re.fullmatch(r"fec-override (\S+)", words)) and match[1] in _FEC:
        return {"fec": _FEC[match[1]]}
    return {}


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
