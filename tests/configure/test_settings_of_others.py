"""What somebody else has set: kept where it may be, said again by undo where it may not, and told in the notes."""

from __future__ import annotations

import json
from typing import Any

import pytest
from tests.configure import appliers
from tests.configure.appliers import cleaned, facts, parsed, printed, ready, typed_in

from fabriscope.configure import linux
from fabriscope.configure.step import Saved, Wanted
from fabriscope.model.host import Fact, HostFacts

WANTED = Wanted()
POOL = ("traffic pool roce type lossy", "traffic pool roce memory percent 30.00")
HEAD = "! device: leaf1 (X, EOS-4.28.1F)\n"
NXOS = """version 10.2(3)
class-map type qos match-all STORAGE
  match cos 4
policy-map type qos IN
  class STORAGE
    set qos-group 4
policy-map type network-qos NQ
  class type network-qos c-8q-nq3
    pause pfc-cos 3
    mtu 9216
policy-map type queuing OUT
  class type queuing c-out-8q-q3
    priority level 1
    random-detect minimum-threshold 150 kbytes maximum-threshold 1500 kbytes ecn
system qos
  service-policy type network-qos NQ
  service-policy type queuing output OUT
  service-policy type qos input IN
interface Ethernet1/1
  mtu 9216
interface Ethernet1/1.100
  encapsulation dot1q 100
end
"""


def onyx(*lines: str) -> str:
    body = "\n".join(f"   {line}" for line in lines)
    return f"##\nno cli default prefix-modes enable\n{body}\ncli default prefix-modes enable\n"


def test_of_nxos_the_class_goes_where_the_switch_binds_a_policy() -> None:
    found, files = ready("nxos", "leaf1", NXOS, WANTED)
    assert "ROCE-IN" not in files["configure.txt"]
    assert "policy-map type qos IN\n   class ROCE\n      set qos-group 3\n" in files["configure.txt"]
    assert any("the switch has for all ports without their own" in step.touches for step in found.steps)
    after = typed_in(parsed(NXOS), files["configure.txt"])
    assert ready("nxos", "leaf1", printed(after), WANTED)[0].steps == ()
    assert cleaned(typed_in(after, files["undo.txt"])) == cleaned(parsed(NXOS))


def test_of_nxos_a_word_behind_a_policys_name_is_none_of_it() -> None:
    assert ready("nxos", "leaf1", NXOS.replace("input IN", "input IN no-stats"), WANTED) == ready(
        "nxos", "leaf1", NXOS, WANTED
    )


@pytest.mark.parametrize("match", ["dscp af31", "dscp 24-31"])
def test_of_nxos_a_class_that_takes_the_dscp_elsewhere_is_left_and_told(match: str) -> None:
    found, files = ready("nxos", "leaf1", NXOS.replace("match cos 4", f"match {match}"), WANTED)
    assert "policy-map type qos" not in files["configure.txt"]
    (doubt,) = found.doubts
    assert doubt.startswith("the policy IN has DSCP 26 in the class STORAGE, not in group 3")


PAUSING = NXOS.replace("policy-map type queuing", "  class type network-qos c-8q-nq4\n    pause pfc-cos 4\n"
                       "policy-map type network-qos OLD\n  class type network-qos c-8q-nq5\n    pause pfc-cos 5\n"
                       "policy-map type queuing", 1)  # fmt: skip


def test_of_nxos_only_what_the_switch_binds_is_lossless() -> None:
    def told(text: str, wanted: Wanted) -> list[str]:
        found, _ = ready("nxos", "leaf1", text, wanted)
        return [one for one in (*found.remarks, *found.doubts) if "lossless" in one]

    assert told(PAUSING, WANTED) == ["priority 4 is lossless too and stays so; --alone takes that away"]
    assert told(PAUSING, Wanted(is_alone=True)) == []
    assert told(NXOS.replace("pfc-cos 3", "pfc-cos 3-4"), Wanted(is_alone=True)) == [
        "the class c-8q-nq3 pauses priority 4 in one line with 3: it stays lossless"
    ]


def test_subinterfaces_get_nothing() -> None:
    eos = f"{HEAD}interface Ethernet3\n   mtu 1500\ninterface Ethernet3.100\n   mtu 1500\nend\n"
    for system, text in (("eos", eos), ("nxos", NXOS)):
        found, files = ready(system, "leaf1", text, WANTED)
        assert ".100" not in files["configure.txt"]
        assert not any("." in port for port in (*found.ports, *found.there))


@pytest.mark.parametrize("other", ["", "   uc-tx-queue 1\n      bandwidth percent 10\n"])
def test_of_eos_queues_are_called_as_the_device_calls_them(other: str) -> None:
    own = "   uc-tx-queue 3\n      no priority\n" if not other else ""
    text = f"{HEAD}interface Ethernet1\n   no switchport\n{own}{other}interface Ethernet2\n   mtu 9214\n!\n"
    _, files = ready("eos", "leaf1", text, WANTED)
    for file in ("configure.txt", "undo.txt"):
        lines = [line.strip() for line in files[file].splitlines()]
        assert "tx-queue 3" not in lines
        assert "   uc-tx-queue 3\n      " in files[file]
    after = typed_in(parsed(text), files["configure.txt"])
    assert facts(HEAD + printed(after)).known.values["port.Ethernet1.ecn_queues"] == "3"
    assert ready("eos", "leaf1", HEAD + printed(after), WANTED)[0].steps == ()
    assert facts(HEAD + printed(typed_in(after, files["undo.txt"]))).known.values == facts(text).known.values


EOS_PROFILE = f"""{HEAD}qos profile P
   priority-flow-control on
   priority-flow-control priority 4 no-drop
!
interface Ethernet1
   mtu 9214
   service-profile P
!
"""


def test_of_eos_a_port_that_is_off_is_off_whatever_its_profile_says() -> None:
    text = EOS_PROFILE.replace("   service-profile", "   priority-flow-control off\n   service-profile")
    assert facts(text).known.values["port.Ethernet1.pfc_mode"] == "off"
    after = typed_in(parsed(text), ready("eos", "leaf1", text, WANTED)[1]["configure.txt"])
    assert facts(HEAD + printed(after)).known.values["port.Ethernet1.pfc_mode"] == "on"


def test_of_eos_a_priority_of_a_profile_is_told_and_overruled() -> None:
    assert any("priority 4 is lossless too" in one for one in ready("eos", "leaf1", EOS_PROFILE, WANTED)[0].remarks)
    alone = Wanted(is_alone=True)
    _, files = ready("eos", "leaf1", EOS_PROFILE, alone)
    after = typed_in(parsed(EOS_PROFILE), files["configure.txt"])
    assert facts(HEAD + printed(after)).known.values["port.Ethernet1.pfc_priorities"] == "3"
    assert ready("eos", "leaf1", HEAD + printed(after), alone)[0].steps == ()
    assert cleaned(typed_in(after, files["undo.txt"])) == cleaned(parsed(EOS_PROFILE))


@pytest.mark.parametrize(
    "lines",
    [
        (*POOL, "traffic pool roce map switch-priority 3"),
        POOL,
        ("traffic pool mine type lossy", "traffic pool mine map switch-priority 3"),
        ("interface ethernet 1/1 traffic-class 3 congestion-control red minimum-relative 10 maximum-relative 20",),
        ("interface ethernet 1/1 qos map dscp 26 to switch-priority 4",),
    ],
)  # fmt: skip
def test_of_onyx_undo_says_again_what_stood_there(lines: tuple[str, ...]) -> None:
    text = onyx("interface ethernet 1/1 mtu 9216 force", *lines)
    _, files = ready("onyx", "leaf1", text, WANTED)
    new = appliers.onyx_typed(text, files["configure.txt"])
    assert facts(new).known.values["port.Ethernet1/1.ecn_queues"] == "3"
    assert "switch-priority 4" not in new
    assert "memory percent 50" not in new or "traffic pool roce memory percent 30.00" not in text
    typed = [line for line in files["undo.txt"].splitlines() if not line.startswith("#")]
    assert all(line in typed for line in lines if "red" in line or "dscp" in line or line == POOL[0])
    if "mine" in lines[0]:
        assert typed[-1] != "no traffic pool roce", "the priority goes back to its pool"
        assert lines[1] in typed
    else:
        assert appliers.onyx_lines(appliers.onyx_typed(new, files["undo.txt"])) == appliers.onyx_lines(text)


@pytest.mark.parametrize(
    ("preset", "wanted"),
    [("roce lossy", WANTED), ("roce semi-lossless", WANTED), ("roce lossless", Wanted(4, 34)), ("roce", Wanted(3, 40))],
)
def test_of_onyx_nothing_is_written_beside_a_preset(preset: str, wanted: Wanted) -> None:
    found, _ = ready("onyx", "leaf1", onyx("interface ethernet 1/1 mtu 1500 force", preset), wanted)
    assert found.steps == ()
    assert found.doubts[0].startswith(f"`{preset}` is set")


STRICT_SONIC = {
    "PORT": {"Ethernet0": {"mtu": "9216", "admin_status": "up"}},
    "QUEUE": {"Ethernet0|3": {"scheduler": "scheduler.0"}},
    "SCHEDULER": {"scheduler.0": {"type": "STRICT"}},
}
STRICT_NVUE = """- set:
    interface:
      swp1:
        type: swp
    qos:
      egress-scheduler:
        default-global:
          traffic-class:
            '3':
              mode: strict
"""


def test_of_sonic_rows_of_others_stay_and_shared_ones_are_told() -> None:
    tables: dict[str, Any] = {
        "PORT": {"Ethernet0": {"mtu": "9216"}}, "DEVICE_METADATA": {"localhost": {}},
        "SCHEDULER": {"scheduler.roce": {"type": "DWRR", "weight": "20"}},
        "BUFFER_PG": {"Ethernet0,Ethernet4|3-4": {"profile": "pg_lossy"}},
    }  # fmt: skip
    found, files = ready("sonic", "leaf1", json.dumps(tables), WANTED)
    after = appliers.patched(tables, files["configure.json"])
    assert after["SCHEDULER"]["scheduler.roce"] == tables["SCHEDULER"]["scheduler.roce"]
    assert after["QUEUE"]["Ethernet0|3"]["scheduler"] == "scheduler.roce2"
    (touches,) = (step.touches for step in found.steps if step.what == "headroom of Ethernet0")
    assert touches.endswith("; the same row is that of Ethernet4, numbers 4 too")


@pytest.mark.parametrize(
    ("system", "text"),
    [
        ("nxos", NXOS),
        ("onyx", onyx("interface ethernet 1/1 traffic-class 3 dcb ets strict")),
        ("sonic", json.dumps(STRICT_SONIC)),
        ("cumulus", STRICT_NVUE),
    ],
)
def test_a_queue_that_stays_strict_is_told(system: str, text: str) -> None:
    assert any("stays so" in one for one in ready(system, "leaf1", text, WANTED)[0].remarks)


def test_a_strict_class_of_a_host_that_shares_otherwise_is_told() -> None:
    told = {"tc_algorithms": "ets ets ets strict ets ets strict ets", "priority_to_tc": "0:0 3:3"}
    known = [Fact("interface.eth0.mtu_bytes", 9000), Fact("rdma.mlx5_0.1.interface", "eth0")]
    known += [Fact(f"dcb.eth0.{name}", value) for name, value in told.items()]
    found = linux.DIALECT.ready(WANTED, Saved("node1", None, HostFacts(tuple(known))))
    assert "traffic class 3 of eth0 is strict and stays so" in found.remarks


def test_of_onyx_a_port_that_is_split_is_none() -> None:
    text = onyx(
        "interface ethernet 1/5 module-type qsfp-split-4 force", "interface ethernet 1/5/1-1/5/4 mtu 1500 force"
    )
    found, files = ready("onyx", "leaf1", text, WANTED)
    assert list(found.ports) == [f"Ethernet1/5/{at}" for at in range(1, 5)]
    assert "ethernet 1/5 " not in files["configure.txt"]
    assert "Ethernet1/5" not in facts(text).ports
