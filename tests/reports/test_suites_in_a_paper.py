"""A paper about two suites: ours by the other's definition beside it, and two definitions where the paper has two."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import polars as pl
import pytest
from tests.analysis.small_run import TCP, Bursts, run_of

from fabriscope.analysis.results import Results, results_of
from fabriscope.model.case import Case
from fabriscope.model.paper import PaperFacts
from fabriscope.plan.paper import PaperSection
from fabriscope.plan.paper_names import resolve
from fabriscope.plan.yaml_places import PlacedYaml
from fabriscope.reports._paper_figures import paper_figures
from fabriscope.store import shapes

PAPER = """
title: Two suites
names:
  IMB: {select: {instrument: imb}}
  OSU: {select: {instrument: engine}}
  IMB-ping-pong:
    select: {instrument: imb, benchmark: ping_pong, metric: ping_pong_bandwidth_bytes_per_s_separate_mean}
figures:
  - id: fig1
    caption: latency
    draw: {benchmark: ping_pong, metric: latency_ns_separate_mean, curves: [IMB, OSU]}
    claims:
      - {say: both are alike, of: IMB, than: OSU, expect: equal}
      - {say: OSU takes 13.5 us, of: OSU, sizes: 64, expect: {value: 13us..14us}}
  - id: fig2
    caption: bandwidth
    draw: {benchmark: bandwidth, curves: [IMB-ping-pong, OSU]}
    claims:
      - {say: OSU is higher, of: OSU, than: IMB-ping-pong, expect: higher}
"""
SIZES = (64, 1024)
SEPARATE = (("buffers", "separate"),)


def in_blocks(*samples: float) -> list[Bursts]:
    """Return four launches that differ a little, as real ones do."""
    return [[[sample * wobble for sample in samples]] for wobble in (1.0, 1.001, 0.999, 1.0005)]


@pytest.fixture(scope="module")
def results() -> Results:
    """A run whose median round trip is 21 us and whose mean is 27 us, which is what IMB states too."""
    imb = replace(TCP, instrument="imb")
    measured: dict[Case, Sequence[Bursts]] = {}
    stated: dict[str, str] = {}
    for size in SIZES:
        ours, windows = Case(TCP, "ping_pong", size, parameters=SEPARATE), Case(TCP, "bandwidth", size, window_size=10)
        theirs = Case(imb, "ping_pong", size)
        measured |= {ours: in_blocks(*[21_000.0] * 9, 81_000.0), windows: in_blocks(100_000.0)}
        measured[theirs] = in_blocks(13_500.0)
        stated[theirs.case_id] = "latency_ns_separate_mean"
    run = run_of(measured)
    told = pl.col("case_id").replace_strict(stated, default=pl.col("quantity"))
    times = run.samples.with_columns(told.alias("quantity"))
    is_theirs = pl.col("case_id").is_in(list(stated))
    rates = times.filter(is_theirs).with_columns(
        (64e9 / pl.col("value")).alias("value"),
        pl.lit("ping_pong_bandwidth_bytes_per_s_separate_mean").alias("quantity"),
    )
    paper = PaperSection.model_validate(PlacedYaml(PAPER, "paper.yaml").data)
    facts = shapes.decode({**resolve(paper, {}, {}), "here": {}}, PaperFacts)
    manifest = replace(run.manifest, paper=facts)
    return results_of(replace(run, samples=pl.concat([times, rates]), manifest=manifest))


def test_claims_set_like_against_like_and_what_the_paper_did_as_it_did(results: Results) -> None:
    assert results.paper is not None
    findings = {finding.claim.say: finding for _, finding in results.paper.all_findings()}
    assert {say: finding.verdict for say, finding in findings.items()} == {
        "both are alike": "holds", "OSU takes 13.5 us": "holds", "OSU is higher": "holds",
    }  # fmt: skip
    assert {point.place for point in findings["both are alike"].points} == set(SIZES)


def test_figures_have_both_suites_curves(results: Results) -> None:
    first, second = paper_figures(results)
    assert {(row.fabric, row.message_size_bytes) for row in first.rows} == {
        (name, size) for name in ("IMB", "OSU") for size in SIZES
    }
    means = [row.value for row in first.rows if row.fabric == "OSU"]
    assert means == [pytest.approx(13_500, rel=0.01)] * 2, "the mean, and not the median of 10.5 us"
    assert {row.fabric for row in second.rows} == {"IMB-ping-pong", "OSU"}
    assert {row.metric_id for row in second.rows} == {"bandwidth_bytes_per_s"}


def test_a_run_without_a_paper_is_restated_nowhere(results: Results) -> None:
    plain = results_of(replace(results.run, manifest=replace(results.run.manifest, paper=None)))
    assert plain.paper is None
    assert plain.graded_by_others == []
