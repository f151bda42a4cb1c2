"""What is refused before anything is written: a sentence each, empty where nothing is wrong."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from fabriscope.configure.step import CNP_DSCP, CNP_PRIORITY, Dialect, Ready, Saved, Wanted
from fabriscope.model.device import port_name


def of_values(wanted: Wanted, dialects: Iterable[Dialect]) -> Iterator[str]:
    """Yield what of the wanted values cannot be."""
    needs = "of the packets that ask a sender to slow down (CNP); data needs another"
    if wanted.priority == CNP_PRIORITY:
        yield f"--priority: {CNP_PRIORITY} is that {needs}"
    if wanted.dscp == CNP_DSCP:
        yield f"--dscp: {CNP_DSCP} is that {needs}"
    for one in dialects:
        if wanted.mtu_bytes > one.mtu_bytes:
            yield f"--mtu: a port of {one.name} takes {one.mtu_bytes} B at most, not {wanted.mtu_bytes}"
        if wanted.priority not in one.priorities:
            yield f"--priority: {wanted.priority} is the default class of {one.name}, which all other traffic shares"


def of_names(option: str, names: Sequence[str], dialects: Sequence[Dialect], *, may_match: bool) -> Iterator[str]:
    """Yield which names are those of no port of these systems; `may_match` says whether `*` can stand in one."""
    for name in names:
        if "*" in name and not may_match:
            yield f"{option}: {name} stands for ports of a device whose outputs are at hand; here each is named"
        elif not ("*" in name and re.fullmatch(r"[\w/*]+", name)):
            kinds = [one for one in dialects if not re.fullmatch(one.port, spelled(one, name))]
            if kinds and (len(kinds) == len(dialects) or not may_match):
                systems = ", ".join(f"{one.name} (one is {one.sample})" for one in kinds)
                yield f"{option}: {name!r} is no port of {systems}"


def spelled(dialect: Dialect, name: str) -> str:
    """Return a port's name as configurations of a system have it."""
    return name if dialect.is_host else port_name(name)


def of_ports(ports: Sequence[str], ready: Sequence[tuple[Saved, Ready]]) -> Iterator[str]:
    """Yield which ports no device has."""
    for one in ports:
        asked = Saved("", patterns=(one,))
        if not any(asked.chosen(found.there) for _, found in ready):
            there = "; ".join(f"{saved.name} has {some(found.there or saved.ports)}" for saved, found in ready)
            yield f"--port: no device has {one!r}; {there or 'no outputs of a switch are at hand'}"


def some(names: Sequence[str]) -> str:
    """Return the first names of many."""
    return ", ".join(names[:8]) + (f" and {len(names) - 8} more" if len(names) > 8 else "") or "none"
