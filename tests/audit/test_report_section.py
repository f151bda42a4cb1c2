"""A report tells what an audit of the run's hosts finds, and nothing where all is well."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from tests.analysis.made_up import write_run
from tests.audit.made_up import Value, scene

from fabriscope.analysis.results import Results
from fabriscope.model.run_data import RunData
from fabriscope.reports.section import Paragraph, Table
from fabriscope.reports.sections.audit import SECTION


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> RunData:
    return write_run(Path(tmp_path_factory.mktemp("run"))).read()


def with_hosts(run: RunData, changes: dict[str, Value]) -> Results:
    return Results(replace(run, manifest=replace(run.manifest, hosts=scene(changes).hosts)))


def test_findings_are_a_table(run: RunData) -> None:
    (section,) = SECTION.build(with_hosts(run, {"interface.eth0.mtu_bytes": 4200}))
    table, note = section.blocks
    assert isinstance(table, Table)
    (row,) = (table.texts(one) for one in table.rows)
    assert row[:3] == ["error", "eth0 of node2", "the MTU is 4200, and 9000 on 3 others"]
    assert "node2 eth0: mtu_bytes 4200 (ip -j link show dev eth0); node0 eth0: mtu_bytes 9000" in row[3]
    assert isinstance(note, Paragraph)


def test_where_all_is_well_there_is_no_section(run: RunData) -> None:
    assert list(SECTION.build(with_hosts(run, {}))) == []
