"""What is unknown, not offered, or not told at all: none of it passes for well, and only the first is a question."""

from __future__ import annotations

import dataclasses
import json

import pytest
from tests.audit.made_up import ABSENT, scene

from fabriscope import devices
from fabriscope.audit import auditing
from fabriscope.audit.place import NotSeen, Place
from fabriscope.audit.scene import Scene
from fabriscope.model.host import Fact, HostFacts
from fabriscope.store import shapes


def of_node(built: Scene, unknown: Fact) -> Scene:
    """Return the scene with an unknown fact on every host."""
    hosts = {
        host: HostFacts((*(fact for fact in known.facts if fact.name != unknown.name), unknown))
        for host, known in built.hosts.items()
    }
    return dataclasses.replace(built, hosts=hosts)


@pytest.mark.parametrize("why", ["'MTU' is not told", "lists no group", "it does not announce it", "not supported"])
@pytest.mark.parametrize(("name", "check"), [("cpu.governor", "governor"), ("pcie.iommu", "iommu-differs")])
def test_the_words_of_a_reason_decide_nothing(why: str, name: str, check: str) -> None:
    unread = auditing.audit(of_node(scene(), Fact(name, None, why)), only=[check])
    assert [(one.reason, len(one.hosts)) for one in unread.unseen] == [(why, 4)]
    absent = auditing.audit(of_node(scene(), Fact(name, None, why, is_offered=False)), only=[check])
    assert (absent.unseen, absent.passed, absent.idle) == ((), (), (check,))


def test_a_fact_that_no_host_tells_is_unseen_where_a_check_needs_it() -> None:
    verdict = auditing.audit(scene({"link.eth0.rx_ring_most_frames": ABSENT, "link.eth0.rx_missed_count": 3}))
    assert [(one.check, one.hosts) for one in verdict.unseen] == [("rings-small", ("node2",))]


def test_a_fact_of_a_run_that_knew_no_offers_reads_as_before() -> None:
    assert shapes.decode({"name": "cpu.model", "value": None, "unknown_because": "not there"}, Fact).is_offered


def test_outputs_of_a_device_that_contradict_each_other_are_told() -> None:
    texts = [("db.json", json.dumps({"PORT_QOS_MAP": {"Ethernet0": {"pfc_enable": "3"}}})),
             ("pfc.txt", "Interface    Lossless priorities\nEthernet0    3,4\n")]  # fmt: skip
    leaf = devices.of_texts("leaf1", texts)
    verdict = auditing.audit(Scene({}, {"leaf1": leaf}), only=["pfc-ports-all"])
    (unseen,) = verdict.unseen
    assert "db.json says 3" in unseen.reason
    assert "pfc.txt says 3,4" in unseen.reason


def test_no_cable_is_no_clean_cable() -> None:
    quiet = scene({"lldp.eth0.port": ABSENT, "lldp.eth0.system": ABSENT}, host_count=1, odd=0)
    verdict = auditing.audit(quiet, only=["mtu-switch-carries"])
    assert [one.reason for one in verdict.unseen] == ["no cable is known: neither end tells its LLDP neighbour"]
    alone = auditing.audit(dataclasses.replace(quiet, devices={}), only=["mtu-switch-carries"])
    assert alone.idle == ("mtu-switch-carries",)


def test_a_cable_whose_ends_contradict_each_other_is_unseen() -> None:
    built = scene(port={"neighbour_system": "node0", "neighbour_port": "eth0"})
    verdict = auditing.audit(built, only=["mtu-switch-carries"])
    assert [(one.hosts, one.reason) for one in verdict.unseen] == [
        (("node0",), "node0 eth0 hears leaf1 Ethernet1, and leaf1 Ethernet2 hears it")
    ]


def test_a_text_is_no_number() -> None:
    place = Place("node0", HostFacts((Fact("limit.mapping_count", "many"),)), ())
    with pytest.raises(NotSeen, match=r"limit\.mapping_count is many, and no number"):
        place.number("limit.mapping_count")


@pytest.mark.parametrize(
    ("fact", "usual", "odd", "check"),
    [("interface.eth0.7.mtu_bytes", 9000, 1500, "mtu-hosts-agree"), ("ip.eth0.7.rp_filter", 0, 1, "arp-differs")],
)
def test_interfaces_of_vlans_are_looked_at(fact: str, usual: int, odd: int, check: str) -> None:
    hosts = {f"node{at}": scene({fact: odd if at == 1 else usual}, odd=at).hosts[f"node{at}"] for at in range(3)}
    (finding,) = auditing.audit(Scene(hosts), only=[check]).findings
    assert (finding.hosts, finding.path) == (("node1",), "eth0.7")
    assert "eth0.7" in finding.remedy
    assert finding.witnesses[0].where == "node1 eth0.7"


def test_pauses_of_a_port_are_not_missed_where_the_host_asks_for_none() -> None:
    """A running configuration without a line of them left every fabric with something that could not be seen."""
    nothing = {"rx_pause": ABSENT, "tx_pause": ABSENT}
    assert auditing.audit(scene(port=nothing), only=["pause-only-one-end"]).unseen == ()
    asked = auditing.audit(scene({"interface.eth0.rx_pause": True}, nothing), only=["pause-only-one-end"])
    assert [one.hosts for one in asked.unseen] == [("node2",)]
