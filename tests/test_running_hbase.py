"""An HBase that runs already is used by its ZooKeeper, and holds afterwards only the tables that it held before.

So it does after a crash, once `restore` or the next run has been there.
"""

from __future__ import annotations

import json
import os
import secrets
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import yaml
from tests import needs, running_hbase
from tests.running_hbase import ByHand
from tests.test_running_hdfs import clients

import fabriscope
from fabriscope.adapters.base import AdapterContext
from fabriscope.adapters.ycsb import ADAPTER
from fabriscope.hosts import java_apps
from fabriscope.launch import processes
from fabriscope.model.case import Case, Entry
from fabriscope.model.command import Command
from fabriscope.model.measurement import Launch
from fabriscope.plan.service_schema import HbaseSection

RUN_LIMIT_S = 400.0
BEGUN_LIMIT_S = 180.0


@pytest.fixture(scope="module")
def by_hand(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ByHand]:
    needs.lab()
    needs.java_app("hbase")
    with running_hbase.standing(tmp_path_factory.mktemp("hbase")) as standing:
        yield standing


def argv_of(by_hand: ByHand, folder: Path, **hbase: object) -> list[str]:
    """Return the words of a run that asks it."""
    shell = str(by_hand.place.remote_shell)
    of_hbase = {"at": by_hand.address, "records": 137, "operations": 100, "threads": 2, "runs": 1, **hbase}
    plan = {
        "name": "x",
        "hosts": "node1",
        "ssh": {"command": shell, "between_hosts": shell},
        "fabrics": {"gige": {"interface": "eth0"}},
        "layers": ["hbase"],
        "placements": ["inter"],
        "benchmarks": {"hbase_get": {"sizes": [1000]}},
        "services": {"hbase": of_hbase},
        "launches": 1,
        "floor": False,
        "case_timeout": "300s",
    }
    path = folder / "plan.yaml"
    path.write_text(yaml.safe_dump(plan))
    return [sys.executable, "-m", "fabriscope", "run", str(path), "-o", str(folder / "run")]


def run(argv: list[str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(argv, capture_output=True, text=True, timeout=RUN_LIMIT_S, check=False)


def start_long(by_hand: ByHand, folder: Path) -> tuple[subprocess.Popen[str], str]:
    """Start a run that lasts, and return it, once it has a table of its own, and what its client alone is told."""
    operations = 10**7 + secrets.randbelow(10**7)
    process = subprocess.Popen(argv_of(by_hand, folder, operations=operations), stderr=subprocess.PIPE, text=True)
    mark = f"ycsb.operationcount={operations}"
    until(lambda: bool(clients(mark)), process)
    until(lambda: any(line.startswith("table fabriscope-") for line in by_hand.tables()), process, pause_s=2.0)
    return process, mark


def until(is_so: Callable[[], bool], process: subprocess.Popen[str] | None = None, pause_s: float = 0.1) -> None:
    """Wait; who asks by starting a Java asks seldom, or it takes the processors from what it waits for."""
    end_s = time.monotonic() + BEGUN_LIMIT_S
    while not is_so():
        assert process is None or process.poll() is None, process.communicate()
        assert time.monotonic() < end_s
        time.sleep(pause_s)


@pytest.mark.timeout(1200)
def test_a_run_measures_it_and_leaves_what_was_there(by_hand: ByHand, tmp_path: Path) -> None:
    before = by_hand.tables()
    done = run(argv_of(by_hand, tmp_path))
    assert done.returncode == 0, done.stderr
    assert by_hand.tables() == before
    (record,) = [json.loads(line) for line in (tmp_path / "run" / "journal.jsonl").read_text().splitlines()]
    about = record["details"]["hbase"]
    assert (about["at"], about["beside"], len(about["servers"])) == (f"{by_hand.address}:/hbase", [], 2)
    (regions,) = record["details"]["regions"].values()
    assert sum(regions.values()) == 2
    (verdict,) = fabriscope.load(tmp_path / "run").transport().to_dicts()
    assert (verdict["verdict"], verdict["carried_by"]) == ("proved", "tcp over eth0"), verdict


@pytest.mark.timeout(1200)
@pytest.mark.parametrize("whom", ["SIGINT", "client"])
def test_whatever_ends_a_run_its_tables_go(by_hand: ByHand, tmp_path: Path, whom: str) -> None:
    before = by_hand.tables()
    process, mark = start_long(by_hand, tmp_path)
    if whom == "client":
        for pid in clients(mark):
            os.kill(pid, signal.SIGKILL)
    else:
        process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=RUN_LIMIT_S)
    assert process.returncode == {"SIGINT": 130, "client": 10}[whom], said
    until(lambda: not clients(mark))
    assert by_hand.tables() == before


@pytest.mark.timeout(600)
@pytest.mark.parametrize(
    ("at", "said"),
    [
        ("node2-gige:2182", "no ZooKeeper answers there"),
        ("node2-gige:2181:/other", "that ZooKeeper knows no active master"),
    ],
)
def test_what_cannot_be_used_is_refused_before_the_run(by_hand: ByHand, tmp_path: Path, at: str, said: str) -> None:
    done = run(argv_of(by_hand, tmp_path, at=at))
    assert done.returncode == 6, done.stderr
    assert said in done.stderr.splitlines()[-1]
    assert not (tmp_path / "run").exists()


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
    assert removed.says(client.leaving.gone), removed
    late = Command(client.argv, host.name)
    (outcome,) = processes.run_commands([late], {host.name: host}, timeout_s=RUN_LIMIT_S)
    assert (outcome.exit_status, b"fabriscope: regions table" in outcome.stdout) == (1, False), outcome
    assert by_hand.tables() == before
