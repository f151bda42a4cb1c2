"""The table of tails begins with every curve, and a picture says which curves it lacks."""

from __future__ import annotations

from pathlib import Path

from tests.analysis.made_up import Shape, write_run

from fabriscope.analysis.results import results_of
from fabriscope.reports.section import Paragraph, tables_in
from fabriscope.reports.sections.tails import SECTION, _not_drawn

SHAPE = Shape(sizes=(1, 64, 4096), launch_count=3, stacks=())


def test_each_curve_stands_in_the_rows_that_are_not_folded(tmp_path: Path) -> None:
    (section,) = SECTION.build(results_of(write_run(tmp_path / "run", SHAPE).read()))
    table = next(tables_in(section.blocks))
    names = [table.texts(row)[0] for row in table.rows]
    assert table.most == len({*names})
    assert {*names[: table.most]} == {*names}
    assert {table.texts(row)[1] for row in table.rows[: table.most]} == {"1 B"}
    assert len({tuple(table.texts(row)) for row in table.rows}) == len(table.rows), "no row stands twice"


def test_what_is_not_drawn_is_named_with_the_reason() -> None:
    (words,) = _not_drawn("too few operations in a launch", ["gige", "slow"])
    assert words == Paragraph("Not drawn (too few operations in a launch): gige, slow.", is_note=True)
    assert _not_drawn("no room", []) == []
