"""How often does an interval of one run hold what the same plan gives on other occasions?

python -m campaigns.statistics.occasions RUN RUN...

The runs are of one plan, made at different times. Every interval of every run, of values and of ratios, is set against
the geometric mean of the other runs' numbers. An interval is of its own hour and its own noise, the mean of the others
has noise too: of five runs, sqrt(5/4) times as much as one alone, so that an interval that promises 95 % and whose runs
differ by their noise alone holds it in about 92 %. Of values that is printed for each trust grade, too.
"""

from __future__ import annotations

import argparse
import math
import statistics
import sys
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import polars as pl

from fabriscope import store
from fabriscope.analysis.results import Results


class Interval(NamedTuple):
    """A number, the ends of its interval, and its trust grade, if it has one."""

    value: float
    low: float
    high: float
    grade: str | None


VALUES = ("entry_id", "benchmark", "metric_id", "message_size_bytes")
RATIOS = (
    "kind",
    "left",
    "right",
    "left_layer",
    "right_layer",
    "left_placement",
    "left_benchmark",
    "metric_id",
    "message_size_bytes",
)


def intervals(frame: pl.DataFrame, key: Iterable[str], value: str) -> dict[tuple[str, ...], Interval]:
    """Return the intervals of a frame that have two ends, by what they are of."""
    rows = frame.drop_nulls([value, "low", "high"]).iter_rows(named=True)
    return {
        tuple(str(row[name]) for name in key): Interval(row[value], row["low"], row["high"], row.get("grade"))
        for row in rows
    }


class Told(NamedTuple):
    """One interval against the mean of the other runs."""

    holds: bool
    error: float
    """How far the run's number is from that mean, as a share of it."""
    grade: str | None
    """Of values."""


def told(runs: Sequence[Mapping[tuple[str, ...], Interval]]) -> dict[tuple[str, ...], list[Told]]:
    """Return what each run's interval comes to, for each number that all runs have."""
    found = defaultdict(list)
    for key in sorted(set.intersection(*(set(run) for run in runs))):
        logs = [math.log(run[key].value) for run in runs]
        for run, own in zip(runs, logs, strict=True):
            others = math.exp((sum(logs) - own) / (len(logs) - 1))
            number = run[key]
            error = abs(number.value / others - 1)
            found[key].append(Told(number.low <= others <= number.high, error, number.grade))
    return found


def in_words(members: Sequence[Told]) -> str:
    """Return how many intervals hold the mean of the others, and how far numbers are from it."""
    hits = sum(one.holds for one in members)
    middle = statistics.median(one.error for one in members)
    of = f"{hits} of {len(members)} intervals hold the mean of the others ({hits / len(members):.0%})"
    return f"{of}; half of the numbers are within {middle:.1%} of it"


def main() -> None:
    """Print the share of intervals that hold the mean of the others, and each number of which fewer than all do."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("runs", type=Path, nargs="+", metavar="RUN")
    results = [Results(store.open_run(path).read()) for path in parser.parse_args().runs]
    kinds = {
        "values": [intervals(one.estimates, VALUES, "value") for one in results],
        "ratios": [intervals(one.comparisons, RATIOS, "ratio") for one in results],
    }
    for kind, runs in kinds.items():
        found = told(runs)
        members = [one for each in found.values() for one in each]
        if not members:
            continue
        sys.stdout.write(f"{kind}: {in_words(members)}\n")
        for grade in sorted({one.grade for one in members if one.grade is not None}):
            sys.stdout.write(f"  grade {grade}: {in_words([one for one in members if one.grade == grade])}\n")
        for key, each in found.items():
            if not all(one.holds for one in each):
                sys.stdout.write(f"  {' '.join(key)}: {sum(one.holds for one in each)} of {len(each)}\n")


if __name__ == "__main__":
    main()
