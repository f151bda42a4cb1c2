"""Levels over a run as SVG: a strip for each entry, its launches where they were in time, slower above the middle."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from markupsafe import Markup, escape

from fabriscope.analysis.values.levels import EntryLevels, LaunchLevels, thinned
from fabriscope.analysis.words import percent
from fabriscope.reports._cells import svg

WIDTH, LEFT, RIGHT, STRIP, BOTTOM = 560, 4, 44, 58, 34
HALF = 16
"""Of the part of a strip that levels are drawn in."""
LEAST_RATIO, MOST_RATIO = 1.05, 2.0
"""The scale ends at the largest level, but not below the first, and what is beyond the second is drawn there."""
MOST_POINTS = 40
"""Of one launch."""


def level_picture(entries: Sequence[EntryLevels]) -> Markup:
    """Return the strips as SVG; labels are escaped."""
    launches = [launch for entry in entries for launch in entry.launches]
    end_s = max(launch.began_s + launch.took_s for launch in launches) or 1.0
    farthest = max(abs(math.log(ratio)) for launch in launches for ratio in launch.ratios)
    most = min(max(farthest, math.log(LEAST_RATIO)), math.log(MOST_RATIO))
    drawn = [part for place, entry in enumerate(entries) for part in _strip(entry, place * STRIP, end_s, most)]
    height = STRIP * len(entries) + BOTTOM
    drawn += _time_axis(end_s, height)
    return svg(WIDTH, height, "".join(drawn), ' fill="currentColor" font-size="12"')


def _strip(entry: EntryLevels, top: int, end_s: float, most: float) -> Iterator[str]:
    middle = top + STRIP - HALF - 4
    yield f'<text x="0" y="{top + 14}">{escape(entry.label)}</text>'
    yield f'<path d="M{LEFT} {middle}H{WIDTH - RIGHT}" stroke="var(--rule, #d8dbe0)"/>'
    for sign, text in ((1, f"+{percent(math.exp(most))} %"), (-1, "")):
        dashed = 'stroke="var(--rule, #d8dbe0)" stroke-dasharray="2 4"'
        yield f'<path d="M{LEFT} {middle - sign * HALF}H{WIDTH - RIGHT}" {dashed}/>'
        yield f'<text x="{WIDTH}" y="{middle - sign * HALF + 4}" text-anchor="end" font-size="10">{text}</text>'
    for launch in entry.launches:
        yield _line(launch, middle, end_s, most)


def _line(launch: LaunchLevels, middle: float, end_s: float, most: float) -> str:
    ratios = thinned(launch.ratios, MOST_POINTS)
    places = []
    for number, ratio in enumerate(ratios):
        time_s = launch.began_s + launch.took_s * (number + 0.5) / len(ratios)
        level = max(-most, min(most, math.log(ratio))) / most
        places.append(f"{LEFT + (WIDTH - LEFT - RIGHT) * time_s / end_s:.1f} {middle - HALF * level:.1f}")
    cap = 'stroke-width="1.6" stroke-linecap="round" fill="none" stroke="var(--accent, #0b6aa8)"'
    return f'<path d="M{"L".join(places)}{"h0.1" if len(places) == 1 else ""}" {cap}/>'


def _time_axis(end_s: float, height: int) -> Iterator[str]:
    unit, name = (60.0, "min") if end_s > 180 else (1.0, "s")
    step = next(step for step in (1, 2, 5, 10, 20, 30, 60, 120, 240, 480, 10**6) if end_s / unit / step <= 6)
    for number in range(int(end_s / unit / step) + 1):
        at = LEFT + (WIDTH - LEFT - RIGHT) * number * step * unit / end_s
        yield f'<text x="{at:.1f}" y="{height - 16}" text-anchor="middle" font-size="11">{number * step}</text>'
    words = f"{name} since the first launch"
    yield f'<text x="{WIDTH - RIGHT}" y="{height - 2}" text-anchor="end" font-size="11">{words}</text>'
