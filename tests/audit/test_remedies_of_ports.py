"""What is typed against a finding on a switch: the port's name in it once, and no word of a stranger."""

from __future__ import annotations

import pytest

from fabriscope.audit import commands
from fabriscope.audit.place import Place
from fabriscope.model.device import Device
from fabriscope.model.host import HostFacts


def place(system: str, port: str) -> Place:
    return Place("leaf1", HostFacts(), (port,), Device("leaf1", system, HostFacts()), port)


def test_only_the_word_port_stands_for_a_port() -> None:
    said = commands.on_switch(place("sonic", "Ethernet0"), "trust")
    assert said == "sonic-db-cli CONFIG_DB hset 'PORT_QOS_MAP|Ethernet0' dscp_to_tc_map AZURE"
    assert commands.on_switch(place("onyx", "Ethernet1/1"), "trust") == "interface ethernet 1/1 qos trust L3"


@pytest.mark.parametrize("port", ["swp1; touch x", "swp1'", "$(id)", "swp1\nreboot"])
def test_a_name_that_a_shell_would_run_is_in_no_command(port: str) -> None:
    for system in ("cumulus", "sonic"):
        assert commands.on_switch(place(system, port), "mtu", size=9216) == "as the switch's manual has it"
