"""Which buffers a plan's cases have: one kind on every layer, unless the plan or another program asks for more."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from tests.plan.test_plan import GOOD, WORDS

from fabriscope.plan import Plan, expand, load
from fabriscope.running.site import planned_fabrics


def loaded(text: str, tmp_path: Path) -> Plan:
    (tmp_path / "plan.yaml").write_text(text)
    return load(tmp_path / "plan.yaml", WORDS)


def _buffers(plan: Plan, benchmark: str) -> dict[tuple[str, str], set[str | None]]:
    """Return layer and instrument to the buffers of a benchmark's cases."""
    found: dict[tuple[str, str], set[str | None]] = {}
    for case in expand(plan, planned_fabrics(plan)).cases.values():
        if case.benchmark == benchmark and case.entry.layer != "null":
            key = case.entry.layer, case.entry.instrument
            found.setdefault(key, set()).add(case.parameter_map.get("buffers"))
    return found


def test_a_ping_pong_has_two_buffers_on_every_layer_unless_a_plan_says_otherwise(tmp_path: Path) -> None:
    layers = ("tcp", "mpi", "shm")
    plan = loaded(GOOD, tmp_path)
    assert _buffers(plan, "ping_pong") == {(layer, "engine"): {"separate"} for layer in layers}
    assert _buffers(plan, "bandwidth") == {(layer, "engine"): {None} for layer in layers}
    told = GOOD.replace("ping_pong: {", "ping_pong: {buffers: [same, rotating], ")
    assert _buffers(loaded(told, tmp_path), "ping_pong") == {
        (layer, "engine"): {"same", "rotating"} for layer in layers
    }


def test_ours_has_the_buffers_of_a_program_that_sends_what_it_received_too(tmp_path: Path) -> None:
    layers = {"netpipe": frozenset({"tcp"}), "imb": frozenset({"mpi"})}
    words = replace(WORDS, instruments=WORDS.instruments | layers.keys(), instrument_layers=layers)
    path = tmp_path / "beside.yaml"
    path.write_text(GOOD.replace("layers:", "instruments: [engine, netpipe, imb]\nlayers:"))
    assert _buffers(load(path, words), "ping_pong") == {
        ("tcp", "engine"): {"separate", "same"}, ("tcp", "netpipe"): {None},
        ("mpi", "engine"): {"separate"}, ("mpi", "imb"): {None}, ("shm", "engine"): {"separate"},
    }  # fmt: skip
