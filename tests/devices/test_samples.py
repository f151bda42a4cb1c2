"""Outputs that others captured, with values taken by eye; and what becomes of them when they are damaged."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest
from campaigns.fuzz.targets import SAMPLES
from tests.needs import NO_LOGS_OF_OTHERS

from fabriscope import devices
from fabriscope.model.device import Device

AUDIT = SAMPLES / "audit"
Value = str | int | bool | None
EXPECTED: dict[str, tuple[str, int, dict[str, Value]]] = {
    "eos/show_interfaces.json": ("eos", 3, {
        "port.Ethernet1.mtu_bytes": 9214, "port.Ethernet1.speed_bits_per_s": 10 * 10**9, "port.Ethernet1.is_up": False,
    }),
    "eos/show_interfaces.txt": ("eos", 5, {
        "port.Ethernet1.mtu_bytes": 1500, "port.Ethernet49/1.mtu_bytes": 9214, "port.Ethernet1.is_up": True,
    }),
    "eos/show_lldp_neighbors_detail.json": ("eos", 1, {
        "port.Ethernet22.neighbour_system": "linux", "port.Ethernet22.neighbour_port_description": "eth0",
    }),
    "eos/running-config-all.interface.txt": ("eos", 2, {
        "device.model": "DCS-7260CX3-64E", "device.version": "4.22.3M", "port.Ethernet1/1.mtu_bytes": 9212,
        "port.Ethernet1/1.trust": "dscp", "port.Ethernet1/1.pfc_mode": "off", "port.Ethernet1/1.pfc_priorities": "none",
        "port.Ethernet1/1.pfc_watchdog": True,
    }),
    "nxos/show_interface.txt": ("nxos", 3, {
        "port.Ethernet1/1.mtu_bytes": 1500, "port.Ethernet1/1.rx_pause": False,
    }),
    "nxos/show_interface_priority-flow-control.txt": ("nxos", 2, {
        "port.Ethernet1/2.pfc_mode": "auto", "port.Ethernet1/2.pfc_operating_priorities": "0,3",
        "port.Ethernet1/2.pfc_rx_count": 4088353, "port.Ethernet1/5.pfc_tx_count": 12,
    }),
    "nxos/show_queuing_interface.legacy.txt": ("nxos", 1, {"port.Ethernet1/2.no_drop_mtu_bytes": 2158}),
    "nxos/show_lldp_neighbors_detail.json": ("nxos", 3, {
        "port.mgmt0.neighbour_system": "PERIMETER.cisco.com", "port.Ethernet1/2.neighbour_port": "Ethernet1/2",
    }),
    "nxos/qos.cfg": ("nxos", 0, {"device.no_drop_mtu_bytes": 9216}),
    "nxos/running-config.93180.txt": ("nxos", 57, {
        "device.undefined_names": "none", "port.Ethernet1/1.mtu_bytes": 9216, "port.Ethernet1/1.pfc_mode": "on",
        "port.Ethernet1/1.pfc_priorities": "3", "port.port-channel50.ecn_queues": "3",
    }),
    "onyx/show_lldp_remote.txt": ("onyx", 3, {
        "port.Ethernet1/31.neighbour_system": "LIN-ND3-DS5000", "port.Ethernet1/31.neighbour_port": "fortyGigE 0/52",
        "port.Ethernet1/5/1.neighbour_system": None,
    }),
    "sonic/qos.arista7260-t1.json": ("sonic", 28, {
        "port.Ethernet4.pfc_priorities": "3,4", "port.Ethernet4.ecn_3_bytes": "2000000 10000000",
    }),
    "sonic/qos.dell6100.json": ("sonic", 44, {"port.Ethernet0.ecn_queues": "3,4"}),
    "sonic/config_qos.json": ("sonic", 32, {"port.Ethernet0.lossless_buffer_priorities": "none"}),
    "sonic/buffers.dell6100.json": ("sonic", 44, {"port.Ethernet0.lossless_buffer_priorities": "none"}),
    "sonic/config_db.msn4700-t1.json": ("sonic", 98, {
        "port.Ethernet0.mtu_bytes": 9100, "port.Ethernet0.lossless_buffer_priorities": "3,4",
    }),
    "sonic/show_pfc_priority.txt": ("sonic", 5, {"port.Ethernet10.pfc_priorities": "3,4"}),
    "sonic/show_pfc_counters.txt": ("sonic", 4, {"port.Ethernet12.pfc_rx_count": 0}),
    "sonic/show_mmu.txt": ("sonic", 0, {
        "device.buffer_profile.headroom_profile.xoff_bytes": 32768,
        "device.buffer_profile.headroom_profile.xon_bytes": 18432,
        "device.buffer_profile.headroom_profile.pool": "ingress_lossless_pool",
        "device.buffer_pool.egress_lossless_pool.size_bytes": 13945824,
        "device.buffer_pool.egress_lossy_pool.mode": "dynamic", "device.buffer_pool.egress_lossy_pool.size_bytes": None,
        "device.buffer_profile.ingress_lossless_profile_hbm.static_th": "12121212",
    }),
    "os10/running-config.reference.txt": ("os10", 2, {
        "device.host_name": "DellOS10", "device.dcbx_enabled": True, "port.Ethernet1/1/1.mtu_bytes": 9182,
        "device.undefined_names": "AS_SERVICES_Dot1p_5", "port.Ethernet1/1/1.pfc_mode": "on",
        "port.Ethernet1/1/1.pfc_priorities": "3", "port.Ethernet1/1/2.pfc_priorities": "none",
        "port.Ethernet1/1/1.trust": "cos", "port.Ethernet1/1/2.rx_pause": False,
    }),
    "linux/ibstat.h100.txt": ("infiniband", 11, {
        "port.mlx5_0/1.speed_bits_per_s": 400 * 10**9, "port.mlx5_1/1.speed_bits_per_s": 100 * 10**9,
        "port.mlx5_0/1.link_layer": "Ethernet", "port.mlx5_0/1.firmware_version": "28.39.1002",
    }),
    "linux/ibstat.h100-down.txt": ("infiniband", 11, {
        "port.mlx5_11/1.is_up": False, "port.mlx5_11/1.speed_bits_per_s": None, "port.mlx5_5/1.is_up": False,
        "port.mlx5_0/1.is_up": True,
    }),
    "ib/perfquery.hca.txt": ("infiniband", 1, {
        "port.lid133/1.symbol_error_count": 0, "port.lid133/1.link_downed_count": 0, "port.lid133/1.tx_wait_count": 0,
    }),
    "sonic/show_interface_status.dell-enterprise.txt": ("sonic", 4, {
        "port.Ethernet1/3.is_up": False, "port.Ethernet1/1.speed_bits_per_s": 400 * 10**9,
    }),
}  # fmt: skip


def read(name: str) -> str:
    path = AUDIT / name
    if not path.is_file():
        pytest.skip(NO_LOGS_OF_OTHERS)
    return path.read_text()


def device(text: str) -> Device:
    return devices.of_texts("leaf1", [("file", text)])


@pytest.mark.parametrize("name", EXPECTED)
def test_what_others_captured_is_read(name: str) -> None:
    system, port_count, values = EXPECTED[name]
    found = device(read(name))
    assert (found.system, len(found.ports)) == (system, port_count)
    assert {key: found.known.values.get(key) for key in values} == values


@pytest.mark.parametrize("name", EXPECTED)
def test_a_cut_text_tells_less_and_nothing_else(name: str) -> None:
    """Whatever a cut text still tells, the whole one tells, too: no number is shorter, no default is made up."""
    text = read(name)
    whole = device(text).known.values
    draw = random.Random(name)
    for _ in range(12):
        cut = device(text[: draw.randrange(len(text))]).known.values
        known = {key: value for key, value in cut.items() if value is not None and key != "device.system"}
        assert {key: value for key, value in known.items() if whole.get(key) != value} == {}


@pytest.mark.parametrize("name", EXPECTED)
def test_damaged_characters_end_in_sentences(name: str) -> None:
    text = read(name)
    draw = random.Random(name)
    for _ in range(12):
        place = draw.randrange(len(text))
        found = device(text[:place] + draw.choice('0:{}"\n,-x\x00') + text[place + 1 :])
        assert all(isinstance(one, str) and "Traceback" not in one for one in found.problems)
        json.dumps(dict(found.known.values))


def test_a_folder_of_folders_and_files(tmp_path: Path) -> None:
    (tmp_path / "leaf1").mkdir()
    (tmp_path / "leaf1" / "a.json").write_text('{"PORT": {"Ethernet0": {"mtu": "9216"}}}')
    (tmp_path / "leaf1" / "b.txt").write_text("what is this\n")
    (tmp_path / "leaf2.txt").write_text("leaf2# show pfc priority\nInterface  Lossless priorities\nEthernet0   3\n")
    found = devices.of_folder(tmp_path)
    assert {name: one.system for name, one in found.items()} == {"leaf1": "sonic", "leaf2": "sonic"}
    assert found["leaf1"].number("Ethernet0", "mtu_bytes") == 9216
    assert found["leaf1"].problems == ("b.txt: no known command's output",)
    assert found["leaf2"].source("Ethernet0", "pfc_priorities") == "`show pfc priority` in leaf2.txt"
