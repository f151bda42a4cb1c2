"""The section of a paper in the reports, on a made-up run."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from tests.analysis.made_up import Shape, write_run

from fabriscope.analysis.results import Results, results_of
from fabriscope.model.paper import PaperFacts
from fabriscope.model.run_data import RunData
from fabriscope.plan.paper import PaperSection
from fabriscope.plan.paper_names import resolve
from fabriscope.plan.place_schema import StandInSection
from fabriscope.plan.yaml_places import PlacedYaml
from fabriscope.registry import discover
from fabriscope.reports._charts import draw
from fabriscope.reports._paper_figures import paper_figures, place_name
from fabriscope.reports._style import style_of
from fabriscope.reports.base import Options
from fabriscope.reports.html_page import page_text
from fabriscope.reports.markdown_page import page_text as markdown_text
from fabriscope.reports.section import Table, tables_in
from fabriscope.reports.sections import sections_of
from fabriscope.store import shapes

SHAPE = Shape(
    sizes=(1, 32, 1024, 65536), launch_count=4, samples_per_burst=3, stacks=("mpich-5.0.2",),
    send_buffers=(None, 16384, 65536), benchmarks=("ping_pong",), placements=("inter",), failing=frozenset(),
)  # fmt: skip
PAPER = """
title: A <made-up> paper
citation: 2004
question: Which?
setup: {CPU: an old one, colour: grey}
names:
  slow: {means: the slow card}
  fast: {means: the fast card}
  rdma: {means: a card that nobody has}
  TCP: {select: {layer: tcp}}
  MPI: {select: {layer: mpi}}
figures:
  - id: fig1
    caption: throughput
    draw:
      benchmark: ping_pong
      metric: ping_pong_bandwidth_bytes_per_s
      curves: [fast TCP, fast MPI, slow TCP, rdma TCP]
    claims:
      - {say: fast is faster, of: fast TCP, than: slow TCP, take: largest, expect: {ratio: 5..12}, paper: 10 times}
      - {say: slow is faster, of: slow TCP, than: fast TCP, take: largest, expect: higher}
      - {say: rdma is fastest, of: rdma TCP, than: fast TCP, take: largest, expect: higher}
  - id: buffers
    caption: throughput against the buffer
    note: No claim.
    draw:
      benchmark: ping_pong
      metric: ping_pong_bandwidth_bytes_per_s
      along: send_buffer_bytes
      take: largest
      curves: [fast TCP, slow TCP]
  - {id: fig3, caption: a photograph}
tables:
  - id: table1
    caption: numbers
    keys: [network]
    columns:
      bandwidth: {title: bandwidth, unit: Mb/s, benchmark: ping_pong, metric: ping_pong_bandwidth_bytes_per_s, take: largest, where: TCP}
      size: {title: at, unit: bit, show: size, benchmark: ping_pong, metric: ping_pong_bandwidth_bytes_per_s, take: largest, where: TCP}
      latency: {title: latency, unit: us, benchmark: ping_pong, sizes: 1..63, take: mean, where: TCP}
    rows:
      - [fast, 897, 524288, 13.91]
      - [slow, 90, 8388611, 38]
      - [rdma, 1880, 1, 1.5]
"""  # noqa: E501 - rows of a table


def _with_paper(run: RunData) -> RunData:
    paper = PaperSection.model_validate(PlacedYaml(PAPER, "paper.yaml").data)
    here = {
        "slow": StandInSection(says="100 Mb/s", select={"fabric": "ethernet-100"}),
        "fast": StandInSection(says="1 Gb/s", select={"fabric": "gige"}),
    }
    facts = shapes.decode({**resolve(paper, here, {"ping_pong": "same"}), "here": {"colour": "black"}}, PaperFacts)
    return replace(run, manifest=replace(run.manifest, paper=facts))


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> RunData:
    return write_run(tmp_path_factory.mktemp("runs") / "small", SHAPE).read()


@pytest.fixture(scope="module")
def results(plain: RunData) -> Results:
    return results_of(_with_paper(plain))


def test_claims_are_judged(results: Results) -> None:
    assert results.paper is not None
    verdicts = [finding.verdict for _, finding in results.paper.all_findings()]
    assert verdicts == ["holds", "does not hold", "not decided"]
    assert results.answer[0] == (
        "Of 3 claims of “A <made-up> paper”, 1 holds here, 1 does not, and 1 speaks of what was not measured."
    )


def test_figures_are_the_papers(results: Results) -> None:
    first, second = paper_figures(results)
    assert first.figure_id == "paper-fig1"
    assert first.title == "Figure 1. throughput"
    curves = {(row.fabric, row.layer, row.series) for row in first.rows}
    assert curves == {("fast", "tcp", ""), ("fast", "mpi", ""), ("slow", "tcp", "")}
    assert sorted({row.message_size_bytes for row in first.rows}) == [1, 32, 1024, 65536]
    assert second.axis == "send_buffer_bytes"
    assert {row.message_size_bytes for row in second.rows} == {16384, 65536}
    style = style_of(results.looks(), for_page=False)
    text = str(draw(second, style, for_page=False).spec)
    assert "send buffer" in text
    assert "'title': 'message size'" not in text


def paper_tables(results: Results) -> list[Table]:
    """Return the tables of the paper's section: claims, names, set-up, the paper's own."""
    (section,) = [section for section in sections_of(results) if section.anchor == "paper"]
    return list(tables_in(section.blocks))


def test_the_table_is_the_summary(results: Results) -> None:
    assert results.paper is not None
    *_, table = paper_tables(results)
    fast, slow, rdma = (table.cells(row)[len(results.paper.tables[0].keys) :] for row in table.rows)
    ours = results.summary.filter(results.summary["layer"] == "tcp", results.summary["series"] == "").to_dicts()
    for row, fabric in ((fast, "gige"), (slow, "ethernet-100")):
        (line,) = [one for one in ours if one["fabric"] == fabric]
        bandwidth, size, latency = row[1::2]
        assert float(str(bandwidth.text)) == pytest.approx(line["bandwidth_bytes_per_s"] * 8e-6, rel=0.005)
        assert float(str(latency.text)) == pytest.approx(line["latency_ns"] * 1e-3, rel=0.005)
        assert int(str(size.text).replace("\N{THIN SPACE}", "")) == line["bandwidth_message_size_bytes"] * 8
        assert " to " in latency.small
    assert [cell.text for cell in slow[::2]] == ["90", "8\N{THIN SPACE}388\N{THIN SPACE}611", "38"]
    assert [cell.text for cell in rdma[1::2]] == ["–"] * 3
    assert rdma[1].small == "nothing here stands for rdma"


def test_setup_stands_beside_setup(results: Results) -> None:
    _, absent, names, setup, _ = paper_tables(results)
    assert [row[-1] for row in absent.rows] == ["nothing here stands for rdma"]
    rows = {name: (theirs, ours) for name, theirs, ours in setup.rows}
    assert rows["CPU"] == ("an old one", "AMD Opteron 246")
    assert rows["MPI"] == ("–", "MPICH 5.0.2")
    assert rows["colour"] == ("grey", "black")
    assert rows["repeats"] == ("–", "4 launches of everything, in random order")
    assert names.rows == [
        ("slow", "the slow card", "100 Mb/s"),
        ("fast", "the fast card", "1 Gb/s"),
        ("rdma", "a card that nobody has", "nothing"),
    ]


def test_the_pages(results: Results) -> None:
    page = page_text(results, "BUNDLE")
    assert page.index("The paper, re-run") < page.index("Experimental set-up")
    assert "A &lt;made-up&gt; paper" in page
    assert "A <made-up> paper" not in page
    assert 'data-figure="paper-fig1"' in page
    assert "Figure 3. a photograph: nothing of it was measured here" in page
    assert "rdma TCP: nothing here stands for rdma" in page
    text = markdown_text(results)
    assert "| Figure 1 | fast is faster | holds |" in text
    assert "### Table 1. numbers" in text


def test_files_of_figures(results: Results, tmp_path: Path) -> None:
    written = discover("reports", "REPORT").get("figures").render(results.run, tmp_path, Options(("svg",)))
    assert [path.name for path in written][:2] == ["paper-fig1.svg", "paper-buffers.svg"]


def test_a_run_without_a_paper_has_no_such_section(plain: RunData) -> None:
    results = results_of(plain)
    assert results.paper is None
    assert "The paper, re-run" not in page_text(results, "BUNDLE")
    assert "The paper, re-run" not in markdown_text(results)


def test_names_of_places() -> None:
    names = ("fig5-1", "table1", "socket-buffer", "MPI-buffer")
    assert [place_name(name) for name in names] == ["Figure 5-1", "Table 1", "Socket buffer", "MPI buffer"]
