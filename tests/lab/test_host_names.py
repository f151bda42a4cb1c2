"""What the hosts of a lab are called: by the management network, and on each fabric."""

from __future__ import annotations

from fabriscope.lab import network


def test_a_host_has_a_name_on_every_fabric() -> None:
    assert network.hosts_file(("node1", "node2"), ["gige", "slow"]).splitlines() == [
        "127.0.0.1 localhost",
        "10.9.0.1 node1",
        "10.9.0.2 node2",
        "10.10.0.1 node1-gige",
        "10.10.0.2 node2-gige",
        "10.11.0.1 node1-slow",
        "10.11.0.2 node2-slow",
    ]


def test_a_hosts_own_name_is_its_own() -> None:
    lines = network.hosts_file(("a", "a-gige"), ["gige", "two words", "x\n1.2.3.4 y"]).splitlines()
    assert lines == ["127.0.0.1 localhost", "10.9.0.1 a", "10.9.0.2 a-gige", "10.10.0.2 a-gige-gige"]
