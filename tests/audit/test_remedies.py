"""Remedies are what one types: the values in the words of the program that takes them."""

from __future__ import annotations

import pytest
from tests.audit.made_up import HOST, Value
from tests.audit.test_judgements import finding

from fabriscope.audit import commands
from fabriscope.audit.place import Place
from fabriscope.model.device import Device
from fabriscope.model.host import HostFacts


@pytest.mark.parametrize(
    ("check", "fact", "usual", "odd", "remedy"),
    [
        ("offloads-differ", "interface.eth0.rx_checksum", True, False, "ethtool -K eth0 rx on"),
        ("offloads-differ", "interface.eth0.tso", True, False, "ethtool -K eth0 tso on"),
        ("pause-differ", "interface.eth0.rx_pause", False, True, "ethtool -A eth0 rx off"),
        ("rings-differ", "interface.eth0.rx_ring_frames", 1024, 256,
         "ethtool -G eth0 rx 1024 (the link goes down for a moment)"),
        ("coalescing-differ", "interface.eth0.rx_coalesce_us", 8, 128, "ethtool -C eth0 rx-usecs 8"),
        ("coalescing-differ", "interface.eth0.rx_coalesce_adaptive", True, False, "ethtool -C eth0 adaptive-rx on"),
        ("tcp-settings-differ", "tcp.sack", True, False, "sysctl -w net.ipv4.tcp_sack=1"),
        ("tcp-settings-differ", "tcp.core_rmem_max_bytes", 6291456, 212992, "sysctl -w net.core.rmem_max=6291456"),
        ("tcp-settings-differ", "tcp.receive_buffer_bytes_max", 6291456, 212992,
         'sysctl -w net.ipv4.tcp_rmem="$(cut -f1,2 /proc/sys/net/ipv4/tcp_rmem) 6291456"'),
        ("huge-pages-differ", "memory.huge_page_count", 512, 0, "sysctl vm.nr_hugepages=512"),
        ("huge-pages-differ", "memory.huge_page_bytes", 1 << 30, 2 << 20, "boot with default_hugepagesz=1048576K"),
        ("smt-differs", "cpu.smt", "off", "on", "echo off > /sys/devices/system/cpu/smt/control"),
        ("smt-differs", "cpu.isolated", "4-7", "none", "boot with isolcpus=4-7"),
        ("limits-differ", "limit.open_files", 1048576, 1024,
         "echo '* - nofile 1048576' >> /etc/security/limits.d/fabric.conf"),
        ("limits-differ", "limit.locked_bytes", 65536, 1024,
         "echo '* - memlock 64' >> /etc/security/limits.d/fabric.conf; of services LimitMEMLOCK=65536"),
        ("limits-differ", "limit.mapping_count", 262144, 65530, "sysctl vm.max_map_count=262144"),
        ("pfc-hosts-differ", "dcb.eth0.pfc_priorities", "3,4", "3", "dcb pfc set dev eth0 prio-pfc all:off 3:on 4:on"),
        ("pfc-hosts-differ", "dcb.eth0.pfc_priorities", "none", "3", "dcb pfc set dev eth0 prio-pfc all:off"),
        ("dscp-map-differs", "dcb.eth0.dscp_to_priority", "26:3 48:6", "26:4",
         "dcb app replace dev eth0 dscp-prio 26:3 48:6"),
    ],
)  # fmt: skip
def test_hosts(check: str, fact: str, usual: Value, odd: Value, remedy: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(HOST, fact, usual)
    assert finding(check, {fact: odd}).remedy == remedy


def test_a_limit_and_a_firmware_cite_what_tells_them() -> None:
    one = finding("limits-differ", {"limit.mapping_count": 1024})
    assert one.witnesses[0].told_by == "sysctl vm.max_map_count"
    one = finding("firmware-mixed", {"rdma.mlx5_0.firmware_version": "20.31"})
    assert one.witnesses[0].told_by == "cat /sys/class/infiniband/mlx5_0/fw_ver"


def test_a_class_that_no_priority_has_is_named() -> None:
    shared: dict[str, Value] = {"dcb.eth0.priority_to_tc": "0:0 1:0 2:0 3:0 4:0 5:0 6:6 7:0"}
    assert finding("tc-of-priority", shared).remedy == "dcb ets set dev eth0 prio-tc 3:1"


def test_each_file_of_a_card_is_written() -> None:
    one = finding("ecn-nic-off", {"dcb.eth0.roce_rp_priorities": "none"})
    assert one.remedy == "echo 1 | tee /sys/class/net/eth0/ecn/roce_rp/enable/3"


def test_a_surplus_priority_of_a_switch_is_taken_away() -> None:
    leaf = Device("leaf1", "sonic", HostFacts())
    place = Place("node0", HostFacts(), ("eth0",), leaf, "Ethernet4")
    assert commands.pfc(place, {3}, {3, 4}) == "config interface pfc priority Ethernet4 4 off"
    assert commands.pfc(place, {3}, {4}) == (
        "config interface pfc priority Ethernet4 3 on; config interface pfc priority Ethernet4 4 off"
    )
    assert commands.pfc(place, set(), {3, 4}) == "dcb pfc set dev eth0 prio-pfc all:off 3:on 4:on"
