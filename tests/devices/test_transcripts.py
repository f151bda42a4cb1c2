"""Sessions as terminals keep them, by hand in the documented forms: banners, prompts, pagers, ranges of ports."""

from __future__ import annotations

from pathlib import Path

import pytest

from fabriscope import devices
from fabriscope.model.device import Device

DATA = Path(__file__).parent / "data"
Value = str | int | float | bool | None
E = "port.Ethernet"
EXPECTED: dict[str, dict[str, Value]] = {
    "eos-session.txt": {  # a banner with lines of an interface, breakouts, a LAG, a subinterface
        "device.host_name": "leaf1-ams", "device.version": "4.28.3M", f"{E}1/1.mtu_bytes": 9214, f"{E}1/1.fec": "baser",
        f"{E}1/1.speed_bits_per_s": 25 * 10**9, f"{E}1/1.pfc_priorities": "3,4", f"{E}1/2.pfc_priorities": "none",
        f"{E}1/2.trust": "cos", f"{E}1/2.rx_pause": True, f"{E}1/3.is_enabled": False, f"{E}2/1.pfc_priorities": "5",
        f"{E}2/1.ecn_5_bytes": "1000000 2000000", "port.Port-Channel10.mtu_bytes": 9214, f"{E}2/1.100.mtu_bytes": None,
    },
    "eos-profile.txt": {
        f"{E}1/1.trust": "dscp", f"{E}1/1.pfc_priorities": "4", f"{E}2/1.pfc_priorities": "3,4",
        f"{E}1/1.ecn_4_bytes": "150000 1500000", "device.undefined_names": "MISSING",
    },
    "eos-interfaces.txt": {  # the form of EOS 4.25 and later, with a pager between two ports
        f"{E}1/1.mtu_bytes": 9214, f"{E}1/1.speed_bits_per_s": 25 * 10**9, f"{E}1/1.rx_crc_error_count": 17,
        f"{E}1/2.mtu_bytes": 1500, f"{E}1/2.is_up": False, f"{E}1/2.is_enabled": True,
    },
    "nxos-running.txt": {
        "device.host_name": "LEAF-101", "device.version": "10.3(4a)", "device.no_drop_mtu_bytes": 4200,
        "device.undefined_names": "GHOST", f"{E}1/1.mtu_bytes": 9216, f"{E}1/1.trust": "dscp",
        f"{E}1/2.ecn_3_bytes": "1000000 3000000", f"{E}1/2.wred_without_ecn_queues": "1",
        f"{E}1/3/1.speed_bits_per_s": 25 * 10**9, f"{E}1/3/1.trust": None, f"{E}1/5.200.mtu_bytes": None,
    },
    "nxos-interface.txt": {
        f"{E}1/1.speed_bits_per_s": 25 * 10**9, f"{E}1/1.rx_crc_error_count": 42, f"{E}1/2.rx_pause": True,
        f"{E}1/2.is_up": False, f"{E}1/2.is_enabled": True, f"{E}1/4.is_enabled": False,
    },
    "onyx-session.txt": {  # prompts with blanks in them, three commands
        "device.host_name": "switch-a1", "device.version": "3.10.4302", "device.pfc_enabled": True,
        f"{E}1/1.mtu_bytes": 9216, f"{E}1/5/3.mtu_bytes": 4200, f"{E}1/6.is_enabled": False, f"{E}1/3.fec": "rs",
        f"{E}1/1.pfc_priorities": "3,5", f"{E}1/4.pfc_mode": "off", f"{E}1/4.pfc_priorities": "none",
        f"{E}1/1.ecn_3_bytes": "200000 2000000", f"{E}1/2.ecn_queues": "3,5", f"{E}1/2.wred_without_ecn_queues": "1",
        f"{E}1/1.pfc_is_operating": True, f"{E}1/5/1.neighbour_port": "ens2f0np0",
    },
    "sonic-session.txt": {  # CRLF, numbers that are no texts, breakouts, keys of several ports
        "device.host_name": "tor-3", f"{E}0.mtu_bytes": 9216, f"{E}0.speed_bits_per_s": 25 * 10**9,
        f"{E}0.fec": "baser",
        f"{E}1.is_enabled": False, f"{E}4.pfc_priorities": "3,4", f"{E}0.ecn_3_bytes": "262144 2097152",
        f"{E}8.trust": "cos", f"{E}0.lossless_buffer_priorities": "3", f"{E}4.pfc_watchdog": False,
    },
    "sonic-dell.txt": {
        f"{E}1/1/1.is_up": True, f"{E}1/1/1.mtu_bytes": 9216, f"{E}1/2.speed_bits_per_s": 400 * 10**9,
        f"{E}1/3.is_enabled": False,
    },
    "nvue.txt": {  # keys of several ports, which say of one port together what is said of it
        "port.swp1.mtu_bytes": 9216, "port.swp2.fec": "rs", "port.swp3s2.fec": "baser", "port.swp5.pfc_priorities": "5",
        "port.swp3s0.speed_bits_per_s": 25 * 10**9, "port.swp6.is_enabled": False, "port.bond1.mtu_bytes": 9216,
        "port.swp1.ecn_3_bytes": "150000 1500000", "port.swp6.100.mtu_bytes": None, "port.swp1-2.mtu_bytes": None,
    },
    "nvue-profiles.txt": {
        "port.swp1.pfc_priorities": "3", "port.swp1.ecn_queues": "3", "port.swp1.ecn_3_bytes": "150000 1500000",
        "port.swp1.trust": "dscp",
    },
    "os10-session.txt": {
        "device.host_name": "OS10-A", "device.version": "10.5.4.2", f"{E}1/1/1:1.pfc_priorities": "3",
        f"{E}1/1/1:1.dscp_to_priority": "26:3 48:6", f"{E}1/1/2.rx_pause": True, f"{E}1/1/2.is_enabled": False,
    },
    "ibstat.txt": {
        "port.mlx5_bond_0/1.speed_bits_per_s": 25 * 10**9, "port.mlx5_3/1.link_layer": "InfiniBand",
        "port.mlx5_3/1.is_up": False,
    },
}  # fmt: skip


def text_of(name: str) -> str:
    return (DATA / name).read_bytes().decode()


def device(*texts: str) -> Device:
    return devices.of_texts("leaf1", [(f"{at}.txt", text) for at, text in enumerate(texts)])


def told(found: Device, wanted: dict[str, Value]) -> dict[str, Value]:
    return {name: found.known.values.get(name) for name in wanted}


@pytest.mark.parametrize("name", EXPECTED)
def test_what_stands_there_is_read(name: str) -> None:
    found = device(text_of(name))
    assert told(found, EXPECTED[name]) == EXPECTED[name]
    assert found.problems == ()


@pytest.mark.parametrize("name", EXPECTED)
def test_returns_and_colours_change_nothing(name: str) -> None:
    text = text_of(name).replace("\r\n", "\n")
    whole = device(text).known.values
    assert device("\ufeff" + text.replace("\n", "\r\n")).known.values == whole
    painted = text.replace("interface ", "\x1b[1;32minterface\x1b[0m ").replace("\n", "\x1b[K\n")
    assert device(painted).known.values == whole


def test_the_priorities_that_a_policy_of_nxos_sorts_into() -> None:
    """Of a member of a port-channel its policy counts; what no class names goes where the rest goes."""
    known = device(text_of("nxos-running.txt")).known.values
    for port in (f"{E}1/1", f"{E}1/2", "port.port-channel20"):
        of_dscp = dict(pair.split(":") for pair in str(known[f"{port}.dscp_to_priority"]).split())
        assert {dscp: of_dscp[dscp] for dscp in ("0", "24", "25", "26", "48")} == {
            "0": "0", "24": "3", "25": "0", "26": "3", "48": "7",
        }  # fmt: skip
    text = text_of("nxos-running.txt").replace("pause pfc-cos 3", "pause pfc-cos 5")
    assert "26:5" in str(device(text).known.values[f"{E}1/2.dscp_to_priority"]).split()
    text = text_of("nxos-running.txt").replace("match dscp 24,26", "match cos 3")
    assert device(text).known.values[f"{E}1/2.trust"] == "both"


def test_the_last_interface_before_a_prompt_is_whole() -> None:
    text = "leaf1#sh run | sec interface\ninterface Ethernet7\n   mtu 9214\n   priority-flow-control on\n"
    text += "interface Ethernet8\n   mtu 9000\n"
    assert f"{E}8.mtu_bytes" not in device(text).known.values
    assert device(f"{text}leaf1#exit\n").known.values[f"{E}8.mtu_bytes"] == 9000


@pytest.mark.parametrize(
    "banner", ["banner motd ^C\nhostname a\n^C", "banner motd #a#", "banner motd %\ninterface Ethernet1/1\n  mtu 1\n%"]
)
def test_what_a_banner_says_is_no_setting(banner: str) -> None:
    text = text_of("nxos-running.txt").partition("banner motd")
    whole = text[0] + banner + text[2].partition("^\n")[2].partition("^")[2]
    assert device(whole).known.values == device(text_of("nxos-running.txt")).known.values


def test_a_file_of_two_devices_tells_nothing_and_says_so() -> None:
    table = "show pfc priority\nInterface    Lossless priorities\nEthernet{}    3\n"
    found = device(f"leaf1# {table.format(0)}leaf2# {table.format(4)}")
    assert found.ports == ()
    assert found.problems == ("0.txt: nothing of it is read, it has outputs of leaf1 and leaf2: save a file for each",)
    found = device(f"leaf1# {table.format(0)}leaf1(config)# {table.format(4)}")
    assert found.ports == ("Ethernet0", "Ethernet4")


def test_the_preset_of_onyx_in_one_line() -> None:
    text = "no cli default prefix-modes enable\n   interface ethernet 1/1 mtu 9216 force\n   roce lossless\n"
    found = device(f"{text}cli default prefix-modes enable\n").known.values
    assert found["device.pfc_enabled"] is True
    names = ("pfc_mode", "pfc_priorities", "trust", "ecn_queues")
    assert [found[f"{E}1/1.{one}"] for one in names] == ["on", "3", "dscp", "3"]
    assert "26:3" in str(found[f"{E}1/1.dscp_to_priority"]).split()


def test_lists_of_a_configuration_of_onyx_that_is_cut_are_unknown() -> None:
    text = text_of("onyx-session.txt").partition("   dcb priority-flow-control priority 5")[0].partition("\n")[2]
    known = device(text).known.values
    assert known[f"{E}1/1.mtu_bytes"] == 9216
    assert not [name for name in known if name.endswith((".pfc_priorities", ".ecn_queues", ".pfc_mode"))]


def test_a_watchdog_of_cumulus_is_missed_where_nothing_is_cut() -> None:
    text = text_of("nvue.txt")
    assert device(text).known.values["port.swp1.pfc_watchdog"] is False
    text = "- set:\n    qos:\n      roce:\n        enable: on\n    interface:\n      swp1:\n        type: swp\n"
    known = device(text).known.values
    assert (known["port.swp1.pfc_mode"], "port.swp1.pfc_watchdog" in known) == ("on", False)


def test_pause_frames_of_a_port_that_is_down_are_unknown() -> None:
    text = '{"interfaceFlowControls": {"Ethernet1": {"txAdminState": "on", "txOperState": "unknown", "rxPause": 0}}}'
    assert f"{E}1.tx_pause" not in device(text).known.values
