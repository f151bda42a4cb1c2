"""Runs whose hosts are watched: what the engine says it sent is what its connections carried."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from fabriscope import plan as plans
from fabriscope import store
from fabriscope.model.counters import RANK
from fabriscope.model.run_data import RunData
from fabriscope.model.switch_series import Counted
from fabriscope.progress import QuietProgress
from fabriscope.running import run as runs
from fabriscope.running.vocabulary import vocabulary

PLAN = """
name: watched
hosts: a,b
fabrics: {eth: {lab: local}}
placements: [inter, intra]
benchmarks:
  ping_pong: {sizes: [8, 64KiB]}
  bandwidth: {sizes: [1KiB], window: 4}
  bidirectional_bandwidth: {sizes: [1KiB], window: 4}
launches: 1
budget: 1s
floor: false
"""
pytestmark = pytest.mark.usefixtures("labs")
GREETING_BYTES = 256
"""A connection presents a token before its first message."""


def made(folder: Path, text: str) -> RunData:
    (folder / "plan.yaml").write_text(text)
    plan = plans.load(folder / "plan.yaml", vocabulary())
    runs.start(plan, folder / "run", QuietProgress(), threading.Event())
    return store.open_run(folder / "run").read()


def test_what_was_sent_is_what_the_connections_carried(tmp_path: Path) -> None:
    run = made(tmp_path, PLAN)
    assert {host: len(watch.readings) >= 2 for host, watch in run.idle_watches().items()} == {"a": True, "b": True}
    for record in run.journal:
        assert record.status == "ok", record
        hosts = run.manifest.entries[record.entry_id].hosts
        watches = run.watches(record)
        assert set(watches) == set(hosts)
        assert {host: watch.problems for host, watch in watches.items()} == {host: {} for host in hosts}
        sent = record.details.sent_payload_bytes or {}
        carried = {
            one.cookie: one
            for watch in watches.values()
            for reading in watch.readings
            for one in reading.connections
            if one.role == RANK
        }.values()
        for direction in ((0, 1), (1, 0)):
            beyond = [one.sent_bytes - sent[direction] for one in carried]
            assert any(0 <= bytes_ <= GREETING_BYTES for bytes_ in beyond), (direction, sent, carried)


def test_a_plan_may_do_without(tmp_path: Path) -> None:
    run = made(tmp_path, PLAN.replace("placements: [inter, intra]", "counters: false"))
    assert run.idle_watches() == {}
    assert [run.watches(record) for record in run.journal] == [{}]


@pytest.mark.parametrize("name", ["counters/idle.json.gz", "counters/launch-0001.json.gz"])
def test_a_run_without_them_stays_readable(tmp_path: Path, name: str) -> None:
    run = made(tmp_path, PLAN.replace("placements: [inter, intra]", "counters: false"))
    assert run.counters is not None
    assert run.counters(name) == Counted({})
