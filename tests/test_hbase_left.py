"""Tables that killed processes leave in an HBase that runs already are removed, and not made after that."""

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
from tests.test_running_hbase import RUN_LIMIT_S, argv_of, run, start_long, until
from tests.test_running_hdfs import clients

from fabriscope.adapters.base import AdapterContext
from fabriscope.adapters.ycsb import ADAPTER
from fabriscope.hosts import java_apps
from fabriscope.launch import processes
from fabriscope.model.case import Case, Entry
from fabriscope.model.command import Command
from fabriscope.model.measurement import Launch
from fabriscope.plan.service_schema import HbaseSection


@pytest.fixture(scope="module")
def by_hand(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ByHand]:
    needs.lab()
    needs.java_app("hbase")
    with running_hbase.standing(tmp_path_factory.mktemp("hbase")) as standing:
        yield standing


@pytest.mark.timeout(1200)
@pytest.mark.parametrize("whom", ["restore", "the next run"])
def test_tables_that_a_crash_has_left_are_removed(by_hand: ByHand, tmp_path: Path, state: Path, whom: str) -> None:
    before = by_hand.tables()
    process, mark = start_long(by_hand, tmp_path)
    process.send_signal(signal.SIGSTOP)
    for pid in clients(mark):
        os.kill(pid, signal.SIGKILL)
    process.kill()
    process.communicate(timeout=RUN_LIMIT_S)
    until(lambda: not clients(mark))
    left = set(by_hand.tables()) - set(before)
    (journalled,) = (state.parent / "left").iterdir()
    assert len(left) == 1
    if whom == "restore":
        words = [sys.executable, "-m", "fabriscope", "restore"]
        done = subprocess.run(words, capture_output=True, text=True, timeout=RUN_LIMIT_S, check=False)
    else:
        (tmp_path / "next").mkdir()
        done = run(argv_of(by_hand, tmp_path / "next"))
    assert done.returncode == 0, (done.stdout, done.stderr)
    assert f"-* in {by_hand.address}:/hbase: removed" in (done.stdout if whom == "restore" else done.stderr)
    assert not journalled.exists()
    assert by_hand.tables() == before


@pytest.mark.timeout(600)
def test_a_clients_call_that_comes_after_the_removal_makes_nothing(by_hand: ByHand) -> None:
    before = by_hand.tables()
    host = by_hand.place.host("node1")
    programs = {"java": java_apps.program("java"), "hbase classes": java_apps.classpath("hbase")}
    entry = Entry("hbase", "gige", "inter", (host.name,), instrument="ycsb")
    section = HbaseSection.model_validate({"at": by_hand.address, "records": 10, "operations": 10, "threads": 1})
    case = Case(entry, "hbase_get", 100, parameters=section.parameters("gige"))
    launch = Launch(1, 1, entry, (case,), seed=1, budget_ns=0)
    (client,) = ADAPTER.commands(launch, AdapterContext({host.name: host}, programs=programs))
    assert client.leaving is not None
    remover = Command(client.leaving.argv, host.name)
    (removed,) = processes.run_commands([remover], {host.name: host}, timeout_s=RUN_LIMIT_S)
    assert processes.says(removed, client.leaving.gone), removed
    late = Command(client.argv, host.name)
    (outcome,) = processes.run_commands([late], {host.name: host}, timeout_s=RUN_LIMIT_S)
    assert (outcome.exit_status, b"fabriscope: regions table" in outcome.stdout) == (1, False), outcome
    assert by_hand.tables() == before
