"""What a plan says of queue pairs reaches the kernel's device. Skipped where no guest kernel has been built."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

from tests import forked, needs

PLAN = """
name: timers
hosts: g[1-2]
guests: all
fabrics: {roce: {lab: gige, rdma: soft-roce}}
layers: [verbs]
placements: [inter]
benchmarks: {ping_pong: {sizes: [64], verbs: {ack_timeout: [default, 0, 10]}}}
floor: false
launches: 1
budget: 1s
"""
TIMEOUT_S = 120.0


def test_the_device_holds_the_timer_that_was_asked_for(tmp_path: Path) -> None:
    needs.soft_roce()
    plan, run = tmp_path / "plan.yaml", tmp_path / "run"
    plan.write_text(PLAN)
    done = forked.fabriscope(["run", plan, "-o", run, "-q"], timeout_s=TIMEOUT_S)
    assert done.returncode == 0, done.stderr
    (raw,) = (run / "raw").glob("launch-*/0-*.stdout.gz")
    said = [json.loads(line) for line in gzip.decompress(raw.read_bytes()).decode().splitlines()]
    endpoints = [one for one in said if one["type"] == "endpoint"]
    held = {one["options"].get("ack_timeout"): one["effective"]["ack_timeout"] for one in endpoints}
    assert held == {None: 14, 0: 0, 10: 10}
