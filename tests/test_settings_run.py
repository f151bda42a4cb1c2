"""Settings of a plan's fabrics: checked, shown, set for their launches alone, and put back whatever ends the run."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from click.testing import CliRunner
from tests.needs import ROOT
from tests.small_plans import refused, written

from fabriscope import store
from fabriscope.cli.plan import COMMAND as PLAN
from fabriscope.hosts import access
from fabriscope.hosts.access import changes, journal
from fabriscope.hosts.access.journal import Change
from fabriscope.model.case import Entry
from fabriscope.model.errors import HostError
from fabriscope.model.fabric import Fabric
from fabriscope.model.host import Host
from fabriscope.model.mpi import MpiStack
from fabriscope.plan import load
from fabriscope.progress import QuietProgress
from fabriscope.running import run
from fabriscope.running.launch_runner import LaunchRunner
from fabriscope.running.settings import Standing
from fabriscope.running.vocabulary import vocabulary

TEXT = """
name: mtu
hosts: node[1-2]
fabrics:
  near: {lab: gige}
  small: {lab: gige, settings: {mtu: 600, tcp_sack: 0}}
benchmarks: {bandwidth: {sizes: [64KiB], window: 2}}
launches: 2
budget: 1s
floor: false
"""


pytestmark = pytest.mark.usefixtures("state")


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        ("mtu: 600", "mtuu: 600", "there is no setting 'mtuu'"),
        ("mtu: 600", "mtu: 60", "mtu: 60 B, which is not from 68 to 65535 B"),
        ("mtu: 600", "mtu: 9000", "an MTU of 9000 on a switch of the lab that carries 1500"),
        ("tcp_sack: 0", "tso: maybe", "tso: 'maybe' is neither on nor off"),
        ("tcp_sack: 0", "tso: [1]", "settings.tso: a setting has one value: a number, a word, or true or false"),
        (
            "tcp_sack: 0",
            "tx_queue: 1.5",
            "settings.tx_queue: a setting has one value: a number, a word, or true or false",
        ),
        ("tcp_sack: 0", "tx_queue:", "settings.tx_queue: nothing stands behind it -- write a value, or remove the key"),
        ("tcp_sack: 0", "huge_pages: foo", "huge_pages: 'foo' is none of always, madvise, never"),
    ],
)
def test_what_cannot_be_set_is_answered_with_its_line(old: str, new: str, why: str, tmp_path: Path) -> None:
    sentence = refused(TEXT.replace(old, new), tmp_path)
    assert why in sentence
    assert "plan.yaml:6" in sentence


def test_plan_check_lists_what_would_be_set(tmp_path: Path) -> None:
    result = CliRunner().invoke(PLAN, ["check", str(written(TEXT, tmp_path))])
    assert "sets mtu of eth1 to 600 on node1, node2 for launches over small, and puts it back" in result.output
    assert "sets tcp_sack to 0 on node1, node2" in result.output
    assert "over near" not in result.output


LIBRARIES = """
name: libraries
hosts: node[1-2]
fabrics:
  near: {lab: gige}
  small: {lab: gige, settings: {mtu: 600}}
layers: [mpi]
mpi:
  - {name: plain, library: mpich}
  - {name: polling, library: mpich, settings: {busy_poll: 50us, tcp_sack: 0}}
placements: [inter, intra]
benchmarks: {ping_pong: {sizes: [8]}}
launches: 1
"""


def test_plan_check_lists_what_is_set_for_a_library(tmp_path: Path) -> None:
    result = CliRunner().invoke(PLAN, ["check", str(written(LIBRARIES, tmp_path))])
    assert "sets tcp_sack to 0 on node1, node2 for launches of polling, and puts it back" in result.output
    assert "sets busy_poll to 50 on the machines of node1, node2, for all that runs there, for launches of polling" in (
        result.output
    )
    assert "launches of plain" not in result.output
    of_interface = LIBRARIES.replace("tcp_sack: 0", "tx_queue: 77")
    result = CliRunner().invoke(PLAN, ["check", str(written(of_interface, tmp_path))])
    assert "sets tx_queue of eth0 to 77 on node1, node2 for launches of polling over near" in result.output
    assert "sets tx_queue of eth1 to 77 on node1, node2 for launches of polling over small" in result.output


@pytest.mark.parametrize(
    ("new", "why"),
    [
        ("mtuu: 600", "there is no setting 'mtuu'"),
        ("tcp_sack: 7", "tcp_sack: 7 is not from 0 to 1"),
        ("mtu: 1400", "mtu is set for the launches of polling and for those over small"),
        ("mtu: 9000", "an MTU of 9000 on a switch of the lab that carries 1500"),
    ],
)
def test_what_cannot_be_set_for_a_library(new: str, why: str, tmp_path: Path) -> None:
    sentence = refused(LIBRARIES.replace("tcp_sack: 0", new), tmp_path)
    assert why in sentence
    assert "plan.yaml:10" in sentence


def test_settings_of_fabric_and_library_stand_together_while_launches_follow_each_other(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    done: list[str] = []

    @contextlib.contextmanager
    def changed(host: Host, change: Change, **_: bool) -> Iterator[None]:
        done.append(f"{host.name}: {change.what} {change.new}")
        yield
        done.append(f"{host.name}: back {change.what}")

    monkeypatch.setattr(changes, "changed", changed)
    monkeypatch.setattr(access, "read", lambda *_: access.Reading())
    fabric = Fabric("near", {"a": "eth0", "b": "eth0"}, knobs={"mtu": "600"})
    stacks = {name: MpiStack(name, "mpich", "5", "mpirun", None) for name in ("plain", "polling")}
    stacks["polling"] = replace(stacks["polling"], knobs={"tcp_sack": "0"})
    stacks["wrong"] = replace(stacks["plain"], knobs={"tx_queue": "7"})
    site: Any = SimpleNamespace(fabrics={"near": fabric}, mpi=stacks, hosts={name: Host(name) for name in ("a", "b")})
    standing = Standing(site)
    inter, intra = (
        Entry("mpi", "near", "inter", ("a", "b"), "polling"),
        Entry("mpi", None, "intra", ("a", "a"), "polling"),
    )
    for entry in (inter, replace(inter, hosts=("a", "b", "a", "b")), intra, replace(inter, mpi="plain")):
        done.append(entry.entry_id)
        standing.hold(entry)
    assert standing.end() == ""
    on_both, put_back = [f"{host}: {what}" for host in "ab" for what in ("mtu of eth0 600", "tcp_sack 0")], 4
    assert sorted(done[1:5]) == on_both
    assert done[5] == "near.mpi.polling.inter.4x2.cyclic"
    assert done[6] == "mpi.polling.intra"
    assert sum("back" in one for one in done[7:11]) == put_back
    assert done[11:14] == ["a: tcp_sack 0", "near.mpi.plain.inter", "a: back tcp_sack"]
    of_mtu = [f"{host}: {what}" for host in "ab" for what in ("back mtu of eth0", "mtu of eth0 600")]
    assert sorted(done[14:]) == of_mtu
    with pytest.raises(HostError, match="tx_queue is set of an interface, and launches here use none"):
        standing.hold(replace(intra, mpi="wrong"))


def test_what_is_set_is_put_back_before_a_sweep_ends_the_hosts_ends_of_it() -> None:
    done: list[object] = []

    def put_back() -> str:
        done.append("put back")
        return "it is not put back"

    runner = object.__new__(LaunchRunner)
    runner.may_have_left = {"a"}
    parts: dict[str, Any] = {
        "_standing": SimpleNamespace(end=put_back),
        "_site": SimpleNamespace(sweep=done.append),
        "_mishaps": [],
    }
    vars(runner).update(parts)
    runner.sweep()
    assert done == ["put back", {"a"}]
    assert parts["_mishaps"] == ["it is not put back"]
    runner.sweep()
    assert len(done) == 2


def test_plan_check_says_what_a_whole_machine_gets(tmp_path: Path) -> None:
    text = TEXT.replace("tcp_sack: 0", "numa_balancing: 0")
    result = CliRunner().invoke(PLAN, ["check", str(written(text, tmp_path))])
    assert "sets numa_balancing to 0 on the machines of node1, node2, for all that runs there, for" in result.output


def frame_bytes(path: Path, fabric: str) -> float:
    """Return the mean size of the frames that the first host has sent over a fabric's switch, in bytes."""
    last = json.loads((path / "journal.jsonl").read_text().splitlines()[-1])
    ports = {(port["fabric"], port["host"]): port["up"] for port in last["fabric_counters"]["ports"]}
    sent = ports[fabric, "node1"]
    return float(sent["bytes"]) / float(sent["frames"])


def test_a_run_sets_them_for_its_launches_and_leaves_nothing(labs: None, tmp_path: Path) -> None:
    import threading

    plan = load(written(TEXT, tmp_path), vocabulary())
    summary = run.start(plan, tmp_path / "run", QuietProgress(), threading.Event())
    assert (summary.failed_cases, summary.is_complete) == (0, True)
    data = store.open_run(tmp_path / "run").read()
    assert data.manifest.fabrics["small"].knobs == {"mtu": "600", "tcp_sack": "0"}
    assert data.manifest.fabrics["near"].knobs == {}
    assert journal.entries() == []
    assert frame_bytes(tmp_path / "run", "small") < 620
    assert frame_bytes(tmp_path / "run", "near") > 700


@pytest.mark.parametrize("seed", range(3))
def test_killed_at_any_moment_restore_leaves_nothing_set(seed: int, labs: None, tmp_path: Path) -> None:
    """A few cases of campaigns/settings, which has the rest of them."""
    import subprocess
    import sys

    argv = [
        sys.executable,
        "-m",
        "campaigns.settings",
        "--count",
        "2",
        "--seed",
        str(seed),
        "--output",
        str(tmp_path / "c"),
    ]
    done = subprocess.run(argv, cwd=ROOT, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
