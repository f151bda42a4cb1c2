"""Which launches of a block measure in turns, and why the others do not."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from fabriscope.model.benchmark_kind import GROUP, OF_STREAMS
from fabriscope.model.benchmarks import kind_of
from fabriscope.model.fabric import Fabric
from fabriscope.model.layers import layer_of
from fabriscope.model.measurement import Launch
from fabriscope.model.mpi_settings import on_hosts
from fabriscope.model.quantity import Buffers
from fabriscope.model.turns import Sharing

MOST_MEMBERS = 12
"""Launches in a group: each has its processes and readers of counters, which all stay until the last one has ended."""
MOST_HELD_BYTES = 256 << 20
"""Of messages, by all ranks of a launch: a group's launches hold theirs at the same time."""
OUR_ENGINE = "engine"
TCP = "tcp"


def sharing_of(
    block: Sequence[Launch], fabrics: Mapping[str, Fabric], guests: Collection[str], setting: Collection[str] = ()
) -> Sharing:
    """Return the groups of a block's launches, and the reason of every launch that measures alone.

    Launches share where they are of our engine, have the same first host, whose kernel passes the turn on, and use
    nothing whose counters could not be told apart, nor much memory. `setting` are the MPI libraries for whose launches
    something is set.
    """
    alone = {
        index: reason for index, launch in enumerate(block) if (reason := _alone(launch, fabrics, guests, setting))
    }
    by_host: dict[str, list[int]] = {}
    for index, launch in enumerate(block):
        if index not in alone:
            by_host.setdefault(launch.entry.hosts[0], []).append(index)
    groups = [tuple(part) for members in by_host.values() for part in _parts(members)]
    for group in groups:
        if len(group) == 1:
            host = block[group[0]].entry.hosts[0]
            alone[group[0]] = f"no other entry of this block may share the time of {host}"
    return Sharing(tuple(group for group in groups if len(group) > 1), alone)


def _parts(members: list[int]) -> list[list[int]]:
    """Return parts of about one size, none larger than a group may be."""
    count = -(-len(members) // MOST_MEMBERS)
    return [members[index::count] for index in range(count)]


def _alone(
    launch: Launch, fabrics: Mapping[str, Fabric], guests: Collection[str], setting: Collection[str]
) -> str | None:
    entry = launch.entry
    if entry.instrument != OUR_ENGINE:
        return f"{entry.instrument} cannot wait for its turn"
    if not set(guests).isdisjoint(entry.hosts):
        return "guests of one machine share its processors as programs do not"
    fabric = fabrics[entry.fabric] if entry.fabric else None
    if fabric is not None and on_hosts(fabric.knobs):
        return "what its fabric sets holds for whole hosts"
    if entry.mpi in setting:
        return "what its library sets holds for whole hosts"
    uses_card = layer_of(entry.layer).needs_rdma or (fabric is not None and fabric.transport != TCP)
    if uses_card:
        return "the counters of an RDMA port do not say whose bytes it carried"
    return _needs_memory(launch)


def _needs_memory(launch: Launch) -> str | None:
    """Return why a launch's messages are too much for a host that holds those of others too."""
    if any(case.parameter_map.get("buffers") == Buffers.ROTATING.value for case in launch.cases):
        return "its rotating buffers are larger than a host's cache, and a group's launches hold theirs all at once"
    ranks = len(launch.entry.hosts)
    factors = (ranks if kind_of(case.benchmark).pattern in (GROUP, *OF_STREAMS) else 1 for case in launch.cases)
    sizes = (case.message_size_bytes * factor for case, factor in zip(launch.cases, factors, strict=True))
    if 2 * ranks * max(sizes, default=0) > MOST_HELD_BYTES:
        return f"its messages need more than {MOST_HELD_BYTES >> 20} MiB, which all launches of a group hold at once"
    return None
