"""What an audit finds and a setting can change is changed in launches of its own, and its cost is said."""

from __future__ import annotations

import json
import threading
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from tests.small_plans import Interrupting

from fabriscope import store
from fabriscope.analysis.comparing.compared import Compared, CurvePair
from fabriscope.analysis.curve import Curve
from fabriscope.hosts.access import journal
from fabriscope.model.errors import PlanError
from fabriscope.model.fabric import Fabric
from fabriscope.model.host import Fact
from fabriscope.plan import load
from fabriscope.progress import QuietProgress
from fabriscope.reports.sections.causes import SECTION
from fabriscope.running import causes, run
from fabriscope.running.vocabulary import vocabulary

TEXT = """
name: causes
hosts: node[1-3]
fabrics:
  fast: {lab: {preset: ethernet-100, broken: {small-mtu: node2}}}
benchmarks: {bandwidth: {sizes: [64KiB], window: 2}}
launches: 2
budget: 1s
intervene: true
floor: false
"""
USUAL: dict[str, Any] = {
    "cpu.model": "x",
    "interface.eth0.mtu_bytes": 1500,
    "interface.eth0.tso": True,
    "interface.eth1.mtu_bytes": 1500,
    "tcp.sack": True,
    "tcp.receive_buffer_bytes_max": 6291456,
    "cpu.governor": "performance",
}
FABRIC = Fabric("a", dict.fromkeys(("n1", "n2", "n3"), "eth0"))


def found(odd: dict[str, Any], hosts: str = "n1 n2 n3") -> list[tuple[str, str]]:
    """Return setting and value of what would be changed where the last host differs."""
    facts = {name: dict(USUAL) for name in hosts.split()}
    facts[hosts.split()[-1]].update(odd)
    told = {host: [Fact(name, value) for name, value in known.items()] for host, known in facts.items()}
    return [(one.setting, one.value) for one in causes.found({"a": FABRIC}, told)]


@pytest.mark.parametrize(
    ("odd", "expected"),
    [
        ({}, []),
        ({"interface.eth0.mtu_bytes": 600}, [("mtu", "1500")]),
        ({"interface.eth1.mtu_bytes": 600}, []),
        ({"interface.eth0.tso": False}, [("tso", "on")]),
        ({"tcp.sack": False}, [("tcp_sack", "1")]),
        ({"tcp.receive_buffer_bytes_max": 65536}, [("tcp_receive_buffer", "6291456")]),
        ({"cpu.governor": "powersave"}, [("governor", "performance")]),
        ({"cpu.model": "y", "interface.eth0.mtu_bytes": 600}, []),
    ],
)
def test_what_can_be_changed(odd: dict[str, Any], expected: list[tuple[str, str]]) -> None:
    assert found(odd) == expected


def test_of_two_hosts_nobody_knows_which_is_right() -> None:
    assert sorted(found({"interface.eth0.mtu_bytes": 9000}, "n1 n2")) == [("mtu", "1500"), ("mtu", "9000")]


def test_a_fabric_of_its_own_for_each(tmp_path: Path) -> None:
    (tmp_path / "plan.yaml").write_text(TEXT.replace("node[1-3]", "n[1-3]").replace("node2", "n2").replace("fast", "a"))
    plan = load(tmp_path / "plan.yaml", vocabulary())
    facts = {host: [Fact(name, value) for name, value in USUAL.items()] for host in ("n1", "n3")}
    facts["n2"] = [Fact(name, 600 if name.endswith("eth0.mtu_bytes") else value) for name, value in USUAL.items()]
    every = causes.found({"a": FABRIC}, facts)
    more = causes.with_fabrics({"a": FABRIC}, every)
    assert list(more) == ["a", "a-mtu-1500"]
    changed = more["a-mtu-1500"]
    assert (changed.interfaces, changed.knobs, changed.instead_of) == (FABRIC.interfaces, {"mtu": "1500"}, "a")
    assert changed.cause == "mtu is 600 on n2, and 1500 elsewhere"
    assert causes.begun(more) == every
    assert list(causes.extended(plan, every).section.fabrics) == ["a", "a-mtu-1500"]
    assert causes.extended(plan, []) == plan


def test_a_fabric_of_the_plans_keeps_its_name() -> None:
    facts = {host: [Fact(name, value) for name, value in USUAL.items()] for host in ("n1", "n2", "n3")}
    facts["n2"] = [Fact(name, 600 if name.endswith("eth0.mtu_bytes") else value) for name, value in USUAL.items()]
    fabrics = {"a": FABRIC, "a-mtu-1500": Fabric("a-mtu-1500", dict.fromkeys(("n1", "n2", "n3"), "eth1"))}
    every = causes.found(fabrics, facts)
    assert [one.name for one in every] == ["a-mtu-1500-2"]
    more = causes.with_fabrics(fabrics, every)
    assert more["a-mtu-1500"] == fabrics["a-mtu-1500"]
    assert causes.begun(more) == every


@pytest.mark.parametrize(
    ("broken", "why"),
    [("{mtuu: node2}", "there is no fault 'mtuu'"), ("{mtu: node9}", "befalls node9, no host of this plan")],
)
def test_faults_that_cannot_be_planted(broken: str, why: str, tmp_path: Path) -> None:
    (tmp_path / "plan.yaml").write_text(TEXT.replace("{small-mtu: node2}", broken))
    with pytest.raises(PlanError, match=why):
        load(tmp_path / "plan.yaml", vocabulary())


def compared(
    cause: Fabric, metric_id: str, ratio: float, low: float | None, high: float | None, *, is_left: bool
) -> Compared:
    curve = Curve("inter", "a", "tcp", None, "engine", "bandwidth", "", "", "")
    other = replace(curve, fabric=cause.name)
    sides = (other, curve) if is_left else (curve, other)
    pair = CurvePair("fabric", str(sides[0].fabric), str(sides[1].fabric), *sides, metric_id)
    return Compared(pair, 65536, 1.0, 1.0, ratio, low, high, 6, None, None, "faster", None, "t", ratio, low, high)


def sentences(manifest: Any, rows: list[Compared]) -> list[str]:
    results: Any = SimpleNamespace(run=SimpleNamespace(manifest=manifest), compared=rows)
    (section,) = SECTION.build(results)
    bullets: Any = section.blocks[0]
    return list(bullets.items)


@pytest.mark.parametrize("is_left", [True, False])
@pytest.mark.parametrize(
    ("metric_id", "gain", "words"),
    [
        ("bandwidth_bytes_per_s", (1.25, 1.2, 1.3), "costs 20.0% of bandwidth at 64 KiB (16.7% to 23.1%); put back"),
        ("latency_ns", (1.25, 1.2, 1.3), "costs 25.0% longer latency at 64 KiB (20.0% to 30.0%); put back"),
        ("latency_ns", (1.05, 0.9, 1.3), "no cost is decided; the most seen is 5.0% longer latency"),
        ("latency_ns", (1.05, None, None), "no cost is decided; the most seen is 5.0% longer latency"),
    ],
)
def test_words(is_left: bool, metric_id: str, gain: tuple[float, float | None, float | None], words: str) -> None:
    cause = replace(FABRIC, name="a-mtu-1500", knobs={"mtu": "1500"}, instead_of="a", cause="mtu is 600 on n2")
    ratio, low, high = gain if is_left else (1 / gain[0], gain[2] and 1 / gain[2], gain[1] and 1 / gain[1])
    row = compared(cause, metric_id, ratio, low, high, is_left=is_left)
    manifest = SimpleNamespace(fabrics={"a": FABRIC, cause.name: cause})
    (sentence,) = sentences(manifest, [row])
    assert f"mtu is 600 on n2, over a: {words}" in sentence


def test_the_worst_stands_first() -> None:
    one = replace(FABRIC, name="a-mtu-1500", knobs={"mtu": "1500"}, instead_of="a", cause="small")
    two = replace(FABRIC, name="a-tso-on", knobs={"tso": "on"}, instead_of="a", cause="large")
    rows = [
        compared(one, "bandwidth_bytes_per_s", 1.1, 1.05, 1.15, is_left=True),
        compared(two, "bandwidth_bytes_per_s", 1.5, 1.4, 1.6, is_left=True),
    ]
    manifest = SimpleNamespace(fabrics={"a": FABRIC, one.name: one, two.name: two})
    assert [one.partition(",")[0] for one in sentences(manifest, rows)] == ["large", "small"]


def test_in_a_lab_a_fault_is_found_changed_put_back_and_gone_on_with(labs: None, tmp_path: Path) -> None:
    (tmp_path / "plan.yaml").write_text(TEXT)
    plan, cancel, path = load(tmp_path / "plan.yaml", vocabulary()), threading.Event(), tmp_path / "run"
    before = {entry.name for entry in journal.entries()}  # this machine's, of others
    run.start(plan, path, Interrupting(2, cancel), cancel)
    summary = run.resume(path, QuietProgress(), threading.Event())
    assert (summary.failed_cases, summary.launch_count, summary.is_complete) == (0, 4, True)
    manifest = store.open_run(path).read().manifest
    assert manifest.fabrics["fast-mtu-1500"].cause == "mtu is 600 on node2, and 1500 elsewhere"
    assert manifest.fabrics["fast-mtu-1500"].interfaces == manifest.fabrics["fast"].interfaces
    lines = [json.loads(line) for line in (path / "journal.jsonl").read_text().splitlines()]
    assert {line["entry_id"].partition("-inter")[0] for line in lines if "entry_id" in line}
    ours = [entry for entry in journal.entries() if entry.change.what == "mtu" and entry.name not in before]
    assert ours == []
