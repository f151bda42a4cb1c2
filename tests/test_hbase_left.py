"""Tables that `kill -9` of a run and of its client leaves in an HBase that runs already are removed by `restore`."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests import needs, running_hbase
from tests.running_hbase import ByHand
from tests.test_running_hbase import MARK, RUN_LIMIT_S, argv_of, until
from tests.test_running_hdfs import clients


@pytest.fixture(scope="module")
def by_hand(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ByHand]:
    needs.lab()
    needs.java_app("hbase")
    with running_hbase.standing(tmp_path_factory.mktemp("hbase")) as standing:
        yield standing


@pytest.mark.timeout(1200)
def test_tables_that_a_crash_has_left_are_removed(by_hand: ByHand, tmp_path: Path, state: Path) -> None:
    before = by_hand.tables()
    argv = argv_of(by_hand, tmp_path, operations=10**7)
    process = subprocess.Popen(argv, stderr=subprocess.PIPE, text=True)
    until(lambda: any(line.startswith("table fabriscope-") for line in by_hand.tables()), process)
    process.send_signal(signal.SIGSTOP)
    for pid in clients(MARK):
        os.kill(pid, signal.SIGKILL)
    process.kill()
    process.communicate(timeout=RUN_LIMIT_S)
    until(lambda: not clients(MARK))
    left = set(by_hand.tables()) - set(before)
    (journalled,) = (state.parent / "left").iterdir()
    assert len(left) == 1
    words = [sys.executable, "-m", "fabriscope", "restore"]
    done = subprocess.run(words, capture_output=True, text=True, timeout=RUN_LIMIT_S, check=False)
    assert done.returncode == 0, (done.stdout, done.stderr)
    assert f"-* in {by_hand.address}:/hbase: removed" in done.stdout
    assert not journalled.exists()
    assert by_hand.tables() == before
