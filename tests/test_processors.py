"""On which processors ranks run: the rule, what a plan may say, and what ran where in a lab."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner
from tests import needs

from fabriscope import cli, store
from fabriscope.adapters.base import AdapterContext
from fabriscope.adapters.engine import ADAPTER
from fabriscope.model.case import Case, Entry
from fabriscope.model.errors import PlanError
from fabriscope.model.host import Fact, Host
from fabriscope.model.measurement import Launch
from fabriscope.model.processors import CORE, NONE, Processors, Wish, deal, found, left_over, listed, numbers, read
from fabriscope.plan import Plan
from fabriscope.plan.load import load as load_plan
from fabriscope.running.binding import Binding
from fabriscope.running.vocabulary import vocabulary

BIG = Processors((0, 1, 4, 5), (2, 3, 6, 7))
SMALL = Processors((0, 1))
KNOWN = {"big": BIG, "": SMALL}


def cpuinfo(*places: tuple[int, int, int]) -> str:
    lines = "processor\t: {}\nphysical id\t: {}\ncore id\t\t: {}\nflags\t: x"
    return "\n\n".join(lines.format(*place) for place in places) + "\n"


def test_processors_are_taken_core_by_core_and_socket_by_socket() -> None:
    interleaved = cpuinfo((0, 0, 0), (1, 1, 0), (2, 0, 1), (3, 1, 1), (4, 0, 0), (5, 1, 0), (6, 0, 1), (7, 1, 1))
    whole = found(interleaved, range(8))
    assert whole == Processors((0, 2, 1, 3), (4, 6, 5, 7))
    assert read(whole.text()) == whole
    assert found(interleaved, (4, 6, 7)) == Processors((4, 6, 7)), "of a core what the mask lets through"
    assert found("processor : 0\n\nprocessor : 1\n", (0, 1)) == SMALL, "where nobody names cores each is one"
    assert found("", (0,)) == Processors(())


@pytest.mark.parametrize("text", ["", "a", "1-", "-1", "3-1", "8192", "1,,2", "1 2", "99999999999999999999", "٣"])
def test_what_is_no_list_of_processors(text: str) -> None:
    with pytest.raises(ValueError, match=r"number of a processor|no processor and no range|ends before"):
        numbers(text)


def test_lists_are_written_as_the_kernel_does() -> None:
    assert numbers("0-2,8, 10-11") == (0, 1, 2, 8, 10, 11)
    assert listed((0, 1, 2, 8, 10, 11)) == "0-2,8,10-11"
    assert listed((2, 0, 1)) == "2,0-1"
    assert listed(()) == ""


@pytest.mark.parametrize(
    ("wish", "machines", "rule", "processors"),
    [
        (None, ("", ""), NONE, ()),
        ("none", ("", ""), NONE, ()),
        ("auto", ("", ""), CORE, ("0", "1")),
        ("core", ("", "", ""), CORE, ("0", "1", "0")),
        ("auto", ("", "", ""), NONE, ()),
        ("core", ("big", "", "big", ""), CORE, ("0", "0", "1", "1")),
        ("core", ("big",) * 6, CORE, ("0", "1", "4", "5", "2", "3")),
        ("auto", ("big",) * 4, CORE, ("0", "1", "4", "5")),
        ("auto", ("big",) * 5, NONE, ()),
    ],
)
def test_the_rule(wish: Wish, machines: tuple[str, ...], rule: str, processors: tuple[str, ...]) -> None:
    dealt = deal(wish, machines, KNOWN)
    assert (dealt.rule, dealt.processors) == (rule, processors)
    assert bool(dealt.because) == (rule == NONE and wish == "auto")


def test_a_list_is_for_the_ranks_of_each_machine() -> None:
    dealt = deal(("4-5", "0"), ("big", "other", "big"), {**KNOWN, "other": BIG})
    assert (dealt.rule, dealt.processors) == ("list", ("4-5", "4-5", "0"))
    with pytest.raises(ValueError, match="names processor 4-5, and this machine lets this run use 0-1"):
        deal(("0", "4-5"), ("", ""), KNOWN)
    with pytest.raises(ValueError, match="for one rank, and more of them run on big"):
        deal(("0",), ("big", "big"), KNOWN)


def test_nobody_is_bound_where_nobody_knows_what_there_is() -> None:
    assert deal("core", ("", "far"), KNOWN).because == "the processors of far are not known"
    assert deal("core", ("", ""), {"": Processors(())}).processors == ()


def test_a_switch_has_what_no_rank_has() -> None:
    dealt = [deal("core", ("big", "big"), KNOWN), deal("core", ("big",), KNOWN)]
    assert left_over(dealt, BIG) == "2-7"
    assert left_over([deal("core", ("", ""), KNOWN)], SMALL) == ""


def plan_of(folder: Path, **changes: Any) -> Plan:
    path = folder / "plan.yaml"
    path.write_text(yaml.safe_dump({**yaml.safe_load(PLAN), **changes}))
    return load_plan(path, vocabulary())


PLAN = """
name: bound
hosts: node[1-2]
fabrics: {near: {lab: gige, bind: core}, free: {lab: gige, bind: none}}
layers: [tcp, shm]
placements: [inter, intra]
benchmarks: {ping_pong: {sizes: [8]}}
bind: [1, 0]
launches: 2
budget: 500ms
"""


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ("auto", "auto"), ("core", "core"), ("none", "none"), (False, "none"), ([0, 1], ("0", "1")), (3, ("3",)),
        (["0-3", "4 - 7"], ("0-3", "4-7")), ("0-3", ("0-3",)), ([0, "1,3"], ("0", "1,3")),
    ],
)  # fmt: skip
def test_what_a_plan_may_say(tmp_path: Path, said: object, meant: object) -> None:
    assert plan_of(tmp_path, bind=said).section.bind == meant


@pytest.mark.parametrize("said", [True, [], [True], {"a": 1}, [[0]], "often", [-1], ["8192"], 0.5])
def test_what_it_may_not(tmp_path: Path, said: object) -> None:
    with pytest.raises(PlanError, match=r"plan\.yaml:\d+.*bind"):
        plan_of(tmp_path, bind=said)


def test_a_fabric_says_it_before_the_plan_and_a_library_before_both(tmp_path: Path) -> None:
    libraries = [{"name": "packed", "library": "mpich", "bind": "core"}, {"name": "plain", "library": "mpich"}]
    plan = plan_of(tmp_path, layers=["tcp", "mpi", "shm"], mpi=libraries)
    hosts = {name: Host(name, kind="namespace") for name in plan.hosts}
    binding = Binding(plan, hosts, {})
    ends, one = ("node1", "node2"), ("node1", "node1")
    rules = {
        (entry.fabric, entry.mpi): binding.of(entry).rule if binding.is_wanted(entry) else None
        for entry in (
            Entry("tcp", "near", "inter", ends),
            Entry("tcp", "free", "inter", ends),
            Entry("shm", None, "intra", one),
            Entry("mpi", "near", "inter", ends, "packed"),
            Entry("mpi", "near", "inter", ends, "plain"),
        )
    }
    assert rules == {
        ("near", None): "core",
        ("free", None): "none",
        (None, None): "list",
        ("near", "packed"): None,
        ("near", "plain"): "core",
    }
    assert binding.of(Entry("tcp", "free", "inter", ends)).is_forbidden
    assert "iperf3 runs where" in binding.of(Entry("tcp", "near", "inter", ends, instrument="iperf3")).because


def test_hosts_that_differ_give_what_each_has(tmp_path: Path) -> None:
    plan = plan_of(tmp_path, hosts="a,b,c", fabrics={"e": {"interface": "eth0"}}, bind="core")
    hosts = {name: Host(name, ("ssh", name)) for name in plan.hosts}
    facts = {"a": [Fact("cpu.order", "0-1;2-3")], "b": [Fact("cpu.order", "6,4")], "c": [Fact("cpu.order", "all; rm")]}
    binding = Binding(plan, hosts, facts)
    assert binding.of(Entry("tcp", "e", "inter", ("a", "b"))).processors == ("0", "6")
    assert binding.of(Entry("tcp", "e", "inter", ("a", "b", "a", "b"))).processors == ("0", "6", "1", "4")
    assert binding.of(Entry("tcp", "e", "inter", ("a", "c"))).because == "the processors of c are not known"


def test_ranks_of_every_layer_are_told_alike() -> None:
    hosts = {name: Host(name, addresses={"e": "10.0.0.1"}) for name in ("a", "b")}
    context = AdapterContext(hosts, engine="/e", mpi_engine="/m", processors=("0", "4-5"))
    for layer in ("tcp", "shm", "mpi", "null"):
        entry = Entry(layer, None, "intra", ("a", "a"))
        launch = Launch(1, 1, entry, (Case(entry, "ping_pong", 8),), 1, 10**9)
        for command in ADAPTER.commands(launch, context):
            place = command.argv.index("--processors")
            assert command.argv[place + 1] == "0/4-5", layer


def test_a_processor_that_is_not_there_is_told_before_anything_runs(tmp_path: Path) -> None:
    path = tmp_path / "plan.yaml"
    path.write_text(yaml.safe_dump({**yaml.safe_load(PLAN), "bind": [0, 8000]}))
    told = CliRunner().invoke(cli.fabriscope, ["plan", "check", str(path)])
    assert isinstance(told.exception, PlanError)
    assert "bind names processor 8000, and this machine lets this run use" in told.exception.sentence()
    assert "plan.yaml:" in told.exception.sentence()


def test_what_ran_where_is_kept_and_shown(tmp_path: Path) -> None:
    needs.lab()
    allowed = sorted(os.sched_getaffinity(0))
    if len(allowed) < 2:
        pytest.skip("two processors are needed to tell ranks apart")
    plan, path = tmp_path / "plan.yaml", tmp_path / "run"
    first, second = allowed[:2]
    plan.write_text(yaml.safe_dump({**yaml.safe_load(PLAN), "bind": [second, first], "turns": "auto"}))
    ran = CliRunner().invoke(cli.fabriscope, ["run", str(plan), "-o", str(path)])
    assert ran.exit_code == 0, ran.output
    where = {
        record.entry_id: (record.details.bound.rule if record.details.bound else None, record.details.processors)
        for record in store.open_run(path).read().journal
    }
    everything = (listed(allowed),) * 2
    assert where["near.tcp.inter"][0] == "core"
    assert len(set(where["near.tcp.inter"][1])) == 2
    assert where["free.tcp.inter"] == ("none", everything)
    assert where["shm.intra"] == ("list", (str(second), str(first)))
    shown = json.loads(CliRunner().invoke(cli.fabriscope, ["show", str(path), "--json"]).stdout)
    rows = [row for table in shown["sections"]["setup"]["tables"] for row in table["rows"]]
    assert any("as the plan lists them" in row for row in rows)
    assert CliRunner().invoke(cli.fabriscope, ["verify", str(path)]).exit_code == 0
