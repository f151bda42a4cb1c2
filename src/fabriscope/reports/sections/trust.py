"""How far the numbers of each curve can be trusted, and what speaks most against them."""

from __future__ import annotations

from fabriscope.analysis.comparing.findings import PLACEMENT_NAMES
from fabriscope.analysis.curve import Curve
from fabriscope.analysis.results import Results
from fabriscope.analysis.values.trust import MEANINGS, CurveGrades, curve_grades
from fabriscope.analysis.words import size_text, tells_size
from fabriscope.audit.touched import touching
from fabriscope.model.metrics import metric_of
from fabriscope.reports.section import (
    Block,
    Bullets,
    Cell,
    Column,
    Folded,
    Heading,
    Paragraph,
    Row,
    Section,
    Sections,
    Styled,
    Table,
)
from fabriscope.reports.sections.audit import verdict_of

_MOST_GRADES = 2
"""The worst that a terminal shows."""


def _build(results: Results) -> list[Section]:
    curves = curve_grades(results.graded)
    if not curves:
        return []
    words: list[str | Styled] = []
    for grade, meaning in MEANINGS.items():
        words += [Styled(grade, "strong"), f": {meaning}{'. ' if len(words) == 2 * len(MEANINGS) - 2 else '; '}"]
    words += [
        "The grade is the worst that any reason leaves; every point of a figure has its own, and so has every row of ",
        Styled("estimates.csv", "code"),
        ".",
    ]
    heads = ["what", "number", "points", "worst", "because"]
    checks = _checks(results)
    heads += ["the audit found"] if checks else []
    rows = [[*_row(row), *([checks.get(row.curve, "")] if checks else [])] for row in curves]
    table = Table([Column(head) for head in heads], rows)
    blocks: list[Block] = [Paragraph(words), Folded("Grades of all curves, and what speaks most against each", [table])]
    return [Section("trust", "How far each number can be trusted", blocks, "Trust", brief=_brief(curves))]


def _row(row: CurveGrades) -> Row:
    return [
        Cell(row.label(), PLACEMENT_NAMES[row.placement]),
        metric_of(row.metric_id).title,
        ", ".join(f"{count} {grade}" for grade, count in row.counts.items() if count),
        f"{row.grade}{_at(row, ' at ')}",
        row.reasons,
    ]


def _checks(results: Results) -> dict[Curve, str]:
    """Return for each curve the checks whose findings touch its hosts or their interfaces."""
    manifest = results.run.manifest
    findings = results.run.once(verdict_of).findings
    by_entry = {
        name: ", ".join(dict.fromkeys(one.check for one in touching(entry, manifest.fabrics, manifest.hosts, findings)))
        for name, entry in manifest.entries.items()
    }
    found = {row.curve: by_entry.get(row.entry_id, "") for row in results.graded}
    return found if any(found.values()) else {}


def _at(row: CurveGrades, words: str) -> str:
    return f"{words}{size_text(row.message_size_bytes)}" if tells_size(row.benchmark, row.message_size_bytes) else ""


def _brief(curves: list[CurveGrades]) -> list[Block]:
    """Return the worst grades, each with its worst curve."""
    items = []
    for grade in sorted({row.grade for row in curves}, reverse=True)[:_MOST_GRADES]:
        alike = [row for row in curves if row.grade == grade]
        worst = alike[0]
        where = f"{worst.label()}, {PLACEMENT_NAMES[worst.placement]}, {metric_of(worst.metric_id).title}"
        head = f"{grade} ({MEANINGS[grade]}): the worst points of {len(alike)} of {len(curves)} curves"
        items.append(f"{head}; {where}{_at(worst, ', at ')}: {worst.reasons}")
    return [Heading("Trust"), Bullets(items)]


SECTION = Sections("trust", 110, _build)
