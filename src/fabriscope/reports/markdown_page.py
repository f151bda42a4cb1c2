"""The essentials as Markdown, for a repository, a ticket or a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from fabriscope.analysis.results import Results, results_of
from fabriscope.model.errors import printable
from fabriscope.model.run_data import RunData
from fabriscope.reports._made_of import made_of_line
from fabriscope.reports.base import Options, Report, write_file
from fabriscope.reports.section import (
    Block,
    Bullets,
    Figures,
    Folded,
    Grid,
    Heading,
    Link,
    Paragraph,
    Picture,
    Styled,
    Table,
    Terms,
    Text,
    figures_in,
)
from fabriscope.reports.sections import sections_of

PAGE_NAME = "report.md"
_ESCAPED = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", "[": "\\[", "]": "\\]", "`": "\\`"})
_AROUND = {"cite": "*", "strong": "**"}


def render(run: RunData, out: Path, options: Options) -> list[Path]:  # noqa: ARG001 - the page has no options
    """Write report.md and return it."""
    path = out / PAGE_NAME
    write_file(path, page_text(results_of(run)).encode())
    return [path]


def page_text(results: Results) -> str:
    """Return the page."""
    manifest = results.run.manifest
    left_out = "\n".join(f"- Left out: {_cell(note)}" for note in results.run.notes)
    answer = [_line(sentence) for sentence in results.answer]
    parts = [f"# {_cell(manifest.name)}", _line(manifest.plan.description or ""), answer[0], left_out]
    if results.paper is None:
        parts.append("\n".join(f"- {sentence}" for sentence in answer[1:]))
    for section in sections_of(results):
        if not section.is_page_only:
            parts += [f"## {_cell(section.title)}", *_blocks(section.blocks)]
    parts.append(_text(made_of_line(results.run)))
    return "\n\n".join(part for part in parts if part) + "\n"


def _blocks(blocks: Sequence[Block]) -> Iterator[str]:
    """Yield blocks as Markdown; figures are the page's."""
    for block in blocks:
        match block:
            case Paragraph():
                yield _inline(block.text)
            case Heading():
                yield f"### {_line(block.title)}"
            case Bullets():
                yield "\n".join(f"- {_inline(item)}" for item in block.items)
            case Terms():
                yield "\n".join(f"- **{_line(term.name)}**: {_line(term.meaning)}" for term in block.terms)
            case Table():
                yield _table(block)
            case Folded(is_page_only=False):
                yield from _blocks(block.blocks)
            case Grid():
                for part in block.parts:
                    yield from (f"**{_line(figure.title)}**" for figure in figures_in(part))
                    yield from _blocks(part)
            case Folded() | Figures() | Picture():
                pass


def _table(table: Table) -> str:
    lines = [table.titles, ["---"] * len(table.columns), *(table.texts(row) for row in table.rows)]
    return "\n".join("| " + " | ".join(_cell(cell) for cell in line) + " |" for line in lines)


def _inline(text: Text) -> str:
    return _line(text) if isinstance(text, str) else "".join(_piece(piece) for piece in text)


def _piece(piece: str | Styled | Link) -> str:
    if isinstance(piece, str):
        return _line(piece)
    if isinstance(piece, Link):
        return _line(piece.text)
    if piece.style == "screen":
        return ""
    around = _AROUND.get(piece.style, "")
    return f"{around}{_line(piece.text)}{around}"


def _cell(value: object) -> str:
    return _line(value).replace("|", "\\|")


def _line(value: object) -> str:
    return " ".join(_text(value).splitlines())


def _text(value: object) -> str:
    """Return a text of the run so that it is no more than text: no HTML, no link, no picture, no control character."""
    return printable(str(value)).translate(_ESCAPED)


REPORT = Report("markdown", "the essentials with tables", render)
