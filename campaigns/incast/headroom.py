"""Pause by priority with enough headroom and with too little: does it drop nothing, and what of the wire is left?

    python -m campaigns.incast.headroom --output FOLDER     # from the checkout's root

Two fabrics differ in their headroom alone: what full frames need by docs/lab.md, and less than one frame. Four hosts
send to one over TCP, in three sizes of messages and three numbers of streams. FOLDER/headroom.json has the share of
what the wire allows and the dropped frames of each point. Nothing asserts on speed, but the exit status is 1 where
enough headroom dropped a frame, its median share is below 97 % for some size, or too little dropped nothing.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
from pathlib import Path
from typing import Any

import yaml

from fabriscope import store
from fabriscope.analysis.incast.points import IncastCurve
from fabriscope.analysis.results import results_of

LEAST_SHARE = 0.97
EXIT_PROBLEMS = 1
LONG_S = 1800.0


def plan(rate_mbit: int, launches: int) -> dict[str, Any]:
    """Return the plan: both fabrics pause priority 0, of which all frames without a DSCP are."""
    lab = {"preset": "ethernet-100", "rate": f"{rate_mbit}Mb/s", "pfc": [0], "xoff": "60KiB", "xon": "40KiB"}
    return {
        "name": "headroom",
        "hosts": "node[1-5]",
        "fabrics": {"enough": {"lab": lab}, "little": {"lab": {**lab, "headroom": "1KiB"}}},
        "many_to_one": {"streams": [1, 2, 4]},
        "benchmarks": {"many_to_one": {"sizes": ["4KiB", "64KiB", "1MB"], "duration": "500ms"}},
        "launches": launches, "budget": "1s", "floor": False,
    }  # fmt: skip


def points_of(curve: IncastCurve) -> list[dict[str, Any]]:
    """Return each number of streams of a curve."""
    return [
        {
            "fabric": curve.curve.fabric,
            "size_bytes": curve.message_size_bytes,
            "streams": point.stream_count,
            "share_of_wire": point.share_of_limit,
            "dropped_frames": point.evidence.dropped_frames,
            "pauses": point.evidence.pauses,
        }
        for point in curve.points
    ]


def problems(points: list[dict[str, Any]]) -> list[str]:
    """Return what is not as it should be, in sentences."""
    found = []
    enough, little = ([one for one in points if one["fabric"] == name] for name in ("enough", "little"))
    for one in enough:
        if one["dropped_frames"] != 0:
            found.append(f"enough headroom dropped {one['dropped_frames']} frames with {one['streams']} streams")
    for size in sorted({one["size_bytes"] for one in enough}):
        shares = [one["share_of_wire"] for one in enough if one["size_bytes"] == size and one["share_of_wire"]]
        if not shares or statistics.median(shares) < LEAST_SHARE:
            found.append(f"enough headroom: {shares} of the wire at {size} B")
    if not any(one["dropped_frames"] for one in little):
        found.append("too little headroom dropped nothing")
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--launches", type=int, default=3)
    parser.add_argument("--rate", type=int, default=50, help="in Mb/s")
    parser.add_argument("--output", type=Path, required=True)
    arguments = parser.parse_args()
    arguments.output.mkdir(parents=True, exist_ok=True)
    path, folder = arguments.output / "plan.yaml", arguments.output / "run"
    path.write_text(yaml.safe_dump(plan(arguments.rate, arguments.launches), sort_keys=False))
    words = ["run", "--resume", str(folder)] if folder.exists() else ["run", str(path), "-o", str(folder)]
    argv = [sys.executable, "-m", "fabriscope", *words]
    subprocess.run(argv, capture_output=True, text=True, check=False, timeout=LONG_S)
    points = [one for curve in results_of(store.open_run(folder).read()).incast_curves for one in points_of(curve)]
    for one in points:
        print(json.dumps(one))
    (arguments.output / "headroom.json").write_text(json.dumps(points, indent=1))
    found = problems(points)
    print("\n".join(found) or "as it should be")
    raise SystemExit(EXIT_PROBLEMS if found else 0)


if __name__ == "__main__":
    main()
