"""Streams over time, as a picture: a row for each stream, a cell for each interval, darker for more bytes."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from markupsafe import Markup

from fabriscope.analysis.incast.switch_windows import WindowPorts
from fabriscope.analysis.values.streams import StreamWindow
from fabriscope.reports._cells import cells

CELL = 10
MOST_COLUMNS = 100
"""Cells side by side; of more intervals, neighbours are put together."""
STEPS = ((0.02, "#b34700"), (0.25, "#e8c39e"), (0.5, "#d3e0ec"), (0.75, "#9dbdd9"), (float("inf"), "#3d6f9e"))
"""Up to this share of what each stream would have if all had the same of the fullest interval: its colour."""
BELOW = ("#eef2f6", "#d3e0ec", "#9dbdd9", "#3d6f9e")
"""Of what the switch counted: nothing, and up to a third, two thirds and all of the most."""
LOST = "#b34700"


def stream_map(window: StreamWindow, ports: WindowPorts | None = None) -> Markup:
    """Return a window as SVG: nothing of a run's text is in it.

    Under the streams are three rows of what the switch counted: how full the queues to those that receive were, where
    it dropped frames, and for how long it stopped those that send.
    """
    rows = [_columns(counts) for counts in window.series.values()]
    fullest = max(map(sum, zip(*rows, strict=True)), default=0)
    even = fullest / len(rows) if rows and fullest else 1.0
    steps = [(most * even, colour) for most, colour in STEPS]
    drawn: list[Sequence[str | None]] = [
        [next(colour for most, colour in steps if value <= most) for value in row] for row in rows
    ]
    if ports is not None:
        queues = _columns(ports.by_interval(ports.ways, "queue_bytes", max), max)
        losses = _columns(ports.by_interval(ports.ways, "dropped_frames", sum))
        pauses = _columns(ports.by_interval(ports.senders, "paused_ns", sum))
        drawn += [[], _shades(queues), [LOST if lost else BELOW[0] for lost in losses], _shades(pauses)]
    return cells(drawn, CELL)


def _shades(values: Sequence[int]) -> list[str]:
    most = max(values, default=0) or 1
    return [BELOW[-(-value * (len(BELOW) - 1) // most)] for value in values]


def _columns(counts: Sequence[int], together: Callable[[Sequence[int]], int] = sum) -> list[int]:
    step = -(-len(counts) // MOST_COLUMNS) or 1
    return [together(counts[start : start + step]) for start in range(0, len(counts), step)]
