"""What carried the bytes of each entry: what was asked for, what was found, the verdict."""

from __future__ import annotations

from fabriscope.analysis.comparing.findings import PLACEMENT_NAMES
from fabriscope.analysis.proof.transport import BADGES, EntryVerdict, entry_verdicts
from fabriscope.analysis.results import Results
from fabriscope.analysis.words import UNKNOWN, share_text
from fabriscope.model.counters import PROVED
from fabriscope.reports.section import Block, Bullets, Cell, Column, Heading, Paragraph, Row, Section, Sections, Table

_NOTE = (
    "The counters of every interface, RDMA port and connection were read before and after each launch. Proved: at "
    "least 98\N{NO-BREAK SPACE}% of what the program sent is found on what was asked for, at both ends, and nowhere "
    "else. Refuted: something else carried it; these launches enter no comparison and no summary, and are drawn under"
    " a name that says so. The closure error is the share of an interface’s bytes that no connection, RDMA packet, "
    "header or idle background accounts for, the worst of all."
)


def _build(results: Results) -> list[Section]:
    verdicts = entry_verdicts(results.run)
    if not verdicts:
        return []
    columns = [
        Column("what"), Column("asked for"), Column("carried by"), Column("payload found", "number"),
        Column("closure error", "number"), Column("verdict", "name"), Column("because"),
    ]  # fmt: skip
    table = Table(columns, [_row(row) for row in verdicts], style="carried")
    blocks: list[Block] = [table, Paragraph(_NOTE, is_note=True)]
    brief: list[Block] = [Heading("What carried the bytes"), Bullets([_sentence(row) for row in verdicts])]
    return [Section("transport", "What carried the bytes", blocks, brief=brief)]


def _row(row: EntryVerdict) -> Row:
    counts = [f"{count} {name}" for name, count in row.counts.items() if count]
    launches = ", ".join(counts) if len(counts) > 1 else f"{row.launch_count} of {row.launch_count}"
    return [
        Cell(row.entry.label(), PLACEMENT_NAMES[row.entry.placement]),
        row.asked,
        row.carried_by or UNKNOWN,
        UNKNOWN if row.payload_share is None else share_text(row.payload_share),
        UNKNOWN if row.closure_error is None else share_text(row.closure_error),
        Cell(BADGES[row.verdict], f"{launches} launches", row.verdict),
        row.because,
    ]


def _sentence(row: EntryVerdict) -> str:
    """Return the verdict in words, with the reason where it is not proved."""
    where = f"{row.entry.label()}, {PLACEMENT_NAMES[row.entry.placement]}"
    why = "" if row.verdict == PROVED else f": {row.because}"
    return f"{BADGES[row.verdict]}: {where}, {row.asked} asked, {row.carried_by or UNKNOWN} found{why}"


SECTION = Sections("transport", 100, _build)
