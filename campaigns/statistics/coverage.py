"""Do the 95 % intervals cover the truth in 95 % of runs? Made-up samples through the real path to estimates.

python -m campaigns.statistics.coverage [--runs 1000]
"""

from __future__ import annotations

import sys

import numpy as np
import polars as pl
from campaigns.statistics import made_up
from campaigns.statistics.asked import asked

from fabriscope import store
from fabriscope.analysis.numbers.evidence import ANYTIME, FIXED
from fabriscope.analysis.numbers.intervals import log_ratio
from fabriscope.analysis.values.estimates import estimates_of
from fabriscope.analysis.values.launch_values import launch_values
from fabriscope.model.case import Case, Entry
from fabriscope.model.measurement import Launch
from fabriscope.model.record import LaunchRecord, Result
from fabriscope.model.run_data import RunData

LAUNCH_COUNTS = (3, 5, 10)
AT_ONCE = 50
ENTRY = Entry("tcp", "gige", "inter", ("a", "b"))


def run_of(noise: np.random.Generator, run_count: int, launch_count: int) -> RunData:
    """Return one run in whose place each size stands for a made-up run of its own."""
    cases = [Case(ENTRY, "ping_pong", size) for size in range(1, run_count + 1)]
    times = made_up.launches(noise, run_count * launch_count)
    shape = (launch_count, run_count, made_up.ITERATIONS)
    launch, case, iteration = (grid.ravel() for grid in np.meshgrid(*map(np.arange, shape), indexing="ij"))
    ids = pl.Series([one.case_id for one in cases])
    samples = pl.DataFrame(
        {
            "launch_id": (launch + 1).astype(np.int32),
            "block": (launch + 1).astype(np.int32),
            "case_id": ids.gather(case),
            "quantity": pl.repeat("operation_ns", len(case), eager=True),
            "phase": pl.repeat("measure", len(case), eager=True),
            "burst": (iteration * made_up.BURSTS // made_up.ITERATIONS).astype(np.int32),
            "operations_per_sample": np.ones(len(case), dtype=np.int32),
            "value": 2 * times.reshape(shape).ravel(),  # a round trip; the latency is half of it
        }
    )
    launches = [Launch(at, at, ENTRY, tuple(cases), 1, 1) for at in range(1, launch_count + 1)]
    manifest = store.manifest_of(store.describe(cases, launches))
    results = {case.case_id: Result("ok") for case in cases}
    journal = tuple(LaunchRecord(at, at, ENTRY.entry_id, results=results) for at in range(1, launch_count + 1))
    return RunData("made up", manifest, journal, samples.lazy())


def estimates_cover(noise: np.random.Generator, runs: int, launch_count: int, truth_ns: float) -> dict[str, float]:
    """Return the share of runs whose interval of the latency covers, by method."""
    covered = dict.fromkeys((FIXED, ANYTIME), 0)
    for done in range(0, runs, AT_ONCE):
        values = launch_values(run_of(noise, min(AT_ONCE, runs - done), launch_count))
        values = values.filter(pl.col("metric_id") == "latency_ns")
        for method in covered:
            frame = estimates_of(values, method)
            covered[method] += frame.filter(pl.lit(truth_ns).is_between("low", "high")).height
    return {method: count / runs for method, count in covered.items()}


def ratios_cover(noise: np.random.Generator, runs: int, block_count: int) -> dict[str, float]:
    """Return the share of runs whose interval of a ratio (1.1, paired in blocks) covers, by method."""
    truth = np.log(1.1)
    block = noise.normal(0, 0.2, (runs, block_count))
    logs = [
        np.log(made_up.values(made_up.launches(noise, runs * block_count, 0.22))).reshape(runs, block_count) + block
        for _ in range(2)
    ]
    covered = dict.fromkeys((FIXED, ANYTIME), 0)
    for left, right in zip(logs[0] + truth, logs[1], strict=True):
        for method in covered:
            result = log_ratio(left - right, method=method)
            covered[method] += bool(result.low <= truth <= result.high)
    return {method: count / runs for method, count in covered.items()}


def main() -> None:
    """Print a table: launches, and the share of intervals that cover."""
    run_count, noise = asked(__doc__)
    truth_ns = made_up.true_value_ns(noise)
    sys.stdout.write("| launches | estimate, planned | estimate, anytime | ratio, Student | ratio, anytime |\n")
    sys.stdout.write("|---|---|---|---|---|\n")
    for count in LAUNCH_COUNTS:
        of_value = estimates_cover(noise, run_count, count, truth_ns)
        of_ratio = ratios_cover(noise, run_count, count)
        cells = [of[method] for of in (of_value, of_ratio) for method in (FIXED, ANYTIME)]
        sys.stdout.write(f"| {count} | " + " | ".join(f"{cell:.1%}" for cell in cells) + " |\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
