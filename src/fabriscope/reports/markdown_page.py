"""The essentials as Markdown, for a repository, a ticket or a terminal."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from fabriscope.analysis.results import Results, results_of
from fabriscope.analysis.values.trust import MEANINGS
from fabriscope.model.errors import printable
from fabriscope.model.run_data import RunData
from fabriscope.reports import _facts, _tables
from fabriscope.reports._made_of import made_of_line
from fabriscope.reports._pairs import pair_lines
from fabriscope.reports._paper import PaperView, TableView, paper_view
from fabriscope.reports._ranges import RangeGroup, range_groups
from fabriscope.reports.base import Options, Report, write_file

PAGE_NAME = "report.md"
SUMMARY = {
    "placement": "placement", "network": "network", "layer": "layer", "bandwidth": "largest bandwidth, Mb/s",
    "bandwidth_interval": "95 % interval", "share": "of the wire's", "size": "at message size", "bits": "in bits",
    "latency": "latency, µs", "latency_interval": "95 % interval", "launches": "launches",
    "transport": "transport", "trust": "trust",
}  # fmt: skip
GROUPS = {
    "what": "what", "placement": "placement", "ranks": "ranks", "network": "network", "layer": "layer",
    "first_size": "smallest", "first": "value", "first_interval": "95 % interval", "last_size": "largest",
    "last": "value", "last_interval": "95 % interval", "slowest": "finished last most often", "late": "late rounds",
    "clock_error": "clock error", "launches": "launches", "transport": "transport",
}  # fmt: skip
RANGES = {
    "where": "where", "pair": "pair", "sizes": "sizes", "leader": "leads", "by": "by", "interval": "95 % interval",
    "needed": "blocks to decide",
}  # fmt: skip
PAIRS = {
    "what": "what", "size": "size", "pairs": "pairs", "launches": "launches", "least": "least", "p1": "1 %",
    "p50": "median", "p99": "99 %", "most": "most", "noise": "between launches", "worst": "slowest pairs",
    "hosts": "slowest hosts, times the median",
}  # fmt: skip
FITS = {
    "what": "what", "placement": "placement", "sizes": "sizes", "latency": "latency", "bandwidth": "bandwidth",
    "gap": "G, ns/B", "message_gap": "g", "error": "held-out error", "floor": "noise floor",
}  # fmt: skip
TRUST = {
    "what": "what", "placement": "placement", "metric": "number", "grades": "points", "worst": "worst",
    "reasons": "because",
}  # fmt: skip
TRANSPORT = {
    "what": "what", "placement": "placement", "asked": "asked for", "carried": "carried by", "found": "payload found",
    "error": "closure error", "badge": "verdict", "launches": "launches", "because": "because",
}  # fmt: skip
_ESCAPED = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", "[": "\\[", "]": "\\]", "`": "\\`"})
FAILURES = {
    "launch": "launch", "what": "what", "placement": "placement", "benchmark": "benchmark", "sizes": "sizes",
    "status": "status", "reason": "reason",
}  # fmt: skip
CLAIMS = {
    "figure": "in", "say": "the paper says", "verdict": "here", "evidence": "what was measured here",
    "paper": "the paper's numbers",
}  # fmt: skip


def render(run: RunData, out: Path, options: Options) -> list[Path]:  # noqa: ARG001 - the page has no options
    """Write report.md and return it."""
    path = out / PAGE_NAME
    write_file(path, page_text(results_of(run)).encode())
    return [path]


def page_text(results: Results) -> str:
    """Return the page."""
    manifest = results.run.manifest
    parts = [f"# {_cell(manifest.name)}", _line(manifest.plan.description or "")]
    paper = _paper_parts(paper_view(results))
    besides = ["## What the run says besides"] if paper else []
    left_out = "\n".join(f"- Left out: {_cell(note)}" for note in results.run.notes)
    sentences = [_line(sentence) for sentence in results.answer]
    parts += [sentences[0], left_out, *paper, *besides, "\n".join(f"- {sentence}" for sentence in sentences[1:])]
    parts += ["## Set-up", _table(("", ""), _facts.run_table(results))]
    fabrics = _facts.fabric_table(results.run)
    if fabrics:
        parts.append(_table(list(vars(fabrics[0])), [list(vars(row).values()) for row in fabrics]))
    summary = _tables.summary_lines(results)
    if summary:
        parts += ["## Summary", _named_table(_watched(SUMMARY, results), summary)]
    shared = _tables.group_lines(results)
    if shared:
        parts += ["## Many ranks", _named_table(_watched(GROUPS, results), shared)]
    for group in range_groups(results):
        parts += [f"## {_cell(group.title)}", _verdicts(group)]
    floor = _facts.floor_table(results)
    if floor:
        parts += ["## The instrument's floor", _table(("what", "cost", "how it was found"), floor)]
    pairs = pair_lines(results)
    if pairs:
        parts += ["## Every host against every other", _named_table(PAIRS, pairs)]
    fits = _tables.fit_lines(results)
    if fits:
        parts += ["## Time over size in pieces", _named_table(FITS, fits)]
    transport = _tables.transport_lines(results)
    if transport:
        parts += ["## What carried the bytes", _named_table(TRANSPORT, transport)]
    trust = _tables.trust_lines(results)
    if trust:
        meanings = "; ".join(f"{grade}: {meaning}" for grade, meaning in MEANINGS.items())
        parts += ["## How far each number can be trusted", f"{meanings}.", _named_table(TRUST, trust)]
    failures = _tables.failure_lines(results)
    parts += ["## Failures", _named_table(FAILURES, failures) if failures else "None."]
    parts.append(_text(made_of_line(results.run)))
    return "\n\n".join(part for part in parts if part) + "\n"


def _verdicts(group: RangeGroup) -> str:
    """Return the ranges of a kind of comparison, of many pairs the verdicts alone."""
    if not group.verdicts:
        return _named_table(RANGES, group.rows)
    rows = [[row.where, row.pair, "; ".join(f"{one.name} {one.text}" for one in row.said)] for row in group.verdicts]
    return _table(("where", "pair", "who leads"), rows)


def _paper_parts(paper: PaperView | None) -> list[str]:
    if paper is None:
        return []
    about = _line(f"*{paper.title}*{', ' if paper.citation else ''}{paper.citation}. {paper.question}")
    parts = ["## The paper, re-run", about, "### Claim by claim", _named_table(CLAIMS, paper.claims)]
    parts += ["### What stands for what", _table(("name", "in the paper", "here"), paper.names)]
    parts.append(_table(("set-up", "the paper's", "here"), paper.setup))
    for table in paper.tables:
        parts += [f"### {_cell(table.title)}", _paper_table(table)]
    return parts


def _paper_table(table: TableView) -> str:
    head = [*table.keys]
    for column in table.columns:
        head += [f"{column.title}, {column.unit}: the paper", "here", "95 % interval"]
    rows = []
    for row in table.rows:
        cells = [(cell.paper, cell.here, cell.interval or cell.problem) for cell in row.cells]
        rows.append([*row.names, *(text for cell in cells for text in cell)])
    return _table(head, rows)


def _watched(columns: dict[str, str], results: Results) -> dict[str, str]:
    """Return the columns, without the transport's where nobody watched."""
    return {key: name for key, name in columns.items() if key != "transport" or results.transport.height}


def _named_table(columns: dict[str, str], rows: Iterable[object]) -> str:
    """Return a table of nouns: of each the fields that are columns."""
    return _table(list(columns.values()), [[vars(row)[name] for name in columns] for row in rows])


def _table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(_cell(cell) for cell in line) + " |" for line in lines)


def _cell(value: object) -> str:
    return _line(value).replace("|", "\\|")


def _line(value: object) -> str:
    return " ".join(_text(value).splitlines())


def _text(value: object) -> str:
    """Return a text of the run so that it is no more than text: no HTML, no link, no picture, no control character."""
    return printable(str(value)).translate(_ESCAPED)


REPORT = Report("markdown", "the essentials with tables", render)
