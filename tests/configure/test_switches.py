"""What is written for a switch, typed into its saved configuration: what should change does, nothing else, and back."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.configure import appliers
from tests.configure.appliers import cleaned, facts, parsed, printed, ready, typed_in
from tests.devices.test_configurations import EOS, NVUE, NXOS, ONYX, SONIC
from tests.needs import NO_LOGS_OF_OTHERS, ROOT

from fabriscope.configure.step import Wanted

SAMPLES = ROOT.parent / "shared" / "samples" / "audit"
WANTED = Wanted()
MADE = {
    "eos": "! device: leaf1 (DCS-7060CX-32S, EOS-4.26.1F)\nqos profile X\ninterface Ethernet1/1\n   no switchport\n!\n",
    "nxos": "version 9.3(5)\nfeature lldp\ninterface Ethernet1/1\n  no switchport\nend\n",
}
_OF_SWITCH = ("device.pfc_enabled", "device.no_drop_mtu_bytes")
_ABOUT = ("mtu_bytes", "pfc_", "trust", "dscp_to_priority", "ecn_", "wred_without", "lossless_buffer")


def sample(name: str) -> str:
    path = SAMPLES / name
    if not path.is_file():
        pytest.skip(NO_LOGS_OF_OTHERS)
    return path.read_text()


def roce(text: str, port: str, names: dict[str, object]) -> None:
    """Hold the facts of a port against what lossless RoCE wants."""
    known = facts(text).known.values
    for name, value in names.items():
        assert known[f"port.{port}.{name}"] == value, name


def others(before: str, after: str) -> set[str]:
    """Return the facts that changed and have nothing to do with lossless RoCE."""
    old, new = facts(before).known.values, facts(after).known.values
    changed = {name for name in old.keys() | new.keys() if old.get(name) != new.get(name)}
    return {name for name in changed if not name.rpartition(".")[2].startswith(_ABOUT) and name not in _OF_SWITCH}


LINES: dict[tuple[str, str], Callable[[], str]] = {
    ("made", "eos"): lambda: MADE["eos"], ("made", "nxos"): lambda: MADE["nxos"],
    ("tests", "eos"): lambda: EOS.replace("priority-flow-control all off\nend", "priority-flow-control all off\n!"),
    ("tests", "nxos"): lambda: NXOS,
    ("sample", "eos"): lambda: sample("eos/running-config-all.interface.txt"),
    ("sample", "nxos"): lambda: sample("nxos/running-config.93180.txt"),
}  # fmt: skip


@pytest.mark.parametrize("system", ["eos", "nxos"])
@pytest.mark.parametrize("source", ["made", "tests", "sample"])
@pytest.mark.parametrize("wanted", [WANTED, Wanted(5, 40, 4200), Wanted(3, 26, 9000, is_alone=True)], ids=str)
def test_lines_change_what_they_should_and_nothing_else(system: str, source: str, wanted: Wanted) -> None:
    text = LINES[source, system]()
    _, files = ready(system, "leaf1", text, wanted)
    tree = parsed(text)
    after = typed_in(tree, files["configure.txt"])
    head = "" if system == "nxos" else text.partition("\ninterface")[0] + "\n"
    new = head + printed(after)
    port = next(line for line in tree if line.startswith("interface Ethernet")).removeprefix("interface ")
    expected = {"pfc_mode": "on", "pfc_watchdog": True}
    roce(new, port.replace(" ", ""), expected)
    known = facts(new).known.values
    name = f"port.{port.replace(' ', '')}"
    assert str(wanted.priority) in str(known[f"{name}.pfc_priorities"]).split(",")
    assert str(wanted.priority) in str(known[f"{name}.ecn_queues"]).split(",")
    if wanted.is_alone:
        assert known[f"{name}.pfc_priorities"] == str(wanted.priority)
    if system == "eos":
        assert f"{wanted.dscp}:{wanted.priority}" in str(known[f"{name}.dscp_to_priority"]).split()
    assert not others(head + printed(tree), new)
    again, rest = ready(system, "leaf1", new, wanted)
    assert again.steps == (), "typed in once, nothing is left"
    assert list(rest) == ["prove.txt"]
    back = typed_in(after, files["undo.txt"])
    assert facts(head + printed(back)).known.values == facts(head + printed(tree)).known.values
    if source != "sample" or system != "eos":  # there every default is a line, which `no` spells out again
        assert cleaned(back) == cleaned(tree)


def test_of_eos_only_what_is_missing_is_said() -> None:
    text = EOS.replace("traffic-class 5", "traffic-class 3").replace("priority-flow-control all off\nend\n", "!\n")
    found, files = ready("eos", "leaf1", text, WANTED, "Ethernet1/1")
    assert [step.what for step in found.steps] == ["watchdog of Ethernet1/1", "share of queue 3 of Ethernet1/1"]
    assert "mtu" not in files["configure.txt"]
    assert "interface Ethernet1/1\n   priority-flow-control pause watchdog\n   tx-queue 3\n" in files["configure.txt"]


def test_of_eos_a_map_of_somebody_else_is_said_again_by_undo() -> None:
    found, files = ready("eos", "leaf1", EOS.replace("end\n", "!\n"), WANTED)
    assert "qos map dscp 26 to traffic-class 3" in files["configure.txt"]
    assert "qos map dscp 26 to traffic-class 5" in files["undo.txt"]
    assert "Ethernet1/2" not in files["configure.txt"], "a port that is shut down"
    assert any("24,25,27" in remark for remark in found.remarks)


def test_of_nxos_a_bound_policy_is_added_to() -> None:
    _, files = ready("nxos", "leaf1", NXOS, WANTED)
    assert "policy-map type queuing OUT\n" not in files["configure.txt"], "its class marks already"
    assert "service-policy type network-qos ROCE-NQ" in files["configure.txt"]
    _, files = ready("nxos", "leaf1", NXOS.replace("q3", "q4"), WANTED)
    assert "policy-map type queuing OUT\n   class type queuing c-out-8q-q3\n" in files["configure.txt"]
    assert "policy-map type queuing OUT\n   no class type queuing c-out-8q-q3\n" in files["undo.txt"]


def test_of_nxos_a_name_that_is_taken_is_not_used() -> None:
    text = NXOS.replace(
        "system qos", "policy-map type network-qos ROCE-NQ\n  class type network-qos c-8q-nq1\nsystem qos"
    )
    _, files = ready("nxos", "leaf1", text, WANTED)
    assert "service-policy type network-qos ROCE-NQ-2" in files["configure.txt"]


@pytest.mark.parametrize("wanted", [WANTED, Wanted(5, 40, 4200), Wanted(4, 26, 9000, is_alone=True)], ids=str)
@pytest.mark.parametrize("text", [ONYX, ONYX.replace("   dcb priority-flow-control enable force\n", "")])
def test_onyx(wanted: Wanted, text: str) -> None:
    _, files = ready("onyx", "leaf1", text, wanted)
    new = appliers.onyx_typed(text, files["configure.txt"])
    for port in ("Ethernet1/1", "Ethernet1/2"):
        roce(new, port, {"pfc_mode": "on", "trust": "dscp", "pfc_watchdog": True, "mtu_bytes": 9216})
        known = facts(new).known.values
        assert str(wanted.priority) in str(known[f"port.{port}.ecn_queues"]).split(",")
        assert str(wanted.priority) in str(known[f"port.{port}.pfc_priorities"]).split(",")
    assert not others(text, new)
    assert ready("onyx", "leaf1", new, wanted)[0].steps == ()
    back = appliers.onyx_typed(new, files["undo.txt"])
    assert appliers.onyx_lines(back) == appliers.onyx_lines(text)


def test_onyx_names_ranges_and_takes_the_preset_for_done() -> None:
    _, files = ready("onyx", "leaf1", ONYX.replace("1/1-1/2", "1/1-1/4"), WANTED)
    assert "interface ethernet 1/2-1/4 qos trust L3\n" in files["configure.txt"]
    preset = ONYX.replace(
        "   dcb priority-flow-control enable", "   roce lossless\n   dcb priority-flow-control enable"
    )
    assert ready("onyx", "leaf1", preset, WANTED)[0].steps == ()


def nested(text: str) -> dict[str, Any]:
    tables: dict[str, Any] = {}
    for name, value in json.loads(text).items():
        table, bar, key = name.partition("|")
        if bar:
            tables.setdefault(table, {})[key] = value
        else:
            tables.setdefault(table, {}).update(value)
    return tables


def whole(tables: dict[str, Any]) -> dict[str, Any]:
    return {**tables, "DEVICE_METADATA": {"localhost": {"hwsku": "X"}}}


UP = {**SONIC, "PORT": {f"Ethernet{at}": {"mtu": "9100", "admin_status": "up"} for at in (0, 4, 12)}}
SOURCES: dict[str, Callable[[], dict[str, Any]]] = {
    "made": lambda: whole(UP),
    "wide": lambda: whole({**UP, "QUEUE": {"Ethernet0,Ethernet4|3-4": {"scheduler": "s"}},
                           "BUFFER_PG": {"Ethernet0|3-4": {"profile": "NULL"}}}),
    "flat": lambda: nested(sample("sonic/config_db.msn4700-t1.json")),
    "merged": lambda: whole({"PORT": {"Ethernet0": {"mtu": "1500"}}, **nested(sample("sonic/qos.dell6100.json"))}),
    "t1": lambda: whole({"PORT": {"Ethernet0": {}}, **nested(sample("sonic/qos.arista7260-t1.json"))}),
}  # fmt: skip


@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize("wanted", [WANTED, Wanted(5, 40, 4200), Wanted(3, 26, 9200, is_alone=True)], ids=str)
def test_sonic(source: str, wanted: Wanted) -> None:
    tables = SOURCES[source]()
    _, files = ready("sonic", "leaf1", json.dumps(tables), wanted)
    after = appliers.patched(tables, files["configure.json"])
    text = json.dumps(after)
    known, number = facts(text).known.values, str(wanted.priority)
    for name in ("pfc_priorities", "ecn_queues", "lossless_buffer_priorities", "pfc_watchdog_priorities"):
        assert number in str(known[f"port.Ethernet0.{name}"]).split(","), name
    roce(text, "Ethernet0", {"trust": "dscp", "pfc_watchdog": True})
    assert f"{wanted.dscp}:{number}" in str(known["port.Ethernet0.dscp_to_priority"]).split()
    assert not others(json.dumps(tables), text) - {"device.undefined_names"}
    assert ready("sonic", "leaf1", text, wanted)[0].steps == ()
    assert appliers.patched(after, files["undo.json"]) == tables


def test_of_sonic_a_part_of_the_database_is_set_field_by_field() -> None:
    """A patch that adds a table would take the rows away that the device has and the file lacks."""
    tables = nested(sample("sonic/qos.dell6100.json"))
    _, files = ready("sonic", "leaf1", json.dumps(tables), WANTED)
    assert "configure.json" not in files
    assert "config rollback before-roce" in files["undo.sh"]
    after = appliers.hset(tables, files["configure.sh"])
    assert ready("sonic", "leaf1", json.dumps(after), WANTED)[0].steps == ()
    assert "26:3" in str(facts(json.dumps(after)).known.values["port.Ethernet0.dscp_to_priority"]).split()


def test_of_sonic_maps_of_others_stay() -> None:
    tables = SOURCES["merged"]()
    found, files = ready("sonic", "leaf1", json.dumps(tables), WANTED)
    after = appliers.patched(tables, files["configure.json"])
    assert after["DSCP_TO_TC_MAP"]["AZURE"] == tables["DSCP_TO_TC_MAP"]["AZURE"]
    assert after["PORT_QOS_MAP"]["global"] == tables["PORT_QOS_MAP"]["global"]
    assert any("DSCP 3 go" in remark for remark in found.remarks)


@pytest.mark.parametrize("wanted", [WANTED, Wanted(5, 40, 9000), Wanted(3, 30, 9000)], ids=str)
@pytest.mark.parametrize("change", [("", ""), ("lossless", "lossy"), ("9216", "1500"), ("enable: on", "enable: off")])
def test_cumulus(wanted: Wanted, change: tuple[str, str]) -> None:
    text = NVUE.replace(*change)
    tree = yaml.safe_load(text.replace("enable: on", "enable: 'on'").replace("enable: off", "enable: 'off'"))[0]["set"]
    found, files = ready("cumulus", "leaf1", text, wanted)
    after = appliers.nv_typed(tree, files.get("configure.sh", ""))
    new = appliers.nv_text(after)
    known = facts(new).known.values
    assert str(wanted.priority) in str(known["port.swp1.pfc_priorities"]).split(",")
    assert known["port.swp1.mtu_bytes"] == 9216
    assert not others(appliers.nv_text(tree), new)
    assert ready("cumulus", "leaf1", new, wanted)[0].steps == ()
    if found.steps:
        assert files["configure.sh"].endswith("nv config diff\nnv config apply --confirm 5\n")
        back = appliers.nv_typed(after, files["undo.sh"])
        assert facts(appliers.nv_text(back)).known.values == facts(appliers.nv_text(tree)).known.values


@pytest.mark.parametrize("system", ["eos", "nxos", "onyx", "sonic", "cumulus", "linux"])
def test_a_device_that_is_not_at_hand_gets_all_of_it(system: str) -> None:
    found, files = ready(system, system, None, WANTED)
    assert found.steps
    assert found.proofs
    assert {Path(name).stem for name in files} == {"configure", "undo", "prove"}


PAGES = {
    "eos": """
        qos map dscp 26 to traffic-class 3
        qos map traffic-class 3 to tx-queue 3
        mtu 9214
        qos trust dscp
        priority-flow-control on
        priority-flow-control priority 3 no-drop
        priority-flow-control pause watchdog
        tx-queue 3
        no priority
        bandwidth percent 50
        random-detect ecn minimum-threshold 150 kbytes maximum-threshold 1500 kbytes max-mark-probability 100
        tx-queue 6
        priority strict""",
    "onyx": """
        dcb priority-flow-control enable force
        dcb priority-flow-control priority 3 enable
        interface ethernet 1/1 dcb priority-flow-control mode on force
        interface ethernet 1/1 qos trust L3
        interface ethernet 1/1 traffic-class 3 congestion-control ecn minimum-absolute 150 maximum-absolute 1500
        interface ethernet 1/1 traffic-class 6 dcb ets strict
        interface ethernet 1/1 mtu 9216 force
        traffic pool roce type lossless
        traffic pool roce memory percent 50.00
        traffic pool roce map switch-priority 3
        interface ethernet 1/1 pfc-wd""",
    "nxos": """
        class-map type qos match-all ROCE
        match dscp 26
        policy-map type qos ROCE-IN
        class ROCE
        set qos-group 3
        policy-map type network-qos ROCE-NQ
        class type network-qos c-8q-nq3
        pause pfc-cos 3
        mtu 9216
        class type network-qos c-8q-nq-default
        policy-map type queuing ROCE-OUT
        class type queuing c-out-8q-q3
        bandwidth remaining percent 50
        random-detect minimum-threshold 150 kbytes maximum-threshold 1500 kbytes drop-probability 100 weight 0 ecn
        system qos
        service-policy type network-qos ROCE-NQ
        service-policy type queuing output ROCE-OUT
        priority-flow-control mode on
        priority-flow-control watch-dog-interval on
        service-policy type qos input ROCE-IN""",
    "cumulus": "nv set qos roce mode lossless",
    "sonic": """
        sonic-db-cli CONFIG_DB hset 'PORT|Ethernet0' mtu 9216
        sonic-db-cli CONFIG_DB hset 'PFC_WD|Ethernet0' action drop detection_time 400 restoration_time 400
        sonic-db-cli CONFIG_DB hset 'QUEUE|Ethernet0|3' wred_profile ROCE scheduler scheduler.roce
        sonic-db-cli CONFIG_DB hset 'SCHEDULER|scheduler.roce' type DWRR weight 50
        sonic-db-cli CONFIG_DB hset 'BUFFER_PG|Ethernet0|3' profile NULL""",
    "linux": """
        ip link set dev eth0 mtu 9000
        mlnx_qos -i eth0 --trust dscp
        dcb app replace dev eth0 dscp-prio 26:3
        dcb pfc set dev eth0 prio-pfc 3:on
        dcb ets set dev eth0 prio-tc 3:3
        dcb dcbx set dev eth0 host ieee
        ethtool -A eth0 rx off
        ethtool -A eth0 tx off
        echo 106 > /sys/class/infiniband/mlx5_0/tc/1/traffic_class
        echo 1 > /sys/class/net/eth0/ecn/roce_np/enable/3
        echo 1 > /sys/class/net/eth0/ecn/roce_rp/enable/3""",
}
"""Line by line what shared/switch-config.md collects from vendors' pages, for priority 3 and DSCP 26."""


@pytest.mark.parametrize("system", PAGES)
def test_every_line_of_the_vendors_pages_is_there(system: str) -> None:
    _, files = ready(system, system, None, WANTED)
    text = next(text for name, text in files.items() if name.startswith("configure."))
    there = [line.strip() for line in text.splitlines()]
    assert [line for line in map(str.strip, PAGES[system].strip().splitlines()) if line not in there] == []
