"""What `lab set` changed of a lab that stands, as its record keeps it, so that `lab status` tells what is so now."""

from __future__ import annotations

from collections.abc import Mapping, MutableMapping, Sequence
from typing import Any

from fabriscope.model.lab import fault_words

DOWN = "is_down"
LINKS = "links"
"""The key under which a fabric's record has what is changed of single hosts' links."""


def note(fabric: MutableMapping[str, Any], values: Mapping[str, Any], hosts: Sequence[str]) -> None:
    """Note in a fabric's record what was changed: of the whole fabric, or of the links of some hosts.

    What is changed of the whole fabric is so on every link, whatever a link had before.
    """
    links = fabric.setdefault(LINKS, {})
    for host in hosts:
        links.setdefault(host, {}).update(values)
    if hosts:
        return
    switch = fabric["switch"]
    for name, value in values.items():
        owner = fabric if name == DOWN else switch if name in switch else switch.setdefault("queues", {})
        owner[name] = value
        for of_host in links.values():
            of_host.pop(name, None)


def words(fabric: Mapping[str, Any]) -> list[str]:
    """Return what is changed besides the switch's own numbers, a line each: `links are down`, `node2: loses ...`."""
    whole = ["every link is down"] if fabric.get(DOWN) else []
    links: Mapping[str, Mapping[str, Any]] = fabric.get(LINKS, {})
    for host, values in links.items():
        said = [*fault_words(values), *(["the link is down"] if values.get(DOWN) else [])]
        whole += [f"{host}: {', '.join(said)}"] if said else []
    return whole
