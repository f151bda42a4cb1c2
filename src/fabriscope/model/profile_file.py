"""The files that ranks leave (engine/profile/format.h), and what they say together.

A rank's file holds what the rank knows of itself: peers are ranks, communicators are lists of ranks. On which host each
rank was is known once all are read.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from fabriscope.model.errors import ParseError
from fabriscope.model.profile import (
    ABORTED,
    CUT,
    EXITED,
    FINALIZED,
    HOST,
    HOSTS,
    SELF,
    UNKNOWN,
    Part,
    Profile,
    RankProfile,
)

MAGIC = b"fabprof1"
_HEADER = struct.Struct("=8s10I14Q64s256s128s")
_GROUP = struct.Struct("=IIQ60I")
_ENTRY = struct.Struct("=4Q")
_NAME_BYTES = 32
_MOST_CALLS, _MOST_GROUPS, _MOST_ENTRIES, _MOST_CLASS, _MOST_RANKS = 255, 1024, 1 << 16, 64, 1 << 24
_NOBODY, _ANYBODY = 0xFFFFFFFF, 0xFFFFFFFE
_ENDS = {0: CUT, 1: FINALIZED, 2: ABORTED, 3: EXITED}
_OF_NOBODY = ("MPI_Wait", "MPI_Test", "MPI_Comm_free", "MPI_Comm_disconnect")
COLLECTIVES = frozenset(
    f"MPI_{form}"
    for name in (
        *("barrier", "bcast", "gather", "gatherv", "scatter", "scatterv", "allgather", "allgatherv", "alltoall"),
        *("alltoallv", "alltoallw", "reduce", "allreduce", "reduce_scatter", "reduce_scatter_block", "scan", "exscan"),
    )
    for form in (name.capitalize(), f"I{name}")
) | frozenset(
    f"MPI_{name}"
    for name in (
        *("Neighbor_allgather", "Neighbor_allgatherv", "Neighbor_alltoall", "Neighbor_alltoallv"),
        *("Comm_dup", "Comm_split", "Comm_create"),
    )
)
"""Calls that are counted by communicator; others by peer."""


@dataclass(frozen=True)
class _Group:
    """The ranks of a communicator; of a large one, the first of them."""

    size: int
    members: tuple[int, ...]


@dataclass(frozen=True)
class _Entry:
    call: str
    size_class: int
    who: int
    count: int
    bytes: int
    ns: int


@dataclass(frozen=True)
class RankFile:
    """One rank's file, as it stands there."""

    rank: int
    rank_count: int
    job: int
    started_unix_ns: int
    program: str
    library: str
    host: str
    about: RankProfile
    """Without its parts."""
    groups: tuple[_Group, ...]
    group_limit: int
    entries: tuple[_Entry, ...]


def read(content: bytes, where: str) -> list[RankFile]:
    """Return the ranks of a file: one, or those that rank 0 wrote one behind the other. Raises ParseError."""
    found: list[RankFile] = []
    place = 0
    while content[place : place + len(MAGIC)] == MAGIC or not found:
        one, place = _read_one(content, place, where)
        found.append(one)
    return found


def _read_one(content: bytes, place: int, where: str) -> tuple[RankFile, int]:
    """Return the rank at a place, and the place behind it."""
    if content[place : place + len(MAGIC)] != MAGIC or len(content) < place + _HEADER.size:
        raise ParseError("it is no profile of a rank, or of another version of fabriscope", where=where)
    (
        _, header_bytes, call_count, group_limit, entry_limit, state, rank, rank_count, group_count, entry_count,
        threads, started, job, first_tick, first_ns, second_tick, second_ns, begin_tick, last_tick,
        paused_ticks, lost_calls, lost_ticks, untracked, failed, cost_ticks, host, program, library,
    ) = _HEADER.unpack_from(content, place)  # fmt: skip
    is_sound = (
        header_bytes == _HEADER.size and call_count <= _MOST_CALLS and group_count <= group_limit <= _MOST_GROUPS
        and entry_count <= entry_limit <= _MOST_ENTRIES and rank < rank_count <= _MOST_RANKS
        and second_tick > first_tick
    )  # fmt: skip
    at_names = place + header_bytes
    at_groups = at_names + call_count * _NAME_BYTES
    at_entries = at_groups + group_limit * _GROUP.size
    end = at_entries + entry_count * _ENTRY.size
    if not is_sound or len(content) < end:
        raise ParseError("it is damaged, or was cut", where=where)
    tick_ns = (second_ns - first_ns) / (second_tick - first_tick)
    names = [_text(content[at : at + _NAME_BYTES]) for at in range(at_names, at_groups, _NAME_BYTES)]
    groups = tuple(_group(_GROUP.unpack_from(content, at_groups + at * _GROUP.size)) for at in range(group_count))
    entries = tuple(_entries(content[at_entries:end], names, tick_ns, where))
    about = RankProfile(
        rank=rank,
        host=_text(host),
        end=_ENDS.get(state, CUT),
        run_ns=max(0, round((last_tick - begin_tick - paused_ticks) * tick_ns)),
        parts=(),
        cost_ns=cost_ticks * tick_ns / 1024,
        has_threads=bool(threads),
        lost_calls=lost_calls,
        lost_ns=round(lost_ticks * tick_ns),
        untracked_requests=untracked,
        failed_calls=failed,
    )
    texts = _text(program), _text(library)
    return RankFile(rank, rank_count, job, started, *texts, about.host, about, groups, group_limit, entries), end


def _text(raw: bytes) -> str:
    return raw.partition(b"\0")[0].decode("utf-8", "replace")


def _group(numbers: Sequence[int]) -> _Group:
    size, listed, _, *members = numbers
    return _Group(size, tuple(members[:listed]))


def _entries(content: bytes, names: Sequence[str], tick_ns: float, where: str) -> Iterator[_Entry]:
    for key, count, size, ticks in _ENTRY.iter_unpack(content):
        if not key:
            continue  # one that was just being made when the rank was killed
        call, size_class, who = key >> 40 & 0xFF, key >> 32 & 0xFF, key & 0xFFFFFFFF
        if call >= len(names) or size_class > _MOST_CLASS:
            raise ParseError("it is damaged", where=where)
        yield _Entry(names[call], size_class, who, count, size, round(ticks * tick_ns))


def jobs(files: Iterable[RankFile]) -> list[Profile]:
    """Return the jobs that ranks belong to, in the order of their begin.

    The launchers' names of jobs tell them apart, and where a rank is met twice, the order in time.
    """
    found: dict[tuple[int, int, int], dict[int, RankFile]] = {}
    seen: dict[tuple[int, int, int], int] = {}
    for one in sorted(files, key=lambda one: one.started_unix_ns):
        turn = seen.get((one.job, one.rank_count, one.rank), 0)
        seen[one.job, one.rank_count, one.rank] = turn + 1
        found.setdefault((one.job, one.rank_count, turn), {})[one.rank] = one
    return sorted((_job(ranks) for ranks in found.values()), key=lambda job: job.started_unix_ns)


def _job(files: Mapping[int, RankFile]) -> Profile:
    hosts = {rank: one.host for rank, one in files.items()}
    first = files[min(files)]
    ranks = (_resolved(files[rank], hosts) for rank in sorted(files))
    return Profile(first.program, first.library, first.started_unix_ns, first.rank_count, tuple(ranks))


def _resolved(one: RankFile, hosts: Mapping[int, str]) -> RankProfile:
    """Return a rank with whom each of its calls concerned."""
    parts = tuple(_part(entry, one, hosts) for entry in one.entries)
    return RankProfile(**{**vars(one.about), "parts": parts})


def _part(entry: _Entry, one: RankFile, hosts: Mapping[int, str]) -> Part:
    numbers = (entry.size_class, entry.count, entry.bytes, entry.ns)
    if entry.call in COLLECTIVES:
        group = one.groups[entry.who] if entry.who < len(one.groups) else _Group(0, ())
        named = {hosts[member] for member in group.members if member in hosts}
        is_known = len(group.members) == group.size and all(member in hosts for member in group.members)
        where = SELF if group.size == 1 else HOSTS if len(named) > 1 else HOST if is_known else UNKNOWN
        count = len(named) if is_known else None
        return Part(entry.call, where, *numbers, ranks=group.size or None, hosts=count or None)
    if entry.who == _NOBODY and not entry.call.startswith(_OF_NOBODY):
        return Part(entry.call, SELF, *numbers)  # MPI_PROC_NULL: nothing goes anywhere
    if entry.who in (_NOBODY, _ANYBODY) or entry.who not in hosts:
        peer = None if entry.who in (_NOBODY, _ANYBODY) else entry.who
        return Part(entry.call, UNKNOWN, *numbers, peer=peer)
    where = SELF if entry.who == one.rank else HOST if hosts[entry.who] == one.host else HOSTS
    return Part(entry.call, where, *numbers, peer=entry.who)
