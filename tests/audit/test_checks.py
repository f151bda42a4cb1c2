"""Every check: a fault that it finds, on hosts and switches that are otherwise well; and nothing on those that are."""

from __future__ import annotations

import random

import pytest
from tests.audit.made_up import ABSENT, DSCP, Value, scene

from fabriscope.audit import auditing
from fabriscope.model.audit import Verdict

Changes = dict[str, Value]
OF_INTENT = {"netdev-of-hca", "intended-roce-v2", "intended-pfc", "intended-dscp"}
"""Checks of what a plan asks for: test_intents.py has their faults."""
_R = "rdma.mlx5_0.1"
_ALL = "0,1,2,3,4,5,6,7"


def lossless(which: str) -> Changes:
    """Return a port whose lossless priorities have what they need."""
    return {"pfc_priorities": which, "ecn_queues": which, "lossless_buffer_priorities": which}


FAULTS: dict[str, tuple[Changes, Changes, Changes, tuple[str, ...]]] = {
    # check: what is changed of a host, of its port, of its switch; and which other checks rightly see it, too
    "mtu-hosts-agree": ({"interface.eth0.mtu_bytes": 4200}, {}, {}, ()),
    "mtu-rdma-peers": ({f"{_R}.active_mtu_bytes": 1024}, {}, {}, ("mtu-roce-fits",)),
    "mtu-roce-fits": ({f"{_R}.active_mtu_bytes": 1024}, {}, {}, ("mtu-rdma-peers",)),
    "driver-mixed": ({"interface.eth0.driver_version": "5.15.0"}, {}, {}, ()),
    "kernel-mixed": ({"kernel.release": "6.1.0-9"}, {}, {}, ()),
    "firmware-mixed": ({"interface.eth0.firmware_version": "20.31"}, {}, {}, ()),
    "offloads-differ": ({"interface.eth0.gro": False}, {}, {}, ()),
    "coalescing-differ": ({"interface.eth0.rx_coalesce_us": 128}, {}, {}, ()),
    "rings-differ": ({"interface.eth0.rx_ring_frames": 256}, {}, {}, ()),
    "pause-differ": ({"interface.eth0.tx_pause": True}, {"rx_pause": True}, {}, ("pfc-and-pause",)),
    "speed-differs": (
        {"interface.eth0.speed_bits_per_s": 25 * 10**9}, {"speed_bits_per_s": 25 * 10**9}, {}, ("speed-below-modes",)),
    "rdma-rate-differs": ({f"{_R}.rate": "25 Gb/sec (1X EDR)"}, {}, {}, ()),
    "port-down": ({f"{_R}.state": "1: DOWN"}, {}, {}, ()),
    "fec-differs": ({"link.eth0.fec_active": "off"}, {"fec": "off"}, {}, ()),
    "pfc-hosts-differ": ({"dcb.eth0.pfc_priorities": "none"}, {"pfc_priorities": "none"}, {}, ("pfc-none",)),
    "dscp-map-differs": ({"dcb.eth0.dscp_to_priority": DSCP.replace("10:1", "10:2")}, {}, {}, ()),
    "dscp-one-direction": ({f"{_R}.traffic_class": 0}, {}, {}, ()),
    "trust-differs": ({"dcb.eth0.trust": "pcp", f"{_R}.traffic_class": 0}, {}, {}, ("dscp-one-direction",)),
    "cnp-dscp-differs": ({"dcb.eth0.cnp_dscp": 46}, {}, {}, ()),
    "gid-index-meaning": ({f"{_R}.gid_kind.3": "IB/RoCE v1 IPv4"}, {}, {}, ()),
    "smt-differs": ({"cpu.smt": "on"}, {}, {}, ()),
    "idle-states-differ": ({"cpu.deepest_idle_state": 9}, {}, {}, ()),
    "governor-differs": ({"cpu.governor": "powersave"}, {}, {}, ("governor",)),
    "governor": ({"cpu.governor": "powersave"}, {}, {}, ("governor-differs",)),
    "thp-differs": ({"memory.transparent_huge_pages": "always"}, {}, {}, ()),
    "huge-pages-differ": ({"memory.huge_page_count": 512}, {}, {}, ()),
    "tcp-cc-differs": ({"tcp.congestion_control": "bbr"}, {}, {}, ()),
    "tcp-settings-differ": ({"tcp.receive_buffer_bytes_max": 212992}, {}, {}, ("tcp-buffers",)),
    "tcp-buffers": ({"tcp.receive_buffer_bytes_max": 212992}, {}, {}, ("tcp-settings-differ",)),
    "software-mixed": ({"software.ucx": "1.12.1"}, {}, {}, ()),
    "tuned-differs": ({"software.tuned_profile": "balanced"}, {}, {}, ()),
    "iommu-differs": ({"pcie.iommu": "DMA"}, {}, {}, ("iommu-mode",)),
    "iommu-mode": ({"pcie.iommu": "DMA-FQ"}, {}, {}, ("iommu-differs",)),
    "slot-differs": ({"pcie.eth0.lane_count": 8}, {}, {}, ("pcie-width",)),
    "limits-differ": ({"limit.open_files": 1024}, {}, {}, ()),
    "arp-differs": ({"ip.eth0.arp_ignore": 0}, {}, {}, ()),
    "clocksource": ({"kernel.clocksource": "hpet"}, {}, {}, ()),
    "numa-balancing": ({"numa.balancing": True}, {}, {}, ()),
    "swap-used": ({"memory.swap_used_bytes": 1 << 30}, {}, {}, ()),
    "memlock": ({"limit.locked_bytes": 65536}, {}, {}, ("limits-differ",)),
    "container-shm": ({"limit.shared_memory_bytes": 64 << 20}, {}, {}, ()),
    "map-count": ({"limit.mapping_count": 1024}, {}, {}, ("limits-differ",)),
    "gid-no-ipv4": ({f"{_R}.gid_kinds": "IB/RoCE v1 link-local, RoCE v2 link-local"}, {}, {}, ()),
    "gid-v1-only": ({f"{_R}.gid_kinds": "IB/RoCE v1 IPv4"}, {}, {}, ()),
    "rp-filter": ({"ip.all.rp_filter": 1, "ip.eth0.rp_filter": 1}, {}, {}, ("arp-differs",)),
    "pcie-width": ({"pcie.eth0.transfers_per_s": 8e9}, {}, {}, ("slot-differs",)),
    "pcie-too-slow": (
        {"pcie.eth0.lane_count": 4, "pcie.eth0.most_lane_count": 4}, {}, {}, ("slot-differs",)),
    "speed-below-modes": ({"link.eth0.supported_bits_per_s": 200 * 10**9}, {}, {}, ()),
    "duplex-half": ({"interface.eth0.duplex": "half"}, {}, {}, ()),
    "crc-errors": ({"link.eth0.rx_crc_error_count": 7}, {}, {}, ()),
    "rings-small": ({"link.eth0.rx_missed_count": 7}, {}, {}, ()),
    "irq-affinity": ({"interrupt.eth0.cpus": "0"}, {}, {}, ()),
    "pfc-and-pause": ({"interface.eth0.rx_pause": True}, {"tx_pause": True}, {}, ("pause-differ",)),
    "pfc-all-priorities": (
        {"dcb.eth0.pfc_priorities": _ALL, "dcb.eth0.roce_np_priorities": _ALL, "dcb.eth0.roce_rp_priorities": _ALL},
        lossless(_ALL), {}, ("pfc-hosts-differ", "pfc-ports-all", "cnp-priority")),
    "pfc-none": ({"dcb.eth0.pfc_priorities": "none"}, {"pfc_priorities": "none"}, {}, ("pfc-hosts-differ",)),
    "dscp-to-lossless": ({f"{_R}.traffic_class": 34}, {}, {}, ("dscp-one-direction",)),
    "trust-mode": ({"dcb.eth0.trust": "pcp"}, {}, {}, ("trust-differs",)),
    "ecn-nic-off": ({"dcb.eth0.roce_rp_priorities": "none"}, {}, {}, ()),
    "ecn-not-capable": ({f"{_R}.traffic_class": 104}, {}, {}, ("dscp-one-direction",)),
    "ratelimit-left": ({"dcb.eth0.rate_limits": "tc 3 10.0 Gbps"}, {}, {}, ()),
    "dcbx-willing": ({"dcb.eth0.willing": True}, {}, {}, ()),
    "tc-of-priority": ({"dcb.eth0.priority_to_tc": "0:0 1:0 2:0 3:0 4:0 5:0 6:6 7:0"}, {}, {}, ()),
    "two-neighbours": ({"lldp.eth0.systems": "leaf1 lldpad"}, {}, {}, ()),
    "mtu-lldp-frame": ({"lldp.eth0.most_frame_bytes": 1514}, {}, {}, ()),
    "tls-allows-tcp": ({"environment.UCX_TLS": ABSENT}, {}, {}, ("env-differs",)),
    "env-differs": ({"environment.UCX_RNDV_THRESH": "8192"}, {}, {}, ()),
    "tclass-libraries": (
        {"environment.UCX_IB_TRAFFIC_CLASS": "106", "environment.NCCL_DEBUG": "INFO"}, {}, {}, ("env-differs",)),
    "fork-safe-cost": ({"environment.RDMAV_FORK_SAFE": "1"}, {}, {}, ("env-differs",)),
    "mtu-switch-carries": ({}, {"mtu_bytes": 1500}, {}, ()),
    "mtu-class": ({}, {}, {"device.no_drop_mtu_bytes": 2240}, ()),
    "speed-ends": ({}, {"speed_bits_per_s": 40 * 10**9}, {}, ()),
    "fec-mismatch": ({}, {"fec": "off"}, {}, ()),
    "pfc-ends-differ": ({}, lossless("4"), {}, ("dscp-ends-differ",)),
    "pause-only-one-end": (
        {"interface.eth0.rx_pause": True, "dcb.eth0.pfc_priorities": "none"}, {"pfc_priorities": "none"}, {},
        ("pause-differ", "pfc-hosts-differ", "pfc-none")),
    "trust-switch": ({}, {"trust": "cos"}, {}, ()),
    "dscp-ends-differ": ({}, {"dscp_to_priority": " ".join(f"{dscp}:1" for dscp in range(64))}, {}, ()),
    "pfc-oper-off": ({}, {"pfc_is_operating": False, "pfc_mode": "auto"}, {}, ()),
    "pfc-ports-all": (
        {}, lossless("3,4,5"), {}, ("pfc-ends-differ",)),
    "pfc-watchdog": ({}, {"pfc_watchdog": False}, {}, ()),
    "ecn-switch-off": ({}, {"ecn_queues": "none"}, {}, ()),
    "ecn-wred-drops": ({}, {"ecn_queues": "none", "wred_without_ecn_queues": "3"}, {}, ("ecn-switch-off",)),
    "sonic-pg-missing": ({}, {"lossless_buffer_priorities": "none"}, {}, ()),
    "pfc-global-off": ({}, {}, {"device.pfc_enabled": False}, ()),
    "policy-dangling": ({}, {}, {"device.undefined_names": "AZS_SERVICES"}, ()),
    "ets-starves": ({"dcb.eth0.tc_shares_percent": "80 0 0 20 0 0 0 0"}, {}, {}, ()),
    "cnp-priority": ({"dcb.eth0.cnp_dscp": 26}, {}, {}, ("cnp-dscp-differs",)),
    "dcbx-version": ({"dcb.eth0.dcbx": "host cee"}, {}, {}, ()),
    "same-subnet-arp": (
        {"interface.eth1.ipv4_network": "10.0.0.0/24", "ip.eth0.arp_ignore": 0}, {}, {}, ("arp-differs",)),
    "fec-uncorrected": ({"link.eth0.fec_uncorrectable_count": 4}, {}, {}, ()),
    "buffer-headroom": ({"dcb.eth0.buffer_bytes": "20016 9000 0 0 0 0 0 0"}, {}, {}, ()),
    "lacp-roce": ({"interface.bond0.bond_mode": "802.3ad", "interface.bond0.below": "eth0",
                   "interface.bond0.mtu_bytes": 9000}, {}, {}, ()),
    "mtu-vlan-bond": ({"interface.eth0.9.below": "eth0", "interface.eth0.9.mtu_bytes": 9216}, {}, {}, ()),
    "huge-pages-fork": (
        {"memory.huge_page_count": 512, "environment.RDMAV_FORK_SAFE": "1"}, {}, {},
        ("huge-pages-differ", "env-differs", "fork-safe-cost")),
    "ipoib-missing": ({f"{_R}.link_layer": "InfiniBand", "interface.eth0.ipv4_network": "none"}, {}, {}, ()),
    "nccl-socket-if": ({"environment.NCCL_SOCKET_IFNAME": "ens9"}, {}, {}, ()),
    "ompi-wrong-if": ({"software.open_mpi": "5.0.6"}, {}, {}, ()),
    "link-flaps": ({"link.eth0.change_count": 60}, {}, {}, ()),
    "cabling": ({"lldp.eth0.system": "spine9", "lldp.eth1.system": "leaf1"}, {}, {}, ()),
    "ecn-thresholds-differ": ({}, {"ecn_3_bytes": "9000 18000"}, {}, ()),
    "crc-symbol": ({}, {"symbol_error_count": 12}, {}, ()),
    "ports-crc": ({}, {"rx_crc_error_count": 3}, {}, ()),
    "cma-mode": ({f"{_R}.cma_mode": "IB/RoCE v1"}, {}, {}, ()),
    "ptrace-scope": ({"kernel.ptrace_scope": 2}, {}, {}, ()),
    "irqbalance": ({"software.services": "irqbalance"}, {}, {}, ()),
    "tcp-backlog": ({"load.backlog_drop_count": 12}, {}, {}, ()),
    "max-read-request": ({"pcie.eth0.max_read_request_bytes": 512}, {}, {}, ()),
    "relaxed-ordering": ({"pcie.eth0.relaxed_ordering": False}, {}, {}, ()),
    "acs-on": ({"pcie.eth0.acs_redirecting": "0000:3a:00.0 0000:39:00.0"}, {}, {}, ()),
    "peermem": ({"rdma.gpu_peers": "none"}, {}, {}, ()),
    "dcbx-two-agents": ({"link.eth0.firmware_lldp": True, "software.services": "lldpad"}, {}, {}, ()),
}  # fmt: skip


def found(verdict: Verdict) -> set[str]:
    return {one.check for one in verdict.findings}


def test_every_check_has_a_fault() -> None:
    assert set(auditing.checks()) == {*FAULTS, *OF_INTENT}


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_is_found_and_nothing_is_invented(name: str) -> None:
    host, port, switch, others = FAULTS[name]
    verdict = auditing.audit(scene(host, port, switch))
    assert found(verdict) == {name, *others}
    of_check = [one for one in verdict.findings if one.check == name]
    finding, where = of_check[0], {host for one in of_check for host in one.hosts}
    of_port = ({"node2"}, {"leaf1"}) if port else ({"node2"},)
    assert where in (({"leaf1"}, {"node0", "node2"}) if switch else of_port)
    assert finding.witnesses
    assert all(seen.value and seen.told_by for seen in finding.witnesses)
    assert "{" not in finding.remedy + finding.what


@pytest.mark.parametrize("host_count", [1, 2, 4, 17, 64])
def test_nothing_is_wrong_where_all_is_well(host_count: int) -> None:
    verdict = auditing.audit(scene(host_count=host_count))
    assert (verdict.findings, verdict.unseen) == ((), ())
    assert not {"mtu-switch-carries", "pfc-watchdog", "governor"} & set(verdict.idle)


def test_planted_faults_are_all_found_in_large_fabrics() -> None:
    """Each on 4 to 64 hosts with two switches, on another host each time."""
    draw = random.Random(1)
    for name in draw.sample(sorted(FAULTS), 36):
        host, port, switch, others = FAULTS[name]
        count = draw.randrange(4, 65)
        odd = draw.randrange(count)
        verdict = auditing.audit(scene(host, port, switch, host_count=count, odd=odd))
        assert found(verdict) == {name, *others}


@pytest.mark.parametrize("name", FAULTS)
def test_a_fact_that_nobody_could_read_is_never_a_pass(name: str) -> None:
    """Where the facts that are wrong are unknown, the check is not among those that passed."""
    host, port, switch, _ = FAULTS[name]
    hidden: list[Changes] = [dict.fromkeys(one) for one in (host, port, switch)]
    assert any(hidden)
    assert name not in auditing.audit(scene(*hidden), only=[name]).passed


def test_variables_that_differ() -> None:
    built = scene({"environment.UCX_TLS": "rc"})
    other = scene({"environment.UCX_TLS": "ud"}, odd=1)
    hosts = {"node2": built.hosts["node2"], "node1": other.hosts["node1"]}
    (finding,) = auditing.audit(type(built)(hosts), only=["env-differs"]).findings
    assert finding.what == "the variable UCX_TLS is ud, and rc on another host"


@pytest.mark.parametrize(("shared_mib", "is_wrong"), [(499, False), (64, True)])
def test_the_half_of_a_small_host_s_memory_is_no_fault(shared_mib: int, is_wrong: bool) -> None:
    """A guest with 1 GiB has it; a container's 64 MB are a fault there, too."""
    small: Changes = {"limit.shared_memory_bytes": shared_mib << 20, "memory.total_bytes": 998 << 20}
    assert bool(auditing.audit(scene(small), only=["container-shm"]).findings) is is_wrong


def test_equal_hosts_are_one_finding() -> None:
    wrong = scene({"kernel.clocksource": "hpet"}, odd=0)
    hosts = {f"node{at}": wrong.hosts["node0"] for at in range(8)}
    (finding,) = auditing.audit(type(wrong)(hosts), only=["clocksource"]).findings
    assert len(finding.hosts) == 8


def test_cables_whose_ends_contradict_each_other_are_not_believed() -> None:
    built = scene(port={"neighbour_system": "node0", "neighbour_port": "eth0", "mtu_bytes": 1500})
    assert any("node0 eth0 hears leaf1 Ethernet1, and leaf1 Ethernet2 hears it" in one for one in built.conflicts)
    assert "node0" not in {cable.host for cable in built.cables}
