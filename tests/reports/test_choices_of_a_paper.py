"""What stands for a paper's name where the plan has several choices: the first of which something was measured."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pytest
from tests.analysis.small_run import TCP, Bursts, run_of

from fabriscope.analysis.results import Results, results_of
from fabriscope.model.case import Case
from fabriscope.model.limits import CaseStatus
from fabriscope.model.paper import PaperFacts
from fabriscope.plan.paper import PaperSection
from fabriscope.plan.paper_names import resolve
from fabriscope.plan.place_schema import StandInSection
from fabriscope.plan.yaml_places import PlacedYaml
from fabriscope.reports._paper_figures import paper_figures
from fabriscope.reports.section import Table, tables_in
from fabriscope.reports.sections import sections_of
from fabriscope.store import shapes

PAPER = """
title: Two suites
names:
  IMB: {}
  OSU: {means: that suite}
  gige: {select: {fabric: gige}}
figures:
  - id: fig1
    caption: latency
    draw: {benchmark: ping_pong, metric: latency_ns_mean, where: gige, curves: [IMB, OSU]}
    claims:
      - {say: OSU is lower, of: OSU, than: IMB, expect: lower}
"""
OURS = StandInSection(says="our own benchmarks", select={"instrument": "engine"})
OSU = StandInSection(says="OSU's programs", select={"instrument": "osu"}, otherwise=OURS)
IMB = StandInSection(says="IMB", select={"instrument": "imb"})
LAUNCHES = 4


def of(instrument: str) -> Case:
    return Case(replace(TCP, instrument=instrument), "ping_pong", 64)


def results(stated_ns: Mapping[str, float], here: Mapping[str, StandInSection]) -> Results:
    """Return a run of OSU, IMB and ours that state a mean; of those that state 0, all launches failed."""
    measured: dict[Case, list[Bursts]] = {}
    statuses: dict[tuple[int, str], CaseStatus] = {}
    for name, value in stated_ns.items():
        wobble = [1.0, 1.001, 0.999, 1.0005][:LAUNCHES]
        measured[of(name)] = [[[value * by]] if value else [] for by in wobble]
        if not value:
            statuses |= {(block, of(name).case_id): "failed" for block in range(1, LAUNCHES + 1)}
    run = run_of(measured, statuses=statuses, quantity="latency_ns_mean")
    paper = PaperSection.model_validate(PlacedYaml(PAPER, "paper.yaml").data)
    facts = shapes.decode({**resolve(paper, here, {}), "here": {}}, PaperFacts)
    return results_of(replace(run, manifest=replace(run.manifest, paper=facts)))


def standing(found: Results) -> dict[str, str]:
    """Return the table of what stands for what."""
    (section,) = [section for section in sections_of(found) if section.anchor == "paper"]
    tables: list[Table] = list(tables_in(section.blocks))
    return {str(name): str(here) for name, _, here in tables[1].rows}


def used(found: Results) -> str:
    """Return which programs the set-up names."""
    (section,) = [section for section in sections_of(found) if section.anchor == "paper"]
    return next(str(ours) for name, _, ours in list(tables_in(section.blocks))[2].rows if name == "instrument")


def verdict(found: Results) -> tuple[str, str]:
    assert found.paper is not None
    (finding,) = [finding for _, finding in found.paper.all_findings()]
    return finding.verdict, finding.evidence


def test_the_first_choice_is_taken_where_it_was_measured() -> None:
    found = results({"osu": 10_000.0, "imb": 20_000.0, "engine": 40_000.0}, {"OSU": OSU, "IMB": IMB})
    assert standing(found)["OSU"] == "OSU's programs (the first choice, of which there are values)"
    said, why = verdict(found)
    assert said == "holds"
    assert why.startswith("10.0 µs against 20.0 µs")


def test_another_choice_stands_in_all_figures_where_the_first_has_no_value_and_says_why() -> None:
    found = results({"osu": 0.0, "imb": 20_000.0, "engine": 40_000.0}, {"OSU": OSU, "IMB": IMB})
    assert standing(found)["OSU"] == (
        "our own benchmarks (taken as nothing was measured of what comes before it: OSU's programs: it hung)"
    )
    said, why = verdict(found)
    assert said == "does not hold"
    assert why.startswith("40.0 µs against 20.0 µs")
    assert "osu" not in used(found)
    (figure,) = paper_figures(found)
    assert {row.instrument for row in figure.rows} == {"imb", "engine"}


@pytest.mark.parametrize(
    ("stated", "says"),
    [
        (
            {"osu": 0.0, "imb": 20_000.0, "engine": 0.0},
            "OSU's programs (nothing was measured of any choice: OSU's programs: it hung; our own benchmarks: it hung)",
        ),
        (
            {"imb": 20_000.0, "engine": 40_000.0},
            "our own benchmarks (taken as nothing was measured of what comes before it: "
            "OSU's programs: no case of the plan)",
        ),
    ],
)
def test_what_was_not_measured_is_told_with_the_reason(stated: Mapping[str, float], says: str) -> None:
    found = results(stated, {"OSU": OSU, "IMB": IMB})
    assert standing(found)["OSU"] == says
    assert (verdict(found)[0] == "not decided") == (stated["engine"] == 0)


def test_a_third_choice_comes_after_the_second() -> None:
    third = replace_otherwise(OSU, replace_otherwise(IMB, OURS))
    found = results({"osu": 0.0, "imb": 0.0, "engine": 40_000.0}, {"OSU": third})
    assert standing(found)["OSU"].startswith("our own benchmarks (taken as")
    assert standing(found)["OSU"].endswith("OSU's programs: it hung; IMB: it hung)")


def replace_otherwise(one: StandInSection, otherwise: StandInSection) -> StandInSection:
    return one.model_copy(update={"otherwise": otherwise})


def test_a_name_with_one_choice_is_kept_as_before() -> None:
    paper = PaperSection.model_validate(PlacedYaml(PAPER, "paper.yaml").data)
    plain = resolve(paper, {"OSU": OURS, "IMB": IMB}, {})
    assert "choices" not in str(plain)
    assert "parts" not in str(plain)


def test_a_program_of_which_nothing_was_measured_fails_in_one_row() -> None:
    found = results({"osu": 0.0, "imb": 20_000.0}, {})
    (section,) = [section for section in sections_of(found) if section.anchor == "failures"]
    (table,) = tables_in(section.blocks)
    (cells,) = [[str(cell.text) for cell in table.cells(row)] for row in table.rows]
    assert cells == ["all 4 launches", "everything by osu", "", "", "", "failed", "it hung"]
    some = run_of({of("osu"): [[[1.0]], []]}, statuses={(2, of("osu").case_id): "failed"}, quantity="latency_ns_mean")
    (section,) = [section for section in sections_of(results_of(some)) if section.anchor == "failures"]
    (table,) = tables_in(section.blocks)
    assert str(table.cells(table.rows[0])[0].text) == "2 (block 2)"
