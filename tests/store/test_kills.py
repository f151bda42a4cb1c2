"""Who writes a run is killed at random moments, the same for the same seed: at most the last launch is lost."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

from tests.store.test_run_folder import CASE, ENTRY

from fabriscope import store
from fabriscope.model.measurement import Launch

KILL_SEED = os.environ.get("FABRISCOPE_TEST_SEED", "7")


def test_kill_at_any_time_loses_at_most_one_launch(tmp_path: Path) -> None:
    """How many launches are waited for, and for how long then, follows from KILL_SEED."""
    chance = random.Random(KILL_SEED)
    again = f"again: FABRISCOPE_TEST_SEED={KILL_SEED}"
    code = f"""
import sys; sys.path.insert(0, {str(Path(__file__).parent)!r})
from test_run_folder import *
folder = store.open_run(sys.argv[1])
for number in range(len(folder.done()) + 1, 10**6):
    folder.append(record(number), blocks(), [outcome()])
    print(number, flush=True)
"""
    path = tmp_path / "run"
    many = [Launch(number, number, ENTRY, (CASE,), seed=7, budget_ns=10**9) for number in range(1, 10_000)]
    store.create(path, store.describe((), many), "")
    said = 0
    for _ in range(4):
        child = subprocess.Popen([sys.executable, "-c", code, str(path)], stdout=subprocess.PIPE)
        assert child.stdout is not None
        for _ in range(chance.randint(1, 5)):
            said = int(child.stdout.readline())
        time.sleep(chance.uniform(0, 0.02))  # ends: after 20 ms
        os.kill(child.pid, signal.SIGKILL)
        said = max([said, *(int(line) for line in child.stdout.read().split())])
        child.wait()
        done = store.open_run(path).done()
        assert sorted(done) == list(range(1, len(done) + 1)), again
        assert len(done) in (said, said + 1), again
        assert store.open_run(path).read().samples.collect().height == 5 * len(done)
