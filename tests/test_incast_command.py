"""`fabriscope incast`: the words of the command line make a plan; a small lab is measured, told and kept."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from tests import needs

import fabriscope as api
from fabriscope import store
from fabriscope.analysis.curve import Curve
from fabriscope.analysis.incast import points
from fabriscope.analysis.results import results_of
from fabriscope.cli import fabriscope, incast

TO = ("--to", "node1", "--from", "node[2-3]")


def command(*words: object) -> Result:
    return CliRunner().invoke(fabriscope, ["incast", *(str(word) for word in words)])


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--lab", "gige", "--over", "mpi"), "--over mpi and --mpi NAME belong together"),
        (("--lab", "gige", "--mpi", "openmpi"), "--over mpi and --mpi NAME belong together"),
        (("--lab", "gige", "--rdma", "ib"), "--over tcp goes over no RDMA"),
        (("--lab", "gige,buffer"), "'buffer' is not KEY=VALUE"),
        (("--lab", "gige", "--streams", "0"), "0 is neither a count from 1 to 1024"),
        (("--lab", "gige", "--streams", "4..2"), "'4..2' goes down: write 2..4"),
        (("--lab", "gige", "--line-rate", "25Gb/s"), "--line-rate is of a real interface"),
        (("--lab", "gige", "--from", "node[1-2]"), "node1 both sends and receives"),
        (("--lab", "nosuch"), "nosuch"),
    ],
)
def test_what_cannot_be_is_one_sentence(words: tuple[str, ...], said: str, tmp_path: Path) -> None:
    done = command(*TO, *words, "-o", tmp_path / "run")
    assert done.exit_code != 0
    assert said in " ".join(f"{done.output} {done.exception}".split())
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    ("states", "status"),
    [
        ((points.HOLDS, points.PAUSED), 0),
        ((points.DROPPED,), 0),
        ((points.HOLDS, points.UNDECIDED), 4),
        ((points.COLLAPSES, points.UNDECIDED), 3),
        ((points.UNFAIR,), 3),
        ((), 4),
    ],
)
def test_the_status_is_that_of_the_worst_curve(states: tuple[str, ...], status: int) -> None:
    curve = Curve("inter", "gige", "tcp", None, "engine", "many_to_one", "", "", "")
    assert incast._status([points.IncastCurve(curve, 8, (), None, state, "") for state in states]) == status


def _over(layer: str) -> tuple[str, ...]:
    """Return the words that choose a layer; MPI by a library that takes 6 s a launch, where MPICH 4.0.2 takes 18."""
    return ("--over", layer, *(("--mpi", needs.mpi_library("openmpi").name) if layer == "mpi" else ()))


@pytest.mark.parametrize(
    ("over", "layer", "launches"),
    [("tcp", "TCP", 2), ("libfabric-tcp", "libfabric (tcp)", 1), ("mpi", "MPI", 1)],  # which wait by computing
)
def test_a_lab_is_measured_and_told(over: str, layer: str, launches: int, tmp_path: Path) -> None:
    needs.lab()
    slow = "ethernet-100,rate=20Mb/s,buffer=64KiB,on_full=pause"
    sizes = ("--size", "8KiB", "--streams", "1..2", "--duration", "100ms", "--launches", launches)
    done = command(*TO, *_over(over), *sizes, "--lab", slow, "-q", "-o", tmp_path / "run")
    run = api.load(tmp_path / "run")
    (curve,) = results_of(store.open_run(tmp_path / "run").read()).incast_curves
    assert done.exit_code == incast._status([curve]), done.output
    shown = " ".join(done.output.split())
    assert curve.sentence() in shown
    assert layer in curve.name
    assert [point.stream_count for point in curve.points] == [1, 2]
    for point in curve.points:
        assert point.launch_count + point.refused_window_count >= launches
        assert point.share_of_limit is None or point.share_of_limit <= 1.01
        assert point.evidence.dropped_frames is not None
    assert set(run.streams()["rank"].unique()) == {1, 2}


@pytest.mark.parametrize(("over", "launches"), [("tcp", 2), ("mpi", 1)])
def test_several_hosts_that_receive_are_told_each_and_together(over: str, launches: int, tmp_path: Path) -> None:
    needs.lab()
    slow = "ethernet-100,rate=20Mb/s,buffer=64KiB,on_full=pause"
    sizes = ("--size", "8KiB", "--streams", "1", "--duration", "100ms", "--launches", launches)
    ends = ("--to", "node[1-2]", "--from", "node[3-4]")
    done = command(*ends, *_over(over), *sizes, "--lab", slow, "-q", "-o", tmp_path / "run")
    run = api.load(tmp_path / "run")
    (curve,) = results_of(store.open_run(tmp_path / "run").read()).incast_curves
    assert done.exit_code == incast._status([curve]), done.output
    assert curve.sentence() in " ".join(done.output.split())
    assert "to 2 hosts" in curve.name
    (point,) = curve.points
    assert (point.stream_count, [one.host for one in point.destinations]) == (2, ["node1", "node2"])
    assert point.launch_count + point.refused_window_count >= launches
    if point.aggregate.value is not None:
        parts = [one.aggregate.value or 0.0 for one in point.destinations]
        assert max(parts) <= point.aggregate.value <= 2 * max(parts) * 1.01
        assert run.destinations()["host"].to_list() == ["node1", "node2"]
    assert set(run.streams().select("rank", "to_rank").rows()) == {(2, 0), (3, 1)}


def test_a_victim_is_beside_one_host_that_receives(tmp_path: Path) -> None:
    ends = ("--to", "node[1-2]", "--from", "node[3-4]", "--victim", "node5,node6")
    done = command(*ends, "--lab", "gige", "-o", tmp_path / "run")
    assert "--victim is beside many to one" in " ".join(done.output.split())
