"""Findings stand beside the numbers of the hosts and interfaces that they are of, and beside no others."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from tests.analysis.made_up import write_run
from tests.audit.made_up import Value, scene

from fabriscope.analysis.results import Results
from fabriscope.audit import auditing
from fabriscope.audit.touched import touching
from fabriscope.model.case import Entry
from fabriscope.model.fabric import Fabric, RdmaPort
from fabriscope.reports.section import Table
from fabriscope.reports.sections.audit import SECTION
from fabriscope.reports.sections.trust import SECTION as TRUST

FABRICS = {
    "fast": Fabric("fast", dict.fromkeys(("node0", "node1", "node2"), "eth0")),
    "other": Fabric("other", dict.fromkeys(("node0", "node1", "node2"), "eth1")),
    "roce": Fabric("roce", {}, "roce", rdma_ports={"node2": RdmaPort("mlx5_0")}),
}


def entry(fabric: str | None, *hosts: str, layer: str = "tcp") -> Entry:
    return Entry(layer, fabric, "inter" if fabric else "intra", hosts)


@pytest.mark.parametrize(
    ("changes", "of", "checks"),
    [
        ({"interface.eth0.mtu_bytes": 4200}, entry("fast", "node0", "node2"), ["mtu-hosts-agree"]),
        ({"interface.eth0.mtu_bytes": 4200}, entry("fast", "node0", "node1"), []),
        ({"interface.eth0.mtu_bytes": 4200}, entry("other", "node0", "node2"), []),
        ({"interface.eth0.mtu_bytes": 4200}, entry(None, "node2", "node2", layer="shm"), []),
        ({"memory.swap_used_bytes": 1 << 30}, entry("other", "node1", "node2"), ["swap-used"]),
        ({"memory.swap_used_bytes": 1 << 30}, entry(None, "node2", "node2", layer="shm"), ["swap-used"]),
        ({"tcp.congestion_control": "bbr"}, entry(None, "node2", "node2", layer="shm"), []),
        ({"tcp.congestion_control": "bbr"}, entry("other", "node2", "node1"), ["tcp-cc-differs"]),
        ({"rdma.mlx5_0.1.state": "1: DOWN"}, entry("roce", "node2", "node1", layer="verbs"), ["port-down"]),
        ({"rdma.mlx5_0.1.state": "1: DOWN"}, entry("fast", "node2", "node1"), []),
    ],
)
def test_what_touches_an_entry(changes: dict[str, Value], of: Entry, checks: list[str]) -> None:
    built = scene(changes)
    findings = auditing.audit(built).findings
    assert [one.check for one in touching(of, FABRICS, built.hosts, findings)] == checks


def test_a_cable_is_of_the_interface_at_its_end() -> None:
    built = scene({}, {"mtu_bytes": 1500})
    (finding,) = auditing.audit(built).findings
    assert finding.path == "node2 eth0 - leaf1 Ethernet2"
    assert touching(entry("fast", "node2", "node0"), FABRICS, built.hosts, [finding]) == [finding]
    assert touching(entry("other", "node2", "node0"), FABRICS, built.hosts, [finding]) == []


def test_a_report_names_findings_beside_the_numbers(tmp_path: Path) -> None:
    run = write_run(tmp_path).read()
    names = sorted({host for one in run.manifest.entries.values() for host in one.hosts})
    built = scene({"memory.swap_used_bytes": 1 << 30}, odd=0)
    facts = {name: built.hosts["node0" if name == names[0] else "node1"] for name in names}
    wrong = Results(replace(run, manifest=replace(run.manifest, hosts=facts)))
    (section,) = TRUST.build(wrong)
    tables = [
        inner for block in section.blocks for inner in getattr(block, "blocks", [block]) if isinstance(inner, Table)
    ]
    texts = [text for table in tables for row in table.rows for text in table.texts(row)]
    assert "swap-used" in texts
    (of_audit,) = SECTION.build(wrong)
    brief = str(of_audit.brief)
    assert "touches" in brief
    well = dict.fromkeys(names, built.hosts["node1"])
    (clean,) = TRUST.build(Results(replace(run, manifest=replace(run.manifest, hosts=well))))
    assert "swap-used" not in str(clean.blocks)
