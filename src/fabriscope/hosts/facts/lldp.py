"""Who is at the other end of each cable, as lldpd heard it."""

from __future__ import annotations

import re

from fabriscope.hosts.access import Reading
from fabriscope.hosts.facts._reading import Group
from fabriscope.model.host import Fact

_KEYS = {
    "chassis.name": "system",
    "chassis.mac": "chassis_mac",
    "chassis.descr": "description",
    "port.ifname": "port",
    "port.descr": "port_description",
    "port.mfs": "most_frame_bytes",
}

_LINE = re.compile(rf"^lldp\.(.+?)\.(via|{'|'.join(map(re.escape, _KEYS))})=(.*)$", re.MULTILINE)


def _facts(reading: Reading) -> list[Fact]:
    """Return for each interface the neighbour; of several that are heard on one interface all are named."""
    text, problem = reading.output("lldpctl -f keyvalue")
    if problem:
        return [Fact("lldp.neighbour_count", None, problem)]
    heard: dict[str, dict[str, str]] = {}
    systems: dict[str, list[str]] = {}
    for interface, key, value in _LINE.findall(text):
        if key == "chassis.name":
            systems.setdefault(interface, []).append(value.strip())
        heard.setdefault(interface, {}).setdefault(key, value.strip())
    facts = [Fact("lldp.neighbour_count", sum(map(len, systems.values())) or len(heard))]
    for interface, told in heard.items():
        facts += [_fact(f"lldp.{interface}.{name}", told.get(key)) for key, name in _KEYS.items()]
        if len(systems.get(interface, ())) > 1:
            facts.append(Fact(f"lldp.{interface}.systems", " ".join(systems[interface])))
    return facts


def _fact(name: str, text: str | None) -> Fact:
    if not text:
        return Fact(name, None, "the neighbour does not announce it")
    if name.endswith("_bytes"):
        return (
            Fact(name, int(text)) if text.isdecimal() and text.isascii() else Fact(name, None, f"it is {text[:60]!r}")
        )
    return Fact(name, text)


FACTS = Group("lldp", _facts, commands=(("lldpctl", "-f", "keyvalue"),))
