"""Distributions as SVG: the share of operations that take longer, over their time; both axes logarithmic."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from markupsafe import Markup, escape

from fabriscope.analysis.words import share_text, time_text
from fabriscope.reports._cells import svg

WIDTH, HEIGHT = 560, 300
LEFT, RIGHT, TOP, BOTTOM = 64, 12, 12, 44
LEAST_SPAN = 2.0
"""The axis of time covers at least this factor, or noise would fill the picture."""
LINE_HEIGHT = 16
HALF_LABEL = 26
"""Of a time at the axis: one nearer than this to the right end is moved inside."""
STEPS = ((5.0, (1, 1.5, 2, 3, 4, 5, 6, 8)), (300.0, (1, 2, 5)), (math.inf, (1,)))
"""Up to which span of the axis ticks stand at what in each decade."""


@dataclass(frozen=True)
class Line:
    """One distribution: (time in ns, share of operations that are slower), shares falling from 1."""

    label: str
    colour: str
    dash: Sequence[int]
    points: Sequence[tuple[float, float]]


@dataclass(frozen=True)
class _Frame:
    """Where a time and a share stand."""

    least_ns: float
    most_ns: float
    decades: int

    def x(self, time_ns: float) -> float:
        part = math.log(time_ns / self.least_ns) / math.log(self.most_ns / self.least_ns)
        return LEFT + (WIDTH - LEFT - RIGHT) * part

    def y(self, share: float) -> float:
        return TOP + (HEIGHT - TOP - BOTTOM) * -math.log10(share) / self.decades


def tail_picture(lines: Sequence[Line]) -> Markup:
    """Return the lines as SVG, with a legend below; labels are escaped."""
    times = [time_ns for line in lines for time_ns, _ in line.points]
    least_share = min(share for line in lines for _, share in line.points)
    decades = math.ceil(-math.log10(least_share) - 1e-9) or 1
    frame = _Frame(min(times), max(*times, min(times) * LEAST_SPAN), decades)
    drawn = [*_axes(frame)]
    for number, line in enumerate(lines):
        path = "L".join(f"{frame.x(time_ns):.1f} {frame.y(share):.1f}" for time_ns, share in line.points)
        dash = "" if 0 in line.dash else " ".join(map(str, line.dash))
        look = f'fill="none" stroke="{escape(line.colour)}" stroke-width="2" stroke-dasharray="{dash}"'
        at = HEIGHT + number * LINE_HEIGHT + 10
        drawn.append(f'<path d="M{path}" {look}/><path d="M{LEFT} {at}h28" {look}/>')
        drawn.append(f'<text x="{LEFT + 36}" y="{at + 4}">{escape(line.label)}</text>')
    height = HEIGHT + len(lines) * LINE_HEIGHT + 8
    return svg(WIDTH, height, "".join(drawn), ' fill="currentColor" font-size="12"')


def _axes(frame: _Frame) -> Iterator[str]:
    for decade in range(frame.decades + 1):
        at, text = frame.y(10.0**-decade), share_text(10.0**-decade)
        yield f'<path d="M{LEFT} {at:.1f}H{WIDTH - RIGHT}" stroke="var(--rule, #d8dbe0)"/>'
        yield f'<text x="{LEFT - 8}" y="{at + 4:.1f}" text-anchor="end">{text}</text>'
    bottom = HEIGHT - BOTTOM
    for tick in _ticks(frame):
        at = frame.x(tick)
        left, end = (WIDTH, "end") if at > WIDTH - HALF_LABEL else (at, "middle")
        yield f'<path d="M{at:.1f} {bottom}v5" stroke="currentColor"/>'
        yield f'<text x="{left:.1f}" y="{bottom + 18}" text-anchor="{end}">{time_text(tick)}</text>'
    yield f'<text x="{WIDTH - RIGHT}" y="{HEIGHT - 6}" text-anchor="end">time of an operation</text>'


def _ticks(frame: _Frame) -> list[float]:
    """Return round times, more of a decade where few are shown."""
    least, most = frame.least_ns, frame.most_ns
    steps = next(steps for span, steps in STEPS if most / least < span)
    powers = range(math.floor(math.log10(least)), math.ceil(math.log10(most)) + 1)
    return [step * 10.0**power for power in powers for step in steps if least <= step * 10.0**power <= most]
