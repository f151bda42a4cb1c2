"""Faults of whole leaves, of every host, of half of them and several at once are found, and nothing beside them."""

from __future__ import annotations

from collections.abc import Collection, Mapping

import pytest
from tests.audit.made_up import DSCP, HOST, PORT, SWITCH, Value, facts

from fabriscope.audit import auditing
from fabriscope.audit.scene import Scene
from fabriscope.model.device import Device
from fabriscope.model.host import HostFacts

Changes = Mapping[str, Value]
At = tuple[Collection[int], Changes]
"""Numbers of hosts, or of leaves, and what is changed there."""
NOTHING: At = ((), {})
_R = "rdma.mlx5_0.1"
_PFC4: Changes = {"pfc_priorities": "4", "lossless_buffer_priorities": "4", "ecn_queues": "4"}


def fabric(count: int, hosts: At, ports: At, leaves: At, *more: At) -> Scene:
    """Return hosts on two leaves in turns; `ports` are those of the hosts with these numbers, `more` further hosts."""
    found: dict[str, HostFacts] = {}
    known: list[dict[str, Value]] = [{**SWITCH, **(leaves[1] if leaf in leaves[0] else {})} for leaf in (0, 1)]
    for at in range(count):
        leaf, name = at % 2, f"Ethernet{at // 2 + 1}"
        changed = {key: value for where, what in (hosts, *more) if at in where for key, value in what.items()}
        wired: dict[str, Value] = {"lldp.eth0.system": f"leaf{leaf + 1}", "lldp.eth0.port": name}
        found[f"node{at}"] = facts(HOST, {**wired, **changed})
        port = {**PORT, **(ports[1] if at in ports[0] else {})}
        known[leaf] |= {f"port.{name}.{fact}": value for fact, value in port.items()}
    devices = {}
    for leaf, of_leaf in enumerate(known, 1):
        sources = dict.fromkeys(of_leaf, f"`show running-config` in leaf{leaf}.txt")
        devices[f"leaf{leaf}"] = Device(f"leaf{leaf}", "eos", facts(of_leaf, {}), sources)
    return Scene(found, devices)


EVEN, ODD = range(0, 64, 2), range(1, 64, 2)
EVERY = range(64)
PLANTED: dict[str, tuple[int, At, At, At, set[str]]] = {
    "one leaf carries 1500 bytes": (16, NOTHING, (EVEN, {"mtu_bytes": 1500}), NOTHING, {"mtu-switch-carries"}),
    "half of four hosts have an MTU of 4200": (
        4, ((0, 1), {"interface.eth0.mtu_bytes": 4200}), NOTHING, NOTHING, {"mtu-hosts-agree"}),
    "no host sets the bits of ECN": (8, (EVERY, {f"{_R}.traffic_class": 104}), NOTHING, NOTHING, {"ecn-not-capable"}),
    "all switches pause another priority than all hosts": (
        32, NOTHING, (EVERY, _PFC4), NOTHING, {"pfc-ends-differ", "dscp-ends-differ"}),
    "every host trusts the priority of tags, and one leaf, too": (
        16, (EVERY, {"dcb.eth0.trust": "pcp"}), (ODD, {"trust": "cos"}), NOTHING, {"trust-mode"}),
    "one leaf marks nothing, and three hosts do not slow down": (
        12, ((1, 2, 5), {"dcb.eth0.roce_rp_priorities": "none"}), (ODD, {"ecn_queues": "none"}), NOTHING,
        {"ecn-nic-off", "ecn-switch-off"}),
    "one of 64 cards without FEC": (
        64, ((17,), {"link.eth0.fec_active": "off"}), NOTHING, NOTHING, {"fec-mismatch", "fec-differs"}),
    "every host asks for pause frames beside PFC, no switch does": (
        6, (EVERY, {"interface.eth0.rx_pause": True, "interface.eth0.tx_pause": True}), NOTHING, NOTHING,
        {"pfc-and-pause", "pause-only-one-end"}),
    "every host marks a DSCP of another class": (
        24, (EVERY, {f"{_R}.traffic_class": 34}), NOTHING, NOTHING, {"dscp-to-lossless"}),
    "two of eight links at 40 Gb/s at both ends": (
        8, ((3, 4), {"interface.eth0.speed_bits_per_s": 40 * 10**9}), ((3, 4), {"speed_bits_per_s": 40 * 10**9}),
        NOTHING, {"speed-differs", "speed-below-modes"}),
    "every host locks 64 KiB": (48, (EVERY, {"limit.locked_bytes": 65536}), NOTHING, NOTHING, {"memlock"}),
    "both switches' class carries 2240 bytes": (
        10, NOTHING, NOTHING, ((0, 1), {"device.no_drop_mtu_bytes": 2240}), {"mtu-class"}),
    "one leaf maps DSCP 26 elsewhere": (
        20, NOTHING, (EVEN, {"dscp_to_priority": DSCP.replace("26:3", "26:1")}), NOTHING, {"dscp-ends-differ"}),
    "entry 3 is RoCE v1 on most hosts": (
        8, (range(5), {f"{_R}.gid_kind.3": "IB/RoCE v1 IPv4"}), NOTHING, NOTHING, {"gid-index-meaning"}),
    "PFC is off for both switches, and no watchdog on one": (
        40, NOTHING, (EVEN, {"pfc_watchdog": False}), ((0, 1), {"device.pfc_enabled": False}),
        {"pfc-global-off", "pfc-watchdog"}),
    "a leaf's ports negotiate PFC in vain and have errors, and a host is half duplex": (
        4, ((3,), {"interface.eth0.duplex": "half"}),
        (EVEN, {"pfc_is_operating": False, "pfc_mode": "auto", "rx_crc_error_count": 9}), NOTHING,
        {"pfc-oper-off", "ports-crc", "duplex-half"}),
}  # fmt: skip


@pytest.mark.parametrize("name", PLANTED)
def test_what_is_planted_is_found_and_nothing_is_invented(name: str) -> None:
    count, hosts, ports, leaves, seen = PLANTED[name]
    verdict = auditing.audit(fabric(count, hosts, ports, leaves))
    assert {finding.check for finding in verdict.findings} == seen
    assert not verdict.unseen


@pytest.mark.parametrize("count", range(4, 65, 3))
def test_nothing_is_found_where_all_is_well(count: int) -> None:
    verdict = auditing.audit(fabric(count, NOTHING, NOTHING, NOTHING))
    assert (list(verdict.findings), list(verdict.unseen)) == ([], [])
