"""Layers that fabriscope knows and this installation's engine has not, or whose library is not on this machine."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests import needs

from fabriscope import engine_binary
from fabriscope.model import native
from fabriscope.model.errors import LaunchError, PlanError
from fabriscope.model.layers import layers_over
from fabriscope.plan import Plan, expand, load
from fabriscope.running.site import planned_fabrics
from fabriscope.running.vocabulary import vocabulary

REAL = "fabrics: {g: {interface: eth0, rdma: ib}}"
LAB = "guests: all\nfabrics: {g: {lab: gige, rdma: soft-roce}}"
OTHERS = [{"name": name, "available": True} for name in ("null", "shm", "tcp")]


def _engine(folder: Path, monkeypatch: pytest.MonkeyPatch, answer: str) -> None:
    """Put an engine in place that says this of itself."""
    program = folder / engine_binary.ENGINE_NAME
    program.write_text(f"#!/bin/sh\ncat <<'END'\n{answer}\nEND\n")
    program.chmod(0o755)
    monkeypatch.setenv(native.BIN_DIR_VARIABLE, str(folder))


def _listing(*transports: dict[str, object]) -> str:
    return json.dumps({"transports": [*OTHERS, *transports], "benchmarks": [{"name": "ping_pong", "available": True}]})


def _loaded(folder: Path, layer: str, fabrics: str) -> Plan:
    path = folder / "plan.yaml"
    path.write_text(f"name: x\nhosts: a,b\n{fabrics}\nlayers: [{layer}]\nbenchmarks: {{ping_pong: {{sizes: [64]}}}}\n")
    return load(path, vocabulary())


@pytest.mark.parametrize("layer", ["verbs", "libfabric-tcp", "libfabric-efa"])
def test_a_layer_that_was_left_out_is_told_with_the_engine_s_reason(
    layer: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    transport = "libfabric" if layer.startswith("libfabric") else layer
    reason = "this program was built without it: install the headers"
    _engine(tmp_path, monkeypatch, _listing({"name": transport, "available": False, "reason": reason}))
    with pytest.raises(PlanError, match=f"has no layer {layer}: {reason} -- install fabriscope again"):
        _loaded(tmp_path, layer, REAL)


def test_an_engine_that_has_never_heard_of_a_layer_is_told_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _engine(tmp_path, monkeypatch, _listing())
    with pytest.raises(PlanError, match=r"has no layer verbs: it does not know the transport verbs"):
        _loaded(tmp_path, "verbs", REAL)


def test_a_library_that_is_missing_here_matters_where_the_hosts_are_this_machine(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    reason = "the verbs transport needs libibverbs.so.1 (package libibverbs1): no such file"
    _engine(tmp_path, monkeypatch, _listing({"name": "verbs", "available": True, "missing_library": reason}))
    with pytest.raises(PlanError, match=r"the layer verbs does not work here: .*package libibverbs1"):
        _loaded(tmp_path, "verbs", LAB)
    assert _loaded(tmp_path, "verbs", REAL).section.layers == ("verbs",)


def test_what_is_built_in_can_be_measured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _engine(tmp_path, monkeypatch, _listing({"name": "libfabric", "available": True}))
    words = vocabulary()
    assert words.layers == {"mpi", "shm", "tcp", "hdfs", "hbase", *layers_over("libfabric")}
    assert set(words.left_out) == {"verbs"}


def test_an_engine_that_says_something_else_is_an_error_of_ours(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for answer in ("", "[]", '{"transports": [5], "benchmarks": []}', '{"transports": null}', "\udcff"):
        _engine(tmp_path, monkeypatch, answer.encode("utf-8", "replace").decode())
        with pytest.raises(LaunchError, match="--list"):
            vocabulary()


LIMITED = """
name: x
hosts: a,b
fabrics: {g: {lab: gige, layers: tcp}, h: {lab: gige}}
layers: [tcp, libfabric-tcp]
benchmarks:
  ping_pong: {sizes: [64], layers: libfabric-tcp}
  bandwidth: {sizes: [64]}
floor: false
launches: 1
"""


def test_fabrics_and_benchmarks_may_be_limited_to_some_layers(tmp_path: Path) -> None:
    needs.transport("libfabric")
    (tmp_path / "plan.yaml").write_text(LIMITED)
    plan = load(tmp_path / "plan.yaml", vocabulary())
    cases = expand(plan, planned_fabrics(plan), 2).cases.values()
    assert {(case.entry.fabric, case.entry.layer, case.benchmark) for case in cases} == {
        ("g", "tcp", "bandwidth"),
        ("h", "tcp", "bandwidth"),
        ("h", "libfabric-tcp", "bandwidth"),
        ("h", "libfabric-tcp", "ping_pong"),
    }


@pytest.mark.parametrize("place", ["g: {lab: gige, layers: tcp}", "ping_pong: {sizes: [64], layers: libfabric-tcp}"])
def test_a_layer_that_the_plan_does_not_measure_is_named(place: str, tmp_path: Path) -> None:
    changed = place.replace("libfabric-tcp", "mpi").replace("tcp}", "mpi}")
    (tmp_path / "plan.yaml").write_text(LIMITED.replace(place, changed))
    with pytest.raises(PlanError, match=r"is limited to the layer 'mpi', which the plan does not measure"):
        load(tmp_path / "plan.yaml", vocabulary())
