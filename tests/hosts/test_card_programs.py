"""What lspci, niccli, old rdma programs and scripts that query a card print: read right, or not at all."""

from __future__ import annotations

import re
from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.hosts.test_captured_on_hosts import sample
from tests.hosts.test_facts import values

from fabriscope.hosts.access import Output, Reading

NET = "/sys/class/net/eth0"
PCI = "/sys/bus/pci/devices"
LSPCI = """0000:3a:00.0 PCI bridge: Intel Corporation Sky Lake-E PCI Express Root Port A (rev 04)
	Capabilities: [90] Express (v2) Root Port (Slot+), MSI 00
		DevCtl:	CorrErr- NonFatalErr+ FatalErr+ UnsupReq-
			RlxdOrd- ExtTag- PhantFunc- AuxPwr- NoSnoop-
			MaxPayload 256 bytes, MaxReadReq 128 bytes
	Capabilities: [110 v1] Access Control Services
		ACSCap:	SrcValid+ TransBlk+ ReqRedir+ CmpltRedir+ UpstreamFwd+ EgressCtrl- DirectTrans-
		ACSCtl:	SrcValid+ TransBlk- ReqRedir+ CmpltRedir+ UpstreamFwd+ EgressCtrl- DirectTrans-

0000:3b:00.0 Ethernet controller: Mellanox Technologies MT28908 Family [ConnectX-6]
	Capabilities: [60] Express (v2) Endpoint, MSI 00
		DevCtl:	CorrErr+ NonFatalErr+ FatalErr+ UnsupReq+
			RlxdOrd+ ExtTag+ PhantFunc- AuxPwr- NoSnoop+ FLReset-
			MaxPayload 256 bytes, MaxReadReq 4096 bytes
		LnkSta:	Speed 16GT/s, Width x16

0000:3c:00.0 3D controller: NVIDIA Corporation GA100 [A100 SXM4 80GB] (rev a1)
	Capabilities: <access denied>
"""
NICCLI = """IEEE 8021QAZ ETS Configuration TLV:
         PRIO_MAP: 0:0 1:0 2:0 3:0 4:0 5:1 6:0 7:2
         TC Bandwidth: 60% 40% 0%
         TSA_MAP: 0:ets 1:ets 2:strict
IEEE 8021QAZ PFC TLV:
         PFC enabled: 5
IEEE 8021QAZ APP TLV:
         APP#0:
          Priority: 5
          Sel: 5
          DSCP: 46

         APP#1:
          Priority: 5
          Sel: 3
          UDP or DCCP: 4791

TC Rate Limit: 100% 25% 100% 0% 0% 0% 0% 0%
"""
OLD_LINK = """1/1: mlx5_0/1: lid 13400 sm_lid 1 lmc 0 state ACTIVE physical_state LINK_UP netdev ens1
2/1: mlx5_1/1: lid 13401 sm_lid 1 lmc 0 state ACTIVE physical_state LINK_UP
link rxe_eth0/1 state ACTIVE physical_state LINK_UP netdev eth0
link mlx5_2/1 state ACTIVE physical_state LINK_UP netdev ens"""


def of_card(text: str, address: str = "0000:3b:00.0", above: str = "0000:3a:00.0/") -> dict[str, object]:
    """Return the facts of the slot of eth0, which has a card of that address."""
    target = f"../../../devices/pci0000:3a/{above}{address}"
    links = {f"{NET}/device": f"../../../{address}", f"{NET}/device/driver": "../drivers/x", f"{PCI}/{address}": target}
    files = {f"{NET}/device/current_link_width": "16\n"}
    known = values("pcie", Reading(files, links, outputs={"lspci -Dvv": Output(0, text, "")}))
    return {name.removeprefix("pcie.eth0."): value for name, value in known.items()}


def of_priorities(outputs: Mapping[str, str], files: Mapping[str, str] | None = None) -> dict[str, object]:
    links = {f"{NET}/device/driver": "../drivers/x"}
    known = values(
        "dcb", Reading(files or {}, links, outputs={key: Output(0, one, "") for key, one in outputs.items()})
    )
    return {name.removeprefix("dcb.eth0."): value for name, value in known.items()}


def netdevs(text: str) -> dict[str, object]:
    """Return the interfaces of RDMA devices as a program without JSON tells them."""
    devices = ("mlx5_0", "mlx5_1", "mlx5_2", "rxe_eth0")
    files = {f"/sys/class/infiniband/{one}/ports/1/state": "4: ACTIVE\n" for one in devices}
    outputs = {"rdma -j link show": Output(255, "", "Unknown option\n"), "rdma link show": Output(0, text, "")}
    known = values("rdma", Reading(files, outputs=outputs))
    return {one: known[f"rdma.{one}.1.interface"] for one in devices}


def test_a_card_its_bridge_and_a_gpu() -> None:
    known = of_card(LSPCI)
    assert (known["max_read_request_bytes"], known["relaxed_ordering"]) == (4096, True)
    assert known["acs_redirecting"] == "0000:3a:00.0"
    assert known["pcie.gpu_count"] == 1
    assert (
        of_card(LSPCI.replace("ACSCtl:	SrcValid+ TransBlk- ReqRedir+", "ACSCtl:	SrcValid+ TransBlk- ReqRedir-"))[
            "acs_redirecting"
        ]
        == "none"
    )


def test_what_root_alone_is_told_is_unknown_to_others() -> None:
    text = re.sub(r"\tCapabilities: \[(.|\n\t)*", "\tCapabilities: <access denied>\n", LSPCI)
    known = of_card(text)
    assert {known[one] for one in ("max_read_request_bytes", "relaxed_ordering", "acs_redirecting")} == {None}
    assert known["pcie.gpu_count"] == 1


def test_a_card_of_which_lspci_tells_nothing() -> None:
    assert of_card(LSPCI, "0000:5e:00.0")["max_read_request_bytes"] is None
    assert of_card(LSPCI, above="0000:39:00.0/")["acs_redirecting"] is None, "a bridge that is not told of"
    assert of_card(LSPCI, above="")["acs_redirecting"] == "none"


def test_gpus_of_somebody_else() -> None:
    known = of_card(sample("lspci-vvv.a100-vm.txt"), "0003:00:00.0", above="")
    assert (known["max_read_request_bytes"], known["relaxed_ordering"]) == (512, True)
    assert (known["acs_redirecting"], known["pcie.gpu_count"]) == ("none", 4)


def test_broadcoms_program() -> None:
    known = of_priorities({"niccli -dev eth0 getqos": NICCLI})
    assert known["priority_to_tc"] == "0:0 1:0 2:0 3:0 4:0 5:1 6:0 7:2"
    assert (known["tc_shares_percent"], known["tc_algorithms"]) == ("60 40 0", "ets ets strict")
    assert (known["pfc_priorities"], known["dscp_to_priority"]) == ("5", "46:5")
    assert known["rate_limits"] == "tc 1 25%"
    kernel = {"dcb -j pfc show dev eth0": '{"prio_pfc":[false,false,false,true,false,false,false,false]}'}
    assert of_priorities({**kernel, "niccli -dev eth0 getqos": NICCLI})["pfc_priorities"] == "3", "the kernel first"


def test_broadcoms_program_elsewhere() -> None:
    known = of_priorities({"niccli -dev eth0 getqos": sample("niccli-qos.thor2.txt")})
    assert known["priority_to_tc"] == "0:0 1:0 2:0 3:1 4:0 5:0 6:0 7:2"
    assert (known["tc_shares_percent"], known["tc_algorithms"]) == ("50 50 0", "ets ets strict")
    assert (known["pfc_priorities"], known["dscp_to_priority"]) == ("3", "26:3 48:7")
    assert known["rate_limits"] == "none"


@pytest.mark.parametrize(
    ("old", "new", "lost"),
    [
        ("3:0 ", "", "priority_to_tc"), ("5:1", "5:9", "priority_to_tc"), ("60%", "60", "tc_shares_percent"),
        ("60%", "61%", "tc_shares_percent"), ("1:ets", "2:ets", "tc_algorithms"),
        ("enabled: 5", "enabled: 8", "pfc_priorities"),
        ("DSCP: 46", "DSCP: 64", "dscp_to_priority"), ("          Sel: 5\n", "", "dscp_to_priority"),
        ("Priority: 5\n          Sel: 5", "Sel: 5", "dscp_to_priority"), (" 25%", " 125%", "rate_limits"),
        ("TC Rate Limit: 100%", "TC Rate Limit:", "rate_limits"),
        ("IEEE 8021QAZ PFC TLV:", "         PFC enabled: 3", "pfc_priorities"),
    ],
)  # fmt: skip
def test_what_broadcoms_program_never_prints_is_unknown(old: str, new: str, lost: str) -> None:
    assert old in NICCLI
    whole = of_priorities({"niccli -dev eth0 getqos": NICCLI})
    known = of_priorities({"niccli -dev eth0 getqos": NICCLI.replace(old, new, 1)})
    assert known.get(lost) is None
    assert {key: value for key, value in known.items() if value is not None and whole.get(key) != value} == {}


@given(st.integers(0, len(NICCLI)))
def test_a_cut_text_of_broadcoms_program_tells_less_and_nothing_else(end: int) -> None:
    whole = of_priorities({"niccli -dev eth0 getqos": NICCLI})
    known = of_priorities({"niccli -dev eth0 getqos": NICCLI[:end]})
    assert {key: value for key, value in known.items() if value is not None and whole.get(key) != value} == {}


def test_rdma_without_json() -> None:
    assert netdevs(OLD_LINK) == {"mlx5_0": "ens1", "mlx5_1": None, "mlx5_2": None, "rxe_eth0": "eth0"}
    assert netdevs(sample("rdma-link.spiderpool.txt")) == {
        "mlx5_0": "ens6f0np0", "mlx5_1": "ens6f1np1", "mlx5_2": None, "rxe_eth0": None,
    }  # fmt: skip


@given(st.integers(0, len(OLD_LINK) - 1), st.sampled_from("0x/: \n\x00"))
def test_a_damaged_line_of_rdma_is_read_as_it_stands_or_not_at_all(place: int, character: str) -> None:
    damaged = OLD_LINK[:place] + character + OLD_LINK[place + 1 :]
    for name, netdev in netdevs(damaged).items():
        assert netdev is None or re.search(rf"{name}/1:? .*netdev {re.escape(str(netdev))}\s*\n", damaged)


def test_a_script_that_queries_a_card() -> None:
    text = sample("rdma-qos-query.spiderpool.txt")
    files = {path: f"{value}\n" for path, value in re.findall(r"(/sys/\S+) = (.+)", text)}
    known = of_priorities({"mlnx_qos -i eth0": text}, files)
    assert (known["trust"], known["pfc_priorities"], known["priority_to_buffer"]) == ("dscp", "5", "0 0 0 0 0 1 0 0")
    assert known["roce_np_priorities"] == known["roce_rp_priorities"] == "0,1,2,3,4,5,6,7"
    assert (known["cnp_dscp"], known["dscp_to_priority"]) == (48, None)
    files |= {"/sys/class/infiniband/mlx5_0/ports/1/state": "4: ACTIVE\n"}
    assert values("rdma", Reading(files))["rdma.mlx5_0.1.traffic_class"] == 160


def test_buffers_as_mlnx_qos_prints_them() -> None:
    text = "Receive buffer size (bytes): 20016,156096,0,0,0,0,0,0,max_buffer_size=262016\nPFC configuration:\n"
    text += "\tpriority    0   1   2   3   4   5   6   7\n\tenabled     0   0   0   1   0   0   0   0\n"
    text += "\tbuffer      0   0   0   1   0   0   0   0\n"
    known = of_priorities({"mlnx_qos -i eth0": text})
    assert (known["buffer_bytes"], known["priority_to_buffer"]) == ("20016 156096 0 0 0 0 0 0", "0 0 0 1 0 0 0 0")
    assert "buffer_bytes" not in of_priorities({"mlnx_qos -i eth0": text.replace("156096", "15x096")})


def test_how_the_connection_manager_connects_where_its_folder_is() -> None:
    folder = "/sys/kernel/config/rdma_cm/mlx5_0/ports/1"
    port = {"/sys/class/infiniband/mlx5_0/ports/1/state": "4: ACTIVE\n"}
    known = values(
        "rdma", Reading({**port, f"{folder}/default_roce_mode": "IB/RoCE v1\n", f"{folder}/default_roce_tos": "106\n"})
    )
    assert (known["rdma.mlx5_0.1.cma_mode"], known["rdma.mlx5_0.1.cma_traffic_class"]) == ("IB/RoCE v1", 106)
    assert "rdma.mlx5_0.1.cma_mode" not in values("rdma", Reading(port))


@pytest.mark.parametrize(("loaded", "told"), [(True, "nvidia_peermem"), (False, "none")])
def test_how_cards_reach_gpus(loaded: bool, told: str) -> None:
    files = {"/sys/class/infiniband/mlx5_0/ports/1/state": "4: ACTIVE\n", "/sys/module/nvidia/initstate": "live\n"}
    files |= {"/sys/module/nvidia_peermem/initstate": "live\n"} if loaded else {}
    assert values("rdma", Reading(files))["rdma.gpu_peers"] == told


SERVICES = "systemctl is-active irqbalance lldpad dcbd"


@pytest.mark.parametrize(
    ("output", "told"),
    [
        (Output(0, "active\nactive\ninactive\n", ""), "irqbalance lldpad"),
        (Output(3, "inactive\nfailed\nunknown\n", ""), "none"),
        (Output(3, "inactive\ninactive\n", ""), None),
        (Output(1, "", "System has not been booted with systemd as init system\n"), None),
        (Output(3, "inactive\nactiv\ninactive\n", ""), None),
    ],
)
def test_services(output: Output, told: str | None) -> None:
    assert values("software", Reading(outputs={SERVICES: output}))["software.services"] == told
    assert values("software", Reading())["software.services"] is None


@pytest.mark.parametrize(("flag", "told"), [("fw-lldp-agent", (True, False)), ("disable-fw-lldp", (False, True))])
def test_the_agent_in_a_card(flag: str, told: tuple[bool, bool]) -> None:
    links = {f"{NET}/device/driver": "../drivers/ice"}
    command = "ethtool --show-priv-flags eth0"
    for state, expected in zip(("on", "off"), told, strict=True):
        text = f"Private flags for eth0:\nlink-down-on-close     : off\n{flag:23}: {state}\n"
        known = values("link", Reading(links=links, outputs={command: Output(0, text, "")}))
        assert known["link.eth0.firmware_lldp"] is expected
    assert "link.eth0.firmware_lldp" not in values("link", Reading(links=links))


def test_the_kernels_own() -> None:
    yama = "/proc/sys/kernel/yama/ptrace_scope"
    assert values("kernel", Reading({yama: "2\n"}))["kernel.ptrace_scope"] == 2
    backlogs = (
        "0000272d 00000000 00000001 00000000\n000034d9 0000000b 00000001 00000000\n00000001 00000010 00000000 0\n"
    )
    assert values("load", Reading({"/proc/net/softnet_stat": backlogs}))["load.backlog_drop_count"] == 27
