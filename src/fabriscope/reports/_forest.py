"""Verdicts as a picture: a line for each, its ratio with the interval around it, on one logarithmic axis."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from markupsafe import Markup, escape

from fabriscope.analysis.comparing.compared import EQUIVALENT, FASTER, SLOWER, UNDECIDED
from fabriscope.analysis.comparing.questions import LOOSE, SOUND, WEAK
from fabriscope.analysis.words import ratio_text
from fabriscope.reports._cells import svg

WIDTH, LEFT, RIGHT = 380, 4, 14
"""As wide as a phone, so that its letters are read there."""
LINE_HEIGHT, BOTTOM, LEGEND_HEIGHT = 48, 40, 18
BAR = 38
"""How far below the top of its line a bar lies; its names stand above it."""
LEAST_SPAN = 1.2
"""The axis covers at least this factor to either side of 1, or what is equal would look far apart."""
MOST_SPAN = 300.0
"""And at most this: an interval that goes on beyond has an arrow's end."""
SHORT, MIDDLING, WIDE = 2.2, 6.0, 500.0
"""Spans of the axis: up to the first ticks are tenths apart, up to the second halves, beyond the third tens."""
MOST_LETTERS = 60
LEAD = "var(--good, #00795a)"
LOOKS = {FASTER: LEAD, SLOWER: LEAD, EQUIVALENT: "var(--accent, #0b6aa8)"}
OPEN = "var(--soft, #5b636d)"
LEGEND = (
    ("shown, trust A or B", FASTER, SOUND),
    ("shown, in part trust C or D: weak", FASTER, WEAK),
    ("shown, all D: unreliable", FASTER, LOOSE),
    ("equivalent", EQUIVALENT, SOUND),
    ("equivalent, in part trust C or D: weak", EQUIVALENT, WEAK),
    ("equivalent, all D: unreliable", EQUIVALENT, LOOSE),
    ("undecided", UNDECIDED, SOUND),
)
SHAPES = ("thick: ratios of all comparisons, least to most", "thin: their intervals")


@dataclass(frozen=True)
class ForestLine:
    """One verdict: how many times as fast what is named first is."""

    label: str
    small: str
    """What stands below the label."""
    verdict: str
    least: float
    most: float
    """Of the ratios of all its points."""
    ends: tuple[float, float] | None
    """Of their intervals."""
    strength: str = SOUND
    """Of the numbers that it is of."""


@dataclass(frozen=True)
class _Axis:
    """Where a ratio stands."""

    low: float
    high: float

    def x(self, ratio: float) -> float:
        part = math.log(ratio / self.low) / math.log(self.high / self.low)
        return LEFT + (WIDTH - LEFT - RIGHT) * min(1.0, max(0.0, part))


def forest(lines: Sequence[ForestLine]) -> Markup:
    """Return the lines as SVG: a bar over the ratios of all points, whiskers around their intervals, a rule at 1."""
    axis = _axis(lines)
    legend = [entry for entry in LEGEND if any(_look(*entry[1:]) == _look(one.verdict, one.strength) for one in lines)]
    top = LEGEND_HEIGHT * (len(legend) + len(SHAPES)) + 10
    height = top + LINE_HEIGHT * len(lines) + BOTTOM
    drawn = [*_legend(legend), *_ticks_drawn(axis, height)]
    for number, line in enumerate(lines):
        drawn += _line(axis, line, top + LINE_HEIGHT * number)
    title = f"<title>{escape(_spoken(lines))}</title>"
    return svg(WIDTH, height, title + "".join(drawn), ' class="forest" fill="currentColor" font-size="13"')


def _axis(lines: Sequence[ForestLine]) -> _Axis:
    ends = [end for line in lines for end in (line.least, line.most, *(line.ends or ()))]
    low = max(min(*ends, 1 / LEAST_SPAN), 1 / MOST_SPAN)
    return _Axis(low / 1.04, min(max(*ends, LEAST_SPAN), MOST_SPAN) * 1.04)


def _legend(entries: Sequence[tuple[str, str, str]]) -> Iterator[str]:
    """Yield what the looks mean that the picture has."""
    small = f'font-size="11" fill="{OPEN}"'
    for number, (words, verdict, strength) in enumerate(entries):
        top = 4 + number * LEGEND_HEIGHT
        yield f'<rect x="{LEFT}" y="{top}" width="14" height="8" rx="4" {_look(verdict, strength)}/>'
        yield f'<text x="{LEFT + 20}" y="{top + 8}" {small}>{words}</text>'
    for number, words in enumerate(SHAPES, start=len(entries)):
        yield f'<text x="{LEFT}" y="{12 + number * LEGEND_HEIGHT}" {small}>{words}</text>'


def _look(verdict: str, strength: str) -> str:
    """Return how a bar looks: full where it is sure, pale where it is weak, hollow where it is neither."""
    colour = LOOKS.get(verdict, OPEN)
    is_hollow = verdict not in LOOKS or strength == LOOSE
    fill = 'fill="var(--paper, #fff)"' if is_hollow else f'fill="{colour}"'
    pale = ' fill-opacity=".3"' if strength == WEAK and not is_hollow else ""
    return f'{fill}{pale} stroke="{colour}" stroke-width="1.5"'


def _ticks_drawn(axis: _Axis, height: int) -> Iterator[str]:
    bottom = height - BOTTOM
    for tick in _ticks(axis):
        at = axis.x(tick)
        yield f'<text x="{at:.1f}" y="{bottom + 16}" text-anchor="middle" font-size="12">{_tick_text(tick)}</text>'
    yield (
        f'<text x="{WIDTH - RIGHT}" y="{height - 4}" text-anchor="end" font-size="12">'
        "how many times as fast as what is named second \N{RIGHTWARDS ARROW}</text>"
    )


def _line(axis: _Axis, line: ForestLine, top: float) -> Iterator[str]:
    colour, at = LOOKS.get(line.verdict, OPEN), top + BAR
    yield f'<text x="0" y="{top + 13:.1f}">{escape(_short(line.label))}</text>'
    yield f'<text x="0" y="{top + 27:.1f}" font-size="11" fill="{OPEN}">{escape(_short(line.small))}</text>'
    for tick in _ticks(axis):
        look = 'stroke="currentColor"' if tick == 1 else 'stroke="var(--rule, #d8dbe0)"'
        yield f'<path d="M{axis.x(tick):.1f} {at - 7:.1f}v15" {look}/>'
    if line.ends:
        left, right = (axis.x(end) for end in line.ends)
        whiskers = f"M{left:.1f} {at - 5:.1f}v10M{left:.1f} {at:.1f}H{right:.1f}M{right:.1f} {at - 5:.1f}v10"
        yield f'<path d="{whiskers}" fill="none" stroke="{colour}" stroke-width="1.5"/>'
    if max(line.most, *(line.ends or (0.0,))) > axis.high:
        yield f'<text x="{WIDTH}" y="{at + 4:.1f}" text-anchor="end" fill="{colour}">\N{RIGHTWARDS ARROW}</text>'
    left, right = axis.x(line.least), axis.x(line.most)
    width, look = max(8.0, right - left), _look(line.verdict, line.strength)
    place = f'x="{(left + right - width) / 2:.1f}" y="{at - 4:.1f}" width="{width:.1f}" height="8" rx="4"'
    if "fill-opacity" in look:  # the rules behind it do not show through
        yield f'<rect {place} fill="var(--paper, #fff)"/>'
    yield f"<rect {place} {look}/>"


def _short(text: str) -> str:
    return text if len(text) <= MOST_LETTERS else f"{text[: MOST_LETTERS - 1]}\N{HORIZONTAL ELLIPSIS}"


def _spoken(lines: Sequence[ForestLine]) -> str:
    return "; ".join(
        f"{line.label}: {ratio_text(line.least)} to {ratio_text(line.most)} times as fast, {line.verdict}"
        for line in lines
    )


def _ticks(axis: _Axis) -> list[float]:
    """Return round ratios on the axis: finer steps where it is short, 1 always."""
    span = axis.high / axis.low
    steps: tuple[float, ...] = (1, 1.1, 1.2, 1.4, 1.6, 1.8)
    if span > WIDE:
        steps = (1, 10)
    elif span > MIDDLING:
        steps = (1, 2, 5)
    elif span > SHORT:
        steps = (1, 1.5, 2, 3, 5)
    above = [step * 10.0**power for power in range(4) for step in steps]
    every = {1.0, *above, *(1 / tick for tick in above)}
    return sorted(tick for tick in every if axis.low <= tick <= axis.high)


def _tick_text(tick: float) -> str:
    return f"{tick:.0f}" if tick >= 10 else f"{tick:.2g}"
