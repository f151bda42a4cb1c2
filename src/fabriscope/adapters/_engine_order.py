"""What holds between the records of an engine's stream: what comes once, what belongs together, what time there was."""

from __future__ import annotations

from dataclasses import dataclass, field

from fabriscope.adapters._foreign import check_time
from fabriscope.model.command import Outcome
from fabriscope.model.errors import ParseError
from fabriscope.model.foreign import MOST_INT, Foreign
from fabriscope.model.measurement import SampleBlock

RESULTS = (
    "header", "pool", "metric", "block", "rank_block", "stream_block", "verification", "turns", "failure", "footer",
)  # fmt: skip
"""Kinds of records that do not come after the footer, which is the last."""
OVERLAPPING = "common_clock"
"""The timing whose operations may begin at one rank before the one before has ended at another."""
MOST_TCP_PORT = 65535


@dataclass
class Order:
    """What was said so far."""

    kinds: set[str] = field(default_factory=set)
    bursts: set[tuple[object, ...]] = field(default_factory=set)
    """What names each block but those of single ranks, and what names each of theirs: none may stand twice."""
    block: SampleBlock | None = None
    """The last one that is of the operation as a whole."""
    longest_ns: int = 0
    """Of a sample."""
    together_ns: int = 0
    """All samples that were made one after the other."""
    last_rank: int = 0
    """The highest one that a share is of."""
    last_start_ns: int = -MOST_INT
    """When the last burst began."""

    def take(self, kind: str, record: Foreign) -> None:
        """Note a record; raises ParseError for a second header, and for what comes after the footer."""
        if "footer" in self.kinds and kind in RESULTS:
            raise ParseError(f"a record of the type {kind} stands after the footer", where=record.where)
        if kind == "header" and kind in self.kinds:
            raise ParseError("a second header stands in it", where=record.where)
        if kind == "listening":
            record.at("tcp_port").whole(least=1, most=MOST_TCP_PORT)
        self.kinds.add(kind)

    def take_block(self, block: SampleBlock, record: Foreign) -> None:
        """Note a block of the operation as a whole; raises ParseError for one that was there, or has other counts."""
        burst = (block.case_id, block.phase, block.round, block.burst, block.start_ns)
        if burst in self.bursts:
            raise ParseError(f"the burst {block.burst} of case {block.case_id} stands twice", where=record.where)
        self.bursts.add(burst)
        self.block = block
        slowest = record.get("slowest_ranks")
        if slowest is not None and len(slowest.sequence()) != len(block.values):
            what = f"{len(slowest.sequence())} slowest ranks are named of {len(block.values)} samples"
            raise ParseError(what, where=record.where)
        self.longest_ns = max(self.longest_ns, *(int(max(block.values)),) if block.values else (0,))
        self.last_start_ns = max(self.last_start_ns, block.start_ns)
        for name in ("clock_error_ns", "late_operation_count", "late_tolerance_ns"):
            if (value := record.get(name)) is not None:
                value.whole()
        timing = record.get("timing")
        if timing is None or timing.text() != OVERLAPPING:
            self.together_ns += int(sum(block.values))

    def take_share(self, share: SampleBlock, record: Foreign) -> None:
        """Note a rank's share of the block before; raises ParseError if it is of another, or has other counts."""
        of = self.block or share
        place, of_place = ((one.case_id, one.phase, one.round, one.burst) for one in (share, of))
        if place != of_place:
            what = f"a rank's share of burst {share.burst} stands after a block of burst {of.burst}"
            raise ParseError(f"{what}, or is of another case, round or phase", where=record.where)
        if len(share.values) != len(of.values):
            what = f"rank {share.rank} has {len(share.values)} samples of a burst of {len(of.values)}"
            raise ParseError(what, where=record.where)
        name = (*place, of.start_ns, share.rank, share.quantity)
        if name in self.bursts:
            raise ParseError(f"the share of rank {share.rank} in burst {share.burst} stands twice", where=record.where)
        self.bursts.add(name)
        self.last_rank = max(self.last_rank, share.rank or 0)
        self.longest_ns = max(self.longest_ns, *(int(max(share.values)),) if share.values else (0,))

    def take_arrived(self, arrived: SampleBlock, record: Foreign) -> SampleBlock:
        """Note what arrived of one stream, and return it; raises ParseError if it stands twice or elsewhere."""
        of = self.block or arrived
        place, of_place = ((one.case_id, one.phase, one.round, one.burst) for one in (arrived, of))
        name = (*place, of.start_ns, arrived.rank, arrived.quantity)
        if place != of_place or name in self.bursts:
            what = f"what arrived of rank {arrived.rank} stands twice, or after a block of another burst"
            raise ParseError(what, where=record.where)
        self.bursts.add(name)
        self.last_rank = max(self.last_rank, arrived.rank or 0)
        return arrived

    def check_ranks(self, rank_count: int) -> None:
        """Raise ParseError where a share is of a rank that the launch does not have."""
        if self.last_rank >= rank_count:
            what = f"a share is of rank {self.last_rank}, and the launch has {rank_count} ranks, from 0"
            raise ParseError(what, where="engine output")

    def check_times(self, outcome: Outcome) -> None:
        """Raise ParseError where a sample, or all of them, took longer than the engine ran, or began later."""
        for time_ns in (self.longest_ns, self.together_ns, self.last_start_ns):
            check_time(time_ns / 1e9, outcome, "engine output")
