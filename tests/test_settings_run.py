"""Settings of a plan's fabrics: checked, shown, set for their launches alone, and put back whatever ends the run."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner
from tests.needs import ROOT

from fabriscope import store
from fabriscope.cli.plan import COMMAND as PLAN
from fabriscope.hosts.access import journal
from fabriscope.model.errors import PlanError
from fabriscope.plan import load
from fabriscope.progress import QuietProgress
from fabriscope.running import run

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


@pytest.fixture(autouse=True)
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "state").mkdir(mode=0o700)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


def written(text: str, tmp_path: Path) -> Path:
    path = tmp_path / "plan.yaml"
    path.write_text(text)
    return path


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        ("mtu: 600", "mtuu: 600", "there is no setting 'mtuu'"),
        ("mtu: 600", "mtu: 60", "mtu: '60' is no whole number from 68 to 65535"),
        ("mtu: 600", "mtu: 9000", "an MTU of 9000 on a switch of the lab that carries 1500"),
        ("tcp_sack: 0", "tso: maybe", "tso: 'maybe' is neither on nor off"),
        ("tcp_sack: 0", "tso: [1]", "settings.tso: a setting has one value: a number, a word, or true or false"),
        (
            "tcp_sack: 0",
            "tx_queue: 1.5",
            "settings.tx_queue: a setting has one value: a number, a word, or true or false",
        ),
        ("tcp_sack: 0", "tx_queue:", "settings.tx_queue: a setting has one value: a number, a word, or true or false"),
        ("tcp_sack: 0", "huge_pages: foo", "huge_pages: 'foo' is none of always, madvise, never"),
    ],
)
def test_what_cannot_be_set_is_answered_with_its_line(old: str, new: str, why: str, tmp_path: Path) -> None:
    with pytest.raises(PlanError) as caught:
        load(written(TEXT.replace(old, new), tmp_path), run.vocabulary())
    assert why in str(caught.value)
    assert "plan.yaml:6" in str(caught.value)


def test_plan_check_lists_what_would_be_set(tmp_path: Path) -> None:
    result = CliRunner().invoke(PLAN, ["check", str(written(TEXT, tmp_path))])
    assert "sets mtu of eth1 to 600 on node1, node2 for launches over small, and puts it back" in result.output
    assert "sets tcp_sack to 0 on node1, node2" in result.output
    assert "over near" not in result.output


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

    plan = load(written(TEXT, tmp_path), run.vocabulary())
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
