"""What a plan asks for is held against what is set: RoCE v2 on priority 3, marked with DSCP 26."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import pytest
from tests.audit.made_up import ABSENT, DSCP, Value, scene

from fabriscope.audit import auditing
from fabriscope.audit.intents import Intent, intents_of
from fabriscope.audit.scene import Scene
from fabriscope.model.audit import Verdict
from fabriscope.plan import load
from fabriscope.running.site import planned_fabrics
from fabriscope.running.vocabulary import vocabulary

CHECKS = ("netdev-of-hca", "intended-roce-v2", "intended-pfc", "intended-dscp")
R = "rdma.mlx5_0.1"
Changes = dict[str, Value]


def wanted(built: Scene, **changes: Any) -> Scene:
    intent = Intent("roce", dict.fromkeys(built.hosts, "eth0"), "roce", 26, 3)
    return dataclasses.replace(built, intents=(dataclasses.replace(intent, **changes),))


def verdict(built: Scene) -> Verdict:
    return auditing.audit(built, only=CHECKS)


@pytest.mark.parametrize(
    ("check", "host", "port", "what"),
    [
        ("netdev-of-hca", {f"{R}.interface": "eth5"}, {}, "the plan wants roce over it, and no RDMA port has it"),
        ("intended-roce-v2", {f"{R}.gid_kinds": "IB/RoCE v1 IPv4"}, {},
         "the plan wants RoCE v2 over it, and its port has IB/RoCE v1 IPv4"),
        ("intended-pfc", {"dcb.eth0.pfc_priorities": "4"}, {},
         "the plan wants priority 3 without loss, and the host pauses 4"),
        ("intended-pfc", {}, {"pfc_priorities": "none"},
         "the plan wants priority 3 without loss, and the switch pauses none"),
        ("intended-dscp", {"dcb.eth0.dscp_to_priority": DSCP.replace("26:3", "26:0")}, {},
         "the plan marks DSCP 26 and wants priority 3, and the host gives it 0"),
        ("intended-dscp", {}, {"dscp_to_priority": DSCP.replace("26:3", "26:1")},
         "the plan marks DSCP 26 and wants priority 3, and the switch gives it 1"),
    ],
)  # fmt: skip
def test_what_is_not_as_the_plan_has_it(check: str, host: Changes, port: Changes, what: str) -> None:
    (finding,) = verdict(wanted(scene(host, port))).findings
    assert (finding.check, finding.hosts, finding.what) == (check, ("node2",), what)
    assert finding.witnesses
    assert "{" not in finding.remedy
    assert not verdict(scene(host, port)).findings, "without a plan nothing is wanted"


@pytest.mark.parametrize("changes", [{}, {"dscp": None}, {"priority": None}, {"transport": "tcp"}])
def test_nothing_is_wrong_where_all_is_as_wanted_or_nothing_is(changes: dict[str, Any]) -> None:
    found = verdict(wanted(scene(), **changes))
    assert (found.findings, found.unseen) == ((), ())


def test_a_priority_that_only_the_plan_knows_of() -> None:
    found = verdict(wanted(scene(), priority=5, dscp=40))
    assert {one.check for one in found.findings} == {"intended-pfc"}
    assert {host for one in found.findings for host in one.hosts} == {"node0", "node1", "node2", "node3"}
    assert found.findings[0].remedy == "dcb pfc set dev eth0 prio-pfc all:off 3:on 5:on"


@pytest.mark.parametrize(
    ("check", "hidden"),
    [("intended-pfc", "dcb.eth0.pfc_priorities"), ("intended-dscp", "dcb.eth0.dscp_to_priority"),
     ("intended-roce-v2", f"{R}.gid_kinds"), ("netdev-of-hca", f"{R}.interface")],
)  # fmt: skip
def test_what_nobody_could_read_is_unseen(check: str, hidden: str) -> None:
    for value in (None, ABSENT):
        found = auditing.audit(wanted(scene({hidden: value})), only=[check])
        if check == "netdev-of-hca" and value == ABSENT:
            assert [one.check for one in found.findings] == [check]  # another port is told, and this one has none
        else:
            assert [one.hosts for one in found.unseen] == [("node2",)]


def test_a_host_of_the_plan_that_told_nothing_is_left_to_those_who_ask(tmp_path: Path) -> None:
    (tmp_path / "plan.yaml").write_text(
        "name: x\nhosts: [node0, node9]\nfabrics:\n"
        "  roce: {interface: eth0, rdma: roce, traffic_class: 106, lossless_priority: 3}\n"
        "  plain: {interface: eth1}\nbenchmarks: {ping_pong: {sizes: [8]}}\n"
    )
    intents = intents_of(planned_fabrics(load(tmp_path / "plan.yaml", vocabulary())))
    assert [(one.transport, one.dscp, one.priority) for one in intents] == [("roce", 26, 3), ("tcp", None, None)]
    built = dataclasses.replace(scene(), intents=tuple(intents))
    found = verdict(built)
    assert (found.findings, found.unseen) == ((), ())
