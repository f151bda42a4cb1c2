"""Of the comparison with IMB: what a launch said, a row for each point, and the table."""

from __future__ import annotations

import dataclasses
import json
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks import _peers_report as report
from benchmarks._peers_values import ratio_interval

MOST_DIFFERENCE = 0.05
OURS, CLOCK, IMB = "ours", "common clock", "IMB"

Point = tuple[str, int]
"""Benchmark and message size in bytes."""


@dataclass(frozen=True)
class Reading:
    """What one launch gave for one point."""

    round: int
    benchmark: str
    message_size_bytes: int
    program: str
    median_ns: float | None
    """Of the common clock by our own timing, of the others as overheard."""
    operation_count: int = 0
    reason: str | None = None
    own_ns: float | None = None
    """The median by our own timing; IMB's mean counts the time in which it was stopped."""


@dataclass(frozen=True)
class Row:
    """One point: medians over rounds in ns, and what each round said of their ratio."""

    benchmark: str
    message_size_bytes: int
    ours: float
    own: float | None
    """Ours by our own timing."""
    clock: float | None
    imb: float
    ratio: float
    """Ours over IMB's, both overheard: the geometric mean of the rounds' own ratios."""
    ratio_low: float
    """Of the 95 % interval over the rounds' own ratios."""
    ratio_high: float
    clock_ratio: float | None
    """The common clock's over IMB's, the same way."""
    round_count: int

    @property
    def holds(self) -> bool:
        """Return whether ours and IMB's agree as promised."""
        return abs(self.ratio - 1) <= MOST_DIFFERENCE

    @property
    def word(self) -> str:
        """Return whether it holds, and whether the interval leaves that open."""
        if self.ratio_low > 1 + MOST_DIFFERENCE or self.ratio_high < 1 - MOST_DIFFERENCE:
            return "NO"
        is_inside = self.ratio_low >= 1 - MOST_DIFFERENCE and self.ratio_high <= 1 + MOST_DIFFERENCE
        return ("yes" if self.holds else "no") + ("" if is_inside else ", open")


def rows(readings: Sequence[Reading]) -> list[Row]:
    """Return one row for each point at which ours and IMB's have a value in at least one common round."""
    known: dict[Point, dict[str, dict[int, Reading]]] = {}
    for one in readings:
        if one.median_ns is not None:
            of_point = known.setdefault((one.benchmark, one.message_size_bytes), {})
            of_point.setdefault(one.program, {})[one.round] = one
    found = (_row(point, programs) for point, programs in sorted(known.items()))
    return [row for row in found if row is not None]


def _row(point: Point, programs: Mapping[str, Mapping[int, Reading]]) -> Row | None:
    medians = {
        program: {number: one.median_ns for number, one in of_rounds.items() if one.median_ns is not None}
        for program, of_rounds in programs.items()
    }
    ours, clock, imb = (medians.get(program, {}) for program in (OURS, CLOCK, IMB))
    ratios, clock_ratios = _ratios(ours, imb), _ratios(clock, imb)
    if not ratios:
        return None
    own = [one.own_ns for one in programs[OURS].values() if one.own_ns is not None]
    return Row(
        *point,
        statistics.median(ours.values()),
        statistics.median(own) if own else None,
        statistics.median(clock.values()) if clock else None,
        statistics.median(imb.values()),
        statistics.geometric_mean(ratios),
        *ratio_interval(ratios),
        statistics.geometric_mean(clock_ratios) if clock_ratios else None,
        len(ratios),
    )


def _ratios(some: Mapping[int, float], others: Mapping[int, float]) -> list[float]:
    """Return the ratios of the rounds that have both."""
    return [some[number] / others[number] for number in sorted(some) if number in others]


HEAD = (
    "collective",
    "bytes",
    "ours us",
    "IMB us",
    "ratio",
    "low",
    "high",
    "own timing us",
    "common clock us",
    "to IMB",
    "within 5 %",
)


def _cells(row: Row) -> tuple[str, ...]:
    return (
        row.benchmark,
        str(row.message_size_bytes),
        f"{row.ours / 1e3:.2f}",
        f"{row.imb / 1e3:.2f}",
        f"{row.ratio:.3f}",
        f"{row.ratio_low:.3f}",
        f"{row.ratio_high:.3f}",
        "-" if row.own is None else f"{row.own / 1e3:.2f}",
        "-" if row.clock is None else f"{row.clock / 1e3:.2f}",
        "-" if row.clock_ratio is None else f"{row.clock_ratio:.3f}",
        row.word,
    )


def table(found: Sequence[Row]) -> str:
    """Return the table, in Markdown that is as good on a terminal."""
    lines = [HEAD, *(_cells(row) for row in found)]
    widths = [max(len(line[column]) for line in lines) for column in range(len(HEAD))]
    lines.insert(1, tuple("-" * width for width in widths))
    return "\n".join(
        "| " + " | ".join(cell.rjust(width) for cell, width in zip(line, widths, strict=True)) + " |" for line in lines
    )


def verdict(found: Sequence[Row], readings: Sequence[Reading], known: dict[str, Any]) -> str:
    """Return whether the promise holds, and what has no value."""
    kept = f"at {sum(row.holds for row in found)} of {len(found)} points"
    said = ["promise: medians of ours, timed as IMB does, and of IMB differ by 5 % at most"]
    if report.is_busy(known):
        said.append(f"NOTHING IS CLAIMED: the load was {known['load_before']:.2f} before the start; it held {kept}")
    else:
        said.append(f"kept {kept}")
    missing: dict[tuple[str, str], list[str]] = {}
    for one in readings:
        if one.median_ns is None:
            place = f"{one.benchmark} {one.message_size_bytes} B round {one.round}"
            missing.setdefault((one.program, one.reason or "no reason"), []).append(place)
    for (program, reason), places in missing.items():
        said.append(f"no value: {program}: {reason} ({places[0]}, {len(places)} in all)")
    return "\n".join(said)


def write(output: Path, known: dict[str, Any], readings: Sequence[Reading], found: Sequence[Row], text: str) -> None:
    """Write OUTPUT.json (every reading, and the rows) and OUTPUT.md (`text`)."""
    output.parent.mkdir(parents=True, exist_ok=True)
    content = {
        "circumstances": known,
        "readings": [dataclasses.asdict(one) for one in readings],
        "rows": [{**dataclasses.asdict(row), "holds": row.holds} for row in found],
    }
    output.with_name(output.name + ".json").write_text(json.dumps(content, indent=1) + "\n")
    output.with_name(output.name + ".md").write_text(f"{report.circumstances_text(known)}\n\n{text}\n")
