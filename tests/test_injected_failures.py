"""Calls that fail one after the other in small runs; docs/faults.md has the counts of all of them, here are some."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest
from campaigns.failures.calls import KINDS, WAYS, failures, prepared
from campaigns.faults import place
from tests import needs

ROOT = Path(__file__).parents[1]
SEED = os.environ.get("FABRISCOPE_TEST_SEED", "7")
SHARES = {
    "store": 36,
    "run-store": 400,
    "launcher": 240,
    "guard": 240,
    "lab": 210,
    "unshare": 8,
    "keeper": 3,
    "furnish": 90,
    "hosts": 6,
}
"""One failure in this many is made, the first of them chosen by the seed."""


@pytest.mark.timeout(1200)
@pytest.mark.parametrize("part", SHARES)
def test_a_call_that_fails_loses_nothing_and_leaves_nothing(part: str, tmp_path: Path) -> None:
    needs.lab()
    every = os.environ.get("FABRISCOPE_TEST_EVERY", str(SHARES[part]))
    words = ["--part", part, "--every", every, "--seed", SEED, "--output", str(tmp_path)]
    done = subprocess.run(
        place.inside("campaigns.failures", words),  # not by its own `enter`, which imports everything twice
        cwd=ROOT,
        env={**os.environ, **prepared(tmp_path)},
        capture_output=True,
        text=True,
        timeout=1100,
        check=False,
    )
    again = f"again: FABRISCOPE_TEST_SEED={SEED} FABRISCOPE_TEST_EVERY={every}"
    assert done.returncode == 0, f"{done.stdout}{done.stderr}{again}"
    cases = [json.loads(line) for line in (tmp_path / f"{part}.jsonl").read_text().splitlines()]
    assert any(case["hits"] for case in cases), "no failure was injected"


def test_every_kind_of_call_has_its_ways_to_fail() -> None:
    counts = dict.fromkeys(KINDS, 2)
    made = list(failures(counts))
    assert len(made) == len(set(made)) == 2 * sum(map(len, WAYS.values()))
    assert all("before" in ways for ways in WAYS.values())
    brief = list(failures(counts, is_brief=True))
    assert {one.call for one in brief} == set(KINDS)
    assert [one.call for one in brief if one.way == "after"] == ["fork", "fork"]
