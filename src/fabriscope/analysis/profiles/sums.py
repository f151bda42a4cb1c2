"""A profile, summed up as people ask it: by call, by size, by pair of ranks, and what of it a fabric can change."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from statistics import median

from fabriscope.analysis.rows import parts
from fabriscope.model.profile import (
    ABORTED,
    CUT,
    EXCHANGES,
    EXITED,
    HOST,
    HOSTS,
    ONE_SIDED,
    SELF,
    SENDS,
    STARTED_SENDS,
    UNKNOWN,
    WAITS,
    Part,
    Profile,
    RankProfile,
)

_TO_PEER = SENDS | STARTED_SENDS | EXCHANGES
"""Calls whose bytes go from the rank to its peer."""
WAITS_FOR_PEER = frozenset(("MPI_Recv", "MPI_Probe", "MPI_Mprobe", "MPI_Sendrecv", "MPI_Sendrecv_replace", *WAITS))
"""Calls that end once something of the peer has come."""
_LOCAL = frozenset(("MPI_Comm_free", *(f"MPI_{name}_init" for name in ("Send", "Bsend", "Ssend", "Rsend", "Recv"))))
MATRIX_RANKS = 16
"""Of more ranks the matrix is by host, and of more hosts it has the largest pairs alone."""


@dataclass(frozen=True)
class Spread:
    """A number of every rank: of the least one, the one in the middle, the greatest one."""

    least: float
    middle: float
    most: float


@dataclass(frozen=True)
class CallSum:
    """One call over all ranks."""

    call: str
    count: int
    bytes: int
    ns: Spread
    share: float
    """Of the ranks' time, all together."""


@dataclass(frozen=True)
class SizeSum:
    """The messages of one size class over all ranks: what was sent, and collectives."""

    least_bytes: int
    most_bytes: int
    count: int
    bytes: int
    ns: int
    """In the calls."""


@dataclass(frozen=True)
class Pair:
    """What one rank, or host, was sent by another, or how long it was waited for."""

    source: str
    target: str
    count: int
    bytes: int
    ns: int


def by_call(profile: Profile) -> list[CallSum]:
    """Return every call that was made, the one that took most time first."""
    run_ns = sum(rank.run_ns for rank in profile.ranks) or 1
    found = []
    for call in dict.fromkeys(part.call for rank in profile.ranks for part in rank.parts):
        of_call = [[part for part in rank.parts if part.call == call] for rank in profile.ranks]
        every = [part for of_rank in of_call for part in of_rank]
        times = spread_of([sum(part.ns for part in of_rank) for of_rank in of_call])
        count, size, ns = _sums(every)
        found.append(CallSum(call, count, size, times, ns / run_ns))
    return sorted(found, key=lambda one: (-one.share, one.call))


def spread_of(values: Sequence[float]) -> Spread:
    """Return least, middle and greatest of the ranks' values; zeros without ranks."""
    return Spread(min(values), median(values), max(values)) if values else Spread(0, 0, 0)


def by_size(profile: Profile) -> list[SizeSum]:
    """Return the size classes of messages: each message once, at its sender, and collectives at each rank."""
    messages = [part for rank in profile.ranks for part in rank.parts if _is_message(part)]
    found = []
    for of_class in sorted(parts(messages, lambda part: part.size_class), key=lambda group: group[0].size_class):
        found.append(SizeSum(*bounds(of_class[0].size_class), *_sums(of_class)))
    return found


def bounds(size_class: int) -> tuple[int, int]:
    """Return the least and the greatest message of a class, in bytes."""
    return (0, 0) if not size_class else ((1 << (size_class - 1)) // 2 + 1, 1 << (size_class - 1))


def _is_message(part: Part) -> bool:
    is_moved = part.call in _TO_PEER | ONE_SIDED or part.ranks is not None
    return is_moved and not part.call.startswith("MPI_Comm_")


def sent(profile: Profile) -> list[Pair]:
    """Return who sent what to whom from point to point, by rank or, of many ranks, by host; most bytes first."""
    return _pairs(profile, lambda part: part.call in _TO_PEER, lambda pair: pair.bytes)


def waited(profile: Profile) -> list[Pair]:
    """Return who waited for whom, as far as calls tell: those that end once something of one rank has come."""
    return _pairs(profile, lambda part: part.call in WAITS_FOR_PEER, lambda pair: pair.ns)


def _pairs(profile: Profile, counts: Callable[[Part], bool], worth: Callable[[Pair], int]) -> list[Pair]:
    by_host = profile.rank_count > MATRIX_RANKS
    hosts = {rank.rank: rank.host for rank in profile.ranks}

    def name(rank: int) -> str:
        return hosts.get(rank, "unknown") if by_host else str(rank)

    told = (
        ((name(rank.rank), name(part.peer)), part)
        for rank in profile.ranks
        for part in rank.parts
        if part.peer is not None and counts(part)
    )
    grouped = parts(told, lambda one: one[0])
    pairs = (Pair(*group[0][0], *_sums([part for _, part in group])) for group in grouped)
    return sorted(pairs, key=lambda pair: (-worth(pair), pair.source, pair.target))


def _sums(every: Iterable[Part]) -> tuple[int, int, int]:
    listed = list(every)
    return sum(one.count for one in listed), sum(one.bytes for one in listed), sum(one.ns for one in listed)


def changeable_ns(rank: RankProfile) -> int:
    """Return the time in calls that concern other hosts, or of which nobody knows whether they do.

    A wait of unknown peers counts where the rank has anything to do with other hosts. It is the most that another
    fabric could change: what of it is waiting for a rank that computes longer would stay.
    """
    has_far = any(part.where == HOSTS for part in rank.parts)
    return sum(part.ns for part in rank.parts if _is_changeable(part, has_far=has_far)) + (rank.lost_ns * has_far)


def _is_changeable(part: Part, *, has_far: bool) -> bool:
    if part.call in _LOCAL or part.where in (SELF, HOST):
        return False
    return part.where == HOSTS or has_far


def mpi_share(profile: Profile) -> float:
    """Return the share of the ranks' time that is spent in MPI."""
    return _share(profile, lambda rank: rank.mpi_ns)


def changeable_share(profile: Profile) -> float:
    """Return the share of the ranks' time that a fabric could change at most."""
    return _share(profile, changeable_ns)


def _share(profile: Profile, of: Callable[[RankProfile], int]) -> float:
    run_ns = sum(rank.run_ns for rank in profile.ranks)
    return sum(map(of, profile.ranks)) / run_ns if run_ns else 0.0


def losses(profile: Profile) -> Iterator[str]:
    """Yield what is not in the profile, a sentence each."""
    if profile.missing:
        yield (
            f"{profile.missing} of {profile.rank_count} ranks left no profile: they ended before MPI_Init had, or"
            " the profile's folder, or its library, is not where they ran"
        )
    for end, what in _ENDS.items():
        count = sum(rank.end == end for rank in profile.ranks)
        if count:
            yield f"{count} of {profile.rank_count} ranks {what}"
    lost = sum(rank.lost_calls for rank in profile.ranks)
    if lost:
        yield f"{lost} calls had too many kinds, sizes and peers to be told apart: their time alone is counted"
    failed = sum(rank.failed_calls for rank in profile.ranks)
    if failed:
        yield f"{failed} calls returned an error, and are not counted"
    every = (part for rank in profile.ranks for part in rank.parts)
    if any(part.where == UNKNOWN and part.peer is None and part.call in _TO_PEER for part in every):
        yield "ranks have more peers than their files have room for: some of what they sent is told without its target"
    untracked = sum(rank.untracked_requests for rank in profile.ranks)
    if untracked:
        yield f"{untracked} requests were too many at once: whom their waits were for is not told"


_ENDS = {
    CUT: "were killed, or ended by _exit: what they did until their last call is here",
    ABORTED: "called MPI_Abort: what they did until then is here",
    EXITED: "ended without MPI_Finalize: what they did until then is here",
}
