"""What real runs with a planted difference come to: when each would have ended, and what that costs in each way."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from campaigns.statistics.power import blocks_for_power

from fabriscope.analysis.comparing.compared import FASTER, SLOWER, UNDECIDED, Compared
from fabriscope.analysis.comparing.comparisons import KINDS, curves_of, families
from fabriscope.analysis.comparing.judging import Family, judged
from fabriscope.analysis.numbers.intervals import LEAST_BLOCKS, log_ratio
from fabriscope.analysis.values.launch_values import launch_values
from fabriscope.analysis.values.stopping import UNTIL_DECIDED, rules_of
from fabriscope.analysis.values.turn_series import turn_series
from fabriscope.model.run_data import RunData

NEAR = "near"
"""The fabric that is faster."""
RIGHT, WRONG = "right", "wrong"
NO_NUMBER = "\N{EN DASH}"
_HALVINGS = 60


def latencies_ns(run: RunData) -> list[float]:
    """Return the latency of every launch of a run, in ns."""
    curves = curves_of(launch_values(run))
    return [value for points in curves.values() for blocks in points.values() for value in blocks.values()]


def added_delay_ns(latencies: Sequence[float], share: float) -> int:
    """Return by how much each latency has to grow that the geometric mean of their growths is `share`, to the ns."""
    base = np.array(latencies)
    low, high = 0.0, share * float(base.max())
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (low, middle) if np.log1p(middle / base).mean() > math.log1p(share) else (middle, high)
    return round(high)


@dataclass(frozen=True)
class Calibrated:
    """What a run of two equal fabrics told."""

    latencies_ns: tuple[float, ...]
    """Of every launch."""
    added_ns: int
    """What the second fabric's delay is longer by."""

    @property
    def middle_ns(self) -> float:
        """Return the median launch."""
        return float(np.median(self.latencies_ns))


@dataclass(frozen=True)
class Outcome:
    """What came of one run."""

    verdict: str
    """`right`, `wrong` or `undecided`."""
    verdict_blocks: int
    """After which it was decided; all of them where it was not."""
    verdict_s: float
    """From the start of the first launch to the end of that block."""
    blocks: int
    """All that were made."""
    seconds: float
    """The time of all."""
    centre: float
    """Log ratio of all blocks: above 0 where the fabric that is faster seems so."""
    spread: float
    """Standard deviation of a block's."""

    def words(self) -> str:
        """Return it in words."""
        ratio = f"ratio of all blocks {math.exp(self.centre):.3f}, deviation of one {self.spread:.1%}"
        return f"{self.verdict} after {self.verdict_blocks} blocks, {self.verdict_s:.1f} s; {ratio}"


def outcome_of(run: RunData) -> Outcome:
    """Return when a run would have been decided that goes on until it is, and for whom; raises ValueError for none."""
    plan = replace(run.manifest.plan, until=UNTIL_DECIDED)
    run = replace(run, manifest=replace(run.manifest, plan=plan))
    blocks = max(record.block for record in run.journal)
    verdict, at = UNDECIDED, blocks
    for look in range(LEAST_BLOCKS, blocks + 1):
        verdict = _verdict(_only(run, look))
        if verdict != UNDECIDED:
            at = look
            break
    (family,) = _compared(run)
    (spot,) = family.spots
    centre = spot.evidence.centre if family.pair.left == NEAR else -spot.evidence.centre
    return Outcome(verdict, at, _seconds(_only(run, at)), blocks, _seconds(run), centre, spot.evidence.spread)


def _only(run: RunData, blocks: int) -> RunData:
    return replace(run, journal=tuple(record for record in run.journal if record.block <= blocks))


def _compared(run: RunData) -> list[Family]:
    return families(launch_values(run), KINDS["fabric"], rules_of(run), turn_series(run))


def _verdict(run: RunData) -> str:
    (found,) = judged(_compared(run), rules_of(run))
    return verdict_of(found)


def verdict_of(found: Compared) -> str:
    """Return whether a comparison of the two fabrics tells the truth; "equivalent" does not."""
    if found.verdict == UNDECIDED:
        return UNDECIDED
    return RIGHT if found.verdict == (FASTER if found.pair.left == NEAR else SLOWER) else WRONG


def _seconds(run: RunData) -> float:
    ends = [record.started_unix_ns + record.elapsed_ns for record in run.journal]
    return (max(ends) - min(record.started_unix_ns for record in run.journal)) / 1e9


@dataclass(frozen=True)
class Quartiles:
    """The lower quartile, median and upper quartile of what may not have come to its end: then infinite."""

    low: float
    middle: float
    high: float

    @classmethod
    def of(cls, values: Sequence[float]) -> Quartiles:
        """Return them; each is one of the values, since there is none between a number and what never came."""
        return cls(*(float(np.quantile(values, share, method="inverted_cdf")) for share in (0.25, 0.5, 0.75)))

    def words(self, digits: int) -> str:
        """Return them in words."""
        low, middle, high = (f"{one:.{digits}f}" if math.isfinite(one) else "never" for one in vars(self).values())
        return f"{middle} ({low} to {high})"

    def document(self) -> list[float | None]:
        """Return them as JSON has them; None for what never came."""
        return [one if math.isfinite(one) else None for one in vars(self).values()]


@dataclass(frozen=True)
class Summary:
    """What came of all runs of a way and size."""

    way: str
    size: str
    share: float
    """Of the latency; what was planted."""
    calibrated: Calibrated
    outcomes: tuple[Outcome, ...]
    failed: int = 0

    def count(self, verdict: str, most: float = math.inf) -> int:
        """Return how many runs had the verdict, after so many blocks at most."""
        return sum(one.verdict == verdict and one.verdict_blocks <= most for one in self.outcomes)

    @property
    def blocks(self) -> Quartiles:
        """Blocks to the right verdict; in runs without it it never came."""
        return Quartiles.of([one.verdict_blocks if one.verdict == RIGHT else math.inf for one in self.outcomes])

    @property
    def seconds(self) -> Quartiles:
        """Machine time to the right verdict."""
        return Quartiles.of([one.verdict_s if one.verdict == RIGHT else math.inf for one in self.outcomes])

    @property
    def spread(self) -> float:
        """Standard deviation of a block's log ratio, inside runs."""
        return math.sqrt(sum(one.spread**2 for one in self.outcomes) / len(self.outcomes))

    @property
    def block_s(self) -> float:
        """Machine time of a block."""
        return sum(one.seconds for one in self.outcomes) / sum(one.blocks for one in self.outcomes)

    @property
    def reckoned_blocks(self) -> int:
        """Blocks of a plan that sees the planted difference with 90 %, by the t test and the spread."""
        return blocks_for_power(math.log1p(self.share) / self.spread)

    @property
    def reckoned_s(self) -> float:
        """Machine time of that plan."""
        return self.reckoned_blocks * self.block_s

    def pooled(self) -> tuple[float, float, float]:
        """Return the ratio of all blocks of all runs and its 95 % interval over runs, which is NaN for one run."""
        found = log_ratio([one.centre for one in self.outcomes])
        return math.exp(found.centre), math.exp(found.low), math.exp(found.high)

    def document(self, most: int) -> dict[str, object]:
        """Return all of it as JSON has it."""
        named = {name: getattr(self, name) for name in ("way", "size", "spread", "block_s", "failed")}
        within = {f"{name}_within": self.count(name, most) for name in (RIGHT, WRONG)}
        pooled = [one if math.isfinite(one) else None for one in self.pooled()]
        quartiles = {"blocks": self.blocks.document(), "seconds": self.seconds.document()}
        ends = {name: self.count(name) for name in (RIGHT, WRONG, UNDECIDED)}
        reckoned = {"reckoned_blocks": self.reckoned_blocks, "reckoned_s": self.reckoned_s}
        return {**named, "within_blocks": most, **within, **ends, **quartiles, "pooled_ratio": pooled, **reckoned}


def table(found: Sequence[Summary], most: int) -> str:
    """Return what came of all ways: what was planted, what was measured, and what is reckoned from it."""
    return "\n".join([*_planted(found), "", *_measured(found, most), "", *_reckoned(found)]) + "\n"


def _planted(found: Sequence[Summary]) -> list[str]:
    lines = [
        "Planted, and the ratio of all blocks of all runs:\n",
        "| way | size | latency, median launch | added to the delay | planted | all runs together | 95 % |",
        "|---|---|---|---|---|---|---|",
    ]
    for one in found:
        ratio, low, high = one.pooled()
        interval = f"{low:.3f} to {high:.3f}" if len(one.outcomes) > 1 else NO_NUMBER
        about = f"{one.calibrated.middle_ns / 1000:.2f} us | {one.calibrated.added_ns / 1000:.2f} us"
        lines.append(f"| {one.way} | {one.size} | {about} | {1 + one.share:.3f} | {ratio:.3f} | {interval} |")
    return lines


def _measured(found: Sequence[Summary], most: int) -> list[str]:
    lines = [
        f"Measured: right and wrong within {most} blocks, and what it took until right (median, quartiles):\n",
        "| way | size | runs | failed | right | wrong | neither | blocks until right | seconds until then | of off's |",
        "|---|---|---|---|---|---|---|---|---|---|",
    ]
    for one in found:
        right, wrong = one.count(RIGHT, most), one.count(WRONG, most)
        counts = f"{len(one.outcomes)} | {one.failed} | {right} | {wrong} | {len(one.outcomes) - right - wrong}"
        off = _off(found, one.size)
        shares = one.seconds.middle, off.seconds.middle if off is not None else math.inf
        share = f"{shares[0] / shares[1]:.2f}" if all(map(math.isfinite, shares)) else NO_NUMBER
        taken = f"{one.blocks.words(0)} | {one.seconds.words(1)}"
        lines.append(f"| {one.way} | {one.size} | {counts} | {taken} | {share} |")
    return lines


def _reckoned(found: Sequence[Summary]) -> list[str]:
    lines = [
        "Reckoned, not measured: a plan of so many blocks, looked at once, sees the planted difference with 90 %, if\n"
        "blocks are normal with the deviation that was measured:\n",
        "| way | size | deviation of a block | seconds a block | blocks, reckoned | time, reckoned | of off's |",
        "|---|---|---|---|---|---|---|",
    ]
    for one in found:
        off = _off(found, one.size)
        share = f"{one.reckoned_s / off.reckoned_s:.3f}" if off is not None else NO_NUMBER
        numbers = f"{one.spread:.1%} | {one.block_s:.2f} | {one.reckoned_blocks} | {one.reckoned_s:.0f} s"
        lines.append(f"| {one.way} | {one.size} | {numbers} | {share} |")
    return lines


def _off(found: Sequence[Summary], size: str) -> Summary | None:
    return next((one for one in found if (one.way, one.size) == ("off", size)), None)
