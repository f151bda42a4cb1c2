"""What is drawn, and what cannot be."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

from tests.analysis.small_run import TCP, run_of

from fabriscope.analysis.results import results_of
from fabriscope.model.case import Case, Entry, SocketOptions
from fabriscope.model.paper import PaperFacts
from fabriscope.plan.paper import PaperSection
from fabriscope.plan.paper_names import resolve
from fabriscope.plan.yaml_places import PlacedYaml
from fabriscope.reports import figure_files
from fabriscope.reports._charts import draw
from fabriscope.reports._figure import CURVES
from fabriscope.reports._figures import figures
from fabriscope.reports._paper_figures import paper_figures
from fabriscope.reports._style import style_of
from fabriscope.reports.base import Options
from fabriscope.store import shapes

INCAST = """
title: Many to one
names: {all: {select: {fabric: gige}}}
figures:
  - id: fig1
    caption: the aggregate over streams
    draw: {benchmark: multi_pair_latency, along: pair_count, sizes: 8, curves: [all]}
"""


def test_messages_of_no_bytes_have_a_latency_and_no_bandwidth_to_draw(tmp_path: Path) -> None:
    run = run_of({Case(TCP, "ping_pong", 0): [[[20_000.0, 21_000.0]]] * 3})
    assert [one.metric_id for one in figures(results_of(run))] == ["latency_ns"]
    paths = figure_files.render(run, tmp_path, Options())
    assert {path.suffix for path in paths} == {".svg", ".png", ".pdf"}


def test_settings_of_one_curve_share_a_figure_with_the_default_among_them_and_one_size_has_whiskers() -> None:
    buffers = [SocketOptions(send_buffer_bytes=size) for size in (None, 16384)]
    series = [options.label() if options.send_buffer_bytes else "" for options in buffers]
    cases = [Case(TCP, "bandwidth", 65536, 16, *each) for each in zip(series, buffers, strict=True)]
    run = run_of({case: [[[2e7]], [[2.1e7]], [[1.9e7]]] for case in cases})
    (figure,) = (one for one in figures(results_of(run)) if one.kind == CURVES)
    assert figure.title == "Bandwidth between hosts: settings of gige · TCP"
    drawing = draw(figure, style_of(results_of(run).looks(), for_page=True), for_page=True)
    marks = [layer["mark"] for layer in drawing.spec["layer"]]
    kinds = [mark if isinstance(mark, str) else mark["type"] for mark in marks]
    assert ("rule" in kinds, "area" in kinds) == (True, False), "a band over one size is no area"
    assert "the default setting" in json.dumps(drawing.spec)


def test_a_papers_line_over_a_count_goes_over_ranks_that_differ() -> None:
    cases = [Case(Entry("tcp", "gige", "inter", of), "multi_pair_latency", 8) for of in (("a", "b"), tuple("abcd"))]
    run = run_of({case: [[[20_000.0]], [[20_100.0]]] for case in cases})
    paper = PaperSection.model_validate(PlacedYaml(INCAST, "paper.yaml").data)
    facts = shapes.decode(json.loads(json.dumps(resolve(paper, {}, {"multi_pair_latency": "same"}))), PaperFacts)
    (figure,) = paper_figures(results_of(replace(run, manifest=replace(run.manifest, paper=facts))))
    assert [row.message_size_bytes for row in figure.rows] == [1, 2]
    assert len({row.curve for row in figure.rows}) == 1
