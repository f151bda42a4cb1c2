"""Known traps: what the printed numbers of a run are easily taken for and are not."""

from __future__ import annotations

from fabriscope.analysis.results import Results
from fabriscope.analysis.rows import parts
from fabriscope.analysis.values.known_traps import KnownTrap, known_traps, places, sentences
from fabriscope.reports.section import Block, Bullets, Column, Heading, Paragraph, Section, Sections, Table

_LEAD = (
    "A trap is what a number is easily taken for and is not. The documentation has a table of all by these names. A "
    "number that is read as what it is loses nothing by it."
)


def _build(results: Results) -> list[Section]:
    known = known_traps(results.run, results.graded)
    if not known:
        return []
    by_name = parts(known, lambda trap: trap.name)
    columns = [Column("trap", "name"), Column("numbers"), Column("what they are"), Column("source")]
    table = Table(columns, [_row(traps) for traps in by_name])
    blocks: list[Block] = [Paragraph(_LEAD, is_note=True), table]
    brief: list[Block] = [Heading("Known traps"), Bullets(sentences(known))]
    return [Section("traps", "Known traps of these numbers", blocks, "Known traps", brief=brief)]


def _row(traps: list[KnownTrap]) -> list[str]:
    trap = traps[0]
    return [trap.name, places(traps), f"{trap.sentence}.", trap.source]


SECTION = Sections("traps", 57, _build)
