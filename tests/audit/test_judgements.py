"""What single checks make of values that look wrong and are not, or look well and are not."""

from __future__ import annotations

import dataclasses

import pytest
from tests.audit.made_up import ABSENT, DSCP, Value, scene

from fabriscope.audit import auditing
from fabriscope.audit.scene import Scene
from fabriscope.model.audit import Finding, Verdict

R = "rdma.mlx5_0.1"
Changes = dict[str, Value]


def verdict(check: str, host: Changes | None = None, port: Changes | None = None, system: str = "eos") -> Verdict:
    """Return what a check says of well hosts of which node2 and its port are changed, on switches of a system."""
    built = scene(host, port)
    devices = {name: dataclasses.replace(one, system=system) for name, one in built.devices.items()}
    return auditing.audit(Scene(built.hosts, devices), only=[check])


def finding(check: str, host: Changes | None = None, port: Changes | None = None, system: str = "eos") -> Finding:
    (one,) = verdict(check, host, port, system).findings
    return one


def test_the_dscp_that_rdma_marks_is_held_against_the_switch() -> None:
    """26 goes elsewhere; 24, 25 and 27 to 31, which nobody uses, still go to a class with PFC."""
    there = DSCP.replace("26:3", "26:5")
    assert finding("dscp-ends-differ", {}, {"dscp_to_priority": there}).what == (
        "DSCP 26 is lossless on the host, and goes to class 5 on the switch"
    )
    assert not verdict("dscp-ends-differ", {f"{R}.traffic_class": 96}, {"dscp_to_priority": there}).findings


def test_a_host_without_an_iommu_among_hosts_with_one() -> None:
    one = finding("iommu-differs", {"pcie.iommu": "off"})
    assert (one.hosts, one.remedy) == (("node2",), "boot with iommu=pt (identity)")


def test_a_variable_that_one_host_alone_has() -> None:
    one = finding("env-differs", {"environment.UCX_RNDV_THRESH": "8192"})
    assert one.what == "the variable UCX_RNDV_THRESH is 8192, and not set on 3 others"
    assert (one.hosts, one.remedy) == (("node2",), "unset UCX_RNDV_THRESH")


@pytest.mark.parametrize(
    "name", ["UCX_NET_DEVICES", "NCCL_IB_HCA", "NCCL_SOCKET_IFNAME", "OMPI_MCA_btl_tcp_if_include",
             "OMPI_MCA_oob_tcp_if_include", "FI_TCP_IFACE"])  # fmt: skip
def test_names_of_devices_may_differ(name: str) -> None:
    assert not verdict("env-differs", {f"environment.{name}": "mlx5_0:1"}).findings
    hosts = {f"node{at}": scene({f"environment.{name}": f"mlx5_{at}"}, odd=at).hosts[f"node{at}"] for at in (0, 1)}
    assert not auditing.audit(Scene(hosts), only=["env-differs"]).findings


def test_an_environment_that_could_not_be_read_is_unseen() -> None:
    hidden: Changes = {"environment.variables": None, "environment.UCX_TLS": ABSENT}
    assert [one.hosts for one in verdict("env-differs", hidden).unseen] == [("node2",)]
    assert [one.hosts for one in verdict("tls-allows-tcp", hidden).unseen] == [("node2",)]


def test_ucx_without_a_choice_of_transports_may_use_tcp() -> None:
    assert finding("tls-allows-tcp", {"environment.UCX_TLS": ABSENT}).hosts == ("node2",)
    assert not verdict("tls-allows-tcp", {"environment.UCX_TLS": ABSENT, "software.ucx": None}).findings


def test_nccl_marks_nothing_where_it_is_not_told_to() -> None:
    marked: Changes = {"environment.UCX_IB_TRAFFIC_CLASS": "106"}
    assert finding("tclass-libraries", {**marked, "environment.NCCL_DEBUG": "INFO"}).what == "UCX marks 106, NCCL 0"
    assert verdict("tclass-libraries", marked).idle == ("tclass-libraries",)


@pytest.mark.parametrize(
    "port", [{"pfc_mode": "auto", "pfc_priorities": ABSENT}, {"pfc_mode": "auto", "pfc_priorities": "none"},
             {"is_up": False}, {"is_enabled": False}])  # fmt: skip
def test_a_port_of_which_nobody_asked_pfc_need_not_operate_it(port: Changes) -> None:
    assert not verdict("pfc-oper-off", {}, {"pfc_is_operating": False, **port}).findings


def test_a_class_whose_mtu_nobody_tells_does_not_pass() -> None:
    built = scene()
    devices = {
        name: dataclasses.replace(one, system="nxos", known=type(one.known)(
            tuple(fact for fact in one.known.facts if fact.name != "device.no_drop_mtu_bytes")))
        for name, one in built.devices.items()
    }  # fmt: skip
    found = auditing.audit(Scene(built.hosts, devices), only=["mtu-class"])
    assert found.passed == ()
    assert found.unseen[0].reason == "no saved output of leaf1 tells the MTU of its no-drop class"
    other = {name: dataclasses.replace(one, system="eos") for name, one in devices.items()}
    assert auditing.audit(Scene(built.hosts, other), only=["mtu-class"]).idle == ("mtu-class",)


def test_the_mtu_of_a_class_of_one_port_names_the_port() -> None:
    one = finding("mtu-class", {}, {"no_drop_mtu_bytes": 2240})
    assert one.witnesses[1].where == "leaf1 Ethernet2"
    assert one.remedy == "policy-map type network-qos POLICY; class type network-qos CLASS; mtu 9216"


def test_kinds_of_addresses_that_the_kernel_does_not_tell() -> None:
    found = verdict("gid-v1-only", {f"{R}.gid_kinds": "unknown type IPv4"})
    assert (found.findings, [one.hosts for one in found.unseen]) == ((), [("node2",)])
    assert finding("gid-v1-only", {f"{R}.gid_kinds": "IB/RoCE v1 IPv4"}).remedy.startswith(
        "cma_roce_mode -d mlx5_0 -p 1 "
    )


@pytest.mark.parametrize("check", ["gid-no-ipv4", "trust-mode", "dscp-to-lossless", "pfc-none", "mtu-roce-fits"])
def test_a_port_that_is_down_is_not_asked(check: str) -> None:
    down: Changes = {f"{R}.state": "1: DOWN", f"{R}.gid_kinds": "RoCE v2 link-local", "dcb.eth0.trust": ABSENT,
                     "dcb.eth0.pfc_priorities": ABSENT, f"{R}.active_mtu_bytes": 1024}  # fmt: skip
    found = verdict(check, down)
    assert (found.findings, found.unseen) == ((), ())


def test_a_port_without_a_table_of_gids_is_not_asked_for_kinds() -> None:
    found = verdict("gid-no-ipv4", {f"{R}.gid_kinds": ABSENT})
    assert (found.findings, found.unseen) == ((), ())


def test_a_card_that_is_newer_than_its_slot_is_well() -> None:
    slow: Changes = {"pcie.eth0.transfers_per_s": 8e9, "pcie.eth0.lane_count": 8}
    slot: Changes = {"pcie.eth0.slot_most_transfers_per_s": 8e9, "pcie.eth0.slot_most_lane_count": 8}
    assert not verdict("pcie-width", {**slow, **slot}).findings
    assert finding("pcie-width", {**slow, "pcie.eth0.slot_most_transfers_per_s": 8e9}).what == (
        "8 of 16 lanes at 8 of 8 GT/s"
    )
    unread = verdict("pcie-width", {**slow, "pcie.eth0.slot_most_lane_count": ABSENT})
    assert (unread.findings, [one.hosts for one in unread.unseen]) == ((), [("node2",)])


def test_a_watchdog_needs_its_row_and_its_priorities() -> None:
    assert finding("pfc-watchdog", {}, {"pfc_watchdog_priorities": "3", "pfc_watchdog": False}).hosts == ("leaf1",)
    assert finding("pfc-watchdog", {}, {"pfc_watchdog_priorities": "4"}).what == "the watchdog guards 4"
