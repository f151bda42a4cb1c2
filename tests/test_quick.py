"""`fabriscope quick` and `init`: words of the command line make a plan, and an answer."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from tests import needs

from fabriscope import plan as plans
from fabriscope import store
from fabriscope.cli import fabriscope
from fabriscope.model.errors import PlanError
from fabriscope.running.vocabulary import vocabulary


def command(*words: object) -> Result:
    return CliRunner().invoke(fabriscope, [str(word) for word in words])


def plan_of(tmp_path: Path, *words: str) -> plans.Plan:
    """Return what `init` wrote, loaded as `run` does."""
    path = tmp_path / "some name.yaml"
    done = command("init", *words, "-o", path)
    assert done.exit_code == 0, done.output
    return plans.load(path, vocabulary())


def test_without_words_it_is_this_machine(tmp_path: Path) -> None:
    section = plan_of(tmp_path).section
    assert (section.name, section.layers, section.placements) == ("some-name", ("tcp", "shm"), ("intra",))
    assert section.fabrics == {}


def test_interfaces_become_fabrics(tmp_path: Path) -> None:
    words = ("eth0", "fast=ib0", "--hosts", "node[1-3]", "--mpi", "openmpi", "--rdma", "fast=ib", "--for", "5min")
    plan = plan_of(tmp_path, *words, "--launches", "7")
    assert plan.hosts == ("node1", "node2", "node3")
    assert {name: fabric.interface for name, fabric in plan.section.fabrics.items()} == {"eth0": "eth0", "fast": "ib0"}
    assert plan.section.fabrics["fast"].rdma == "ib"
    assert plan.section.layers == ("tcp", "mpi", "verbs")
    assert (plan.section.launches, plan.section.budget) == (7, 300 * 10**9)


def test_presets_are_built_here(tmp_path: Path) -> None:
    plan = plan_of(tmp_path, "gige", "slow=ethernet-100", "--lab")
    assert plan.hosts == ("node1", "node2")
    assert [fabric.lab.preset for fabric in plan.section.fabrics.values() if fabric.lab] == ["gige", "ethernet-100"]


def test_init_overwrites_nothing(tmp_path: Path) -> None:
    path = tmp_path / "plan.yaml"
    path.write_text("mine")
    done = CliRunner().invoke(fabriscope, ["init", "-o", str(path)])
    assert "exists already" in str(done.exception)
    assert path.read_text() == "mine"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["eth0"], "--hosts"),
        (["--hosts", "a,b"], "name the FABRICs"),
        (["--lab"], "name the FABRICs"),
        (["eth0", "eth0", "--hosts", "a,b"], "eth0 is named twice"),
        (["eth0", "--hosts", "a,b", "--rdma", "ib0=ib"], "one of the FABRICs"),
        (["gige", "--lab", "--rdma", "gige=roce"], "not of a lab"),
    ],
)
def test_words_that_make_no_plan_are_told(words: list[str], said: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SLURM_JOB_ID", raising=False)
    done = command("quick", *words)
    assert done.exit_code == 2
    assert said in done.stderr


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["gige", "--lab", "--launches", "many"], "launches"),
        (["token-ring", "--lab"], "token-ring"),
    ],
)
def test_what_a_plan_cannot_say_is_told_as_of_a_plan(words: list[str], said: str) -> None:
    done = command("quick", "-q", *words)
    assert isinstance(done.exception, PlanError)
    assert said in str(done.exception)
    assert "fabriscope-quick-" not in str(done.exception)


def test_it_measures_and_answers(tmp_path: Path) -> None:
    needs.lab()
    run = tmp_path / "run"
    done = command("quick", "gige", "--lab", "--for", "2s", "--launches", "2", "-o", run)
    assert done.exit_code == 0, done.output
    assert "lab: gige" in done.stderr
    assert "the least latency of small messages is" in " ".join(done.stdout.split())
    assert f"fabriscope report {run}" in done.stdout
    assert len(store.open_run(run).read().journal) == 4
    assert json.loads((run / "manifest.json").read_text())["name"] == "quick"
