"""What interfaces are built on, their networks, and what FEC could not correct."""

from __future__ import annotations

from fabriscope.hosts import facts
from fabriscope.hosts.access import Output, Reading
from fabriscope.model.host import Fact

NET = "/sys/class/net"
CORRECTED = """FEC parameters for eth0:
Supported/Configured FEC encodings: RS
Active FEC encoding: RS
Statistics:
  corrected_blocks: 256
    Lane 0: 255
    Lane 1: 1
  uncorrectable_blocks: 145
    Lane 0: 128
    Lane 1: 17
"""


def told(group: str, reading: Reading) -> dict[str, Fact]:
    chosen = next(one for one in facts.groups() if one.name == group)
    return {fact.name: fact for fact in chosen.facts(reading)}


def test_a_bond_a_vlan_and_an_interface_alone() -> None:
    files = {f"{NET}/{name}/mtu": "1500\n" for name in ("bond0", "eth0", "eth0.7", "eth1")}
    files[f"{NET}/bond0/bonding/mode"] = "802.3ad 4\n"
    links = {f"{NET}/bond0/lower_eth1": "../eth1", f"{NET}/bond0/lower_eth0": "../eth0",
             f"{NET}/eth0.7/lower_eth0": "../eth0"}  # fmt: skip
    text = '[{"ifname":"bond0","addr_info":[{"local":"10.1.2.3","prefixlen":20}]},{"ifname":"eth1","addr_info":[]}]'
    found = told("interface", Reading(files, links, outputs={"ip -j -4 addr": Output(0, text, "")}))
    assert found["interface.bond0.below"].value == "eth0 eth1"
    assert found["interface.bond0.bond_mode"].value == "802.3ad"
    assert found["interface.eth0.7.below"].value == "eth0"
    assert not {"interface.eth1.below", "interface.eth1.bond_mode"} & found.keys()
    assert found["interface.bond0.ipv4_network"].value == "10.1.0.0/20"
    assert found["interface.eth1.ipv4_network"].value == "none"


def test_networks_that_nobody_tells_are_unknown() -> None:
    files = {f"{NET}/eth0/mtu": "1500\n"}
    found = told("interface", Reading(files, outputs={"ip -j -4 addr": Output(127, "", "not found")}))
    assert found["interface.eth0.ipv4_network"].value is None


def test_blocks_that_could_not_be_corrected() -> None:
    links = {f"{NET}/eth0/device/driver": "../bus/pci/drivers/mlx5_core"}
    files = {f"{NET}/eth0/operstate": "up\n"}
    command = "ethtool -I --show-fec eth0"
    found = told("link", Reading(files, links, outputs={command: Output(0, CORRECTED, "")}))
    names = ("link.eth0.fec_corrected_count", "link.eth0.fec_uncorrectable_count")
    assert [found[name].value for name in names] == [256, 145]
    without = told("link", Reading(files, links, outputs={command: Output(0, CORRECTED.partition("Stat")[0], "")}))
    assert [(without[name].value, without[name].is_offered) for name in names] == [(None, False)] * 2
