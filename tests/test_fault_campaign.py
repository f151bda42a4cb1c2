"""Every kind of fault, injected into a real run; the campaign of docs/faults.md is the same with more of them."""

from __future__ import annotations

import fcntl
import json
import os
import subprocess
from pathlib import Path

import pytest
from campaigns.faults import place
from campaigns.faults.__main__ import unclaimed
from tests import needs

ROOT = Path(__file__).parents[1]
COUNT = int(os.environ.get("FABRISCOPE_TEST_FAULTS", "1"))
"""Faults of each kind."""
KINDS = (
    ("rank-hangs", "host-dies", "shared-lab"),
    ("turn-killed", "port-drops", "disk-full"),
    ("waiting-killed", "link-down", "clock-jumps"),
    ("streams-link-down", "terminal-closes", "fabriscope-killed"),
    ("ssh-host-dies", "ssh-shared-lab", "switch-dies"),
)
"""Several of one process each, which imports everything once."""


@pytest.mark.timeout(1200)
@pytest.mark.parametrize("kinds", KINDS, ids=",".join)
def test_a_fault_becomes_a_recorded_failure_and_leaves_nothing(kinds: tuple[str, ...], tmp_path: Path) -> None:
    needs.lab()
    words = ["--kinds", ",".join(kinds), "--each", "--count", str(COUNT * len(kinds))]
    words += ["--output", str(tmp_path / "out")]
    done = subprocess.run(
        place.inside("campaigns.faults", words),  # not by its own `enter`, which imports everything twice
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    cases = [json.loads(line) for line in (tmp_path / "out" / "cases.jsonl").read_text().splitlines()]
    assert [case["kind"] for case in cases] == list(kinds) * COUNT
    assert all(case["outcome"] != "over before" for case in cases)
    assert all(case["launches"] > 0 for case in cases)


def test_campaigns_in_one_folder_share_the_cases(tmp_path: Path) -> None:
    (tmp_path / "cases.jsonl").write_text('{"number": 1}\n')
    with (tmp_path / "claim-0002").open("w") as elsewhere:
        fcntl.flock(elsewhere, fcntl.LOCK_EX)
        first, second = unclaimed(5, tmp_path), unclaimed(5, tmp_path)
        assert [next(first), next(second), next(first)] == [3, 4, 5]
        assert list(second) == []
    assert list(unclaimed(2, tmp_path)) == [2]
