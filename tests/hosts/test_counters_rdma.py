"""What RDMA ports count, read from trees of devices that were not at hand (data/infiniband/README.md)."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import pytest

from fabriscope.hosts import counters
from fabriscope.launch.processes import run_commands
from fabriscope.model.command import Command
from fabriscope.model.counters import Watch
from fabriscope.model.host import Host

DATA = Path(__file__).with_name("data") / "infiniband"
HERE = Host("here")


@pytest.fixture
def watch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Watch:
    return watched(tmp_path, monkeypatch)


def watched(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str = "") -> Watch:
    """Return what a collector says that takes the recorded tree for /sys, and the recorded words for those of rdma.

    Meanwhile a Python script runs.
    """
    for name, text in json.loads((DATA / "ports.json").read_text()).items():
        path = tmp_path / "sys" / "class" / "infiniband" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    rdma = tmp_path / "bin" / "rdma"
    rdma.parent.mkdir()
    rdma.write_text(f'#!/bin/sh\n[ "$*" = "-j statistic show" ] && exec cat {DATA / "rdma-statistic.json"}\n')
    rdma.chmod(0o755)
    monkeypatch.setenv("PATH", f"{rdma.parent}:{os.environ['PATH']}")
    watchers = counters.commands([HERE], sys_folder=str(tmp_path / "sys"))
    told, _ = run_commands(
        [Command((sys.executable, "-c", script), HERE.name)], {HERE.name: HERE}, timeout_s=60.0, watchers=watchers
    )
    return counters.parse(told)


def test_ports_of_several_vendors_are_read_as_they_stand_there(watch: Watch) -> None:
    last = watch.readings[-1].rdma
    assert set(last) == {"mlx5_0/1", "hfi1_0/1", "bnxt_re0/1", "bnxt_re0/2", "i40iw0/1"}
    assert last["mlx5_0/1"]["port_xmit_data"] == 3221225472
    assert last["mlx5_0/1"]["hw.rx_write_requests"] == 1048576
    assert last["hfi1_0/1"]["port_rcv_data"] == 2755019168
    assert last["hfi1_0/1"]["hw.RcAcks"] == 19918731
    assert last["bnxt_re0/1"]["hw.tx_bytes"] == 84382750
    assert last["bnxt_re0/2"] == {"hw.rx_bytes": 5, "hw.tx_bytes": 6}


def test_what_is_no_counter_is_left_out(watch: Watch) -> None:
    for port in watch.readings[-1].rdma.values():
        assert "hw.lifespan" not in port
    iwarp = watch.readings[-1].rdma["i40iw0/1"]
    assert "port_xmit_data" not in iwarp  # it says N/A: an unknown is no zero
    assert iwarp["hw.ip4OutOctets"] == 16384


def test_what_only_the_program_tells_is_added(watch: Watch) -> None:
    assert watch.readings[-1].rdma["mlx5_0/1"]["hw.req_transport_retries_exceeded"] == 4


def test_a_port_is_known_by_its_interface(watch: Watch) -> None:
    expected = {"mlx5_0/1": "ens1f0np0", "bnxt_re0/1": "enp65s0f0", "bnxt_re0/2": "enp65s0f1"}
    assert watch.rdma_interfaces == expected


def test_a_port_that_goes_away_is_missing_from_then_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    device = tmp_path / "sys" / "class" / "infiniband" / "hfi1_0"
    watch = watched(tmp_path, monkeypatch, f"import shutil; shutil.rmtree({str(device)!r})")
    assert "hfi1_0/1" in watch.readings[0].rdma
    assert "hfi1_0/1" not in watch.readings[-1].rdma
    assert "mlx5_0/1" in watch.readings[-1].rdma
