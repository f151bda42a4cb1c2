"""Cumulus: what ports sort by is said where the preset's map is changed, and read where somebody has said it."""

from __future__ import annotations

import pytest
from tests.configure.appliers import facts, ready
from tests.devices.test_configurations import NVUE

from fabriscope.audit import commands
from fabriscope.audit.place import Place
from fabriscope.configure.step import Wanted
from fabriscope.model.device import Device
from fabriscope.model.host import HostFacts

TRUST = "nv set qos mapping default-global trust both"


def mapped(trust: str) -> str:
    """Return a configuration in which a DSCP is mapped beside the preset."""
    lines = f"      mapping:\n        default-global:\n{trust}          dscp:\n            '26':\n"
    return NVUE.replace("    qos:\n", f"    qos:\n{lines}              switch-priority: 4\n", 1)


def typed(text: str, wanted: Wanted) -> list[str]:
    found, _ = ready("cumulus", "leaf1", text, wanted)
    return [line for step in found.steps for line in step.do]


@pytest.mark.parametrize(
    ("said", "told"), [("", "dscp"), ("l3", "dscp"), ("both", "both"), ("l2", "cos"), ("port", "port")]
)
def test_what_is_read(said: str, told: str) -> None:
    text = mapped(f"          trust: {said}\n" if said else "")
    assert text != NVUE
    known = facts(text).known.values
    assert known["port.swp1.trust"] == told
    assert known["port.swp1.dscp_to_priority"] == "26:4 48:6"


def test_another_map_comes_with_trust() -> None:
    assert TRUST not in typed(NVUE, Wanted(3, 26, 9000))
    assert TRUST in typed(NVUE, Wanted(3, 30, 9000))
    assert TRUST not in typed(mapped("          trust: l3\n"), Wanted(3, 26, 9000))
    assert TRUST in typed(mapped("          trust: l2\n"), Wanted(4, 26, 9000))


def test_what_stood_there_is_said_again_by_undo() -> None:
    found, _ = ready("cumulus", "leaf1", mapped("          trust: l2\n"), Wanted(4, 26, 9000))
    assert [step.undo for step in found.steps if step.what == "trust"] == [
        ("nv set qos mapping default-global trust l2",)
    ]


@pytest.mark.parametrize(
    ("system", "port", "what", "said"),
    [
        ("cumulus", "swp1", "trust", f"{TRUST}; nv config apply"),
        ("cumulus", "swp1", "watchdog", "nv set interface swp1 qos pfc-watchdog state enable; nv config apply"),
        ("sonic", "Ethernet0", "ecn",
         "sonic-db-cli CONFIG_DB hset 'WRED_PROFILE|ROCE' ecn ecn_all wred_green_enable true "
         "green_min_threshold 153600 green_max_threshold 1536000 green_drop_probability 100; "
         "sonic-db-cli CONFIG_DB hset 'QUEUE|Ethernet0|3' wred_profile ROCE"),
        ("onyx", "Ethernet1/1", "pfc on",
         "dcb priority-flow-control priority 3 enable; "
         "interface ethernet 1/1 dcb priority-flow-control mode on force"),
    ],
)  # fmt: skip
def test_remedies_are_commands(system: str, port: str, what: str, said: str) -> None:
    place = Place("leaf1", HostFacts(), (port,), Device("leaf1", system, HostFacts()), port)
    assert commands.on_switch(place, what, queue=3, priority=3) == said


def test_a_port_with_a_profile_of_its_own_is_left_to_its_owner() -> None:
    own = NVUE.replace(
        "        type: swp\n", "        qos:\n          pfc:\n            profile: MINE\n        type: swp\n"
    )
    found, _ = ready("cumulus", "leaf1", own, Wanted(5, 46, 4200))
    assert ["swp1 has the profile MINE (`qos pfc`)" in one for one in found.doubts] == [True]
    assert ready("cumulus", "leaf1", NVUE, Wanted(5, 46, 4200))[0].doubts == ()
