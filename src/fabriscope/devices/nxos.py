"""Cisco NX-OS: interfaces, PFC, queues, LLDP neighbours, and the running configuration."""

from __future__ import annotations

import re

from fabriscope.devices.configuration import Block, after, blocks, is_port, named, tell_common
from fabriscope.devices.system import Output, System, Told, mtu, numbers_in, numbers_of, small, whole
from fabriscope.model.priorities import DSCP_NAMES, listed, paired

_PFC_ROW = re.compile(r"(Ethernet\S+)\s+(Auto|On|Off)\s+(On|Off)\s+(?:\((\w+)\)\s+)?(\d+)\s+(\d+)\s*")
_BUILT_IN = re.compile(r"c-\S*q\S*|class-default|class-fcoe|class-all-flood|class-ip-multicast")
_STATUS = re.compile(r"(Ethernet\S+|port-channel\S+|mgmt0) is (up|down)\b")
_WATCHDOG = "priority-flow-control watch-dog-interval"
"""Off where it does not stand, and works on a port where it is on for the switch and the port."""
_FEC = {"rs-fec": "rs", "rs-cons16": "rs", "rs-ieee": "rs", "fc-fec": "baser", "off": "off"}
"""To the words of ethtool; of `auto` the configuration does not say what it comes to."""
_UNITS = {"bytes": 1, "kbytes": 1000, "mbytes": 1_000_000}
_THRESHOLDS = re.compile(
    rf"minimum-threshold (\d+) ({'|'.join(_UNITS)}) maximum-threshold (\d+) ({'|'.join(_UNITS)})\b"
)
_CLASS = re.compile(r"class(?: type \S+)? (\S+)")


def _interfaces(text: str, told: Told) -> None:
    name = ""
    for line in text.splitlines():
        if match := _STATUS.match(line):
            name = match[1]
            told.port(name, "is_up", match[2] == "up")
        elif name and (match := re.match(r"\s*admin state is (up|down)\b", line)):
            told.port(name, "is_enabled", match[1] == "up")
        elif line and not line.startswith(" "):
            name = ""  # an interface that is no port
        elif name and (match := re.match(r"\s+MTU (\d+) bytes, +BW (\d+) Kbit", line)):
            told.port(name, "mtu_bytes", mtu(match[1]))
            told.port(name, "speed_bits_per_s", whole(match[2]) * 1000)
        elif name and (match := re.match(r"\s+Input flow-control is (\w+), output flow-control is (\w+)", line)):
            told.port(name, "rx_pause", match[1] == "on")
            told.port(name, "tx_pause", match[2] == "on")
        elif name and (match := re.match(r"\s+\d+ runts +\d+ giants +(\d+) CRC", line)):
            told.port(name, "rx_crc_error_count", whole(match[1]))


def _flow_control(text: str, told: Told) -> None:
    """Read the table; the number in brackets is a bit map of priorities, in hexadecimal: 8 is priority 3 alone."""
    for line in text.splitlines():
        if match := _PFC_ROW.fullmatch(line.strip()):
            port = match[1]
            told.port(port, "pfc_mode", match[2].lower())
            told.port(port, "pfc_is_operating", match[3] == "On")
            bits = int(match[4], 16) if match[4] else 0
            if bits > 0xFF:
                raise ValueError(f"the bit map {match[4]!r} has more than eight priorities")
            if match[4]:
                told.port(port, "pfc_operating_priorities", listed(at for at in range(8) if bits >> at & 1))
            told.port(port, "pfc_rx_count", whole(match[5]))
            told.port(port, "pfc_tx_count", whole(match[6]))


def _queuing(text: str, told: Told) -> None:
    """Read the old form, whose classes have an MTU of their own beside the port's."""
    name, size = "", ""
    for line in text.splitlines():
        if match := re.match(r"(Ethernet\S+) queuing information", line):
            name, size = match[1], ""
        elif match := re.search(r"HW MTU: \d+ \((\d+) configured\)", line):
            size = match[1]
        elif name and size and "drop-type: no-drop" in line:
            told.port(name, "no_drop_mtu_bytes", mtu(size))
            size = ""


def _neighbours(text: str, told: Told) -> None:
    for part in re.split(r"^Chassis id: ", text, flags=re.MULTILINE)[1:]:
        pairs = {key.strip(): value.strip() for key, _, value in (line.partition(":") for line in part.splitlines())}
        local, system = pairs.get("Local Port id"), pairs.get("System Name")
        if local is None or "Time remaining" not in pairs:
            continue  # cut: what follows the cut is not known
        told.port(local, "neighbour_system", system)
        told.port(local, "neighbour_port", pairs.get("Port id"))
        told.port(local, "neighbour_port_description", pairs.get("Port Description"))


def _configuration(text: str, told: Told) -> None:
    tree = blocks(text)
    names = [one.line for one in tree]
    told.tell("device.host_name", after(names, "hostname") or after(names, "switchname"))
    if match := re.search(r"^!?\s*version (\d+\.\d+\(\S+)", text, re.MULTILINE):
        told.tell("device.version", match[1])
    system = [line for one in tree if one.line == "system qos" for line in one.lines]
    used = _used(system)
    ports = list(named(tree, "interface"))
    for _, block in ports:
        used |= _used(list(block.lines))
    if ports:
        told.tell("device.undefined_names", " ".join(_undefined(tree, used)) or "none")
    else:
        told.remarks.append(
            "a part of a configuration, without interfaces: names that it does not define may stand elsewhere"
        )
    lossless = _network_classes(tree, after(system, "service-policy type network-qos"), told)
    queues = _queues(tree, after(system, "service-policy type queuing output"))
    paused = _paused_by_group(tree, after(system, "service-policy type network-qos"))
    blocks_of = dict(ports)
    top = [one.line for one in tree]
    is_watched = f"{_WATCHDOG} on" in top
    # Ports alone, copied out of a configuration, do not say what holds for the switch.
    is_told = is_watched or any(line.startswith("version ") for line in top)
    for port, block in ports:
        if is_port(port, "Ethernet", "port-channel"):
            _port(port, list(block.lines), lossless, told)
            holder = blocks_of.get(
                f"port-channel{(after(block.lines, 'channel-group') or '').partition(' ')[0]}", block
            )
            _sorting(port, tree, [*system, *holder.lines, *block.lines], paused, told)
            told.port(port, "pfc_watchdog", is_watched and after(block.lines, _WATCHDOG) == "on" if is_told else None)
            for fact, value in queues.items():
                told.port(port, fact, value)


def _undefined(tree: list[Block], used: set[tuple[str, str]]) -> list[str]:
    """Return policies that are bound, and classes that policies use, that nothing defines."""
    found = []
    for kind in ("qos", "network-qos", "queuing"):
        policies = dict(named(tree, f"policy-map type {kind}"))
        found += sorted(name for of_kind, name in used if of_kind == kind and name not in policies)
        classes = {name.split()[-1] for name, _ in named(tree, f"class-map type {kind}")}
        wanted = {name for block in policies.values() for name in _classes(block)}
        found += sorted(name for name in wanted - classes if not _BUILT_IN.fullmatch(name))
    return found


def _used(lines: list[str]) -> set[tuple[str, str]]:
    """Return kind and name of the policies that lines bind."""
    found = set()
    for line in lines:
        if match := re.fullmatch(r"service-policy type (\S+)(?: input| output)? (\S+)", line):
            found.add((match[1], match[2]))
    return found


def _classes(block: Block) -> list[str]:
    return [match[1] for line in block.lines if (match := _CLASS.fullmatch(line))]


def _network_classes(tree: list[Block], policy: str | None, told: Told) -> str | None:
    """Return the priorities that the bound network-qos policy pauses; tell the MTU of these classes."""
    block = next((one for name, one in named(tree, "policy-map type network-qos") if name == policy), None)
    if block is None:
        return None
    pausing = {
        one.line: (cos, after(one.lines, "mtu")) for one in block.below if (cos := after(one.lines, "pause pfc-cos"))
    }
    sizes = [mtu(size) for _, size in pausing.values() if size]
    told.tell("device.no_drop_mtu_bytes", min(sizes) if sizes else None)
    return numbers_of(",".join(cos for cos, _ in pausing.values()))


def _queues(tree: list[Block], policy: str | None) -> dict[str, str]:
    """Return the facts of the queues that mark (WRED with ecn), with limits, and of those that WRED drops from."""
    block = next((one for name, one in named(tree, "policy-map type queuing") if name == policy), None)
    if block is None:
        return {}
    marking: list[int] = []
    dropping: list[int] = []
    found: dict[str, str] = {}
    for one in block.below:
        queue = re.search(r"-q(\d)$", one.line)
        detect = after(one.lines, "random-detect")
        if queue and detect is not None:
            at, is_marking = small(queue[1], 7), detect.split()[-1:] == ["ecn"]
            (marking if is_marking else dropping).append(at)
            if is_marking and (limits := _THRESHOLDS.match(detect)):
                least, most = (whole(limits[n]) * _UNITS[limits[n + 1]] for n in (1, 3))
                found[f"ecn_{at}_bytes"] = f"{least} {most}"
    return {**found, "ecn_queues": listed(marking), "wred_without_ecn_queues": listed(dropping)}


def _paused_by_group(tree: list[Block], policy: str | None) -> dict[int, int] | None:
    """Return group to the priority that its class pauses; None where the bound policy is not there."""
    block = next((one for name, one in named(tree, "policy-map type network-qos") if name == policy), None)
    if block is None:
        return None
    classes = {name.split()[-1]: one for name, one in named(tree, "class-map type network-qos")}
    found = {}
    for one in block.below:
        name = one.line.split()[-1]
        own = classes.get(name)
        group = (after(own.lines, "match qos-group") if own else None) or "".join(re.findall(r"nq(\d)$", name))
        cos = after(one.lines, "pause pfc-cos")
        if cos and re.fullmatch(r"\d", group) and re.fullmatch(r"\d", cos):
            found[int(group)] = int(cos)
    return found


def _sorting(port: str, tree: list[Block], lines: list[str], paused: dict[int, int] | None, told: Told) -> None:
    """Tell what a port sorts by, and the priority that each DSCP comes to: the one that its group's class pauses."""
    words = (after(lines, "service-policy type qos input") or "").split()
    policy = dict(named(tree, "policy-map type qos")).get(words[0]) if words else None
    if policy is None:
        return
    maps = {name.split()[-1]: (name, one.lines) for name, one in named(tree, "class-map type qos")}
    kinds, groups, rest = set[str](), dict[int, int | None](), 0
    for one in policy.below:
        name = one.line.split()[-1]
        group = re.fullmatch(r"\d", after(one.lines, "set qos-group") or "0")
        head, conditions = maps.get(name, ("", []))
        kinds |= {line.split()[1] for line in conditions if re.match(r"match (dscp|cos) ", line)}
        rest = int(group[0]) if group and name == "class-default" else rest
        is_plain = "match-any" in head.split() or all(line.startswith("match dscp ") for line in conditions)
        for line in (line for line in conditions if line.startswith("match dscp ")):
            goes_to = int(group[0]) if group and is_plain else None
            groups |= {at: goes_to for at in dscps(line.removeprefix("match dscp ")) if at not in groups}
    told.port(port, "trust", {("cos", "dscp"): "both", ("dscp",): "dscp", ("cos",): "cos"}.get(tuple(sorted(kinds))))
    if "dscp" in kinds and paused is not None:
        # A group without a pause whose number another one pauses has no priority to be told by.
        clear = {group: group for group in range(8) if group not in paused.values()} | paused
        told_of = {
            at: clear.get(group)
            for at, group in {**dict.fromkeys(range(64), rest), **groups}.items()
            if group is not None
        }
        told.port(port, "dscp_to_priority", paired({at: one for at, one in told_of.items() if one is not None}))


def dscps(text: str) -> set[int]:
    """Return the DSCPs of `match dscp 26,28-30`, or of `match dscp af31`."""
    words = (str(DSCP_NAMES.get(one.lower(), one)) for one in re.split(r"[,\s]+", text))
    plain = ",".join(one for one in words if re.fullmatch(r"\d{1,2}(-\d{1,2})?", one))
    return numbers_in(plain)


def _port(port: str, lines: list[str], lossless: str | None, told: Told) -> None:
    tell_common(port, lines, told)
    told.port(port, "fec", _FEC.get(after(lines, "fec") or ""))
    speed = after(lines, "speed") or ""
    told.port(port, "speed_bits_per_s", whole(speed, 10**7) * 10**6 if speed.isdecimal() else None)
    mode = after(lines, "priority-flow-control mode")
    told.port(port, "pfc_mode", mode.split()[0] if mode else "auto")
    if mode:
        told.port(port, "pfc_priorities", "none" if mode.split()[0] == "off" else lossless)


def _is_configuration(text: str) -> bool:
    return bool(
        re.search(
            r"^(policy-map type (network-qos|queuing)|vdc \S+ id 1|boot nxos|feature \S+$|nxapi )", text, re.MULTILINE
        )
    ) and ("class type network-qos" in text or "feature " in text)


def _is_interfaces(text: str) -> bool:
    return bool(_STATUS.match(text.lstrip())) and "line protocol" not in text


SYSTEM = System(
    "nxos",
    (
        Output("show interface", _is_interfaces, _interfaces),
        Output("show interface priority-flow-control", lambda text: "Oper(VL bmap)" in text, _flow_control),
        Output("show queuing interface", lambda text: "queuing information" in text and "HW MTU" in text, _queuing),
        Output(
            "show lldp neighbors detail",
            lambda text: "Local Port id:" in text and "Chassis id:" in text,
            _neighbours,
        ),
        Output("show running-config", _is_configuration, _configuration),
    ),
    "show running-config",
)
