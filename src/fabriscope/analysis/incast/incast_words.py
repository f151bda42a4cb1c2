"""Many to one in the first sentences: what came of each fabric beside the others, and which windows are refused."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from fabriscope.analysis.incast.points import COLLAPSES, UNDECIDED, UNFAIR, IncastCurve, IncastPoint
from fabriscope.analysis.rows import parts
from fabriscope.analysis.values.streams import AGGREGATE, LEAST_OVERLAP, SLOWEST, StreamWindow
from fabriscope.analysis.words import size_text, time_text, value_text
from fabriscope.model.counting import counted, listed

MOST_SENTENCES = 2
MOST_CURVES = 4
MOST_LAUNCHES = 6
_ORDER = (COLLAPSES, UNFAIR, UNDECIDED)
"""What is told first."""


def incast_sentences(curves: Sequence[IncastCurve]) -> Iterator[str]:
    """Yield a sentence for each message size, of all that differ in fabric, layer or library alone."""
    groups = parts(
        curves, lambda one: (one.curve.benchmark, one.curve.series, one.receiver_count, one.message_size_bytes)
    )
    for group in groups[:MOST_SENTENCES]:
        told = sorted(group, key=lambda one: _ORDER.index(one.state) if one.state in _ORDER else len(_ORDER))
        said = [_said(one) for one in told[:MOST_CURVES]]
        said += [f"{len(told) - MOST_CURVES} more in their table"] if len(told) > MOST_CURVES else []
        first = group[0]
        what = "Many to one" if first.receiver_count == 1 else f"Many to {first.receiver_count}"
        series = f", {first.curve.series}" if first.curve.series else ""
        yield f"{what}, {size_text(first.message_size_bytes)}{series}: {'; '.join(said)}."
    if len(groups) > MOST_SENTENCES:
        yield f"{counted(len(groups) - MOST_SENTENCES, 'more result')} of many to one in their table."


def _said(one: IncastCurve) -> str:
    name = one.curve.label(ranks=False, series=False)
    verdict = f"is {one.verdict}" if one.state in (UNFAIR, UNDECIDED) else one.verdict
    verdict += f", {one.because.partition(';')[0]}" if one.state == UNDECIDED else ""
    told = [point for point in one.points if point.aggregate.value is not None]
    if not told:
        return f"{name} {verdict}"
    worst = min(told, key=lambda point: (point.fairness if point.fairness is not None else 1.0, -point.stream_count))
    shown = worst if one.state == UNFAIR else told[-1]
    return f"{name} {verdict} ({_numbers(shown)})"


def _numbers(point: IncastPoint) -> str:
    words = [f"{value_text(point.aggregate.value, AGGREGATE)} with {counted(point.stream_count, 'stream')}"]
    if point.stream_count > 1:
        words += [f"Jain's index {point.fairness:.2f}"] if point.fairness is not None else []
        slowest = point.slowest_bytes_per_s
        words += [f"the slowest stream {value_text(slowest, SLOWEST)}"] if slowest is not None else []
    return ", ".join(words)


def refused_sentence(windows: Mapping[tuple[int, str], Sequence[StreamWindow]]) -> str:
    """Return how many windows of the launches' streams are refused, which launches have no sum, and why.

    Nothing where none is.
    """
    every = [window for of_launch in windows.values() for window in of_launch]
    refused = [window for window in every if not window.is_comparable]
    if not refused:
        return ""
    empty = {launch for (launch, _), of in windows.items() if of and not any(window.is_comparable for window in of)}
    names = [str(launch) for launch in sorted(empty)]
    names = [*names[:MOST_LAUNCHES], f"{len(names) - MOST_LAUNCHES} more"] if len(names) > MOST_LAUNCHES else names
    of_them = "launch" if len(names) == 1 else "launches"
    lost = f", and {of_them} {listed(names)} lack an aggregate" if len(names) > 1 else ""
    lost = f", and {of_them} {names[0]} lacks an aggregate" if len(names) == 1 else lost
    worst = min(refused, key=lambda window: window.overlap)
    told = f"{len(refused)} of {counted(len(every), 'window')} {'is' if len(refused) == 1 else 'are'} refused{lost}"
    if worst.overlap >= LEAST_OVERLAP:
        few = "fewer messages came than streams were sent, which says little of what came when"
        return f"{told}: {few}; a longer `duration` or shorter messages help."
    return (
        f"{told}: all streams were sent at once in less than {LEAST_OVERLAP:.0%} of the window (at worst"
        f" {worst.overlap:.0%} of {time_text(worst.duration_ns)}), so that their sum is none; a longer `duration` or a"
        " quieter machine helps."
    )
