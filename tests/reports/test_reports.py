"""Every report of a made-up run, and the commands that write them."""

from __future__ import annotations

import dataclasses
import json
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from click.testing import CliRunner
from tests.analysis.made_up import Shape, write_run

import fabriscope
from fabriscope import store
from fabriscope.analysis.comparing.compared import CurvePair
from fabriscope.analysis.comparing.ranges import Range
from fabriscope.analysis.curve import Curve
from fabriscope.analysis.numbers.forecasts import Forecast
from fabriscope.analysis.results import results_of
from fabriscope.analysis.words import advantage_range_text
from fabriscope.cli.report import COMMAND as REPORT_COMMAND
from fabriscope.cli.show import COMMAND as SHOW_COMMAND
from fabriscope.model.errors import StoreError
from fabriscope.model.record import Details
from fabriscope.model.run_data import RunData
from fabriscope.registry import discover
from fabriscope.reports import html_page
from fabriscope.reports._charts import draw
from fabriscope.reports._facts import run_table
from fabriscope.reports._figures import figures
from fabriscope.reports._ranges import range_groups
from fabriscope.reports._style import style_of
from fabriscope.reports._verdicts import verdict_lines
from fabriscope.reports.base import Options

SMALL = Shape(sizes=(1, 64, 1024, 65536, 1 << 20), launch_count=3, samples_per_burst=4, stacks=("openmpi-5.0.11",))
SWEPT = Shape(
    sizes=(8, 1024), launch_count=3, samples_per_burst=2, stacks=(), send_buffers=(None, 16384, 32768, 65536, 131072),
    benchmarks=("ping_pong",), placements=("inter",), failing=frozenset(),
)  # fmt: skip


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_run(tmp_path_factory.mktemp("runs") / "small", SMALL).path


@pytest.fixture(scope="module")
def run(path: Path) -> RunData:
    return store.open_run(path).read()


@pytest.fixture(scope="module")
def page(run: RunData, tmp_path_factory: pytest.TempPathFactory) -> Path:
    (written,) = discover("reports", "REPORT").get("html").render(run, tmp_path_factory.mktemp("page"), Options())
    assert isinstance(written, Path)
    return written


class Outline(HTMLParser):
    """The ids, headings and links of a page, and whether its elements close in order."""

    VOID = frozenset({"meta", "link", "input", "line", "path", "br"})

    def __init__(self, text: str) -> None:
        super().__init__()
        self.ids: list[str] = []
        self.links: list[str] = []
        self.open: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        known = dict(attrs)
        self.ids += [known["id"] or ""] if "id" in known else []
        self.links += [known[name] or "" for name in ("href", "src") if name in known]
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag not in self.VOID:
            assert self.open.pop() == tag


def test_many_verdicts_are_told_in_few_rows(tmp_path: Path) -> None:
    results = results_of(write_run(tmp_path / "run", SWEPT).read())
    groups = {group.kind: group for group in range_groups(results)}
    assert groups["fabric"].verdicts == [], "five pairs are read as sentences"
    assert len(groups["series"].findings) == 20
    of_series = groups["series"].verdicts
    assert 0 < len(of_series) < 5
    names = {name for row in of_series for name in re.findall(r"the default setting|send buffer \d+ KiB", row.pair)}
    assert names == {"the default setting", *(f"send buffer {size} KiB" for size in (16, 32, 64, 128))}
    (row,) = verdict_lines(one for one in results.all_ranges if one.pair.kind == "fabric")
    assert row.where == "ping-pong, TCP, between hosts, in all 5 variants"
    assert row.pair == "ethernet-100 / gige"
    (said,) = row.said
    ratios = results.comparisons.filter(pl.col("kind") == "fabric")["ratio"].to_list()
    assert (said.verdict, said.name) == ("slower", "gige")
    assert said.text == f"at every size, {advantage_range_text(1 / max(ratios), 1 / min(ratios))}"
    page = re.sub(r"<[^>]+>", " ", html_page.page_text(results, ""))
    assert all(row.where in page for row in of_series)


def test_verdicts_that_change_are_told_first_and_in_their_places() -> None:
    def pair(left: str, right: str, series: str, *ranges: tuple[str, int, int, float]) -> list[Range]:
        curve = Curve("inter", None, "", None, "engine", "ping_pong", "", "", series)
        about = CurvePair("fabric", left, right, curve, curve, "latency_ns")
        return [
            Range(
                about, verdict, first, last, 2, Forecast(9, 20) if verdict == "undecided" else None, 4,
                len(ranges) == 1, ratio, ratio * 1.1, None, None, ratio, ratio, None, None,
            )
            for verdict, first, last, ratio in ranges
        ]  # fmt: skip

    rows = [
        *pair("a", "b", "x", ("undecided", 1, 8, 1.0)),
        *pair("a", "c", "x", ("equivalent", 1, 8, 1.0)),
        *pair("b", "c", "x", ("equivalent", 1, 4, 1.0), ("undecided", 8, 8, 1.0)),
        *pair("a", "b", "y", ("faster", 1, 2, 3.0), ("slower", 4, 8, 0.5)),
        *pair("a", "c", "y", ("faster", 1, 8, 4.0)),
    ]
    told = [(row.where, row.pair, [f"{one.name} {one.text}" for one in row.said]) for row in verdict_lines(rows)]
    assert told == [
        (
            "ping-pong, between hosts, y",
            "a / b",
            ["a up to 2 B, 3.00 to 3.30 times", "b from 4 B on, 1.82 to 2.00 times"],
        ),
        ("ping-pong, between hosts, y", "a / c", ["a at every size, 4.00 to 4.40 times"]),
        (
            "ping-pong, between hosts, x",
            "any two of a, b and c",
            ["equivalent in 4 of 8 comparisons", "undecided in 4 of 8 comparisons (9 to 20 blocks would decide)"],
        ),
    ]


def test_the_registry_has_the_formats() -> None:
    assert {"html", "csv", "markdown", "figures"} <= set(discover("reports", "REPORT").plugins)


def test_the_page_is_whole_and_needs_nothing_else(page: Path) -> None:
    text = page.read_text()
    outline = Outline(text)
    assert outline.open == []
    assert len(outline.ids) == len(set(outline.ids))
    anchors = {link[1:] for link in outline.links if link.startswith("#")}
    assert anchors <= set(outline.ids)
    assert [link for link in outline.links if not link.startswith(("#", "data:"))] == []
    assert page.stat().st_size < 3e6


def test_the_page_says_what_a_reader_asks(page: Path) -> None:
    text = re.sub(r"<script.*?</script>|<[^>]+>", " ", page.read_text(), flags=re.DOTALL)
    for words in (
        "AMD Opteron 246", "gige leads ethernet-100 at every size", "no progress for 10 s", "unknown: no cpufreq",
        "1.00 Gb/s", "MPI against TCP", "Inside one host", "The instrument’s floor",
        "Two Ethernets, made up for tests.",
        "Hochberg", "number of blocks was fixed", "Reading the clock once", "11.2 ns",
    ):  # fmt: skip
        assert words in text, words


def test_jobs_that_hung_after_their_results_are_told_of(run: RunData) -> None:
    journal = list(run.journal)
    for number, transport in ((1, "mpi"), (2, "tcp")):
        details = Details(transport=transport, is_whole=True, exit_statuses=(None,))
        journal[number] = dataclasses.replace(journal[number], details=details)
    table = dict(run_table(results_of(dataclasses.replace(run, journal=tuple(journal)))))
    assert table["MPI_Finalize did not return"].endswith(f"in the launches {journal[1].launch_id}")
    assert "MPI_Finalize did not return" not in dict(run_table(results_of(run)))


def test_text_of_a_run_cannot_become_markup(path: Path, tmp_path: Path) -> None:
    data = store.open_run(path).read()
    hostile = "</script><script>alert(1)</script>"
    text = json.dumps(data.manifest.document).replace("gige", hostile.replace("/", "\\/"))
    manifest = store.manifest_of(json.loads(text))
    page = (
        discover("reports", "REPORT")
        .get("html")
        .render(RunData(data.path, manifest, data.journal, data.samples), tmp_path, Options())[0]
    )
    assert "alert(1)</script>" not in page.read_text()


def test_every_figure_draws_its_own_rows(run: RunData) -> None:
    results = results_of(run)
    style = style_of(results.looks(), for_page=True)
    all_figures = figures(results)
    assert len({figure.figure_id for figure in all_figures}) == len(all_figures)
    for figure in all_figures:
        drawing = draw(figure, style, for_page=True)
        rows = drawing.spec["datasets"]["marks"]
        assert len(rows) == len(figure.rows or figure.ratios)
        assert {row["hue"] for row in rows} | {row["layer"] for row in rows} >= {key.name for key in drawing.legend}
        json.dumps(drawing.spec, allow_nan=False)


def test_colours_are_the_same_in_all_figures(run: RunData) -> None:
    results = results_of(run)
    style = style_of(results.looks(), for_page=True)
    colours: dict[str, set[str]] = {}
    for figure in figures(results):
        for key in draw(figure, style, for_page=True).legend:
            if key.colour != "currentColor" and " / " not in key.name:
                colours.setdefault(key.name, set()).add(key.colour)
    assert {"gige", "ethernet-100", "TCP", "MPI (openmpi-5.0.11)"} <= set(colours)
    assert all(len(some) == 1 for some in colours.values())


def test_swept_settings_have_figures(tmp_path: Path) -> None:
    results = results_of(write_run(tmp_path / "swept", SWEPT).read())
    ids = [figure.figure_id for figure in figures(results)]
    assert "inter-latency-settings-gige-tcp" in ids
    assert any(one.kind == "series" for one in results.findings)


def test_csv_gives_the_stored_units(run: RunData, tmp_path: Path) -> None:
    written = discover("reports", "REPORT").get("csv").render(run, tmp_path, Options())
    assert [one.name for one in written][:2] == ["summary.csv", "estimates.csv"]
    estimates = pl.read_csv(tmp_path / "estimates.csv")
    assert estimates.height == results_of(run).estimates.height
    assert estimates.filter((pl.col("metric_id") == "latency_ns") & (pl.col("value") > 1e6)).height > 0


def test_markdown_tables_are_rectangular(run: RunData, tmp_path: Path) -> None:
    (written,) = discover("reports", "REPORT").get("markdown").render(run, tmp_path, Options())
    tables = re.findall(r"(?:^\|.*\n)+", written.read_text(), flags=re.MULTILINE)
    assert len(tables) >= 5
    for table in tables:
        assert len({line.count("|") - line.count("\\|") for line in table.splitlines()}) == 1


@pytest.mark.parametrize(("suffix", "start"), [("png", b"\x89PNG"), ("svg", b"<svg"), ("pdf", b"%PDF")])
def test_figure_files(tmp_path: Path, suffix: str, start: bytes) -> None:
    shape = Shape(sizes=(8, 1024), launch_count=2, samples_per_burst=2, stacks=(), benchmarks=("ping_pong",),
                  placements=("inter",), failing=frozenset())  # fmt: skip
    data = write_run(tmp_path / "run", shape).read()
    written = discover("reports", "REPORT").get("figures").render(data, tmp_path, Options((suffix,)))
    assert len(written) == 3
    assert all(one.read_bytes().startswith(start) for one in written)


@pytest.mark.parametrize("launch_count", [0, 1])
def test_runs_with_little_in_them_have_reports(tmp_path: Path, launch_count: int) -> None:
    folder = write_run(tmp_path / "run", Shape(sizes=(8,), launch_count=1, samples_per_burst=2))
    if launch_count == 0:
        (folder.path / "journal.jsonl").unlink()
    reports = discover("reports", "REPORT")
    for name in ("html", "csv", "markdown"):
        assert reports.get(name).render(store.open_run(folder.path).read(), tmp_path, Options())


def test_the_version_1_folder_has_a_report(tmp_path: Path) -> None:
    stored = Path(__file__).parents[1] / "store" / "data" / "run-version-1"
    data = store.open_run(stored).read()
    (written,) = discover("reports", "REPORT").get("markdown").render(data, tmp_path, Options())
    assert written.read_text().startswith("# test\n")


def invoke(command: Any, *arguments: str) -> str:
    result = CliRunner().invoke(command, list(arguments))
    assert result.exit_code == 0, result.output
    return result.output


def test_the_command_report(path: Path, tmp_path: Path) -> None:
    said = invoke(REPORT_COMMAND, str(path), "--format", "markdown", "--format", "csv", "-o", str(tmp_path / "new"))
    assert said.splitlines()[0] == str(tmp_path / "new" / "report.md")
    assert (tmp_path / "new" / "summary.csv").is_file()
    result = CliRunner().invoke(REPORT_COMMAND, [str(path), "--format", "stone"])
    assert result.exit_code == 2
    assert "html" in result.output
    assert isinstance(CliRunner().invoke(REPORT_COMMAND, [str(tmp_path / "nothing")]).exception, StoreError)


def test_the_command_show(path: Path) -> None:
    said = invoke(SHOW_COMMAND, str(path))
    assert "openmpi-5.0.11" in said
    assert "no progress for 10 s" in " ".join(said.split())
    shown = json.loads(invoke(SHOW_COMMAND, str(path), "--json"))
    assert shown["name"] == "made-up"
    assert shown["summary"][0]["fabric"] == "ethernet-100"
    assert shown["failures"][0]["status"] == "failed"


def test_a_run_in_python(path: Path) -> None:
    loaded = fabriscope.load(path)
    assert "made-up" in repr(loaded)
    assert isinstance(loaded.samples, pl.LazyFrame)
    assert loaded.cases.height == len(loaded.manifest["cases"])
    assert loaded.launches["status"].unique().to_list() == ["ok"]
    assert loaded.estimates().equals(results_of(store.open_run(path).read()).estimates)
    assert loaded.summary().height == 7
    assert loaded.comparisons().height > 0
    assert loaded.failures.height == 2
    assert loaded.launch_values().height > 0
