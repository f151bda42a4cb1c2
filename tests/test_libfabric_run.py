"""Runs over libfabric in a lab: what was sent is found on what the provider uses."""

from __future__ import annotations

import threading
from pathlib import Path

from tests import needs

from fabriscope import plan as plans
from fabriscope import store
from fabriscope.analysis.proof.transport import transport_frame
from fabriscope.model.counters import PROVED
from fabriscope.progress import QuietProgress
from fabriscope.running import run as runs
from fabriscope.running.vocabulary import vocabulary

PLAN = """
name: libfabric
hosts: a,b
fabrics: {eth: {lab: local}}
layers: [libfabric-tcp, libfabric-shm]
placements: [inter, intra]
benchmarks:
  ping_pong: {sizes: [8, 64KiB]}
  bandwidth: {sizes: [1KiB, 1MiB], window: 4}
  bidirectional_bandwidth: {sizes: [64KiB], window: 4}
launches: 1
budget: 2s
floor: false
"""


def test_what_carries_the_bytes_of_libfabric_is_proved(tmp_path: Path) -> None:
    needs.lab()
    needs.transport("libfabric")
    (tmp_path / "plan.yaml").write_text(PLAN)
    plan = plans.load(tmp_path / "plan.yaml", vocabulary())
    runs.start(plan, tmp_path / "run", QuietProgress(), threading.Event())
    run = store.open_run(tmp_path / "run").read()
    for record in run.journal:
        assert record.status == "ok", record
        header = record.document["details"]["header"]
        assert header["library_version"].startswith("libfabric "), header
    found = {row["entry_id"]: row for row in transport_frame(run).iter_rows(named=True)}
    assert {name: row["verdict"] for name, row in found.items()} == dict.fromkeys(
        ("eth.libfabric-tcp.inter", "libfabric-tcp.intra", "libfabric-shm.intra"), PROVED
    ), found
    asked = {name: row["asked"] for name, row in found.items()}
    assert asked["eth.libfabric-tcp.inter"] == "tcp over eth0"
    assert asked["libfabric-tcp.intra"] == "tcp over lo"
    assert asked["libfabric-shm.intra"] == "shared memory"
