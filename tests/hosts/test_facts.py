"""Facts out of recorded readings, of this machine, and of hosts that answer badly or not at all."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest
from tests import needs

from fabriscope.hosts import facts
from fabriscope.hosts.access import Output, Reading
from fabriscope.hosts.facts._reading import FactGroup
from fabriscope.model.host import Fact, Host

ETHTOOL_K = """Features for eth0:
rx-checksumming: on [fixed]
tx-checksumming: on
tcp-segmentation-offload: on
	tx-tcp-segmentation: on
generic-segmentation-offload: on
generic-receive-offload: off
large-receive-offload: off [fixed]
"""
ETHTOOL_C = """Coalesce parameters for eth0:
Adaptive RX: on  TX: off
stats-block-usecs: n/a
rx-usecs: 8
rx-frames: 128
tx-usecs: n/a
tx-frames: 32
"""
ETHTOOL_G = """Ring parameters for eth0:
Pre-set maximums:
RX:		8192
TX:		8192
Current hardware settings:
RX:		1024
TX:		512
"""
ETHTOOL_A = "Pause parameters for eth0:\nAutonegotiate:\toff\nRX:\t\ton\nTX:\t\toff\n"
ETHTOOL_I = "driver: mlx5_core\nversion: 6.1.0\nfirmware-version: 16.35.2000 (DEL0000000004)\n"
NET = "/sys/class/net/eth0"


def by_name(found: list[Fact]) -> dict[str, Fact]:
    return {fact.name: fact for fact in found}


def values(group: str, reading: Reading) -> dict[str, object]:
    (known,) = (one for one in facts.groups() if one.name == group)
    return {fact.name: fact.value for fact in known.facts(reading)}


def test_interface() -> None:
    reading = Reading(
        files={
            f"{NET}/mtu": "9000\n",
            f"{NET}/operstate": "up\n",
            f"{NET}/speed": "25000\n",
            f"{NET}/device/numa_node": "-1\n",
        },
        links={f"{NET}/device/driver": "../../../bus/pci/drivers/mlx5_core"},
        outputs={
            "ip -j -4 addr": Output(0, '[{"ifname":"eth0","addr_info":[{"local":"10.0.0.1"}]}]', ""),
            "ethtool -k eth0": Output(0, ETHTOOL_K, ""),
            "ethtool -c eth0": Output(0, ETHTOOL_C, ""),
            "ethtool -g eth0": Output(0, ETHTOOL_G, ""),
            "ethtool -a eth0": Output(0, ETHTOOL_A, ""),
            "ethtool -i eth0": Output(0, ETHTOOL_I, ""),
        },
    )
    known = {name.removeprefix("interface.eth0."): value for name, value in values("interface", reading).items()}
    assert {name: value for name, value in known.items() if value not in (None, "10.0.0.1/32")} == {
        "mtu_bytes": 9000,
        "state": "up",
        "speed_bits_per_s": 25_000_000_000,
        "driver": "mlx5_core",
        "ipv4": "10.0.0.1",
        "tso": True,
        "gso": True,
        "gro": False,
        "lro": False,
        "rx_checksum": True,
        "tx_checksum": True,
        "rx_coalesce_us": 8,
        "rx_coalesce_frames": 128,
        "rx_coalesce_adaptive": True,
        "tx_coalesce_frames": 32,
        "rx_pause": True,
        "tx_pause": False,
        "rx_ring_frames": 1024,
        "tx_ring_frames": 512,
        "driver_version": "6.1.0",
        "firmware_version": "16.35.2000 (DEL0000000004)",
    }


def test_what_an_interface_does_not_tell_is_unknown_with_its_reason() -> None:
    reading = Reading(
        files={f"{NET}/speed": "-1\n", f"{NET}/operstate": "up\n"},
        problems={"ethtool -k eth0": "ethtool: No such file or directory", f"{NET}/mtu": "Invalid argument"},
        outputs={"ethtool -a eth0": Output(1, "", "netlink error: Operation not supported\n")},
    )
    (group,) = (one for one in facts.groups() if one.name == "interface")
    found = by_name(group.facts(reading))
    assert all(fact.value is None for fact in found.values() if fact.name != "interface.eth0.state")
    assert "no speed" in (found["interface.eth0.speed_bits_per_s"].unknown_because or "")
    assert "No such file" in (found["interface.eth0.tso"].unknown_because or "")
    assert "not supported" in (found["interface.eth0.rx_pause"].unknown_because or "")
    assert "Invalid argument" in (found["interface.eth0.mtu_bytes"].unknown_because or "")


def test_tcp_buffers_have_three_sizes() -> None:
    known = values("tcp", Reading(files={"/proc/sys/net/ipv4/tcp_rmem": "4096\t131072\t6291456\n"}))
    assert known["tcp.receive_buffer_bytes_min"] == 4096
    assert known["tcp.receive_buffer_bytes_default"] == 131072
    assert known["tcp.receive_buffer_bytes_max"] == 6291456
    assert known["tcp.send_buffer_bytes_max"] is None


def test_cpu_counts_threads_cores_and_sockets() -> None:
    part = "processor\t: {}\nmodel name\t: Xeon\ncpu MHz\t\t: 2700.5\nphysical id\t: 0\ncore id\t\t: {}\n"
    text = "\n".join(part.format(thread, thread // 2) for thread in range(4))
    known = values("cpu", Reading(files={"/proc/cpuinfo": text}))
    assert (known["cpu.thread_count"], known["cpu.core_count"], known["cpu.socket_count"]) == (4, 2, 1)
    assert known["cpu.clock_hz"] == 2_700_500_000
    assert known["cpu.governor"] is None


def test_only_options_that_matter_are_taken_from_the_kernel_s_command_line() -> None:
    known = values("kernel", Reading(files={"/proc/cmdline": "quiet mitigations=off secret=1 isolcpus=2-3\n"}))
    assert known["kernel.options"] == "mitigations=off isolcpus=2-3"


def test_rdma_ports() -> None:
    port = "/sys/class/infiniband/mlx5_0/ports/1"
    known = values("rdma", Reading(files={f"{port}/state": "4: ACTIVE\n", f"{port}/link_layer": "Ethernet\n"}))
    assert known["rdma.hcas"] == "mlx5_0"
    assert known["rdma.mlx5_0.1.state"] == "4: ACTIVE"
    assert known["rdma.mlx5_0.1.rate"] is None


@pytest.mark.parametrize("group", facts.groups(), ids=lambda group: group.name)
def test_a_host_of_which_nothing_could_be_read_has_unknowns_with_reasons(group: FactGroup) -> None:
    for fact in group.facts(Reading()):
        assert fact.name.startswith(f"{group.name}.")
        assert fact.value is None
        assert fact.unknown_because


def test_this_machine() -> None:
    found = by_name(facts.collect(Host("here")))
    assert found["kernel.release"].value == Path("/proc/sys/kernel/osrelease").read_text().strip()
    assert found["interface.lo.mtu_bytes"].value
    assert all((fact.value is None) == (fact.unknown_because is not None) for fact in found.values())


def test_what_sys_tells_of_another_network_namespace_is_not_taken_for_this_one() -> None:
    """`unshare -n` leaves /sys as it was."""
    needs.root("to make a network namespace")
    script = (
        'ip link set lo up mtu 9000; ip link add other type veth peer name peer; ip link set other mtu 1234; eval "$*"'
    )
    found = by_name(facts.collect(Host("here", access=("unshare", "-n", "sh", "-c", script, "sh"))))
    assert found["interface.lo.mtu_bytes"].value == 9000
    assert found["interface.other.mtu_bytes"].value == 1234
    real = {one.name.split(".")[1] for one in facts.collect(Host("here")) if one.name.startswith("interface.")} - {"lo"}
    for name in real:
        assert found[f"interface.{name}.mtu_bytes"].value is None


def test_a_host_behind_a_shell_that_greets(tmp_path: Path) -> None:
    shell = tmp_path / "remote-shell"
    shell.write_text('#!/bin/sh\nshift\necho "Welcome to host"\nexec sh -c "$*"\n')
    shell.chmod(shell.stat().st_mode | stat.S_IXUSR)
    found = by_name(facts.collect(Host("far", access=(str(shell), "far"))))
    assert found["kernel.release"].value


@pytest.mark.parametrize("access", [("false",), ("no-such-remote-shell",), ("sh", "-c", "echo '{'; true")])
def test_a_host_that_cannot_be_read_does_not_stop_anything(access: tuple[str, ...]) -> None:
    found = facts.collect(Host("far", access=access))
    assert [fact.name for fact in found] == [f"{group.name}.reading" for group in facts.groups()]
    assert all(fact.value is None and fact.unknown_because for fact in found)
