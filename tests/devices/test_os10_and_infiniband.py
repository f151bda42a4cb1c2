"""Configurations of OS10, the tables of `show mmu`, and what InfiniBand's programs print, written by hand."""

from __future__ import annotations

from fabriscope import devices
from fabriscope.model.device import Device

OS10 = """hostname leaf1
!
class-map type network-qos RDMA
 match qos-group 3
!
trust dscp-map BY-DSCP
 qos-group 3 dscp 24-31
 qos-group 6 dscp 48
!
policy-map type network-qos LOSSLESS
 !
 class RDMA
  pause
  pfc-cos 3
!
system qos
 trust-map dscp BY-DSCP
!
interface ethernet1/1/1
 no shutdown
 mtu 9232
 flowcontrol receive on
 priority-flow-control mode on
 service-policy input type network-qos LOSSLESS
!
interface ethernet1/1/2
 shutdown
 service-policy input type network-qos ELSEWHERE
!
end
"""
IBSTAT = """CA 'mlx5_0'
\tCA type: MT4123
\tFirmware version: 20.31.1014
\tPort 1:
\t\tState: Active
\t\tRate: 200
\t\tLink layer: InfiniBand
\tPort 2:
\t\tState: Down
\t\tRate: 10
\t\tLink layer: InfiniBand
"""
COUNTERS = """# Port counters: Lid 7 port 12 (CapMask: 0x0)
PortSelect:......................12
SymbolErrorCounter:..............17
LinkDownedCounter:...............2
"""
MMU = """Pool: lossless
----  -------
mode  dynamic
size  4096
----  -------

Profile: headroom
----  -----
xon   100
xoff  300
----  -----
"""


def device(text: str) -> Device:
    return devices.of_texts("leaf1", [("file", text)])


def test_a_configuration_of_os10() -> None:
    found = device(OS10)
    known = found.known.values
    assert (found.system, found.problems) == ("os10", ())
    port = {key.rpartition(".")[2]: value for key, value in known.items() if key.startswith("port.Ethernet1/1/1.")}
    assert port["dscp_to_priority"] == "24:3 25:3 26:3 27:3 28:3 29:3 30:3 31:3 48:6"
    assert (port["mtu_bytes"], port["rx_pause"], port["is_enabled"]) == (9200, True, True)
    assert (port["pfc_mode"], port["pfc_priorities"], port["trust"]) == ("on", "3", "dscp")
    assert known["port.Ethernet1/1/2.pfc_mode"] == "off"
    assert known["port.Ethernet1/1/2.is_enabled"] is False
    assert "port.Ethernet1/1/2.mtu_bytes" not in known
    assert (known["device.undefined_names"], known["device.dcbx_enabled"]) == ("ELSEWHERE", False)


def test_ports_without_rate_where_they_are_down() -> None:
    found = device(IBSTAT)
    assert (found.system, found.ports) == ("infiniband", ("mlx5_0/1", "mlx5_0/2"))
    assert found.number("mlx5_0/1", "speed_bits_per_s") == 200 * 10**9
    assert (found.flag("mlx5_0/2", "is_up"), found.number("mlx5_0/2", "speed_bits_per_s")) == (False, None)
    assert found.text("mlx5_0/2", "firmware_version") == "20.31.1014"


def test_a_port_of_ibstat_that_is_cut_tells_nothing() -> None:
    assert device(IBSTAT.rpartition("\t\tLink layer")[0]).ports == ("mlx5_0/1",)


def test_counters_of_a_port() -> None:
    found = device(COUNTERS)
    assert found.ports == ("lid7/12",)
    counts = [found.number("lid7/12", name) for name in ("symbol_error_count", "link_downed_count")]
    assert counts == [17, 2]


def test_a_table_of_buffers_that_is_cut_tells_nothing() -> None:
    known = device(MMU).known.values
    assert known["device.buffer_pool.lossless.size_bytes"] == 4096
    assert known["device.buffer_profile.headroom.xoff_bytes"] == 300
    cut = device(MMU.rpartition("----  -----")[0]).known.values
    assert "device.buffer_profile.headroom.xoff_bytes" not in cut
