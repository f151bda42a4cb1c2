"""Arista EOS: interfaces, LLDP neighbours, flow control, and the running configuration."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from fabriscope.devices.configuration import Block, after, blocks, is_port, named, tell_common
from fabriscope.devices.system import Output, System, Told, mtu, numbers_in, small, whole
from fabriscope.model.foreign import Foreign
from fabriscope.model.priorities import NONE, listed, paired

_FEC = {"reed-solomon": "rs", "fire-code": "baser"}
_DEFAULT_MAP = {dscp: dscp // 8 for dscp in range(16, 64)}
"""Of DSCP to traffic class; below 16 platforms differ."""
_UNITS = {"bytes": 1, "kbytes": 1000, "mbytes": 1_000_000}
_THRESHOLDS = re.compile(r"random-detect ecn minimum-threshold (\d+) (\w+) maximum-threshold (\d+) (\w+)")
_HEAD = re.compile(r"^! device: (\S+) \((\S+), EOS-([^)\s]+)\)", re.MULTILINE)
_PORT = re.compile(
    r"^((?:Ethernet|Port-Channel|Management)\S+) is (up|down|administratively down), line protocol is (\w+)"
)


_SIZE = re.compile(r"\s+(?:IP|Ethernet) MTU (\d+) bytes(?: *,(?: Ethernet MRU \d+ bytes,)? BW (\d+) kbit)?")
"""Of EOS 4.25 and later with the largest frame that is received."""


def _is_json(*keys: str) -> Callable[[str], bool]:
    def is_it(text: str) -> bool:
        return text.lstrip().startswith("{") and all(f'"{key}"' in text for key in keys)

    return is_it


def _interfaces_json(text: str, told: Told) -> None:
    for name, one in Foreign.json(text, "show interfaces").at("interfaces").members():
        if (size := one.get("mtu")) is not None:
            told.port(name, "mtu_bytes", size.whole(most=65535) or None)
        if (rate := one.get("bandwidth")) is not None:
            told.port(name, "speed_bits_per_s", rate.whole() or None)
        if (status := one.get("interfaceStatus")) is not None:
            told.port(name, "is_up", status.text() == "connected")
            told.port(name, "is_enabled", status.text() != "disabled")
        if (errors := one.get("interfaceCounters", "inputErrorsDetail", "fcsErrors")) is not None:
            told.port(name, "rx_crc_error_count", errors.whole())


def _interfaces_text(text: str, told: Told) -> None:
    name = ""
    for line in text.splitlines():
        if match := _PORT.match(line):
            name = match[1]
            told.port(name, "is_up", match[3] == "up")
            told.port(name, "is_enabled", match[2] != "administratively down")
        elif not line.startswith(" "):
            name = ""  # an interface that is no port
        elif name and (match := _SIZE.match(line)):
            told.port(name, "mtu_bytes", mtu(match[1]))
            told.port(name, "speed_bits_per_s", whole(match[2]) * 1000 if match[2] else None)
        elif name and (match := re.match(r"\s+\d+ input errors, (\d+) CRC,", line)):
            told.port(name, "rx_crc_error_count", whole(match[1]))


def _neighbours(text: str, told: Told) -> None:
    for port, one in Foreign.json(text, "show lldp neighbors detail").at("lldpNeighbors").members():
        heard = one.at("lldpNeighborInfo").items()
        told.port(port, "neighbour_count", len(heard))
        if len(heard) != 1:
            continue  # several on one cable: nobody knows which of them is its end
        system, about = heard[0].get("systemName"), heard[0].get("neighborInterfaceInfo")
        told.port(port, "neighbour_system", system.text() if system else None)
        for key, fact in (("interfaceId", "neighbour_port"), ("interfaceDescription", "neighbour_port_description")):
            value = about.get(key) if about else None
            told.port(port, fact, value.text().strip('"') if value else None)


def _flow_control(text: str, told: Told) -> None:
    for port, one in Foreign.json(text, "show interfaces flow-control").at("interfaceFlowControls").members():
        for key, fact in (("rxOperState", "rx_pause"), ("txOperState", "tx_pause")):
            # Of a port that is down it is `unknown`.
            if (state := one.get(key)) is not None and state.text() in ("on", "off"):
                told.port(port, fact, state.text() == "on")
        for key, fact in (("rxPause", "pause_rx_count"), ("txPause", "pause_tx_count")):
            if (count := one.get(key)) is not None:
                told.port(port, fact, count.whole())


def _configuration(text: str, told: Told) -> None:
    tree = blocks(text)
    if head := _HEAD.search(text):
        told.tell("device.model", head[2])
        told.tell("device.version", head[3])
    top = [one.line for one in tree]
    told.tell("device.host_name", after(top, "hostname"))
    if "priority-flow-control all off" in top:
        told.tell("device.pfc_enabled", False)
    dscp = classes(top)
    profiles = dict(named(tree, "qos profile"))
    undefined = []
    for port, block in named(tree, "interface"):
        profile = after(block.lines, "service-profile")
        if profile and profile not in profiles:
            undefined.append(profile)
        below = [*(profiles[profile].below if profile in profiles else ()), *block.below]
        if is_port(port, "Ethernet", "Port-Channel"):
            _port(port, below, dscp, told)
    told.tell("device.undefined_names", " ".join(dict.fromkeys(undefined)) or "none")


def classes(top: Sequence[str]) -> dict[int, int]:
    """Return DSCP to traffic class as lines map it; raises ValueError."""
    found: dict[int, int] = {}
    for line in top:
        if match := re.fullmatch(r"qos map dscp ([\d ,-]+) to traffic-class (\d)", line):
            found |= dict.fromkeys(sorted(numbers_in(match[1])), small(match[2], 7))
    return found


def _port(port: str, below: list[Block], dscp: dict[int, int], told: Told) -> None:
    lines = [one.line for one in below]
    tell_common(port, lines, told)
    states = [line for line in lines if re.fullmatch(r"priority-flow-control(?: mode)? (?:on|off)", line)]
    is_on = bool(states) and states[-1].endswith(" on")
    told.port(port, "pfc_mode", "on" if is_on else "off")
    told.port(port, "pfc_priorities", listed(lossless(lines)) if is_on else NONE)
    told.port(port, "pfc_watchdog", "priority-flow-control pause watchdog" in lines)
    speed = re.fullmatch(r"(?:forced )?(\d+)g(?:full|-\d)?", after(lines, "speed") or "")
    told.port(port, "speed_bits_per_s", int(speed[1]) * 10**9 if speed else None)
    told.port(port, "trust", trust.split()[0] if (trust := after(lines, "qos trust")) else None)
    corrected = [kind for word, kind in _FEC.items() if f"error-correction encoding {word}" in lines]
    off = "off" if "no error-correction encoding" in lines else None
    told.port(port, "fec", "auto" if len(corrected) > 1 else corrected[0] if corrected else off)
    told.port(port, "dscp_to_priority", paired({**_DEFAULT_MAP, **dscp}))
    ecn, dropping = {}, set()
    for one in below:
        match = re.fullmatch(r"(?:uc-)?tx-queue (\d+)", one.line)
        found = [limits for line in one.lines if (limits := _THRESHOLDS.match(line))] if match else []
        if match and found:
            ecn[small(match[1])] = found[-1]
        elif match and any(line.startswith("random-detect drop ") for line in one.lines):
            dropping.add(small(match[1]))
    told.port(port, "ecn_queues", listed(ecn))
    told.port(port, "wred_without_ecn_queues", listed(dropping - ecn.keys()))
    for queue, limits in ecn.items():
        told.port(port, f"ecn_{queue}_bytes", f"{_bytes(limits[1], limits[2])} {_bytes(limits[3], limits[4])}")


def lossless(lines: Sequence[str]) -> set[int]:
    """Return the priorities that lines make lossless: what a port says overrules its profile, which stands before."""
    found: set[int] = set()
    for line in lines:
        if match := re.fullmatch(r"priority-flow-control priority (\S+) (no-drop|drop)", line):
            of_line = numbers_in(match[1])
            found = found | of_line if match[2] == "no-drop" else found - of_line
    return found


def _bytes(number: str, unit: str) -> int:
    if unit not in _UNITS:
        raise ValueError(f"a threshold in {unit}")
    return whole(number) * _UNITS[unit]


def _is_configuration(text: str) -> bool:
    is_ours = ("! device: " in text and "EOS-" in text) or "RANCID-CONTENT-TYPE: arista" in text
    return is_ours or bool(
        re.search(
            r"^(qos profile|platform (trident|sand)|transceiver qsfp default-mode)\b|^ +priority-flow-control on$",
            text,
            re.MULTILINE,
        )
    )


SYSTEM = System(
    "eos",
    (
        Output("show interfaces | json", _is_json("interfaces", "lineProtocolStatus"), _interfaces_json),
        Output("show interfaces", lambda text: any(map(_PORT.match, text.splitlines()[:3])), _interfaces_text),
        Output("show lldp neighbors detail | json", _is_json("lldpNeighbors", "lldpNeighborInfo"), _neighbours),
        Output("show interfaces flow-control | json", _is_json("interfaceFlowControls"), _flow_control),
        Output("show running-config", _is_configuration, _configuration),
    ),
    "show running-config",
)
