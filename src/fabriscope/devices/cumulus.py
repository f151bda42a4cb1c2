"""Cumulus Linux with NVUE: `nv config show` as YAML, as the switch saves it, or as JSON."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from fabriscope.devices.system import Output, System, Told, Value, mtu, numbers_in, numbers_of, small
from fabriscope.model.foreign import Foreign
from fabriscope.model.foreign_yaml import decode_yaml
from fabriscope.model.priorities import listed, paired

_SPEEDS = {"1G": 1, "10G": 10, "25G": 25, "40G": 40, "50G": 50, "100G": 100, "200G": 200, "400G": 400, "800G": 800}
_TRUST = {"l2": "cos", "l3": "dscp"}
_ROCE_DSCP = {26: 3, 48: 6}
"""What the preset `qos roce` gives a class of its own; every other DSCP is best effort."""


_KINDS = ("pfc", "congestion-control", "mapping")
"""Of `qos`: what has a profile for all ports (`default-global`), and others that a port may name."""
_LIMITS = "150000 1500000"
"""From where to where the preset marks: it says 146.48 KB and 1.43 MB."""


def settings(text: str) -> Iterator[Foreign]:
    """Yield the parts that are set; raises ParseError for what is no NVUE configuration."""
    value, _ = decode_yaml(text, "nv config show")
    for one in Foreign(value, "nv config show").items():
        if (part := one.get("set")) is not None:
            yield part


def _configuration(text: str, told: Told) -> None:
    for part in settings(text):
        if (name := part.get("system", "hostname")) is not None:
            told.tell("device.host_name", name.text())
        of_port: dict[str, dict[str, Value]] = {}
        for key, one in _members(part.get("interface")):
            for port in ports_of(key):
                of_port.setdefault(port, _usual(part) if port.startswith("swp") else {}).update(_port(part, one))
        # What stands behind its interfaces shows that none of them is cut.
        is_whole = [*part.mapping()][-1:] != ["interface"]
        for port, facts in of_port.items():
            if is_whole and facts.get("pfc_mode") == "on":
                facts.setdefault("pfc_watchdog", False)
            for fact, value in facts.items():
                told.port(port, fact, value)


def ports_of(key: str) -> list[str]:
    """Return the ports and bonds of a key, which may name several: `swp1-4,7`, `swp3s0-3`, `swp1-2,bond1`."""
    found, head = list[str](), ""
    for part in key.split(","):
        match = re.fullmatch(r"(swp(?:\d+s)?|bond)?(\d+)(s\d+)?(?:-(\d+))?", part)
        if match is None or not (match[1] or head) or (match[3] and match[4]):
            continue
        head = match[1] or head
        last = min(int(match[4] or match[2]), 1023)
        found += [f"{head}{at}{match[3] or ''}" for at in range(int(match[2]), last + 1)]
    return found


def _usual(part: Foreign) -> dict[str, Value]:
    """Return the facts that every port has of the preset, and of what stands beside it for all ports."""
    roce = part.get("qos", "roce")
    # YAML 1.1 reads `on` as true; JSON has the word.
    is_on = roce is not None and (state := roce.get("enable")) is not None and state.value in (True, "on")
    mode = roce.get("mode") if roce is not None else None
    found: dict[str, Value] = {}
    if is_on and (mode is None or mode.text() == "lossless"):
        found |= {"pfc_mode": "on", "pfc_priorities": "3"}
    if is_on:
        found |= {"trust": "dscp", "dscp_to_priority": paired({**_ROCE_DSCP, **_mapped(part, "default-global")})}
        found |= {"ecn_queues": "0,3", "ecn_0_bytes": _LIMITS, "ecn_3_bytes": _LIMITS}
    return found | _of_profiles(part, dict.fromkeys(_KINDS, "default-global"), is_on=is_on)


def _of_profiles(part: Foreign, names: Mapping[str, str], *, is_on: bool) -> dict[str, Value]:
    """Return the facts of PFC, marks and trust that the profiles of these names have."""
    found: dict[str, Value] = {}
    if (chosen := _profile(part, "pfc", names, "switch-priority")) is not None:
        found |= {"pfc_mode": "on", "pfc_priorities": _keys(chosen)}
    queues = _profile(part, "congestion-control", names, "traffic-class")
    if queues is not None and isinstance(queues.value, dict):
        found |= _marking(queues, is_on=is_on)
    if (word := _profile(part, "mapping", names, "trust")) is not None:
        found["trust"] = _TRUST.get(word.text(), word.text())
    return found


def _profile(part: Foreign, kind: str, names: Mapping[str, str], key: str) -> Foreign | None:
    return part.get("qos", kind, names[kind], key) if kind in names else None


def _marking(queues: Foreign, *, is_on: bool) -> dict[str, Value]:
    """Return which queues mark, and from where to where; beside the preset those that it has, unless it is said."""
    marking, found = ({0, 3} if is_on else set[int]()), dict[str, Value]()
    for key, one in _members(queues):
        for queue in numbers_in(key):
            state = one.get("ecn")
            is_marking = queue in marking if state is None else state.value in (True, "enable", "on", "enabled")
            marking = marking | {queue} if is_marking else marking - {queue}
            limits = [one.get(f"{end}-threshold") for end in ("min", "max")]
            sizes = [str(limit.value) for limit in limits if limit is not None and str(limit.value).isdecimal()]
            if is_marking and len(sizes) == 2:
                found[f"ecn_{queue}_bytes"] = " ".join(sizes)
    return {**found, "ecn_queues": listed(marking)}


def _members(part: Foreign | None) -> Iterator[tuple[str, Foreign]]:
    if part is not None:
        yield from ((str(name), part.at(name)) for name in part.mapping())


def _mapped(part: Foreign, profile: str) -> dict[int, int]:
    """Return DSCP to priority where it is said beside the preset."""
    found: dict[int, int] = {}
    for key, one in _members(part.get("qos", "mapping", profile, "dscp")):
        if (priority := one.get("switch-priority")) is not None:
            found |= dict.fromkeys(sorted(numbers_in(key)), small(str(priority.value), 7))
    return found


def _keys(part: Foreign) -> str:
    """Return the priorities that are keys of an object, or stand alone."""
    words = [str(key) for key in part.value] if isinstance(part.value, dict) else [str(part.value)]
    return numbers_of(",".join(words))


def _port(part: Foreign, one: Foreign) -> dict[str, Value]:
    """Return the facts of a port's own settings, and of the profiles that it has in place of those of all ports."""
    link, own = one.get("link"), one.get("qos")
    found: dict[str, Value] = {}
    if own is not None and isinstance(own.value, dict):
        named = {kind: own.get(kind, "profile") for kind in _KINDS}
        found |= _of_profiles(
            part, {kind: name.text() for kind, name in named.items() if name is not None}, is_on=False
        )
        if (state := own.get("pfc-watchdog", "state")) is not None:
            found["pfc_watchdog"] = state.value in (True, "enable", "on", "enabled")
    if link is None or not isinstance(link.value, dict):
        return found
    if (size := link.get("mtu")) is not None:
        found["mtu_bytes"] = mtu(str(size.value))
    if (speed := link.get("speed")) is not None and str(speed.value) in _SPEEDS:
        found["speed_bits_per_s"] = _SPEEDS[str(speed.value)] * 10**9
    if (fec := link.get("fec")) is not None:
        found["fec"] = "off" if fec.value in (False, None, "off", "none") else str(fec.value)
    if (state := link.get("state")) is not None:
        word = next(iter(state.value), None) if isinstance(state.value, dict) else state.value
        found |= {"is_enabled": word == "up"} if word in ("up", "down") else {}
    return found


def _is_configuration(text: str) -> bool:
    if "set" not in text or ("interface" not in text and "qos" not in text) or not text.lstrip().startswith(("-", "[")):
        return False
    return any(True for _ in settings(text))


SYSTEM = System("cumulus", (Output("nv config show", _is_configuration, _configuration),), "nv config show")
