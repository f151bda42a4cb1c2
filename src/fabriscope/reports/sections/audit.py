"""What was wrong with the hosts when the run began, as an audit of the facts that it stored finds it."""

from __future__ import annotations

from collections.abc import Sequence

from fabriscope.analysis.comparing.findings import PLACEMENT_NAMES
from fabriscope.analysis.results import Results
from fabriscope.audit import auditing
from fabriscope.audit.intents import intents_of
from fabriscope.audit.scene import Scene
from fabriscope.audit.touched import touching
from fabriscope.model.audit import Finding, Verdict
from fabriscope.model.host_lists import folded
from fabriscope.model.run_data import RunData
from fabriscope.reports.section import Block, Bullets, Cell, Column, Heading, Paragraph, Section, Sections, Table

_HEADS = ("severity", "where", "what", "facts", "why", "remedy")


def _build(results: Results) -> list[Section]:
    verdict = results.run.once(verdict_of)
    if not verdict.findings:
        return []
    checks = auditing.checks()
    rows = [_row(one, checks[one.check].why) for one in verdict.findings]
    table = Table([Column(head) for head in _HEADS], rows, most=12, rest="findings")
    unseen = len({one.check for one in verdict.unseen})
    note = f"{len(verdict.passed)} checks found nothing; {unseen} could not be made on every host, and prove nothing."
    touched = _touched(results.run, verdict)
    words = [
        f"{one.severity}, {_where(one)}: {one.what}{touched.get(one, '')}; {one.remedy}" for one in verdict.findings
    ]
    brief: list[Block] = [Heading("Hosts when the run began"), Bullets(words)]
    return [Section("audit", "Hosts when the run began", [table, Paragraph(note, is_note=True)], brief=brief)]


def verdict_of(run: RunData) -> Verdict:
    return auditing.audit(Scene(run.manifest.hosts, intents=intents_of(run.manifest.fabrics)))


def _touched(run: RunData, verdict: Verdict) -> dict[Finding, str]:
    """Return for each finding the numbers that it touches, in words; nothing for one that touches none."""
    found: dict[Finding, list[str]] = {}
    manifest = run.manifest
    for entry in manifest.entries.values():
        if not entry.twin:
            for one in touching(entry, manifest.fabrics, manifest.hosts, verdict.findings):
                found.setdefault(one, []).append(f"{entry.label()}, {PLACEMENT_NAMES[entry.placement]}")
    return {one: f" (touches {some(list(dict.fromkeys(labels)))})" for one, labels in found.items()}


def some(labels: Sequence[str], most: int = 3) -> str:
    """Return the first of many in words."""
    more = len(labels) - most
    return "; ".join(labels[:most]) + (f" and {more} more" if more > 0 else "")


def _row(one: Finding, why: str) -> Sequence[str | Cell]:
    facts = "; ".join(seen.text for seen in one.witnesses)
    return (one.severity, _where(one), one.what, facts, why, one.remedy)


def _where(one: Finding) -> str:
    hosts = folded(one.hosts)
    return hosts if one.path == "host" else f"{one.path} of {hosts}"


SECTION = Sections("audit", 104, _build)
