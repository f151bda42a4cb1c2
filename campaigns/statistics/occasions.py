"""How often does an interval of one run hold what the same plan gives on other occasions?

python -m campaigns.statistics.occasions RUN RUN...

The runs are of one plan, made at different times. Every interval of every run, of values and of ratios, is set against
the geometric mean of the other runs' numbers. An interval is of its own hour and its own noise, the mean of the others
has noise too: of five runs, sqrt(5/4) times as much as one alone, so that an interval that promises 95 % and whose runs
differ by their noise alone holds it in about 92 %.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import polars as pl

from fabriscope import store
from fabriscope.analysis.results import Results

Interval = tuple[float, float, float]
"""A number, the lower end of its interval, and the upper one."""
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
    return {tuple(str(row[name]) for name in key): (row[value], row["low"], row["high"]) for row in rows}


def held(runs: Sequence[Mapping[tuple[str, ...], Interval]]) -> dict[tuple[str, ...], list[bool]]:
    """Return for each number that all runs have whether each run's interval holds the mean of the others'."""
    found = defaultdict(list)
    for key in sorted(set.intersection(*(set(run) for run in runs))):
        logs = [math.log(run[key][0]) for run in runs]
        for run, own in zip(runs, logs, strict=True):
            others = math.exp((sum(logs) - own) / (len(logs) - 1))
            found[key].append(run[key][1] <= others <= run[key][2])
    return found


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
        found = held(runs)
        hits = sum(sum(one) for one in found.values())
        count = sum(map(len, found.values()))
        sys.stdout.write(
            f"{kind}: {hits} of {count} intervals hold the mean of the others ({hits / max(count, 1):.0%})\n"
        )
        for key, one in found.items():
            if not all(one):
                sys.stdout.write(f"  {' '.join(key)}: {sum(one)} of {len(one)}\n")


if __name__ == "__main__":
    main()
