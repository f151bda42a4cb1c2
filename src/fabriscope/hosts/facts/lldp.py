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
    """Return for each interface the neighbour; of several on one interface their names alone: which is its end?"""
    text, problem = reading.output("lldpctl -f keyvalue")
    if problem:
        return [Fact("lldp.neighbour_count", None, problem)]
    heard: dict[str, list[dict[str, str]]] = {}
    for interface, key, value in _LINE.findall(text):
        neighbours = heard.setdefault(interface, [{}])
        if key in neighbours[-1]:  # the next neighbour begins
            neighbours.append({})
        neighbours[-1][key] = value.strip()
    facts = [Fact("lldp.neighbour_count", sum(map(len, heard.values())))]
    for interface, neighbours in heard.items():
        if len(neighbours) == 1:
            facts += [_fact(f"lldp.{interface}.{name}", neighbours[0].get(key)) for key, name in _KEYS.items()]
            continue
        systems = " ".join(one.get("chassis.name", "unnamed") for one in neighbours)
        facts += [Fact(f"lldp.{interface}.{name}", None, f"several are heard: {systems}") for name in _KEYS.values()]
        facts.append(Fact(f"lldp.{interface}.systems", systems))
    return facts


def _fact(name: str, text: str | None) -> Fact:
    if not text:
        return Fact(name, None, "the neighbour does not announce it", is_offered=False)
    if name.endswith("_bytes"):
        return (
            Fact(name, int(text)) if text.isdecimal() and text.isascii() else Fact(name, None, f"it is {text[:60]!r}")
        )
    return Fact(name, text)


FACTS = Group("lldp", _facts, commands=(("lldpctl", "-f", "keyvalue"),))
