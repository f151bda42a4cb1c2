"""Cumulus Linux with NVUE: `nv config show` as YAML, as the switch saves it, or as JSON."""

from __future__ import annotations

from collections.abc import Iterator

from fabriscope.devices.system import Output, System, Told, mtu, numbers_in, numbers_of, small
from fabriscope.model.foreign import Foreign
from fabriscope.model.foreign_yaml import decode_yaml
from fabriscope.model.priorities import paired

_SPEEDS = {"1G": 1, "10G": 10, "25G": 25, "40G": 40, "50G": 50, "100G": 100, "200G": 200, "400G": 400, "800G": 800}
_TRUST = {"l2": "cos", "l3": "dscp"}
_ROCE_DSCP = {26: 3, 48: 6}
"""What the preset `qos roce` gives a class of its own; every other DSCP is best effort."""


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
        roce = part.get("qos", "roce")
        # YAML 1.1 reads `on` as true; JSON has the word.
        is_on = roce is not None and (state := roce.get("enable")) is not None and state.value in (True, "on")
        mode = roce.get("mode") if roce is not None else None
        is_lossless = is_on and (mode is None or mode.text() == "lossless")
        chosen = part.get("qos", "pfc", "default-global", "switch-priority")
        lossless = _keys(chosen) if chosen is not None else "3" if is_lossless else None
        for port, one in ((name, one) for name, one in _members(part.get("interface")) if name.startswith("swp")):
            _port(port, one, told)
            if lossless is not None:
                told.port(port, "pfc_mode", "on")
                told.port(port, "pfc_priorities", lossless)
            if is_on:
                told.port(port, "trust", _trust(part))
                told.port(port, "dscp_to_priority", paired({**_ROCE_DSCP, **_mapped(part)}))
                told.port(port, "ecn_queues", "0,3")


def _members(part: Foreign | None) -> Iterator[tuple[str, Foreign]]:
    if part is not None:
        yield from ((str(name), part.at(name)) for name in part.mapping())


def _trust(part: Foreign) -> str:
    """Return what ports sort by; the preset by both, of which the DSCP counts where a packet has one."""
    word = part.get("qos", "mapping", "default-global", "trust")
    return "dscp" if word is None else _TRUST.get(word.text(), word.text())


def _mapped(part: Foreign) -> dict[int, int]:
    """Return DSCP to priority where it is said beside the preset."""
    found: dict[int, int] = {}
    for key, one in _members(part.get("qos", "mapping", "default-global", "dscp")):
        if (priority := one.get("switch-priority")) is not None:
            found |= dict.fromkeys(sorted(numbers_in(key)), small(str(priority.value), 7))
    return found


def _keys(part: Foreign) -> str:
    """Return the priorities that are keys of an object, or stand alone."""
    words = [str(key) for key in part.value] if isinstance(part.value, dict) else [str(part.value)]
    return numbers_of(",".join(words))


def _port(port: str, one: Foreign, told: Told) -> None:
    link = one.get("link")
    if link is None:
        return
    if (size := link.get("mtu")) is not None:
        told.port(port, "mtu_bytes", mtu(str(size.value)))
    if (speed := link.get("speed")) is not None and str(speed.value) in _SPEEDS:
        told.port(port, "speed_bits_per_s", _SPEEDS[str(speed.value)] * 10**9)
    if (fec := link.get("fec")) is not None:
        told.port(port, "fec", "off" if fec.value in (False, None, "off", "none") else str(fec.value))


def _is_configuration(text: str) -> bool:
    if "set" not in text or ("interface" not in text and "qos" not in text) or not text.lstrip().startswith(("-", "[")):
        return False
    return any(True for _ in settings(text))


SYSTEM = System("cumulus", (Output("nv config show", _is_configuration, _configuration),), "nv config show")
