"""What is typed to put right what a check found: on a switch in the words of its system, on a host as a shell takes it.

The words are those of `configure`; nothing of it is sent to a switch.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache

from fabriscope.audit.place import Place
from fabriscope.configure.linux import pfc as host_pfc
from fabriscope.configure.step import filled
from fabriscope.registry import discover

__all__ = ["host_pfc", "on_switch", "pfc"]

_ELSEWHERE = "as the switch's manual has it"
_PLAIN = re.compile(r"[\w.:/ -]*")
"""A port's name that a shell takes for nothing else; one that is not plain is in no command."""


@cache
def _words() -> Mapping[str, Mapping[str, str]]:
    """Return the system to how it says its settings."""
    return {name: dialect.words for name, dialect in discover("configure", "DIALECT").plugins.items()}


def on_switch(place: Place, what: str, **values: int) -> str:
    """Return how something is set on the switch of a place."""
    system = place.device.system if place.device else ""
    port = place.port.replace("Ethernet", "ethernet ") if system == "onyx" else place.port
    words = _words().get(system, {}).get(what, _ELSEWHERE) if _PLAIN.fullmatch(port) else _ELSEWHERE
    return filled(words, port, **values)


def pfc(place: Place, on_host: set[int], on_port: set[int]) -> str:
    """Return how both ends get PFC on the same priorities: those of the host, or the switch's where it has none."""
    if not on_host:
        return host_pfc(place.parts[0], on_port)
    steps = [on_switch(place, "pfc on", priority=one) for one in sorted(on_host - on_port)]
    steps += [on_switch(place, "pfc off", priority=one) for one in sorted(on_port - on_host)]
    return "; ".join(dict.fromkeys(steps))
