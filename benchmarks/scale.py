"""A made-up run of 1,000 hosts, every one against every other at 8 sizes: how long a report takes, and how much memory.

    python benchmarks/scale.py [--hosts 1000] [--launches 3] [--keep FOLDER]

499,500 pairs are 4 million numbers a launch. The run is written first (that does not count); `fabriscope report` with
all formats but figures is a process of its own, so that its memory is its own. One host and one pair are made slow.
Ends with 1 if the report does not name both, or takes over 30 s or 2 GiB.
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import polars as pl

from fabriscope import store
from fabriscope.model.case import Case, Entry
from fabriscope.model.fabric import Fabric
from fabriscope.model.measurement import PAIR_OPERATION, Launch

SIZES = (8, 64, 512, 4096, 16384, 65536, 262144, 1 << 20)
MOST_S, MOST_BYTES = 30, 2 * 2**30
SLOW_HOST, SLOW_PAIR = 17, (3, 5)


def write(path: Path, host_count: int, launch_count: int) -> None:
    """Write the run."""
    hosts = tuple(f"node{number}" for number in range(1, host_count + 1))
    entry = Entry("tcp", "gige", "inter", hosts)
    cases = tuple(Case(entry, "all_pairs", size) for size in SIZES)
    launches = [Launch(number, number, entry, cases, number, 10**9) for number in range(1, launch_count + 1)]
    fabric = Fabric("gige", dict.fromkeys(hosts, "eth0"), line_rate_bits_per_s=10**9, mtu_bytes=1500)
    facts = [{"name": "cpu.model", "value": "made up", "unknown_because": None}]
    described = store.describe(cases, launches, (fabric,))
    about = {"name": "scale", "seed": 1, "hosts": {host: {"facts": facts} for host in hosts}}
    folder = store.create(path, {**described, **about}, "name: scale\n")
    for launch in launches:
        record = {
            "launch_id": launch.launch_id, "block": launch.block, "entry_id": entry.entry_id, "status": "ok",
            "reason": None, "results": {case.case_id: {"status": "ok", "reason": None} for case in cases},
            "started_unix_ns": launch.launch_id, "elapsed_ns": 1, "details": {}, "fabric_counters": {},
        }  # fmt: skip
        folder.append(record, _samples(launch, host_count))
    folder.end()


def _samples(launch: Launch, host_count: int) -> pl.DataFrame:
    noise = np.random.default_rng(launch.seed)
    ranks, peers = (one.astype(np.int32) for one in np.triu_indices(host_count, 1))
    factor = np.where((ranks == SLOW_HOST) | (peers == SLOW_HOST), 1.6, 1.0)
    factor = np.where((ranks == SLOW_PAIR[0]) & (peers == SLOW_PAIR[1]), 5.0, factor)
    parts = []
    for number, case in enumerate(launch.cases):
        round_trip_ns = 2 * (20_000 + case.message_size_bytes * 8.6) * factor
        values = round_trip_ns * np.exp(np.abs(noise.normal(0, 0.02, len(ranks))))
        parts.append(
            pl.DataFrame({"rank": ranks, "peer": peers, "value": np.rint(values * 10)}).with_columns(
                pl.lit(launch.launch_id).alias("launch_id"), pl.lit(launch.block).alias("block"),
                pl.lit(case.case_id).alias("case_id"), pl.lit(PAIR_OPERATION).alias("quantity"),
                pl.lit("measure").alias("phase"), pl.lit(0).alias("round"), pl.lit(number).alias("burst"),
                pl.lit(number * 10**9, dtype=pl.Int64).alias("start_ns"), pl.lit(10).alias("operations_per_sample"),
            )
        )  # fmt: skip
    return pl.concat(parts)


def main() -> int:
    """Write the run, report it, and say what that took."""
    words = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words.add_argument("--hosts", type=int, default=1000)
    words.add_argument("--launches", type=int, default=3)
    words.add_argument("--keep", type=Path, help="write the run here, and leave it there")
    given = words.parse_args()
    with tempfile.TemporaryDirectory(prefix="fabriscope-scale-") as temporary:
        run = given.keep or Path(temporary) / "run"
        write(run, given.hosts, given.launches)
        argv = [sys.executable, "-m", "fabriscope", "report", str(run)]
        for name in ("html", "markdown", "csv"):
            argv += ["--format", name]
        started = time.monotonic()
        status = subprocess.run(argv, check=False, stdout=subprocess.DEVNULL).returncode
        elapsed_s = time.monotonic() - started
        usage = resource.getrusage(resource.RUSAGE_CHILDREN)
        page = (run / "report" / "report.md").read_text() if status == 0 else ""
        said = all(f"node{number + 1}" in page for number in (SLOW_HOST, *SLOW_PAIR))
        pairs = given.hosts * (given.hosts - 1) // 2
        print(f"{given.hosts} hosts, {pairs:,} pairs, {len(SIZES)} sizes, {given.launches} launches: status {status}")
        print(f"{elapsed_s:.1f} s elapsed, {usage.ru_utime + usage.ru_stime:.1f} s of processor time")
        print(f"{usage.ru_maxrss / 2**20:.2f} GiB at most; the slow host and pair are {'' if said else 'not '}named")
    return 0 if status == 0 and said and elapsed_s <= MOST_S and usage.ru_maxrss * 1024 <= MOST_BYTES else 1


if __name__ == "__main__":
    sys.exit(main())
