"""Facts of links, priorities, neighbours, slots, interrupts, limits and environment, out of what programs print."""

from __future__ import annotations

import json
from collections.abc import Mapping

import pytest
from campaigns.fuzz.targets import SAMPLES
from hypothesis import given
from hypothesis import strategies as st
from tests import needs
from tests.hosts.test_facts import values

from fabriscope.hosts import facts
from fabriscope.hosts.access import Output, Reading
from fabriscope.model.host import HERE, Fact

NET = "/sys/class/net/eth0"
DRIVER = {f"{NET}/device/driver": "../bus/pci/drivers/mlx5_core", f"{NET}/device": "../../../0000:3b:00.0"}
ETHTOOL = """Settings for eth0:
	Supported ports: [ FIBRE ]
	Supported link modes:   25000baseCR/Full
				100000baseCR4/Full
	Supported pause frame use: Symmetric
	Advertised link modes:  25000baseCR/Full
	Advertised pause frame use: No
	Speed: 25000Mb/s
	Auto-negotiation: on
	Port: Direct Attach Copper
	Link detected: yes
"""
FEC = "FEC parameters for eth0:\nSupported/Configured FEC encodings: Auto\nActive FEC encoding: RS\n"
PFC = {"ifname": "eth0", "pfc_cap": 8, "prio_pfc": [False, False, False, True, False, False, False, False]}
ETS = {
    "ifname": "eth0",
    "willing": True,
    "tc_tsa": ["ets", "strict"],
    "tc_bw": [50, 50],
    "prio_tc": [0, 0, 0, 1, 0, 0, 0, 0],
}
APP = {"ifname": "eth0", "dscp_prio": [[26, 3, " "], [48, 6, " "]]}
AUDIT = SAMPLES / "audit" / "linux"


def of(
    group: str, files: Mapping[str, str] | None = None, outputs: Mapping[str, Output] | None = None
) -> dict[str, object]:
    """Return the facts of eth0, without their group and interface."""
    reading = Reading(files=files or {}, links=DRIVER, outputs=outputs or {})
    return {name.removeprefix(f"{group}.eth0."): value for name, value in values(group, reading).items()}


def facts_of(group: str, reading: Reading) -> list[Fact]:
    return next(one for one in facts.groups() if one.name == group).facts(reading)


def sample(name: str) -> str:
    path = AUDIT / name
    if not path.is_file():
        pytest.skip(needs.NO_LOGS_OF_OTHERS)
    return path.read_text()


def test_a_link() -> None:
    outputs = {"ethtool eth0": Output(0, ETHTOOL, ""), "ethtool --show-fec eth0": Output(0, FEC, "")}
    known = of("link", outputs=outputs, files={f"{NET}/carrier_changes": "4\n"})
    assert known["supported_bits_per_s"] == 100 * 10**9
    assert known["advertised_bits_per_s"] == 25 * 10**9
    assert (known["autonegotiation"], known["is_detected"]) == (True, True)
    assert (known["fec_configured"], known["fec_active"], known["change_count"]) == ("auto", "rs", 4)
    assert known["rx_crc_error_count"] is None


def test_priorities_as_the_kernel_tells_them() -> None:
    outputs = {f"dcb -j {name} show dev eth0": Output(0, json.dumps(table), "")
               for name, table in (("pfc", PFC), ("ets", ETS), ("app", APP))}  # fmt: skip
    known = of(
        "dcb", outputs=outputs, files={f"{NET}/ecn/roce_np/enable/3": "1\n", f"{NET}/ecn/roce_np/cnp_dscp": "48\n"}
    )
    assert known["pfc_priorities"] == "3"
    assert known["dscp_to_priority"] == "26:3 48:6"
    assert known["priority_to_tc"] == "0:0 1:0 2:0 3:1 4:0 5:0 6:0 7:0"
    assert (known["willing"], known["tc_shares_percent"]) == (True, "50 50")
    assert (known["roce_np_priorities"], known["cnp_dscp"]) == ("3", 48)
    assert known["trust"] is None


def test_priorities_as_mlnx_qos_prints_them() -> None:
    text = sample("mlnx_qos.pcp-pfc3.txt")
    known = of("dcb", outputs={"mlnx_qos -i eth0": Output(0, text, "")})
    assert (known["trust"], known["pfc_priorities"], known["cable_m"]) == ("pcp", "3", 5)
    assert known["priority_to_tc"] == "0:0 1:0 2:0 3:1 4:0 5:0 6:2 7:0"
    assert known["rate_limits"] == "none"
    assert known["dscp_to_priority"] is None
    known = of("dcb", outputs={"mlnx_qos -i eth0": Output(0, sample("mlnx_qos.pfc-all.txt"), "")})
    assert (known["trust"], known["pfc_priorities"]) == ("dscp", "0,1,2,3,4,5,6,7")
    assert "26:3" in str(known["dscp_to_priority"]).split()


@given(st.integers(0, 1000), st.sampled_from("0379x,:\n "))
def test_a_damaged_text_of_mlnx_qos_gives_the_value_or_none(place: int, character: str) -> None:
    """What is told of trust, PFC and traffic classes is what stands there, or nothing."""
    text = sample("mlnx_qos.pfc-all.txt")
    damaged = text[:place] + character + text[place + 1 :]
    known = of("dcb", outputs={"mlnx_qos -i eth0": Output(0, damaged, "")})
    rows = [line.split()[1:] for line in damaged.splitlines() if line.split()[:1] == ["enabled"]]
    wanted = {",".join(str(at) for at, flag in enumerate(row) if flag == "1") or "none" for row in rows}
    assert known["pfc_priorities"] is None or known["pfc_priorities"] in wanted


def test_a_neighbour() -> None:
    known = values("lldp", Reading(outputs={"lldpctl -f keyvalue": Output(0, sample("lldpctl-keyvalue.qfx.txt"), "")}))
    assert known["lldp.neighbour_count"] == 2
    assert known["lldp.eth0.system"] == "sw-filer-f06.dc42"
    assert known["lldp.eth1.port_description"] == "xe-0/0/1"
    assert known["lldp.eth0.most_frame_bytes"] == 1514
    assert known["lldp.eth0.port"] is None


def test_two_neighbours_on_the_interface_of_a_vlan() -> None:
    text = "".join(
        f"lldp.eth0.7.via=LLDP\nlldp.eth0.7.chassis.name={name}\nlldp.eth0.7.port.ifname=Eth{at}\n"
        for at, name in enumerate(("leaf1", "leaf2"))
    )
    known = values("lldp", Reading(outputs={"lldpctl -f keyvalue": Output(0, text, "")}))
    assert known["lldp.eth0.7.system"] is known["lldp.eth0.7.port"] is None
    assert known["lldp.neighbour_count"] == 2
    assert known["lldp.eth0.7.systems"] == "leaf1 leaf2"


def test_the_payload_of_a_port() -> None:
    port = "/sys/class/infiniband/mlx5_an0/ports/1"
    reading = Reading(
        files={
            f"{port}/state": "4: ACTIVE\n",
            "/sys/class/infiniband/mlx5_an0/tc/1/traffic_class": "Global tclass=106\n",
        },
        outputs={"ibv_devinfo": Output(0, sample("ibv_devinfo.azure-gpu.txt"), "")},
    )
    known = values("rdma", reading)
    assert known["rdma.mlx5_an0.1.active_mtu_bytes"] == 1024
    assert known["rdma.mlx5_an0.1.max_mtu_bytes"] == 4096
    assert known["rdma.mlx5_an0.1.traffic_class"] == 106


def test_a_slot() -> None:
    files = {f"{NET}/device/{name}": text for name, text in (
        ("current_link_speed", "8.0 GT/s PCIe\n"), ("max_link_speed", "16.0 GT/s PCIe\n"),
        ("current_link_width", "8\n"), ("max_link_width", "16\n"),
    )}  # fmt: skip
    known = of("pcie", files={**files, "/sys/kernel/iommu_groups/0/type": "identity\n"})
    assert (known["transfers_per_s"], known["lane_count"]) == (8e9, 8)
    assert (known["most_transfers_per_s"], known["most_lane_count"]) == (16e9, 16)
    assert (known["address"], known["pcie.iommu"]) == ("0000:3b:00.0", "identity")


def test_what_the_port_above_a_card_can() -> None:
    files = {f"{NET}/device/current_link_width": "8\n", f"{NET}/device/../max_link_width": "8\n",
             f"{NET}/device/../max_link_speed": "8.0 GT/s PCIe\n"}  # fmt: skip
    known = of("pcie", files=files)
    assert (known["slot_most_lane_count"], known["slot_most_transfers_per_s"]) == (8, 8e9)


def test_an_iommu_that_is_off() -> None:
    assert of("pcie", files={f"{NET}/mtu": "1500"})["pcie.iommu"] == "off"
    driven = Reading(files={f"{NET}/mtu": "1500"}, links={"/sys/class/iommu/dmar0": "../../devices/virtual"})
    assert values("pcie", driven)["pcie.iommu"] is None  # an old kernel tells no kinds
    assert values("pcie", Reading())["pcie.iommu"] is None


def test_an_interface_that_is_down_is_asked_nothing() -> None:
    reading = Reading(files={f"{NET}/operstate": "down\n", f"{NET}/mtu": "9000\n"}, links=DRIVER)
    known = {fact.name: fact for group in ("interface", "link", "dcb") for fact in facts_of(group, reading)}
    assert not [name for name in known if name.startswith("dcb.")]
    assert not {"link.eth0.fec_active", "link.eth0.supported_bits_per_s", "interface.eth0.tso"} & set(known)
    rate = known["interface.eth0.speed_bits_per_s"]
    assert (rate.value, rate.unknown_because, rate.is_offered) == (None, "the link is down", False)
    assert not known["interface.eth0.duplex"].is_offered


def test_what_is_not_offered_is_told_from_what_could_not_be_read() -> None:
    rings = "Ring parameters for eth0:\nCurrent hardware settings:\nRX:\t\tn/a\n"
    outputs = {"ethtool -a eth0": Output(1, "", "netlink error: Operation not supported\n"),
               "ethtool -c eth0": Output(1, "", "netlink error: Operation not permitted\n"),
               "ethtool -g eth0": Output(0, rings, "")}  # fmt: skip
    reading = Reading(files={f"{NET}/operstate": "up\n"}, outputs=outputs)
    offered = {fact.name.removeprefix("interface.eth0."): fact.is_offered for fact in facts_of("interface", reading)}
    assert (offered["rx_pause"], offered["rx_coalesce_us"], offered["rx_coalesce_adaptive"]) == (False, True, True)
    assert (offered["rx_ring_frames"], offered["tx_ring_frames"], offered["tso"]) == (False, True, True)


def test_what_cuts_tcp_is_told_of_its_own_line() -> None:
    """Kernels that cut other kinds of TCP, too, have `on` above it while one of them is on."""
    text = "tcp-segmentation-offload: on\n\ttx-tcp-segmentation: {}\n\ttx-tcp-accecn-segmentation: on\n"
    for state, told in (("off [requested on]", False), ("on", True), ("off [fixed]", False)):
        outputs = {"ethtool -k eth0": Output(0, text.format(state), "")}
        assert of("interface", files={f"{NET}/operstate": "up\n"}, outputs=outputs)["tso"] is told


def test_no_correction_of_errors_has_one_word() -> None:
    outputs = {"ethtool --show-fec eth0": Output(0, FEC.replace(": RS", ": None"), "")}
    assert of("link", outputs=outputs)["fec_active"] == "off"


def test_interrupts_of_an_interface() -> None:
    text = "      CPU0 CPU1\n 24:  9  0  IR-PCI-MSI  mlx5_comp0@pci:0000:3b:00.0\n 25:  0  9  IR-PCI-MSI  eth0-TxRx-1\n"
    text += " 26:  1  1  IR-PCI-MSI  eth01-TxRx-0\nNMI:  0  0  Non-maskable interrupts\n"
    files = {"/proc/interrupts": text, "/proc/irq/24/effective_affinity_list": "0\n",
             "/proc/irq/25/effective_affinity_list": "17\n", "/proc/irq/26/effective_affinity_list": "3\n"}  # fmt: skip
    assert of("interrupt", files=files) == {"count": 2, "cpus": "0,17"}


def test_limits() -> None:
    text = "Limit                     Soft Limit           Hard Limit           Units     \n"
    text += "Max locked memory         65536                unlimited            bytes     \n"
    text += "Max open files            unlimited            unlimited            files     \n"
    outputs = {"df -B1 --output=size /dev/shm": Output(0, "1B-blocks\n67108864\n", "")}
    known = values("limit", Reading(files={"/proc/self/limits": text}, outputs=outputs))
    assert known["limit.locked_bytes"] == 65536
    assert known["limit.open_files"] == "unlimited"
    assert known["limit.shared_memory_bytes"] == 67108864


def test_only_variables_of_message_libraries_are_taken() -> None:
    text = "HOME=/root\0SECRET=1\0UCX_TLS=rc,self\nsm\0NCCL_IB_TC=106\0"
    known = values("environment", Reading(outputs={"env -0": Output(0, text, "")}))
    assert known == {
        "environment.variables": "NCCL_IB_TC UCX_TLS",
        "environment.NCCL_IB_TC": "106",
        "environment.UCX_TLS": "rc,self\nsm",
    }


def test_versions_are_those_that_programs_print() -> None:
    outputs = {
        "ofed_info -s": Output(0, "MLNX_OFED_LINUX-5.8-1.0.1.1:\n", ""),
        "ucx_info -v": Output(0, "# Library version: 1.14.0\n# Library path: /usr/lib\n", ""),
        "fi_info --version": Output(0, "fi_info: 1.17.0\nlibfabric: 1.17.0\nlibfabric api: 1.17\n", ""),
        "ompi_info --version": Output(0, "Open MPI v4.1.4\n\nhttps://www.open-mpi.org/community/help/\n", ""),
    }
    known = values("software", Reading(outputs=outputs))
    assert known["software.ofed"] == "MLNX_OFED_LINUX-5.8-1.0.1.1"
    assert (known["software.ucx"], known["software.libfabric"]) == ("1.14.0", "1.17.0")
    assert known["software.open_mpi"] == "4.1.4"
    assert known["software.mpich"] is None


@pytest.mark.parametrize("name", ["pfc", "ets", "app", "buffer", "dcbx"])
@pytest.mark.parametrize(
    "text", ["", "[", "[]", "{}", '{"prio_pfc":[1]}', '{"dscp_prio":[[99,1]]}', '{"prio_tc":["x"]}']
)
def test_what_dcb_never_prints_is_unknown(name: str, text: str) -> None:
    known = of("dcb", outputs={f"dcb -j {name} show dev eth0": Output(0, text, "")})
    assert known.get("pfc_priorities") is known.get("dscp_to_priority") is known.get("priority_to_tc") is None


def test_this_machine() -> None:
    found = {fact.name: fact.value for fact in facts.collect(HERE)}
    assert found["limit.locked_bytes"] is not None
    assert found["environment.variables"] is not None
    assert "software.mpich" in found
