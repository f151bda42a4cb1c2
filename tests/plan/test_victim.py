"""A bystander of many to one in a plan: where its ranks are, what it is called, and what cannot be."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from fabriscope.model.case import Case, Entry
from fabriscope.model.errors import PlanError
from fabriscope.model.ranks import BESIDE, beside, layout_from, layout_of
from fabriscope.plan import expand, load
from fabriscope.plan.load import Plan
from fabriscope.running import site
from fabriscope.running.vocabulary import vocabulary

PLAN = {
    "name": "victim",
    "hosts": "node[1-6]",
    "fabrics": {"eth": {"lab": "gige"}},
    "many_to_one": {"to": "node1", "from": "node[2-4]", "streams": [3], "victim": {"from": "node5", "to": "node6"}},
    "benchmarks": {"victim_latency": {"sizes": [8]}},
    "floor": False,
}


def loaded(tmp_path: Path, **changes: object) -> Plan:
    path = tmp_path / "plan.yaml"
    path.write_text(yaml.safe_dump({**PLAN, **changes}))
    return load(path, vocabulary())


def many_to_one(**changes: object) -> dict[str, object]:
    return {"to": "node1", "from": "node[2-4]", "streams": [3], "victim": {"from": "node5", "to": "node6"}, **changes}


def test_its_ranks_come_first_and_it_is_measured_with_and_without(tmp_path: Path) -> None:
    plan = loaded(tmp_path)
    (entry,) = expand(plan, site.planned_fabrics(plan)).entries
    assert entry.hosts == ("node5", "node6", "node1", "node2", "node3", "node4")
    assert entry.victim
    assert entry.entry_id == "eth.tcp.inter.3to1x3.victim"
    cases = expand(plan, site.planned_fabrics(plan)).cases.values()
    assert [case.parameter_map["congestion"] for case in cases] == ["none", "incast"]
    assert [case.series for case in cases] == ["congestion none", "congestion incast"]


@pytest.mark.parametrize(
    ("victim", "streams", "label"),
    [
        ({"from": "node5", "to": "node6"}, 3, "3to1x3.victim"),
        ({"from": "node5", "to": "node6"}, 5, "5to1x3.victim"),
        ({"from": "node3", "to": "node6"}, 3, "3to1x3.victim-1-x"),
        ({"from": "node5", "to": "node2"}, 2, "2to1x2.victim-x-0"),
        ({"from": "node4", "to": "node2"}, 4, "4to1x3.victim-2-0"),
    ],
)
def test_hosts_that_it_shares_are_in_its_name(victim: dict[str, str], streams: int, label: str, tmp_path: Path) -> None:
    plan = loaded(tmp_path, many_to_one=many_to_one(victim=victim, streams=streams))
    (entry,) = expand(plan, site.planned_fabrics(plan)).entries
    assert entry.ranks == label
    layout = layout_from(label)
    assert layout == beside(entry.hosts)
    assert (layout.arrangement, layout.rank_count, layout.label()) == (BESIDE, streams + 3, label)
    layout_of(entry.hosts)  # whatever else it is taken for, it is taken for something


def test_streams_and_a_victim_of_as_many_ranks_are_two_entries(tmp_path: Path) -> None:
    benchmarks = {"victim_latency": {"sizes": [8]}, "many_to_one": {"sizes": [8]}}
    section = many_to_one(streams=[2, 3])
    plan = loaded(tmp_path, benchmarks=benchmarks, many_to_one=section, hosts="node[1-8]")
    names = [entry.entry_id for entry in expand(plan, site.planned_fabrics(plan)).entries]
    assert len(names) == len(set(names)) == 4


def test_who_sends_by_itself_is_not_of_the_victim(tmp_path: Path) -> None:
    section = {"to": "node1", "victim": {"from": "node2", "to": "node3"}}
    plan = loaded(tmp_path, many_to_one=section)
    entries = expand(plan, site.planned_fabrics(plan)).entries
    assert [entry.hosts[3:] for entry in entries] == [
        ("node4",), ("node4", "node5"), ("node4", "node5", "node6"),
    ]  # fmt: skip


def test_cases_of_old_runs_keep_their_ids() -> None:
    entry = Entry("tcp", "gige", "inter", ("a", "b"))
    assert Case(entry, "ping_pong", 8).case_id == "58c10df5ac18"


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"many_to_one": {"to": "node1"}}, "victim_latency is of a victim beside many to one, and the plan names none"),
        ({"benchmarks": {"many_to_one": {"sizes": [8]}}}, "many_to_one names a victim, and the plan measures none"),
        ({"many_to_one": many_to_one(victim={"from": "node5", "to": "node5"})}, "node5 is both ends of the victim"),
        ({"many_to_one": many_to_one(victim={"from": "node5", "to": "node1"})}, "node1 receives in many_to_one"),
        ({"many_to_one": many_to_one(victim={"from": "node[5-6]", "to": "node2"})}, "one of the plan's hosts at each"),
        ({"many_to_one": many_to_one(victim={"from": "node9", "to": "node2"})}, "not node9"),
        ({"many_to_one": many_to_one(victim={"from": "node5"})}, "to"),
        ({"benchmarks": {"victim_latency": {"congestion": "heavy"}}}, "heavy"),
        ({"benchmarks": {"victim_latency": {"incast_size": "17MiB"}}}, "incast_size"),
        ({"benchmarks": {"victim_latency": {"victim_traffic_class": 256}}}, "victim_traffic_class"),
    ],
)
def test_what_cannot_be(changes: dict[str, object], message: str, tmp_path: Path) -> None:
    with pytest.raises(PlanError) as caught:
        loaded(tmp_path, **changes)
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("lab", "message"),
    [
        ({"pfc": 8}, "8 is no priority from 0 to 7"),
        ({"pfc": "3/x"}, "is no priority from 0 to 7"),
        ({"pfc": True}, "is no priority from 0 to 7"),
        ({"dscp": {64: 1}}, "is no DSCP from 0 to 63"),
        ({"dscp": {1: 8}}, "is no priority from 0 to 7"),
        ({"dscp": "26"}, "is no priority from 0 to 7"),
        ({"dscp": 3}, "is no mapping of a DSCP to its priority"),
        ({"alpha": 0}, "alpha"),
        ({"scheduler": "random"}, "scheduler"),
        ({"pfc": 3, "on_full": "pause"}, "choose one of them"),
        ({"pfc": 3, "xoff": 10, "xon": 20}, "xon"),
        ({"shared_buffer": "64KiB", "xoff": "65KiB"}, "more than the shared buffer"),
        ({"ecn_min": 5}, "ecn_min and ecn_max belong together"),
        ({"second_switch": "node[1-6]"}, "all hosts are behind the second switch"),
        ({"second_switch": "node9"}, "node9 behind the second switch is no host"),
        ({"preset": "local", "pfc": 3, "xoff": 9}, "needs a rate"),
    ],
)
def test_switches_that_cannot_be(lab: dict[str, object], message: str, tmp_path: Path) -> None:
    with pytest.raises(PlanError) as caught:
        site.lab_spec(loaded(tmp_path, fabrics={"eth": {"lab": {"preset": "gige", **lab}}}))
    assert message in str(caught.value)


def test_switches_with_priorities_are_read_in_either_form(tmp_path: Path) -> None:
    listed = {"preset": "gige", "pfc": [4, 3], "dscp": {26: 3, 48: 6}, "alpha": 0.5, "second_switch": "node[5-6]"}
    text = {"preset": "gige", "pfc": "3/4", "dscp": "48:6/26:3", "alpha": 0.5, "second_switch": "node[5-6]"}
    specs = [site.lab_spec(loaded(tmp_path, fabrics={"eth": {"lab": lab}})).fabrics["eth"] for lab in (listed, text)]
    assert specs[0] == specs[1]
    assert (specs[0].queues.pfc, specs[0].queues.dscp) == ("3/4", "26:3/48:6")
