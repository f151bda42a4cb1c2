"""Hosts that others use as well: what their load before a run says of its numbers."""

from __future__ import annotations

from collections.abc import Mapping

from fabriscope.model.counting import listed
from fabriscope.model.host import HostFacts

LOAD_PER_CORE = 0.5
MOST_NAMES = 3


def busy_words(hosts: Mapping[str, HostFacts]) -> str | None:
    """Return what to expect of a run on hosts that others use as well; None where none is busy."""
    busiest = _busiest(hosts)
    if busiest is None:
        return None
    return (
        f"{busiest} before the run. Other programs show up in every number: expect wide intervals, grades below A, and "
        "more that is undecided"
    )


def busy_sentences(hosts: Mapping[str, HostFacts]) -> list[str]:
    """Return what a reader of the answer should know of hosts that others used as well."""
    busiest = _busiest(hosts)
    if busiest is None:
        return []
    return [
        f"Others used the machine ({busiest} before the run): what waits by looking again and again, as shared memory "
        "and MPI do, loses more by them than TCP, which sleeps."
    ]


def _busiest(hosts: Mapping[str, HostFacts]) -> str | None:
    """Return the busy hosts in words, the busiest first: `node1 and node2: a load of 13 on 2 processors`."""
    busy = {name: found for name, about in hosts.items() if (found := load_of(about))}
    if not busy:
        return None
    names = sorted(busy, key=lambda name: busy[name], reverse=True)
    load, cores = busy[names[0]]
    upmost = "" if len({*busy.values()}) == 1 else "up to "
    told = names if len(names) <= MOST_NAMES else [names[0], f"{len(names) - 1} more hosts"]
    return f"{listed(told)}: a load of {upmost}{load:g} on {cores} processors"


def load_of(about: HostFacts) -> tuple[float, int] | None:
    """Return the load of a busy host, and its processors."""
    load, cores = about.number("load.mean_1min"), about.number("cpu.thread_count") or about.number("cpu.core_count")
    return (load, cores) if load is not None and isinstance(cores, int) and load > LOAD_PER_CORE * cores else None
