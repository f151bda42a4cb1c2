"""Configurations written by hand in the documented forms: the same facts whatever the system."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from fabriscope import devices
from fabriscope.devices.system import numbers_of
from fabriscope.model.device import port_name

EOS = """! device: leaf1 (DCS-7060CX-32S, EOS-4.26.1F)
hostname leaf1
qos map dscp 26 to traffic-class 5
qos profile ROCE
   qos trust dscp
   priority-flow-control on
   priority-flow-control priority 3 no-drop
   tx-queue 3
      random-detect ecn minimum-threshold 150 kbytes maximum-threshold 1500 kbytes max-mark-probability 100
interface Ethernet1/1
   mtu 9214
   flowcontrol receive on
   error-correction encoding reed-solomon
   service-profile ROCE
interface Ethernet1/2
   mtu 1500
   shutdown
   service-profile NOWHERE
priority-flow-control all off
end
"""
ONYX = """##
## Running database "initial"
##
no cli default prefix-modes enable
   interface ethernet 1/1-1/2 mtu 9216 force
   interface ethernet 1/1 qos trust L3
   interface ethernet 1/1-1/2 dcb priority-flow-control mode on force
   interface ethernet 1/1 traffic-class 3 congestion-control ecn minimum-absolute 150 maximum-absolute 1500
   dcb priority-flow-control enable force
   dcb priority-flow-control priority 3 enable
cli default prefix-modes enable
"""
ONYX_PFC = """PFC: enabled
Priority Enabled List: 3
Priority Disabled List: 0 1 2 4 5 6 7

Interface      PFC admin      PFC oper
Eth1/1         On             Enabled
Eth1/2         Auto           Disabled
"""
NXOS = """version 9.3(5)
feature lldp
priority-flow-control watch-dog-interval on
policy-map type queuing IN
  class type queuing c-out-8q-q5
    random-detect minimum-threshold 150 kbytes maximum-threshold 1500 kbytes ecn
policy-map type queuing OUT
  class type queuing c-out-8q-q3
    random-detect minimum-threshold 150 kbytes maximum-threshold 1500 kbytes ecn
system qos
  service-policy type queuing input IN
  service-policy type queuing output OUT
interface Ethernet1/1
  priority-flow-control mode on
  priority-flow-control watch-dog-interval on
interface Ethernet1/2
  priority-flow-control mode on
end
"""
NVUE = """- set:
    interface:
      swp1:
        link:
          mtu: 9216
          fec: rs
          speed: 100G
        type: swp
    qos:
      roce:
        enable: on
        mode: lossless
    system:
      hostname: leaf1
"""
SONIC = {
    "PORT": {"Ethernet0": {"mtu": "9216", "speed": "100000", "fec": "none", "admin_status": "down"}},
    "PORT_QOS_MAP": {
        "global": {"dscp_to_tc_map": "ROCE"},
        "Ethernet0,Ethernet4": {"pfc_enable": "3", "dscp_to_tc_map": "[DSCP_TO_TC_MAP|ROCE]"},
        "host|asic0|Ethernet8": {"pfc_enable": "", "dscp_to_tc_map": "GONE"},
    },
    "DSCP_TO_TC_MAP": {"ROCE": {"26": "3", "48": "6"}},
    "QUEUE": {"Ethernet0|3": {"wred_profile": "ROCE"}, "Ethernet0|0-1": {"wred_profile": "DROP"}},
    "WRED_PROFILE": {
        "ROCE": {"ecn": "ecn_all", "green_min_threshold": "153600", "green_max_threshold": "1536000"},
        "DROP": {"ecn": "ecn_none", "wred_green_enable": "true"},
    },
    "BUFFER_PG": {"Ethernet0|0": {"profile": "ingress_lossy_profile"}, "Ethernet0|3": {"profile": "NULL"}},
}


def values(text: str) -> dict[str, object]:
    return dict(devices.of_texts("leaf1", [("file", text)]).known.values)


def test_eos() -> None:
    known = values(EOS)
    assert known["device.pfc_enabled"] is False
    assert known["device.undefined_names"] == "NOWHERE"
    port = {name.removeprefix("port.Ethernet1/1."): value for name, value in known.items()}
    assert (port["mtu_bytes"], port["trust"], port["fec"], port["rx_pause"]) == (9214, "dscp", "rs", True)
    assert (port["pfc_mode"], port["pfc_priorities"]) == ("on", "3")
    assert (port["ecn_queues"], port["ecn_3_bytes"]) == ("3", "150000 1500000")
    assert "26:5" in str(port["dscp_to_priority"]).split()
    assert "27:3" in str(port["dscp_to_priority"]).split()
    assert known["port.Ethernet1/2.is_enabled"] is False
    assert known["port.Ethernet1/2.pfc_priorities"] == "none"


def test_onyx() -> None:
    known = values(ONYX)
    assert known["device.pfc_enabled"] is True
    assert known["port.Ethernet1/2.mtu_bytes"] == 9216
    assert (known["port.Ethernet1/1.trust"], known["port.Ethernet1/1.pfc_priorities"]) == ("dscp", "3")
    assert known["port.Ethernet1/1.ecn_3_bytes"] == "150000 1500000"
    assert values(ONYX.replace("   dcb priority-flow-control enable force\n", ""))["device.pfc_enabled"] is False


def test_onyx_tells_whether_pfc_operates() -> None:
    known = values(ONYX_PFC)
    assert (known["port.Ethernet1/1.pfc_mode"], known["port.Ethernet1/1.pfc_is_operating"]) == ("on", True)
    assert (known["port.Ethernet1/2.pfc_mode"], known["port.Ethernet1/2.pfc_is_operating"]) == ("auto", False)
    assert known["port.Ethernet1/2.pfc_priorities"] == "3"


def test_cumulus() -> None:
    known = values(NVUE)
    assert known["device.host_name"] == "leaf1"
    assert (known["port.swp1.mtu_bytes"], known["port.swp1.fec"]) == (9216, "rs")
    assert known["port.swp1.speed_bits_per_s"] == 100 * 10**9
    assert (known["port.swp1.pfc_priorities"], known["port.swp1.ecn_queues"]) == ("3", "0,3")
    assert "port.swp1.pfc_priorities" not in values(NVUE.replace("lossless", "lossy"))


@pytest.mark.parametrize("is_flat", [False, True])
def test_sonic(is_flat: bool) -> None:
    flat = {f"{table}|{key}": fields for table, rows in SONIC.items() for key, fields in rows.items()}
    known = values(json.dumps(flat if is_flat else SONIC))
    assert known["port.Ethernet0.mtu_bytes"] == 9216
    assert known["port.Ethernet0.speed_bits_per_s"] == 100 * 10**9
    assert (known["port.Ethernet0.fec"], known["port.Ethernet0.is_enabled"]) == ("off", False)
    assert known["port.Ethernet4.pfc_priorities"] == "3"
    assert known["port.Ethernet8.pfc_priorities"] == "none"
    assert known["port.Ethernet4.dscp_to_priority"] == "26:3 48:6"
    assert known["port.Ethernet0.ecn_queues"] == "3"
    assert known["port.Ethernet0.wred_without_ecn_queues"] == "0,1"
    assert known["port.Ethernet0.ecn_3_bytes"] == "153600 1536000"
    assert known["port.Ethernet0.lossless_buffer_priorities"] == "3"
    assert known["device.undefined_names"] == "GONE"


def sonic_values(**tables: object) -> dict[str, object]:
    known = values(json.dumps({**SONIC, **tables}))
    return {name.removeprefix("port."): value for name, value in known.items()}


def test_a_port_of_sonic_that_no_table_names() -> None:
    """It pauses, and has no row of a buffer, or of a watchdog."""
    known = sonic_values(PFC_WD={"GLOBAL": {"POLL_INTERVAL": "200"}, "Ethernet0": {"action": "drop"}})
    assert known["Ethernet4.lossless_buffer_priorities"] == "none"
    assert (known["Ethernet0.pfc_watchdog"], known["Ethernet4.pfc_watchdog"]) == (True, False)
    assert "Ethernet4.pfc_watchdog" not in sonic_values()  # a part of a configuration
    assert sonic_values(DEVICE_METADATA={"localhost": {"hwsku": "X"}})["Ethernet4.pfc_watchdog"] is False
    assert "Ethernet0.pfc_watchdog_priorities" not in known
    rows = {"Ethernet0": {"pfc_enable": "3", "pfcwd_sw_enable": "3", "dot1p_to_tc_map": "AZURE"}}
    known = sonic_values(PORT_QOS_MAP=rows)
    assert (known["Ethernet0.pfc_watchdog_priorities"], known["Ethernet0.trust"]) == ("3", "cos")


def test_corrections_of_errors_have_the_words_of_ethtool() -> None:
    assert sonic_values(PORT={"Ethernet0": {"fec": "fc"}})["Ethernet0.fec"] == "baser"
    assert values(EOS.replace("reed-solomon", "fire-code"))["port.Ethernet1/1.fec"] == "baser"
    assert values(NVUE.replace("fec: rs", "fec: none"))["port.swp1.fec"] == "off"


def test_nxos_takes_the_policy_of_its_output_and_the_watchdog() -> None:
    known = values(NXOS)
    assert known["port.Ethernet1/1.ecn_queues"] == "3"
    assert (known["port.Ethernet1/1.pfc_watchdog"], known["port.Ethernet1/2.pfc_watchdog"]) == (True, False)
    assert values(NXOS.replace("interval on\npolicy", "interval off\npolicy"))["port.Ethernet1/1.pfc_watchdog"] is False
    part = NXOS.replace("version 9.3(5)\n", "").replace("interval on\npolicy", "interval off\npolicy")
    assert "port.Ethernet1/1.pfc_watchdog" not in values(part)


def test_onyx_tells_where_no_watchdog_is() -> None:
    line = "   dcb priority-flow-control enable"
    text = ONYX.replace(line, f"   interface ethernet 1/2 pfc-wd\n{line}")
    known = values(text)
    assert (known["port.Ethernet1/1.pfc_watchdog"], known["port.Ethernet1/2.pfc_watchdog"]) == (False, True)
    assert "port.Ethernet1/1.pfc_watchdog" not in values(text.replace("\ncli default prefix-modes enable\n", "\n"))


def test_files_that_cannot_be_read_are_told(tmp_path: Path) -> None:
    (tmp_path / "leaf1").mkdir()
    os.mkfifo(tmp_path / "leaf1" / "pipe.txt")
    (tmp_path / "leaf2").mkdir()
    (tmp_path / "leaf2" / "gone.txt").symlink_to(tmp_path / "nowhere")
    (tmp_path / "leaf3").mkdir()
    problems = {name: one.problems for name, one in devices.of_folder(tmp_path).items()}
    assert "pipe.txt cannot be read: it is a" in problems["leaf1"][0]
    assert problems["leaf2"] == ("gone.txt cannot be read: No such file or directory",)
    assert problems["leaf3"] == ("its folder has no file",)


def test_a_damaged_output_tells_nothing() -> None:
    ports = {"Ethernet1": {"lldpNeighborInfo": [{"systemName": "node1"}, {"systemName": "node2"}]},
             "Ethernet2": {"lldpNeighborInfo": [{"systemName": 7}]}}  # fmt: skip
    leaf = devices.of_texts("leaf1", [("lldp.json", json.dumps({"lldpNeighbors": ports}))])
    assert leaf.ports == ()
    assert "systemName" in leaf.problems[0]


def test_what_two_outputs_say_otherwise_is_unknown_with_both() -> None:
    pfc = "Interface    Lossless priorities\nEthernet0    3,4\n"
    found = devices.of_texts("leaf1", [("db.json", json.dumps(SONIC)), ("pfc.txt", pfc)])
    assert found.known.values["port.Ethernet0.pfc_priorities"] is None
    assert any("db.json says 3" in one and "pfc.txt says 3,4" in one for one in found.problems)


@pytest.mark.parametrize(
    ("text", "name"),
    [("Eth1/1", "Ethernet1/1"), ("ethernet 1/5/1", "Ethernet1/5/1"), ("Et3", "Ethernet3"), ("swp1", "swp1")],
)  # fmt: skip
def test_a_port_has_one_spelling(text: str, name: str) -> None:
    assert port_name(text) == name


@pytest.mark.parametrize(("text", "found"), [("3-4", "3,4"), ("", "none"), ("3, 4 6", "3,4,6"), ("none", "none")])
def test_lists(text: str, found: str) -> None:
    assert numbers_of(text) == found


@pytest.mark.parametrize("text", ["64", "3-", "a", "1-99", "٣"])
def test_what_is_no_priority_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="is not from"):
        numbers_of(text)
