"""What the calls of MPI of one program came to, rank by rank (docs/profile.md)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from fabriscope.model.limits import Count, Ordinal, UnixNs, Whole32

SELF, HOST, HOSTS, UNKNOWN = "self", "host", "hosts", "unknown"
"""Whom a call concerns: the rank itself, ranks of its host, ranks of other hosts too; or nobody tells."""
FINALIZED, ABORTED, EXITED, CUT = "finalized", "aborted", "exited", "cut"
"""How a rank ended: by MPI_Finalize, by MPI_Abort, without either; or it was killed, and what counts is until then."""
BLOCKWISE = frozenset(
    f"MPI_{name}"
    for name in (
        *("Alltoall", "Alltoallv", "Alltoallw"),
        *("Ialltoall", "Ialltoallv", "Ialltoallw"),
    )
)
"""Calls whose bytes are blocks for all ranks."""
WAITS = frozenset(f"MPI_{name}" for name in ("Wait", "Waitall", "Waitany", "Waitsome"))
SENDS = frozenset(f"MPI_{name}" for name in ("Send", "Bsend", "Ssend", "Rsend"))
STARTED_SENDS = frozenset(f"MPI_{name}" for name in ("Isend", "Ibsend", "Issend", "Irsend", "Start", "Startall"))
EXCHANGES = frozenset(("MPI_Sendrecv", "MPI_Sendrecv_replace", "MPI_Sendrecv_shift"))
ONE_SIDED = frozenset(
    f"MPI_{form}" for name in ("put", "get", "accumulate", "get_accumulate") for form in (name.capitalize(), f"R{name}")
)
MOST_RANKS_KEPT = 256
"""Of a launch's profile in its run; of larger jobs this many ranks, evenly spread."""


@dataclass(frozen=True)
class Part:
    """What one rank's calls of one kind, size and peer came to."""

    call: str
    where: str
    size_class: Whole32
    """0 for 0 bytes, k for messages from 2^(k-2) + 1 to 2^(k-1) bytes."""
    count: Count
    bytes: Count
    """What the rank handed over; of an all-to-all the blocks for all ranks. Of a receive, what came."""
    ns: Count
    """In the calls, from begin to end."""
    peer: Whole32 | None = None
    """Of point-to-point, the other rank of MPI_COMM_WORLD; None where nobody tells, and where peers were summed up."""
    ranks: Ordinal | None = None
    """Of a collective, how many took part."""
    hosts: Ordinal | None = None
    """And on how many hosts they were, where that is known."""

    @property
    def message_bytes(self) -> float:
        """Return the mean message, as benchmarks name its size (docs/collectives.md)."""
        if not self.count:
            return 0.0
        blocks = self.ranks or 1 if self.call in BLOCKWISE else 1
        return self.bytes / self.count / blocks


@dataclass(frozen=True)
class RankProfile:
    """One rank, from the end of MPI_Init to MPI_Finalize, or to its end."""

    rank: Whole32
    host: str
    end: str
    run_ns: Count
    parts: tuple[Part, ...]
    cost_ns: float = 0.0
    """What counting one call takes, as the rank tried it out after MPI_Init."""
    has_threads: bool = False
    """Several threads may call at once: times of calls are sums over threads."""
    lost_calls: Count = 0
    """Calls that found no room in the rank's file, whose time is `lost_ns`."""
    lost_ns: Count = 0
    untracked_requests: Count = 0
    failed_calls: Count = 0

    @property
    def mpi_ns(self) -> int:
        """Return the time in all calls that were counted, and in those that found no room."""
        return sum(part.ns for part in self.parts) + self.lost_ns

    @property
    def call_count(self) -> int:
        """Return how many calls were counted."""
        return sum(part.count for part in self.parts)


@dataclass(frozen=True)
class Profile:
    """One job."""

    program: str
    library: str
    started_unix_ns: UnixNs
    rank_count: Ordinal
    ranks: tuple[RankProfile, ...]
    """Those that left a profile."""

    @property
    def missing(self) -> int:
        """Return how many ranks left none."""
        return self.rank_count - len(self.ranks)

    @property
    def hosts(self) -> tuple[str, ...]:
        """Return the hosts that ranks were on."""
        return tuple(dict.fromkeys(rank.host for rank in self.ranks))

    @property
    def ranks_per_host(self) -> int:
        """Return the most ranks that one host had."""
        names = [rank.host for rank in self.ranks]
        return max(map(names.count, set(names)), default=1)

    @property
    def cost_share(self) -> float:
        """Return the share of the ranks' time that counting took."""
        run_ns = sum(rank.run_ns for rank in self.ranks)
        return sum(rank.cost_ns * rank.call_count for rank in self.ranks) / run_ns if run_ns else 0.0

    def condensed(self) -> Profile:
        """Return what a run keeps: peers summed up, and at most MOST_RANKS_KEPT ranks."""
        step = -(-len(self.ranks) // MOST_RANKS_KEPT)
        kept = self.ranks[:: max(step, 1)]
        return replace(self, ranks=tuple(replace(one, parts=tuple(_without_peers(one.parts))) for one in kept))


def _without_peers(parts: Iterable[Part]) -> Iterator[Part]:
    sums: dict[Part, tuple[int, int, int]] = {}
    for part in parts:
        key = replace(part, peer=None, count=0, bytes=0, ns=0)
        count, size, ns = sums.get(key, (0, 0, 0))
        sums[key] = count + part.count, size + part.bytes, ns + part.ns
    for key, (count, size, ns) in sums.items():
        yield replace(key, count=count, bytes=size, ns=ns)
