"""What a rank's calls should take over a fabric, by its measured times (the model: docs/profile.md)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from math import ceil, log2

from fabriscope.analysis.profiles.measured import Measured, TimeCurve
from fabriscope.model.profile import (
    EXCHANGES,
    HOST,
    HOSTS,
    ONE_SIDED,
    SELF,
    SENDS,
    STARTED_SENDS,
    Part,
    RankProfile,
)

_SMALL = 8.0
"""Bytes of a message that says no more than that it has come."""
_RECEIVES = frozenset(("MPI_Recv", "MPI_Mrecv", "MPI_Irecv", "MPI_Imrecv"))
_MESSAGES_OF_TWO = SENDS | _RECEIVES | EXCHANGES | STARTED_SENDS | ONE_SIDED
_EVEN = {
    "gatherv": "gather", "scatterv": "scatter", "allgatherv": "allgather", "alltoallv": "alltoall",
    "alltoallw": "alltoall",
}  # fmt: skip
"""Collectives of uneven blocks, to those of even ones, which stand for them where they were not measured."""


@dataclass(frozen=True)
class Shape:
    """How the ranks of a collective lie."""

    ranks: int
    hosts: int

    @property
    def per_host(self) -> int:
        """Return the ranks of a host, which share its interface."""
        return ceil(self.ranks / self.hosts)

    @property
    def rounds(self) -> int:
        """Return the rounds, each of twice as many ranks as the one before, that pass from host to host."""
        return ceil(log2(self.hosts)) if self.hosts > 1 else 0


@dataclass(frozen=True)
class Cost:
    """What the calls of one name should take at one rank."""

    count: int
    ns: float
    basis: str
    """What was measured and stands for them: `ping-pong`, or the collective's name."""


def costs(rank: RankProfile, job: Shape, measured: Measured) -> dict[str, Cost]:
    """Return call to cost, of the calls that concern other hosts."""
    has_far = any(part.where == HOSTS for part in rank.parts)
    found: dict[str, Cost] = {}
    for part in rank.parts:
        if part.where in (SELF, HOST) or (part.where != HOSTS and not has_far):
            continue
        each = _one(part, job, measured)
        if each is not None:
            before = found.get(part.call, Cost(0, 0.0, each[1]))
            found[part.call] = Cost(before.count + part.count, before.ns + part.count * each[0], each[1])
    return _overlapped(found)


def _overlapped(found: Mapping[str, Cost]) -> dict[str, Cost]:
    """Return the costs of a rank that sends while it receives: of what it started to send and of its receives those
    count that take longer in sum."""
    sends = sum(cost.ns for call, cost in found.items() if call in STARTED_SENDS)
    receives = sum(cost.ns for call, cost in found.items() if call in _RECEIVES)
    if not sends or not receives:
        return dict(found)
    hidden = STARTED_SENDS if sends <= receives else _RECEIVES
    return {call: cost for call, cost in found.items() if call not in hidden}


def _one(part: Part, job: Shape, measured: Measured) -> tuple[float, str] | None:
    """Return what one of the part's calls takes, and by which measurement; None for calls that move nothing."""
    size = part.message_bytes
    if part.ranks is None:
        if part.call not in _MESSAGES_OF_TWO or (part.call in ("MPI_Start", "MPI_Startall") and not part.bytes):
            return None
        exchanged = _curve_of("sendrecv", measured.together) if part.call in EXCHANGES else None
        if exchanged is not None:
            return exchanged[0].at(size), exchanged[1]
        return measured.one_way.at(size * job.per_host), "ping-pong"
    shape = Shape(part.ranks, part.hosts or min(job.hosts, part.ranks))
    name = part.call.removeprefix("MPI_").lower()
    curve = _curve_of(name, measured.together) if part.ranks == job.ranks else None
    if curve is not None:
        return curve[0].at(size), curve[1]
    return _by_messages(name, size, shape, measured.one_way), "ping-pong"


def _curve_of(name: str, together: Mapping[str, TimeCurve]) -> tuple[TimeCurve, str] | None:
    plain = name.removeprefix("i")
    for one in (name, plain, _EVEN.get(plain, plain)):
        if one in together:
            return together[one], one
    return None


def _by_messages(name: str, size: float, shape: Shape, one_way: TimeCurve) -> float:
    """Return what a collective takes by the messages of the algorithms that libraries choose from: the cheaper one.

    The ranks of a host share its interface: messages that they send in the same round count as one of the sum.
    """
    if shape.hosts < 2:
        return 0.0
    plain = name.removeprefix("i")
    plain = _EVEN.get(plain, plain)
    found = _MESSAGES.get(plain)
    rounds = found(size, shape) if found is not None else [[_SMALL] * shape.rounds]
    return min(sum(map(one_way.at, sizes)) for sizes in rounds)


Sizes = Iterable[float]
"""Of the messages that follow one another."""


def _doubling(first: float, rounds: int) -> list[float]:
    return [first * 2**number for number in range(rounds)]


def _bcast(size: float, shape: Shape) -> list[Sizes]:
    pieces = [size / shape.hosts] * (shape.rounds + shape.hosts - 1)
    return [[size] * shape.rounds, pieces]


def _allreduce(size: float, shape: Shape) -> list[Sizes]:
    ring = [size / shape.ranks] * (2 * (shape.ranks - 1))
    return [[size * shape.per_host] * shape.rounds, ring]


def _allgather(size: float, shape: Shape) -> list[Sizes]:
    return [_doubling(size * shape.per_host**2, shape.rounds), [size] * (shape.ranks - 1)]


def _alltoall(size: float, shape: Shape) -> list[Sizes]:
    pairwise = [size * shape.per_host] * (shape.ranks - shape.per_host)
    return [pairwise, [size * shape.per_host * shape.ranks / 2] * shape.rounds]


def _gather(size: float, shape: Shape) -> list[Sizes]:
    return [_doubling(size * shape.per_host, shape.rounds)]


def _reduce_scatter(size: float, shape: Shape) -> list[Sizes]:
    halves = [size * shape.per_host / 2 ** (number + 1) for number in range(shape.rounds)]
    return [halves, [size / shape.ranks] * (shape.ranks - 1)]


def _scan(size: float, shape: Shape) -> list[Sizes]:
    return [[size * shape.per_host] * shape.rounds]


_MESSAGES: Mapping[str, Callable[[float, Shape], list[Sizes]]] = {
    "bcast": _bcast, "reduce": _bcast, "allreduce": _allreduce, "allgather": _allgather, "alltoall": _alltoall,
    "gather": _gather, "scatter": _gather, "reduce_scatter": _reduce_scatter, "reduce_scatter_block": _reduce_scatter,
    "scan": _scan, "exscan": _scan,
}  # fmt: skip
"""Collective to the algorithms that move its data; others (a barrier) only have to hear of each other."""
