"""What the journal has of a run: a record of each attempt at a launch, and the launches that were added."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from fabriscope.model.by_key import ByKey
from fabriscope.model.case import Case, Entry
from fabriscope.model.fabric import Fabric
from fabriscope.model.limits import Amount, CaseStatus, Count, DurationNs, LaunchStatus, Ordinal, Sentences, UnixNs
from fabriscope.model.manifest import BlockChoice, Near, ScheduledLaunch
from fabriscope.model.processors import Dealt
from fabriscope.model.profile import Profile
from fabriscope.model.tuning import Trials
from fabriscope.model.turns import TurnsTaken


@dataclass(frozen=True)
class Result:
    """What came of one case."""

    status: CaseStatus
    reason: str | None = None


@dataclass(frozen=True)
class ProcessRecord:
    """One process of a launch."""

    host: str
    argv: tuple[str, ...]
    exit_status: int | None
    elapsed_ns: DurationNs
    started_unix_ns: UnixNs = 0
    timed_out: bool = False
    """Whether it was ended because it took too long: what it had said until then does not count."""


@dataclass(frozen=True)
class FileDigests:
    """What a file is known by again."""

    sha256: str
    marks: str


@dataclass(frozen=True)
class Seal:
    """The digests of a line's files, and its place in the chain."""

    files: Mapping[str, FileDigests]
    marks: str
    chain: str


@dataclass(frozen=True)
class GroupAccount:
    """What the engine said of one case of several ranks, beside its samples."""

    operation_count: Count | None = None
    late_operation_count: Count | None = None
    """Operations that were left out because a rank began late."""
    clock_error_ns: Amount | None = None
    """By how much the common clock may have been wrong; None for other timings."""
    slowest_ranks: Mapping[int, Count] | None = None
    """Rank to the number of operations in which it finished last."""
    pure_ns: Amount | None = None
    """Time of the operation alone, where it was overlapped with computation of `compute_ns`."""
    compute_ns: Amount | None = None
    duration_ns: Count | None = None
    """How long each stream was sent, where rank 0 wrote down when how much of it arrived."""
    interval_ns: Count | None = None
    """Of what it wrote down."""
    sees_parts: Count | None = None
    """1 where it saw what had come of a message before the message was whole, 0 where it saw whole messages alone."""
    start_error_ns: Count | None = None
    """By how much two streams' starts may be wrong together, where a program could not be told when to start."""
    margin_ns: Count | None = None
    """How long such a program sent each stream before and after what is counted of it."""
    start_unix_ns: UnixNs | None = None
    """What the times of its samples count from, where that is not the launch's."""


@dataclass(frozen=True)
class ReadFrom:
    """The log that a launch's numbers were read from: somebody else made the launch."""

    file: str
    program: str
    version: str | None = None
    run: Ordinal = 1
    """Which of the file's runs of its tests, from 1."""
    unlike: Mapping[str, str] = field(default_factory=dict)
    """Metric id of the program's own to why it is none of ours, where its instrument would keep another one."""


@dataclass(frozen=True)
class Pool:
    """The memory that messages rotate through: as much again is received into."""

    pool_bytes: Count
    last_level_cache_bytes: Count | None = None
    """None where nobody says."""


@dataclass(frozen=True)
class Details:
    """What the instrument said of itself in one launch."""

    hung_case_ids: tuple[str, ...] = ()
    transport: str = ""
    clock_name: str | None = None
    clock_cost_ns: float | None = None
    """What reading the clock costs."""
    record_cost_ns: float | None = None
    """What recording an operation costs: that of the clock where nothing else is said."""
    start_unix_ns: UnixNs | None = None
    """What the times of samples count from, by the clock of rank 0's host; None where nobody said."""
    is_whole: bool = False
    """Whether our engine came to its footer."""
    exit_statuses: tuple[int | None, ...] = ()
    groups: Mapping[str, GroupAccount] = field(default_factory=dict)
    """Case id to its account."""
    sent_payload_bytes: Mapping[tuple[int, int], int] | None = None
    """From rank to rank, to the byte; None where nobody counted."""
    sent_messages: int | None = None
    processors: tuple[str, ...] = ()
    """Those that each rank could run on, as its host's kernel said; empty where nobody was asked."""
    bound: Dealt | None = None
    """What the ranks were given; None where the plan says nothing of it."""
    turns: TurnsTaken | None = None
    """None where the launch shared its time with no other one."""
    turn_group: str | None = None
    """Those that measured in turns with each other have the same."""
    alone_because: str | None = None
    """Why it did not, in a run whose launches measure in turns."""
    read_from: ReadFrom | None = None
    """None for what we launched."""
    profiles: Mapping[str, Profile] = field(default_factory=dict)
    """Case id to what its ranks did in MPI, where the plan wanted that."""
    profile_problems: Mapping[str, str] = field(default_factory=dict)
    """Case id to why there is none."""
    pool: Pool | None = None
    """Of rotating buffers; None where no case had any."""
    traps: Mapping[str, Mapping[str, tuple[str, ...]]] = field(default_factory=dict)
    """Name of a known trap to metric id to the cases whose number it concerns, as a program printed it."""


@dataclass(frozen=True)
class Numbered:
    """Of a record that is to be stored, what everything of it is called by."""

    launch_id: Ordinal
    block: Ordinal


@dataclass(frozen=True)
class LaunchRecord(ByKey):
    """One attempt at a launch: a line of the journal."""

    launch_id: Ordinal
    block: Ordinal
    entry_id: str = ""
    attempt: Ordinal = 1
    status: LaunchStatus = "ok"
    """`ok`, or `failed` where no case is ok."""
    reason: str | None = None
    results: Mapping[str, Result] = field(default_factory=dict)
    """Case id to what came of it."""
    commands: tuple[ProcessRecord, ...] = ()
    started_unix_ns: UnixNs = 0
    elapsed_ns: DurationNs = 0
    samples: str | None = None
    """The file of its samples, by its name in the folder."""
    counters: str | None = None
    idle_counters: str | None = None
    details: Details = field(default_factory=Details)
    mishaps: Sentences = ()
    stand_ins: Mapping[str, str] = field(default_factory=dict)
    """Host of the plan to the one that it ran on instead."""
    fabric_counters: Mapping[str, object] | None = None
    seal: Seal | None = None
    document: Mapping[str, Any] = field(default_factory=dict, compare=False, repr=False)
    """The JSON that it was read from, with what it says beyond this."""

    @property
    def name(self) -> str:
        """Return what the files of this attempt are called: `launch-0003`, `launch-0003-attempt-2`."""
        return launch_name(self.launch_id, self.attempt)

    @property
    def failures(self) -> dict[str, str]:
        """Return the cases that failed, and why."""
        failed = {case_id: result for case_id, result in self.results.items() if result.status == "failed"}
        return {case_id: result.reason or "" for case_id, result in failed.items()}

    @property
    def ok_count(self) -> int:
        """Return how many cases were measured."""
        return sum(result.status == "ok" for result in self.results.values())

    @property
    def chain(self) -> str | None:
        """Return the digest that covers everything up to this line; None in folders of older versions."""
        return self.seal.chain if self.seal is not None else None


@dataclass(frozen=True)
class AddedLaunches(ByKey):
    """A line of the journal that adds launches to those that were planned."""

    added: Ordinal
    """The number of the round."""
    near: tuple[Near, ...]
    cases: Mapping[str, Case]
    schedule: tuple[ScheduledLaunch, ...]
    entries: Mapping[str, Entry] = field(default_factory=dict)
    """Those that are new: over fabrics that a tuning tries."""
    fabrics: Mapping[str, Fabric] = field(default_factory=dict)
    trials: Trials | None = None
    """Of a round of tuning."""
    choice: BlockChoice | None = None
    """Of the blocks whose number a run chose; they belong to what was planned."""
    seal: Seal | None = None
    document: Mapping[str, Any] = field(default_factory=dict, compare=False, repr=False)

    @property
    def chain(self) -> str | None:
        """Return the digest that covers everything up to this line."""
        return self.seal.chain if self.seal is not None else None


Line = LaunchRecord | AddedLaunches


def launch_name(launch_id: int, attempt: int = 1) -> str:
    """Return what the files of one attempt at a launch are called."""
    return f"launch-{launch_id:04d}" + (f"-attempt-{attempt}" if attempt > 1 else "")
