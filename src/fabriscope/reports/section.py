"""A section of a report, before any format renders it: titles, paragraphs, tables, figures.

A file of `sections/` defines `SECTION`, which turns the results of a run into sections; every format renders all of
them. What a run or a plan says stands in texts as it is: whoever renders escapes it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

from markupsafe import Markup

from fabriscope.analysis.results import Results
from fabriscope.reports._figure import Figure


@dataclass(frozen=True)
class Styled:
    """A piece of a text."""

    text: str
    style: str
    """`code`, `strong`, `cite`, `screen` (for a page on a screen alone), `where`, or a verdict."""


@dataclass(frozen=True)
class Link:
    """A piece of a text that leads to another section."""

    text: str
    anchor: str


Text = str | Sequence[str | Styled | Link]


@dataclass(frozen=True)
class Paragraph:
    """A paragraph; a note is smaller."""

    kind: ClassVar = "paragraph"
    text: Text
    is_note: bool = False


@dataclass(frozen=True)
class Bullets:
    """A list of texts."""

    kind: ClassVar = "bullets"
    items: Sequence[Text]
    style: str = "plain"


@dataclass(frozen=True)
class Term:
    """A name, its id, and what it means."""

    name: str
    meaning: str
    term_id: str = ""


@dataclass(frozen=True)
class Terms:
    """Names and what they mean."""

    kind: ClassVar = "terms"
    terms: Sequence[Term]


@dataclass(frozen=True)
class Column:
    """A column of a table."""

    title: str
    align: str = ""
    """`number`, `head` (a row's name), `name` (never broken), or `theirs` (a number that is not ours)."""
    over: str = ""
    """What stands over this column and its neighbours that have the same."""


@dataclass(frozen=True)
class Cell:
    """A cell of a table."""

    text: Text
    small: str = ""
    """An interval, a placement: on a page it stands below the text."""
    style: str = ""
    """A verdict."""
    span: int = 1
    """Columns that it takes."""


Row = Sequence[str | Cell]


@dataclass(frozen=True)
class Table:
    """A table; a row starts a group where its key differs from the one of the row before."""

    kind: ClassVar = "table"
    columns: Sequence[Column]
    rows: Sequence[Row]
    groups: Sequence[object] = ()
    """A key for each row; none where the table has no groups."""
    style: str = ""
    most: int | None = None
    """Rows beyond these are folded away on a page."""
    rest: str = "more"
    """What those rows are called: `pieces`."""
    is_rest_printed: bool = False

    def starts_group(self, index: int) -> bool:
        """Return whether a group starts at a row that is not the first."""
        return bool(self.groups) and index > 0 and self.groups[index] != self.groups[index - 1]

    def cells(self, row: Row) -> list[Cell]:
        """Return the cells of a row."""
        return [cell if isinstance(cell, Cell) else Cell(cell) for cell in row]

    def texts(self, row: Row) -> list[str]:
        """Return the cells of a row as plain text, one for each column."""
        texts = []
        for cell in self.cells(row):
            text = plain(cell.text)
            texts += [f"{text} ({cell.small})" if cell.small else text] * cell.span
        return texts

    @property
    def titles(self) -> list[str]:
        """Return what stands over each column, in one line."""
        return [f"{column.over}: {column.title}" if column.over else column.title for column in self.columns]

    @property
    def overs(self) -> list[tuple[str, int]]:
        """Return what stands over the columns, and over how many each; nothing where nothing does."""
        runs: list[tuple[str, int]] = []
        for column in self.columns:
            if runs and column.over and runs[-1][0] == column.over:
                runs[-1] = column.over, runs[-1][1] + 1
            else:
                runs.append((column.over, 1))
        return runs if any(name for name, _ in runs) else []


@dataclass(frozen=True)
class Figures:
    """Figures side by side; formats without figures leave them out."""

    kind: ClassVar = "figures"
    figures: Sequence[Figure]
    can_show_launches: bool = False


@dataclass(frozen=True)
class Picture:
    """A drawing of ours, finished as SVG."""

    kind: ClassVar = "picture"
    caption: str
    svg: Markup

    @property
    def named(self) -> Markup:
        """Return the drawing with a name for whoever cannot see it: one of its own, else the caption."""
        if "<title>" in self.svg:
            return self.svg
        return self.svg.replace(Markup(">"), Markup("><title>{}</title>").format(self.caption), 1)


@dataclass(frozen=True)
class Grid:
    """Parts side by side, each of several blocks."""

    kind: ClassVar = "grid"
    parts: Sequence[Sequence[Block]]
    style: str = ""


@dataclass(frozen=True)
class Folded:
    """Blocks that a page shows when it is asked to."""

    kind: ClassVar = "folded"
    summary: str
    blocks: Sequence[Block]
    is_page_only: bool = False


@dataclass(frozen=True)
class Heading:
    """A title inside a section."""

    kind: ClassVar = "heading"
    title: str
    anchor: str = ""


Block = Paragraph | Bullets | Terms | Table | Figures | Picture | Grid | Folded | Heading


@dataclass(frozen=True)
class Section:
    """A section as every format has it."""

    anchor: str
    title: str
    blocks: Sequence[Block]
    link: str = ""
    """What leads to it, if not its title."""
    brief: Sequence[Block] = ()
    """What a terminal shows of it; nothing for a section that is for pages alone."""
    is_page_only: bool = False
    """Told on the page alone, as how everything was measured is."""
    picture: Picture | None = None
    """Stands beside the answer at the top of a page."""


@dataclass(frozen=True)
class Sections:
    """A plug-in: the sections that a run's results have of one kind."""

    name: str
    place: int
    """Sections stand in the order of these numbers; the project's own are 10 (the paper), 20 ... 130 (the method)."""
    build: Callable[[Results], Sequence[Section]]


def blocks_in(blocks: Sequence[Block]) -> Iterator[Block]:
    """Yield blocks, and those inside of them."""
    for block in blocks:
        yield block
        inside = block.parts if isinstance(block, Grid) else [block.blocks] if isinstance(block, Folded) else []
        for part in inside:
            yield from blocks_in(part)


def figures_in(blocks: Sequence[Block]) -> Iterator[Figure]:
    """Yield the figures of blocks."""
    for block in blocks_in(blocks):
        if isinstance(block, Figures):
            yield from block.figures


def tables_in(blocks: Sequence[Block]) -> Iterator[Table]:
    """Yield the tables of blocks."""
    yield from (block for block in blocks_in(blocks) if isinstance(block, Table))


def plain(text: Text) -> str:
    """Return a text without its styles, and without what is for a screen alone."""
    if isinstance(text, str):
        return text
    pieces = (piece if isinstance(piece, str) else piece.text for piece in text if not _is_for_screens(piece))
    return "".join(pieces)


def _is_for_screens(piece: str | Styled | Link) -> bool:
    return isinstance(piece, Styled) and piece.style == "screen"
