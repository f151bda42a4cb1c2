"""How each interface answers for addresses: what matters where a host has several in one subnet."""

from __future__ import annotations

from fabriscope.hosts.access import Reading
from fabriscope.hosts.facts._reading import Group
from fabriscope.model.host import Fact

_CONF = "/proc/sys/net/ipv4/conf"
_SETTINGS = ("rp_filter", "arp_ignore", "arp_announce")


def _facts(reading: Reading) -> list[Fact]:
    return [
        reading.fact(f"ip.{name}.{setting}", f"{_CONF}/{name}/{setting}", int)
        for name in reading.names_under(_CONF)
        if name not in ("lo", "default")
        for setting in _SETTINGS
    ]


FACTS = Group("ip", _facts, globs=tuple(f"{_CONF}/*/{setting}" for setting in _SETTINGS))
