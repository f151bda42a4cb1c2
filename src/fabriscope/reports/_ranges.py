"""Who leads where as text: each kind of comparison with its sentences, its ranges, and of many pairs the verdicts."""

from __future__ import annotations

from dataclasses import dataclass

from fabriscope.analysis.comparing.compared import EQUIVALENT, FASTER, SLOWER, turned
from fabriscope.analysis.comparing.comparisons import KINDS
from fabriscope.analysis.comparing.findings import Finding, where_text
from fabriscope.analysis.comparing.ranges import Range
from fabriscope.analysis.results import Results
from fabriscope.analysis.words import (
    UNKNOWN,
    advantage_range_text,
    lead_interval_text,
    ratio_interval_text,
    ratio_text,
    sizes_text,
)
from fabriscope.model.benchmarks import kind_of
from fabriscope.reports._verdicts import VerdictLine, verdict_lines

MOST_SENTENCES = 12
"""Of more pairs than this a table of verdicts is read faster than sentences."""


@dataclass(frozen=True)
class RangeLine:
    """One range of one pair."""

    where: str
    pair: str
    sizes: str
    leader: str
    verdict: str
    by: str
    interval: str
    needed: str


@dataclass(frozen=True)
class RangeGroup:
    """All that is told of one kind of comparison."""

    kind: str
    title: str
    findings: list[Finding]
    """Of the first benchmark."""
    more_findings: list[Finding]
    rows: list[RangeLine]
    verdicts: list[VerdictLine]
    """None where sentences are read faster."""


def range_groups(results: Results) -> list[RangeGroup]:
    """Return what is told of each kind of comparison that the run has."""
    groups = []
    for kind in KINDS.values():
        rows = [row for row in results.all_ranges if row.pair.kind == kind.name]
        if rows:
            found = [one for one in results.findings if one.kind == kind.name]
            groups.append(
                RangeGroup(
                    kind.name,
                    kind.title,
                    [one for one in found if one.benchmark == found[0].benchmark],
                    [one for one in found if one.benchmark != found[0].benchmark],
                    [_line(row) for row in rows],
                    verdict_lines(rows) if len(found) > MOST_SENTENCES else [],
                )
            )
    return groups


def _sizes(row: Range) -> str:
    """Return the sizes of a range; an application and a barrier have none."""
    if not kind_of(row.pair.left_curve.benchmark).has_size:
        return ""
    return sizes_text(row.first_size_bytes, row.last_size_bytes)


def _line(row: Range) -> RangeLine:
    least, most, leader = row.least_ratio, row.most_ratio, "undecided"
    by, interval = f"ratio {ratio_text(least)} to {ratio_text(most)}", ratio_interval_text(row.low, row.high)
    if row.verdict == FASTER:
        leader, by = row.pair.left, advantage_range_text(least, most)
        interval = lead_interval_text(row.low, row.high)
    elif row.verdict == SLOWER:
        leader, by = row.pair.right, advantage_range_text(1 / most, 1 / least)
        interval = lead_interval_text(*turned(row.low, row.high))
    elif row.verdict == EQUIVALENT:
        leader = EQUIVALENT
    return RangeLine(
        where=where_text(row.pair),
        pair=f"{row.pair.left} / {row.pair.right}",
        sizes=_sizes(row),
        leader=leader,
        verdict=row.verdict,
        by=by,
        interval=interval or UNKNOWN,
        needed=str(row.blocks_to_decide) if row.blocks_to_decide else "",
    )
