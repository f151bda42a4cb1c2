"""Outputs of ethtool, rdma and sysfs that others captured, with values taken by eye."""

from __future__ import annotations

import re

import pytest
from campaigns.fuzz.targets import SAMPLES
from tests import needs
from tests.hosts.test_facts import values

from fabriscope.hosts.access import Output, Reading

NET = "/sys/class/net"
Value = object
OF_ETHTOOL: dict[str, tuple[str, str, str, dict[str, Value]]] = {
    # file: interface, option, group of facts, and what is told
    "ethtool-a.igb.txt": ("enp2s0", "-a", "interface", {"rx_pause": True, "tx_pause": True}),
    "ethtool-c.eth0.txt": ("eth0", "-c", "interface", {
        "rx_coalesce_adaptive": False, "rx_coalesce_us": 20, "rx_coalesce_frames": 5, "tx_coalesce_us": 72,
        "tx_coalesce_frames": 53,
    }),
    "ethtool-c.unsupported.txt": ("usb0", "-c", "interface", {"rx_coalesce_us": None, "rx_coalesce_adaptive": None}),
    "ethtool-g.igb.txt": ("enp2s0", "-g", "interface", {"rx_ring_frames": 256, "tx_ring_frames": 256}),
    "ethtool-k.virtio.txt": ("ens3", "-k", "interface", {
        "rx_checksum": True, "tx_checksum": True, "tso": True, "gso": True, "gro": True, "lro": False,
    }),
    "ethtool.igb.txt": ("enp2s0", "", "link", {
        "supported_bits_per_s": 10**9, "advertised_bits_per_s": 10**9, "autonegotiation": True, "is_detected": True,
        "medium": "Twisted Pair",
    }),
}  # fmt: skip


def sample(name: str) -> str:
    path = SAMPLES / "audit" / "linux" / name
    if not path.is_file():
        pytest.skip(needs.NO_LOGS_OF_OTHERS)
    return path.read_text()


@pytest.mark.parametrize("name", OF_ETHTOOL)
def test_what_ethtool_said_elsewhere(name: str) -> None:
    interface, option, group, expected = OF_ETHTOOL[name]
    command = " ".join(filter(None, ("ethtool", option, interface)))
    files = {f"{NET}/{interface}/operstate": "up\n"}
    links = {f"{NET}/{interface}/device/driver": "../bus/pci/drivers/igb"}
    known = values(group, Reading(files, links, outputs={command: Output(0, sample(name), "")}))
    assert {fact: known[f"{group}.{interface}.{fact}"] for fact in expected} == expected


def test_the_most_that_rings_could_be() -> None:
    files = {f"{NET}/enp2s0/operstate": "up\n"}
    links = {f"{NET}/enp2s0/device/driver": "../bus/pci/drivers/igb"}
    outputs = {"ethtool -g enp2s0": Output(0, sample("ethtool-g.igb.txt"), "")}
    known = values("link", Reading(files, links, outputs=outputs))
    assert [known[f"link.enp2s0.{one}_ring_most_frames"] for one in ("rx", "tx")] == [4096, 4096]


def test_the_interfaces_of_rdma_devices() -> None:
    files = {f"/sys/class/infiniband/ionic_{at}/ports/1/state": "4: ACTIVE\n" for at in range(4)}
    outputs = {"rdma -j link show": Output(0, sample("rdma-j-link.ionic.json"), "")}
    known = values("rdma", Reading(files, outputs=outputs))
    told = [known[f"rdma.ionic_{at}.1.interface"] for at in range(4)]
    assert told == ["benic8p1", "benic7p1", "benic5p1", "benic6p1"]


def test_rdma_devices_of_three_makers() -> None:
    lines = re.findall(r"^(sys/\S+?):(.*)$", sample("sysfs-infiniband.procfs.txt"), re.MULTILINE)
    files: dict[str, str] = {}
    for path, value in lines:
        files.setdefault(f"/{path}", f"{value}\n")
    known = values("rdma", Reading(files))
    assert known["rdma.hcas"] == "hfi1_0 mlx4_0 mlx5_0"
    assert known["rdma.hfi1_0.board_id"] == ("HPE 100Gb 1-port OP101 QSFP28 x16 PCIe Gen3 with Intel Omni-Path Adapter")
    assert (known["rdma.mlx4_0.firmware_version"], known["rdma.mlx4_0.hca_type"]) == ("2.31.5050", "MT4099")
    assert [known[f"rdma.mlx4_0.{port}.rate"] for port in (1, 2)] == ["40 Gb/sec (4X QDR)"] * 2
    assert (known["rdma.mlx5_0.1.rate"], known["rdma.mlx5_0.1.state"]) == ("25 Gb/sec (1X EDR)", "4: ACTIVE")
    assert known["rdma.mlx5_0.1.counter.out_of_sequence"] == 1
    assert "rdma.mlx5_0.1.counter.lifespan" not in known
