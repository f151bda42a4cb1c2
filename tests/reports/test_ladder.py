"""From the wire to the application: one ratio to the first fabric at every level, in the report and its picture."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from tests.analysis.made_up import Shape, write_run

from fabriscope.analysis.comparing.compared import FASTER, SLOWER
from fabriscope.analysis.comparing.ladder import ladder_of
from fabriscope.analysis.results import Results, results_of
from fabriscope.reports._figures import ratio_figures
from fabriscope.reports._ladder_picture import PictureCell, PictureRow, ladder_picture
from fabriscope.reports.section import Picture, tables_in
from fabriscope.reports.sections import sections_of

SHAPE = Shape(
    sizes=(1, 1024, 65536), launch_count=4, samples_per_burst=3, stacks=("mpich-5.0.2",),
    benchmarks=("ping_pong", "bandwidth"), placements=("inter",), failing=frozenset(),
)  # fmt: skip
FABRICS = ("ethernet-100", "gige")


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Results:
    return results_of(write_run(tmp_path_factory.mktemp("runs") / "small", SHAPE).read())


def test_times_are_taken_at_the_smallest_message_and_rates_at_the_largest(results: Results) -> None:
    ladder = ladder_of(results.compared, FABRICS)
    assert ladder is not None
    assert (ladder.baseline, ladder.fabrics) == ("ethernet-100", ("gige",))
    told = {(step.curve.benchmark, step.curve.layer): step for step in ladder.steps}
    assert {key: step.message_size_bytes for key, step in told.items()} == {
        ("ping_pong", "tcp"): 1, ("ping_pong", "mpi"): 1, ("bandwidth", "tcp"): 65536, ("bandwidth", "mpi"): 65536,
    }  # fmt: skip
    assert all(step.curve.fabric is None for step in ladder.steps)
    assert {step.against["gige"].verdict for step in ladder.steps} == {FASTER}
    rate = told["bandwidth", "tcp"].against["gige"]
    assert rate.ratio == pytest.approx(rate.left_value / rate.right_value, rel=0.1)
    assert rate.ratio > 5


def test_the_other_fabric_first_is_the_same_the_other_way_round(results: Results) -> None:
    one, other = ladder_of(results.compared, FABRICS), ladder_of(results.compared, FABRICS[::-1])
    assert one is not None
    assert other is not None
    for there, back in zip(one.steps, other.steps, strict=True):
        row, turned = there.against["gige"], back.against["ethernet-100"]
        assert turned.ratio == pytest.approx(1 / row.ratio)
        assert turned.low is not None
        assert row.high is not None
        assert turned.low == pytest.approx(1 / row.high)
        assert (row.verdict, turned.verdict) == (FASTER, SLOWER)
        assert (turned.left_value, turned.right_value) == (row.right_value, row.left_value)


def test_figures_of_ratios_have_the_same_baseline(results: Results) -> None:
    ladder = ladder_of(results.compared, FABRICS)
    assert ladder is not None
    of_fabrics = [figure for figure in ratio_figures(results) if figure.kind == "fabric"]
    assert len(of_fabrics) == 2
    for row in (row for figure in of_fabrics for row in figure.ratios):
        assert (row.pair.left, row.pair.right) == ("gige", ladder.baseline)
        assert row.verdict == FASTER
        assert row.ratio > 1


def test_one_fabric_or_one_level_is_no_ladder(results: Results) -> None:
    assert ladder_of(results.compared, FABRICS[:1]) is None
    one = [row for row in results.compared if row.pair.left_curve.benchmark == "ping_pong"]
    of_tcp = [row for row in one if row.pair.left_curve.layer == "tcp"]
    assert ladder_of(one, FABRICS) is not None
    assert ladder_of(of_tcp, FABRICS) is None
    assert ladder_of([replace(row, pair=replace(row.pair, kind="layer")) for row in one], FABRICS) is None


def test_the_report_has_it_as_a_picture_and_as_a_table(results: Results) -> None:
    (section,) = [one for one in sections_of(results) if one.anchor == "ladder"]
    (picture,) = [block for block in section.blocks if isinstance(block, Picture)]
    (table,) = tables_in(section.blocks)
    assert len(table.rows) == 4
    assert [column.title for column in table.columns][-1] == "gige against ethernet-100"
    shown = re.findall(r">(\N{UPWARDS ARROW} [0-9.]+) times<", picture.svg)
    assert len(shown) == 4
    assert "Bandwidth, 64 KiB" in picture.svg


def test_names_are_texts_and_undecided_is_told_without_colour() -> None:
    cells = [PictureCell("undecided", 1.1, "1.10 times", "0.90 to 1.30"), None]
    drawn = ladder_picture(["<script>", "b"], [PictureRow("a & b", "x" * 99, cells)])
    assert "<script>" not in drawn
    assert "a &amp; b" in drawn
    assert "? 1.10 times" in drawn
    assert "fill-opacity" not in drawn
    assert "x" * 60 not in drawn
