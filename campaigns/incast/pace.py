"""How long a sweep of many to one takes in the lab: 1 to 10 streams from ten hosts, four message sizes.

    python -m campaigns.incast.pace --output FOLDER     # from the checkout's root; a minute or two

One launch of each number of streams, which sends the four sizes one after the other: forty points. A point takes the
launch that it is in, over four; the sweep is the whole command, with its lab and what it prints. Promised are 2 s and
90 s; FOLDER/pace.json has the numbers, and the exit status is 1 where one of them is exceeded or a point is missing.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path

from fabriscope import store
from fabriscope.model.run_data import RunData

MOST_POINT_S, MOST_SWEEP_S = 2.0, 90.0
SIZES = ("4KiB", "64KiB", "256KiB", "1MB")
STREAMS = range(1, 11)
LAB = "gige,on_full=pause"


def main() -> int:
    """Measure the sweep, print what took how long, and return the exit status."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--output", type=Path, required=True)
    parser.add_argument("--lab", default=LAB, help=f"as of `fabriscope incast`; {LAB}")
    wanted = parser.parse_args()
    wanted.output.mkdir(parents=True, exist_ok=True)
    run = wanted.output / "run"
    argv = [sys.executable, "-m", "fabriscope", "incast", "--to", "node1", "--from", "node[2-11]", "--lab", wanted.lab]
    argv += ["--streams", "1..10", "--launches", "1", "--quiet", "--output", str(run)]
    for size in SIZES:
        argv += ["--size", size]
    load, begin_s = os.getloadavg()[0], time.monotonic()
    status = subprocess.run(argv, check=False).returncode
    sweep_s = time.monotonic() - begin_s
    if not (run / "manifest.json").exists():
        print(f"the sweep was not made: status {status}", file=sys.stderr)
        return 1
    data = store.open_run(run).read()
    launches = {len(_hosts(data, record.entry_id)) - 1: record for record in data.journal}
    points_s = {streams: record.elapsed_ns / 1e9 / len(SIZES) for streams, record in sorted(launches.items())}
    measured = sum(one.status == "ok" for record in data.journal for one in record.results.values())
    told = {
        "load_before": load, "sweep_s": sweep_s, "launches_s": sum(points_s.values()) * len(SIZES),
        "point_s_by_streams": points_s, "point_count": measured,
    }  # fmt: skip
    (wanted.output / "pace.json").write_text(json.dumps(told, indent=1) + "\n")
    most_s = max(points_s.values())
    print(
        f"{measured} points in {sweep_s:.1f} s, {told['launches_s']:.1f} s of them in launches; load before {load:.2f}"
    )
    print(f"a point takes {statistics.median(points_s.values()):.2f} s in the median, {most_s:.2f} s at most")
    kept = measured == len(SIZES) * len(STREAMS) and most_s <= MOST_POINT_S and sweep_s <= MOST_SWEEP_S
    print("kept" if kept else "BROKEN")
    return 0 if kept else 1


def _hosts(data: RunData, entry_id: str) -> tuple[str, ...]:
    return next(case.entry.hosts for case in data.manifest.cases.values() if case.entry.entry_id == entry_id)


if __name__ == "__main__":
    sys.exit(main())
