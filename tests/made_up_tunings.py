"""Tunings of launches that are made up: the truth behind them is known, and no host is touched."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.analysis.small_run import GIGE
from tests.test_sharpen import WORDS, Told

from fabriscope import plan as plans
from fabriscope import store
from fabriscope.analysis.results import results_of
from fabriscope.analysis.tuning.tuned import Tuning, tuning_of
from fabriscope.knobs import knobs
from fabriscope.model.fabric import Fabric
from fabriscope.model.host import Host
from fabriscope.model.measurement import Launch, SampleBlock
from fabriscope.plan import Plan, load
from fabriscope.reports.section import plain
from fabriscope.reports.sections import sections_of
from fabriscope.running import tuning, tuning_plan
from fabriscope.running.probing import Probed
from fabriscope.running.tuning import Tuning as Rounds

TEXT = """
name: tuned
hosts: a,b
fabrics: {gige: {lab: gige}}
benchmarks: {bandwidth: {sizes: [1MiB], window: 4}, ping_pong: {sizes: [8]}}
floor: false
launches: 2
budget: 1s
tune:
  knobs: {mtu: [600, 1000, 1500], tcp_sack: [0, 1], tcp_timestamps: [0, 1], tx_queue: [100, 500, 1000]}
  objective: {benchmark: bandwidth}
  budget: 5min
"""
NOW = {"mtu": "600", "tcp_sack": "1", "tcp_timestamps": "1", "tx_queue": "1000"}
Speeds = Mapping[str, Mapping[str, Mapping[str, float]]]
"""Benchmark to setting to value to how many times as fast it is."""
SPEEDS: Speeds = {
    "bandwidth": {"mtu": {"1000": 1.25, "1500": 1.2}, "tcp_timestamps": {"0": 1.05}},
    "ping_pong": {"mtu": {"1000": 0.9, "1500": 0.8}},
}


class Place:
    """A site of two hosts that take whatever `probed` says."""

    hosts: Mapping[str, Host] = {name: Host(name) for name in ("a", "b")}
    absent: Mapping[str, str] = {}

    def __init__(self) -> None:
        self.fabrics: Mapping[str, Fabric] = {"gige": GIGE}

    def over(self, fabrics: Mapping[str, Fabric]) -> None:
        assert set(self.fabrics) <= set(fabrics)

    def switch_of(self, _fabric: Fabric) -> None:
        """No switch takes part."""


def planned(text: str, tmp_path: Path) -> Plan:
    path = tmp_path / "plan.yaml"
    path.write_text(text)
    return load(path, replace(WORDS, knobs={name: knob.value for name, knob in knobs().items()}))


def take(monkeypatch: pytest.MonkeyPatch, now: Mapping[str, str], other: Mapping[str, str] | None = None) -> None:
    """Let hosts have these settings, and take all that they are asked for but the congestion control vegas."""

    def probed(_fabric: Fabric, hosts: Sequence[Host], values: Mapping[str, Sequence[str]], place: None) -> Probed:
        assert place is None
        assert [host.name for host in hosts] == ["a", "b"]
        good = {knob: tuple(one for one in of if one != "vegas") for knob, of in values.items()}
        current = {knob: {"a": now[knob], "b": (other or now)[knob]} for knob in values if knob in now}
        left_out = tuple(f"{knob} vegas is left out: no" for knob, of in values.items() if "vegas" in of)
        return Probed({knob: of for knob, of in good.items() if of}, current, left_out)

    monkeypatch.setattr(tuning, "probed", probed)


def measure(folder: store.RunFolder, launch: Launch, speeds: Speeds, now: Mapping[str, str], spread: float) -> None:
    """Append a launch, whose block and which itself have levels of their own."""
    in_common, own = np.random.default_rng(launch.block), np.random.default_rng([launch.launch_id, 7])
    level = in_common.normal(0, 0.05) + own.normal(0, spread)
    fabric = folder.manifest.fabrics[launch.entry.fabric or ""]
    blocks: list[SampleBlock] = []
    for case in launch.cases:
        set_to = {**now, **fabric.knobs}
        of = speeds.get(case.benchmark, {})
        speed = math.prod(of.get(knob, {}).get(value, 1.0) for knob, value in set_to.items())
        time_ns = 1e8 * case.window_size / speed if case.benchmark == "bandwidth" else 1e5 / speed
        values = time_ns * np.exp(level + own.normal(0, 0.001, 4))
        blocks.append(SampleBlock(case.case_id, values.tolist(), burst=len(blocks)))
    results = {case.case_id: {"status": "ok", "reason": None} for case in launch.cases}
    head = {"launch_id": launch.launch_id, "block": launch.block, "entry_id": launch.entry.entry_id}
    record = {**head, "status": "ok", "reason": None, "results": results, "elapsed_ns": 10**9, "details": {}}
    folder.append(record, blocks, again=True)


def rounds(plan: Plan, folder: store.RunFolder, told: Told) -> Rounds:
    place: Any = Place()
    return Rounds(plan, folder, place, told, over=place.over)


def begun(plan: Plan, path: Path) -> tuple[store.RunFolder, tuple[Launch, ...]]:
    fabrics = {"gige": GIGE}
    schedule = plans.expand(plan, fabrics)
    assert tuning_plan.check(plan, schedule, fabrics) is not None
    about = {"version": store.SINCE_VERSION, "plan": plan.section.model_dump(mode="json"), "name": "t", "seed": 1}
    parts = store.describe((), schedule.launches, fabrics.values())
    return store.create(path, {**parts, **about}, plan.text), schedule.launches


def tuned(
    plan: Plan,
    path: Path,
    speeds: Speeds = SPEEDS,
    now: Mapping[str, str] = NOW,
    spread: float = 0.003,
    most: int = 10**9,
) -> tuple[store.RunFolder, Told]:
    """Return a run's folder after at most so many launches."""
    folder, launches = begun(plan, path)
    told = Told()
    added = chain.from_iterable(rounds(plan, folder, told).launches(()))
    for number, launch in enumerate(chain(launches, added)):
        if number == most:
            return folder, told
        measure(folder, launch, speeds, now, spread)
    folder.end()
    return folder, told


def result(folder: store.RunFolder) -> Tuning:
    found = tuning_of(folder.read())
    assert found is not None
    return found


def words(folder: store.RunFolder) -> list[str]:
    results = results_of(folder.read())
    (section,) = (one for one in sections_of(results) if one.anchor == "tuning")
    bullets: Any = section.blocks[0]
    return [plain(item) for item in bullets.items]
