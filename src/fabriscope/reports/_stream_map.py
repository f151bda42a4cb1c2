"""Streams over time, as a picture: a row for each stream, a cell for each interval, darker for more bytes."""

from __future__ import annotations

from markupsafe import Markup

from fabriscope.analysis.values.streams import StreamWindow
from fabriscope.reports._cells import cells

CELL = 10
MOST_COLUMNS = 100
"""Cells side by side; of more intervals, neighbours are put together."""
STEPS = ((0.02, "#b34700"), (0.25, "#e8c39e"), (0.5, "#d3e0ec"), (0.75, "#9dbdd9"), (float("inf"), "#3d6f9e"))
"""Up to this share of what each stream would have if all had the same of the fullest interval: its colour."""


def stream_map(window: StreamWindow) -> Markup:
    """Return a window as SVG: nothing of a run's text is in it."""
    rows = [_columns(counts) for counts in window.series.values()]
    fullest = max(map(sum, zip(*rows, strict=True)), default=0)
    even = fullest / len(rows) if rows and fullest else 1.0
    steps = [(most * even, colour) for most, colour in STEPS]
    return cells([[next(colour for most, colour in steps if value <= most) for value in row] for row in rows], CELL)


def _columns(counts: tuple[int, ...]) -> list[int]:
    together = -(-len(counts) // MOST_COLUMNS) or 1
    return [sum(counts[start : start + together]) for start in range(0, len(counts), together)]
