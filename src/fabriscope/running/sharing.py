"""Which launches of a block measure in turns, and why the others do not."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence

from fabriscope import plan as plans
from fabriscope.model.benchmark_kind import GROUP, OF_STREAMS
from fabriscope.model.benchmarks import kind_of
from fabriscope.model.fabric import RDMA_TRANSPORTS, Fabric
from fabriscope.model.layers import Carrier, layer_of
from fabriscope.model.measurement import Launch
from fabriscope.model.mpi_settings import on_hosts
from fabriscope.model.quantity import Buffers
from fabriscope.model.turns import TURN_NS, Sharing
from fabriscope.model.units import duration_words

MOST_MEMBERS, MOST_REMOTE_MEMBERS = 12, 4
"""Launches in a group: each has its processes and readers of counters, which all stay until the last one has ended; on
hosts that are reached over a network each takes two sessions of a connection or three, of which sshd allows ten (what
finds none makes a connection of its own), or as many steps of a job."""
MOST_RANKS = 128
"""Of a group, which all wait in memory at once."""
MOST_HELD_BYTES, MOST_HELD_IN_GUESTS_BYTES = 256 << 20, 32 << 20
"""Of messages, by all ranks of a launch: a group's launches hold theirs at the same time; a guest has 1 GiB."""
SLOW_TURNS, SLOW_FACTOR = 8, 8.0
"""How many turns the longest burst of a launch may take before others would mostly wait for it; slow ones share with
each other by steps of the factor."""
_DELAYS_OF_BURST = 4
"""A warm-up and a measured operation there and back."""
OUR_ENGINE = "engine"
_LIBRARIES = ("mpi", "libfabric")
"""Transports of the engine by libraries, which open every RDMA device that they find; its own open the one they use."""
_PORTS = "an RDMA port counts for its host"


def sharing_of(
    block: Sequence[Launch],
    fabrics: Mapping[str, Fabric],
    setting: Collection[str] = (),
    guests: Collection[str] = (),
    turn_ns: int = TURN_NS,
    most: int = MOST_MEMBERS,
) -> Sharing:
    """Return the groups of a block's launches, and the reason of every launch that measures alone.

    Launches share where they are of our engine, have the same first host, whose kernel passes the turn on, are not much
    slower than each other for the length of a turn, and use nothing whose counters could not be told apart, nor much
    memory. `setting` are the MPI libraries for whose launches something is set.
    """
    reasons = (_alone(launch, fabrics, setting, guests) for launch in block)
    alone = {index: reason for index, reason in enumerate(reasons) if reason}
    may_share = {index: launch for index, launch in enumerate(block) if index not in alone}
    apart, others = _over_ports(may_share, fabrics)
    alone |= others
    alike: dict[tuple[str, int, bool], list[int]] = {}
    bursts_ns = {index: _burst_ns(launch, fabrics) for index, launch in may_share.items() if index not in alone}
    for index, burst_ns in bursts_ns.items():
        key = block[index].entry.hosts[0], _slowness(burst_ns, turn_ns), index in apart
        alike.setdefault(key, []).append(index)
    groups = [tuple(part) for members in alike.values() for part in _parts(members, block, most)]
    for group in groups:
        if len(group) == 1:
            index, crowd = group[0], any(group[0] in members and len(members) > 1 for members in alike.values())
            with_tcp = f"{_PORTS}, and another launch sends over its interface by TCP" if index in apart else ""
            alone[index] = with_tcp or _without_others(block[index], bursts_ns[index], turn_ns, crowd)
    return Sharing(tuple(group for group in groups if len(group) > 1), alone)


def most_members(is_remote: Iterable[bool]) -> int:
    """Return how many launches a group may have, on hosts of which some are reached over a network."""
    return MOST_REMOTE_MEMBERS if any(is_remote) else MOST_MEMBERS


def _burst_ns(launch: Launch, fabrics: Mapping[str, Fabric]) -> int:
    """Return about how long the longest burst of a launch takes on its wire; 0 where nothing is known of it."""
    burst_ns = max((max(plans.least_ns(one, fabrics), plans.timed_ns(one, fabrics)) for one in launch.cases), default=0)
    return max(burst_ns, _DELAYS_OF_BURST * plans.delay_ns(launch, fabrics))


def _slowness(burst_ns: int, turn_ns: int) -> int:
    """Return 0 for what fits into turns of others, else a number that is the same for what is about as slow."""
    most_ns = SLOW_TURNS * turn_ns
    return 1 + int(math.log(burst_ns / most_ns, SLOW_FACTOR)) if burst_ns > most_ns else 0


def _without_others(launch: Launch, burst_ns: int, turn_ns: int, is_crowded: bool) -> str:
    if is_crowded:
        return f"its {len(launch.entry.hosts)} ranks and those of another are more than {MOST_RANKS}"
    if _slowness(burst_ns, turn_ns):
        took = duration_words(round(burst_ns, -6))
        return f"its longest burst takes some {took}, for which others would wait, and no other entry is about as slow"
    return f"no other entry of this block may share the time of {launch.entry.hosts[0]}"


def _parts(members: list[int], block: Sequence[Launch], most: int) -> list[list[int]]:
    """Return parts of about one size, none larger than a group may be."""
    ranks = {index: len(block[index].entry.hosts) for index in members}
    large_first = sorted((index for index in members if ranks[index] < MOST_RANKS), key=lambda index: -ranks[index])
    parts = [large_first]
    while any(len(part) > most or sum(map(ranks.__getitem__, part)) > MOST_RANKS for part in parts):
        parts = [large_first[index :: len(parts) + 1] for index in range(len(parts) + 1)]
    return [*filter(None, parts), *([index] for index in members if ranks[index] >= MOST_RANKS)]


def _over_ports(launches: Mapping[int, Launch], fabrics: Mapping[str, Fabric]) -> tuple[set[int], dict[int, str]]:
    """Return which launches over RDMA share with each other and with nobody else, and why others measure alone.

    An RDMA port counts for its host: whose bytes it carried is known where one launch alone uses it, and none sends
    over its interface by the kernel, whose bytes Soft RoCE's and InfiniBand's ports count too.
    """
    of_ports = {index: launch for index, launch in launches.items() if _uses_port(launch, fabrics)}
    if any(layer_of(launch.entry.layer).transport in _LIBRARIES for launch in launches.values()):
        return set(), dict.fromkeys(of_ports, f"{_PORTS}, and MPI libraries and libfabric open every device")
    alone, taken = dict[int, str](), set[tuple[str, str]]()
    for index, launch in sorted(of_ports.items(), key=lambda one: str(one[1].entry)):  # the same ones in every block
        cards = _cards(launch, fabrics)
        if taken.isdisjoint(cards):
            taken |= cards
        else:
            alone[index] = f"{_PORTS}, and another launch uses the same one"
    by_kernel = {card for index, one in launches.items() if index not in of_ports for card in _cards(one, fabrics)}
    return set() if taken.isdisjoint(by_kernel) else of_ports.keys() - alone.keys(), alone


def _cards(launch: Launch, fabrics: Mapping[str, Fabric]) -> set[tuple[str, str]]:
    """Return the interfaces and RDMA devices of a launch's fabric, by host."""
    if launch.entry.fabric is None:
        return set()
    fabric, hosts = fabrics[launch.entry.fabric], launch.entry.hosts
    devices = {host: port.device for host, port in fabric.rdma_ports.items()}
    return {(host, names[host]) for names in (fabric.interfaces, devices) for host in hosts if host in names}


def _uses_port(launch: Launch, fabrics: Mapping[str, Fabric]) -> bool:
    """Return whether an RDMA port may carry what a launch sends."""
    layer, fabric = layer_of(launch.entry.layer), launch.entry.fabric
    speaks_rdma = fabric is not None and fabrics[fabric].transport in RDMA_TRANSPORTS
    return layer.needs_rdma or (speaks_rdma and layer.carrier not in (Carrier.TCP, Carrier.MEMORY, Carrier.NOTHING))


def _alone(
    launch: Launch, fabrics: Mapping[str, Fabric], setting: Collection[str], guests: Collection[str]
) -> str | None:
    entry = launch.entry
    if entry.instrument != OUR_ENGINE:
        return f"{entry.instrument} cannot wait for its turn"
    fabric = fabrics[entry.fabric] if entry.fabric else None
    if fabric is not None and on_hosts(fabric.knobs):
        return "what its fabric sets holds for whole hosts"
    if entry.mpi in setting:
        return "what its library sets holds for whole hosts"
    is_in_guests = not set(guests).isdisjoint(entry.hosts)
    return _needs_memory(launch, MOST_HELD_IN_GUESTS_BYTES if is_in_guests else MOST_HELD_BYTES)


def _needs_memory(launch: Launch, most_bytes: int) -> str | None:
    """Return why a launch's messages are too much for a host that holds those of others too."""
    if any(case.parameter_map.get("buffers") == Buffers.ROTATING.value for case in launch.cases):
        return "its rotating buffers are larger than a host's cache, and a group's launches hold theirs all at once"
    ranks = len(launch.entry.hosts)
    factors = (ranks if kind_of(case.benchmark).pattern in (GROUP, *OF_STREAMS) else 1 for case in launch.cases)
    sizes = (case.message_size_bytes * factor for case, factor in zip(launch.cases, factors, strict=True))
    if 2 * ranks * max(sizes, default=0) > most_bytes:
        return f"its messages need more than {most_bytes >> 20} MiB, which all launches of a group hold at once"
    return None
