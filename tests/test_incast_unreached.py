"""A receiver that answers one sender and not another: launches with that one fail by its name, the rest is measured."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import pytest
from tests import needs
from tests.small_runs_of_streams import measured

from fabriscope import lab
from fabriscope.analysis.results import results_of

PLAN = """
name: unreached
hosts: node[1-3]
fabrics: {pause: {lab: {preset: ethernet-100, rate: 50Mb/s, buffer: 64KiB, on_full: pause}}}
layers: [tcp]
many_to_one: {to: node1, from: 'node[2-3]', streams: [1, 2]}
benchmarks: {many_to_one: {sizes: [4KiB], duration: 100ms}}
launches: 2
budget: 500ms
floor: false
"""
UP = lab.up


def up_with_a_hole(*words: Any, **named: Any) -> lab.Lab:
    """Build the lab, in which node3 has no way to node1."""
    built = UP(*words, **named)
    for address in built.host("node1").addresses.values():
        argv = [*built.host("node3").access, "ip", "route", "add", "blackhole", f"{address}/32"]
        subprocess.run(argv, check=True)
    return built


def test_a_sender_that_does_not_reach_the_receiver_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    needs.lab()
    monkeypatch.setattr(lab, "up", up_with_a_hole)
    data = measured(PLAN, tmp_path)
    failed = [record for record in data.journal if record.status != "ok"]
    assert len(failed) == 2
    for record in failed:
        assert "3x1" in record.entry_id
        assert "the engine of rank 2 on node3 ended with exit status 1" in (record.reason or "")
        assert "cannot connect to" in (record.reason or "")
    (curve,) = results_of(data).incast_curves
    assert [point.stream_count for point in curve.points] == [1, 2]
    assert (curve.state, curve.because) == ("undecided", "with 2 streams there is no aggregate: its launches failed")
    assert curve.points[0].launch_count + curve.points[0].refused_window_count >= 2
