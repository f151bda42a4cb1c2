"""Hosts and switches that are well, and what one changes to make one thing wrong."""

from __future__ import annotations

from collections.abc import Mapping

from fabriscope.audit.scene import Scene
from fabriscope.model.device import Device
from fabriscope.model.host import Fact, HostFacts

Value = str | int | float | bool | None
DSCP = " ".join(f"{dscp}:{dscp // 8}" for dscp in range(64))
SHARED_TC = "0:0 1:0 2:0 3:3 4:0 5:0 6:6 7:0"
HOST: Mapping[str, Value] = {
    "cpu.model": "EPYC", "cpu.thread_count": 64, "cpu.smt": "off", "cpu.isolated": "none",
    "cpu.governor": "performance",
    "cpu.deepest_idle_state": 1, "kernel.release": "6.1.0-18", "kernel.clocksource": "tsc", "numa.node_count": 2,
    "numa.balancing": False, "memory.swap_used_bytes": 0, "memory.transparent_huge_pages": "madvise",
    "memory.huge_page_count": 0, "memory.huge_page_bytes": 2 << 20, "tcp.congestion_control": "cubic", "tcp.sack": True,
    "tcp.receive_buffer_bytes_max": 6 << 20, "limit.locked_bytes": "unlimited", "limit.open_files": 1 << 20,
    "limit.mapping_count": 65530, "limit.shared_memory_bytes": 64 << 30, "software.ucx": "1.14.0",
    "software.tuned_profile": "hpc-compute", "environment.variables": "UCX_TLS",
    "environment.UCX_TLS": "rc,self,sm", "pcie.iommu": "identity",
    "interface.eth0.mtu_bytes": 9000, "interface.eth0.speed_bits_per_s": 100 * 10**9, "interface.eth0.duplex": "full",
    "interface.eth0.driver": "mlx5_core", "interface.eth0.driver_version": "6.1.0",
    "interface.eth0.firmware_version": "22.39",
    "interface.eth0.tso": True, "interface.eth0.gro": True, "interface.eth0.rx_coalesce_us": 8,
    "interface.eth0.rx_pause": False, "interface.eth0.tx_pause": False, "interface.eth0.rx_ring_frames": 1024,
    "link.eth0.fec_active": "rs", "link.eth0.supported_bits_per_s": 100 * 10**9, "link.eth0.rx_crc_error_count": 0,
    "link.eth0.rx_missed_count": 0, "link.eth0.rx_ring_most_frames": 8192,
    "dcb.eth0.pfc_priorities": "3", "dcb.eth0.trust": "dscp", "dcb.eth0.dscp_to_priority": DSCP,
    "dcb.eth0.priority_to_tc": SHARED_TC, "dcb.eth0.rate_limits": "none", "dcb.eth0.willing": False,
    "dcb.eth0.cnp_dscp": 48,
    "dcb.eth0.roce_np_priorities": "3", "dcb.eth0.roce_rp_priorities": "3",
    "pcie.eth0.lane_count": 16, "pcie.eth0.most_lane_count": 16, "pcie.eth0.transfers_per_s": 16e9,
    "pcie.eth0.most_transfers_per_s": 16e9, "pcie.eth0.slot_most_lane_count": 16,
    "pcie.eth0.slot_most_transfers_per_s": 16e9,
    "pcie.eth0.address": "0000:3b:00.0", "pcie.eth1.address": "0000:5e:00.0",
    "pcie.eth0.max_read_request_bytes": 4096, "pcie.eth0.relaxed_ordering": True,
    "pcie.eth0.acs_redirecting": "none", "pcie.gpu_count": 8, "virtualisation.is_guest": False,
    "kernel.ptrace_scope": 1, "software.services": "none", "load.backlog_drop_count": 0,
    "tcp.core_netdev_max_backlog": 1000, "link.eth0.firmware_lldp": False,
    "rdma.gpu_peers": "nvidia_peermem", "rdma.mlx5_0.1.cma_mode": "RoCE v2",
    "ip.all.rp_filter": 0, "ip.eth0.rp_filter": 2, "ip.eth0.arp_ignore": 1, "ip.eth0.arp_announce": 2,
    "interrupt.eth0.count": 63, "interrupt.eth0.cpus": "0,1,2,3",
    "rdma.hcas": "mlx5_0", "rdma.mlx5_0.firmware_version": "22.39", "rdma.mlx5_0.1.state": "4: ACTIVE",
    "rdma.mlx5_0.1.rate": "100 Gb/sec (2X HDR)", "rdma.mlx5_0.1.link_layer": "Ethernet",
    "rdma.mlx5_0.1.interface": "eth0", "rdma.mlx5_1.1.interface": "eth1",
    "rdma.mlx5_0.1.active_mtu_bytes": 4096, "rdma.mlx5_0.1.max_mtu_bytes": 4096, "rdma.mlx5_0.1.traffic_class": 106,
    "rdma.mlx5_0.1.gid_kinds": "IB/RoCE v1 IPv4, RoCE v2 IPv4", "rdma.mlx5_0.1.gid_kind.3": "RoCE v2 IPv4",
    "lldp.eth0.system": "leaf1", "lldp.eth0.most_frame_bytes": 9234, "lldp.eth1.system": "spine9",
    "interface.eth0.ipv4_network": "10.0.0.0/24", "interface.eth1.ipv4_network": "10.0.1.0/24",
    "interface.docker0.ipv4": "172.17.0.1",
    "link.eth0.fec_uncorrectable_count": 0, "link.eth0.change_count": 2,
    "dcb.eth0.tc_shares_percent": "50 0 0 50 0 0 0 0", "dcb.eth0.tc_algorithms": "ets ets ets ets ets ets strict ets",
    "dcb.eth0.dcbx": "host ieee", "dcb.eth0.cable_m": 5,
    "dcb.eth0.priority_to_buffer": "0 0 0 1 0 0 0 0", "dcb.eth0.buffer_bytes": "20016 156096 0 0 0 0 0 0",
}  # fmt: skip
PORT: Mapping[str, Value] = {
    "mtu_bytes": 9216, "speed_bits_per_s": 100 * 10**9, "fec": "rs", "is_up": True, "pfc_mode": "on",
    "pfc_is_operating": True,
    "pfc_priorities": "3", "pfc_watchdog": True, "trust": "dscp", "dscp_to_priority": DSCP, "ecn_queues": "3",
    "ecn_3_bytes": "150000 1500000",
    "wred_without_ecn_queues": "none", "lossless_buffer_priorities": "3", "rx_pause": False, "tx_pause": False,
    "rx_crc_error_count": 0,
}  # fmt: skip
SWITCH: Mapping[str, Value] = {
    "device.system": "eos", "device.pfc_enabled": True, "device.undefined_names": "none",
    "device.no_drop_mtu_bytes": 9216,
}  # fmt: skip


ABSENT = "a fact that nobody tells"
"""A change to it takes a fact away."""


def facts(known: Mapping[str, Value], changes: Mapping[str, Value]) -> HostFacts:
    merged = {name: value for name, value in {**known, **changes}.items() if value != ABSENT}
    return HostFacts(
        tuple(Fact(name, value, "not readable" if value is None else None) for name, value in merged.items())
    )


def scene(
    host: Mapping[str, Value] | None = None,
    port: Mapping[str, Value] | None = None,
    switch: Mapping[str, Value] | None = None,
    *,
    host_count: int = 4,
    odd: int = 2,
) -> Scene:
    """Return hosts on two switches; host `odd`, its port, and its switch have the changes, all others are well."""
    hosts: dict[str, HostFacts] = {}
    ports: list[dict[str, Value]] = [{}, {}]
    for at in range(host_count):
        leaf, name = at % 2, f"Ethernet{at // 2 + 1}"
        wired: dict[str, Value] = {"lldp.eth0.system": f"leaf{leaf + 1}", "lldp.eth0.port": name}
        hosts[f"node{at}"] = facts(HOST, {**wired, **((host or {}) if at == odd else {})})
        values = {**PORT, **((port or {}) if at == odd else {})}
        ports[leaf] |= {f"port.{name}.{fact}": value for fact, value in values.items()}
    devices = {}
    for leaf in (0, 1):
        known = {**SWITCH, **((switch or {}) if leaf == odd % 2 else {}), **ports[leaf]}
        sources = dict.fromkeys(known, f"`show running-config` in leaf{leaf + 1}.txt")
        devices[f"leaf{leaf + 1}"] = Device(f"leaf{leaf + 1}", "eos", facts(known, {}), sources)
    return Scene(hosts, devices)
