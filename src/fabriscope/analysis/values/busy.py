"""Hosts that others use as well: what their load before a run says of its numbers."""

from __future__ import annotations

from collections.abc import Mapping

from fabriscope.model.host import HostFacts

LOAD_PER_CORE = 0.5


def busy_words(hosts: Mapping[str, HostFacts]) -> str | None:
    """Return what to expect of a run on hosts that others use as well; None where none is busy."""
    busy = {name: found for name, about in hosts.items() if (found := load_of(about))}
    if not busy:
        return None
    name = max(busy, key=lambda name: busy[name])
    load, cores = busy[name]
    more = f" and {len(busy) - 1} more" if len(busy) > 1 else ""
    return (
        f"{name}{more}: a load of {load:g} on {cores} processors before the run. Other programs show up in every "
        "number: expect wide intervals, grades below A, and more that is undecided"
    )


def load_of(about: HostFacts) -> tuple[float, int] | None:
    """Return the load of a busy host, and its processors."""
    load, cores = about.number("load.mean_1min"), about.number("cpu.thread_count") or about.number("cpu.core_count")
    return (load, cores) if load is not None and isinstance(cores, int) and load > LOAD_PER_CORE * cores else None
