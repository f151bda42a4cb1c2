"""From the wire to the application as SVG: a row for each level, a cell for each fabric with ratio and interval."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from markupsafe import Markup, escape

from fabriscope.analysis.comparing.compared import EQUIVALENT, FASTER, SLOWER
from fabriscope.reports._cells import svg

NAMES, CELL, ROW, TOP = 330, 118, 40, 42
FULL = 3.0
"""A ratio of this, or its inverse, has the full colour."""
MOST_LETTERS, MOST_SMALL_LETTERS = 52, 57
COLOURS = {FASTER: "var(--good, #00795a)", SLOWER: "var(--bad, #b3261e)", EQUIVALENT: "var(--accent, #0b6aa8)"}
SIGNS = {FASTER: "\N{UPWARDS ARROW} ", SLOWER: "\N{DOWNWARDS ARROW} ", EQUIVALENT: "= "}
"""So that no verdict is told by its colour alone."""


@dataclass(frozen=True)
class PictureCell:
    """One fabric at one level."""

    verdict: str
    ratio: float
    text: str
    interval: str


@dataclass(frozen=True)
class PictureRow:
    """One level."""

    name: str
    small: str
    cells: Sequence[PictureCell | None]


def ladder_picture(fabrics: Sequence[str], rows: Sequence[PictureRow]) -> Markup:
    """Return the rows as SVG; texts are escaped."""
    drawn = [
        f'<text x="{NAMES + CELL * place + CELL / 2}" y="{TOP - 12}" text-anchor="middle" font-weight="600">'
        f"{escape(_short(fabric, 16))}</text>"
        for place, fabric in enumerate(fabrics)
    ]
    for number, row in enumerate(rows):
        drawn += _row(row, TOP + ROW * number)
    title = f"<title>{escape(_spoken(fabrics, rows))}</title>"
    width, height = NAMES + CELL * len(fabrics) + 4, TOP + ROW * len(rows) + 4
    return svg(width, height, title + "".join(drawn), ' fill="currentColor" font-size="13"')


def _row(row: PictureRow, top: int) -> Iterator[str]:
    yield f'<text x="0" y="{top + 16}">{escape(_short(row.name, MOST_LETTERS))}</text>'
    small = escape(_short(row.small, MOST_SMALL_LETTERS))
    yield f'<text x="0" y="{top + 31}" font-size="11" fill="var(--soft, #5b636d)">{small}</text>'
    for place, cell in enumerate(row.cells):
        if cell is not None:
            yield from _cell(cell, NAMES + CELL * place, top)


def _cell(cell: PictureCell, left: int, top: int) -> Iterator[str]:
    colour = COLOURS.get(cell.verdict)
    box = f'x="{left + 2}" y="{top + 2}" width="{CELL - 4}" height="{ROW - 4}" rx="4"'
    if colour is None:
        yield f'<rect {box} fill="none" stroke="var(--rule, #d8dbe0)" stroke-dasharray="3 3"/>'
    else:
        strength = min(1.0, abs(math.log(cell.ratio)) / math.log(FULL))
        yield f'<rect {box} fill="{colour}" fill-opacity="{0.12 + 0.38 * strength:.2f}" stroke="{colour}"/>'
    middle = left + CELL / 2
    text = f"{SIGNS.get(cell.verdict, '? ')}{cell.text}"
    yield f'<text x="{middle}" y="{top + 18}" text-anchor="middle">{escape(text)}</text>'
    yield f'<text x="{middle}" y="{top + 32}" text-anchor="middle" font-size="11">{escape(cell.interval)}</text>'


def _short(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}\N{HORIZONTAL ELLIPSIS}"


def _spoken(fabrics: Sequence[str], rows: Sequence[PictureRow]) -> str:
    return "; ".join(
        f"{row.name}: {fabric} {cell.text}, {cell.verdict}"
        for row in rows
        for fabric, cell in zip(fabrics, row.cells, strict=True)
        if cell is not None
    )
