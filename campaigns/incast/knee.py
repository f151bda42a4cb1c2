"""Where many to one overflows a buffer, by its formula and as measured: do they agree within one sender?

    python -m campaigns.incast.knee --output FOLDER     # from the checkout's root

All senders answer at once by W bytes (`mode: rounds`), each on a cable of its own, so n of them put n W into the output
towards the receiver while W leave it: (n - 1) W have to wait. The first n at which they do not fit into the buffer is
the knee, and the first at which the switch drops frames is measured. Each buffer is a run of its own; FOLDER/knees.json
has both numbers, and the aggregates: TCP may mend what is lost without a fall. Nothing asserts on speed.
"""

from __future__ import annotations

import argparse
import json
import math
import subprocess
import sys
from pathlib import Path
from typing import Any

import yaml

from fabriscope import store
from fabriscope.analysis.results import results_of

BUFFERS_BYTES = (32 << 10, 64 << 10, 96 << 10)
SENDERS = 9
MESSAGE_BYTES, WINDOW = 4096, 4
SEGMENT_BYTES = 1500 - 20 - 32
"""Payload of a full segment: MTU less IPv4 and TCP with its time stamps."""
FRAME_HEADERS_BYTES = 14 + 20 + 32
MOST_APART = 1
EXIT_PROBLEMS = 1
LONG_S = 1800.0


def by_formula(buffer_bytes: int) -> int:
    """Return the first number of senders whose answers do not fit into the buffer."""
    answer_bytes = WINDOW * (MESSAGE_BYTES + math.ceil(MESSAGE_BYTES / SEGMENT_BYTES) * FRAME_HEADERS_BYTES)
    return next(count for count in range(2, 1000) if (count - 1) * answer_bytes > buffer_bytes)


def plan(buffer_bytes: int, launches: int) -> dict[str, Any]:
    """Return the plan that measures one buffer."""
    return {
        "name": "knee",
        "hosts": f"node[1-{SENDERS + 1}]",
        "fabrics": {"wire": {"lab": {"preset": "ethernet-100", "rate": "50Mb/s", "buffer": buffer_bytes}}},
        "many_to_one": {"streams": f"1..{SENDERS}"},
        "benchmarks": {
            "many_to_one": {"sizes": [MESSAGE_BYTES], "window": WINDOW, "mode": "rounds", "duration": "500ms"}
        },
        "launches": launches, "budget": "1s", "floor": False,
    }  # fmt: skip


def measured(buffer_bytes: int, launches: int, output: Path) -> dict[str, Any]:
    """Run one buffer, or go on with it, and return what came of it."""
    path, folder = output / f"{buffer_bytes}.yaml", output / f"run-{buffer_bytes}"
    path.write_text(yaml.safe_dump(plan(buffer_bytes, launches), sort_keys=False))
    words = ["run", "--resume", str(folder)] if folder.exists() else ["run", str(path), "-o", str(folder)]
    argv = [sys.executable, "-m", "fabriscope", *words]
    subprocess.run(argv, capture_output=True, text=True, check=False, timeout=LONG_S)
    (curve,) = results_of(store.open_run(folder).read()).incast_curves
    dropping = [point.stream_count for point in curve.points if point.evidence.dropped_frames]
    return {
        "buffer_bytes": buffer_bytes,
        "by_formula": by_formula(buffer_bytes),
        "measured": min(dropping, default=None),
        "state": curve.verdict,
        "dropped_frames": [point.evidence.dropped_frames for point in curve.points],
        "shares_of_wire": [point.share_of_limit for point in curve.points],
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--launches", type=int, default=3)
    parser.add_argument("--output", type=Path, required=True)
    arguments = parser.parse_args()
    arguments.output.mkdir(parents=True, exist_ok=True)
    found = []
    for buffer_bytes in BUFFERS_BYTES:
        found.append(measured(buffer_bytes, arguments.launches, arguments.output))
        print(json.dumps(found[-1]), flush=True)
    (arguments.output / "knees.json").write_text(json.dumps(found, indent=1))
    agree = [one["measured"] and abs(one["measured"] - one["by_formula"]) <= MOST_APART for one in found]
    raise SystemExit(0 if all(agree) else EXIT_PROBLEMS)


if __name__ == "__main__":
    main()
