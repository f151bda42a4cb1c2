"""What a run consists of: launches, and for every case of a launch a measurement."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from fabriscope.model.case import Case, Entry

OPERATION = "operation_ns"
"""Quantity: how long one operation of a benchmark of our engine took, as metrics.py says what one is."""
RANK_OPERATION = "rank_operation_ns"
"""Quantity: how long one rank was inside the operation."""
RANK_START = "rank_start_offset_ns"
"""Quantity: how long after the first rank this one began."""
PAIR_OPERATION = "pair_operation_ns"
"""Quantity: the round trip between two ranks, where every one plays with every other (columns rank and peer)."""
ARRIVED = "arrived_byte_count"
"""Quantity: how much of one stream had arrived in each interval of one operation, in order; the last value is what came
after them. The account of the case says how long intervals and operation are."""
PHASES = ("warmup", "measure")
PARTIAL = (RANK_OPERATION, RANK_START, PAIR_OPERATION, ARRIVED)
"""Quantities that are of one rank or pair, and no value of their case."""


@dataclass(frozen=True)
class Launch:
    """One process start of one entry: the replicate of every statistic."""

    launch_id: int
    """Counts from 1 in the order of execution."""
    block: int
    """Every block launches every entry once, in its own random order; comparisons are paired inside a block."""
    entry: Entry
    cases: tuple[Case, ...]
    seed: int
    budget_ns: int
    """Time for measuring inside the launch, set-up excluded."""


@dataclass(frozen=True)
class SampleBlock:
    """The numbers that one burst of one case recorded, in order."""

    case_id: str
    values: Sequence[int] | Sequence[float]
    """In the unit that the quantity's name ends in."""
    quantity: str = OPERATION
    """OPERATION for our engine, RANK_OPERATION and RANK_START for the share of one rank, or a metric id: of other
    tools, and of benchmarks with a metric of their own."""
    operations_per_sample: int = 1
    """How many operations each value of operation_ns covers; the value is their sum."""
    phase: str = "measure"
    """`warmup` or `measure`."""
    round: int = 0
    """Round-robin pass over all cases of the launch, from 0."""
    burst: int = 0
    """Burst inside the launch, from 0."""
    start_ns: int = 0
    """Start of the burst on the launch's own clock."""
    rank: int | None = None
    """The rank whose share this is; None for what is true of the operation as a whole."""
    peer: int | None = None
    """The other rank, for PAIR_OPERATION."""


@dataclass(frozen=True)
class CaseResult:
    """How one case of a launch ended."""

    case_id: str
    status: str
    """`ok`, `failed` or `skipped`."""
    reason: str | None = None
    """Why it is not ok."""


@dataclass(frozen=True)
class ParsedLaunch:
    """What an adapter read out of the outcomes of one launch."""

    blocks: tuple[SampleBlock, ...]
    results: tuple[CaseResult, ...]
    """One for every case of the launch."""
    details: dict[str, object] = field(default_factory=dict)
    """What the tool said of itself: versions, clock cost, effective socket buffers ..."""
    hung_case_id: str | None = None
    """The case in which the launch stopped making progress; the others may be tried again without it."""
