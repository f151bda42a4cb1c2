"""What the pilots of a run tell of its noise: what launches differ by, and what their bursts do."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from fabriscope.analysis.comparing.comparisons import KINDS, Key, families, series_of, takes_means
from fabriscope.analysis.comparing.control import CONTROL
from fabriscope.analysis.curve import IDENTITY, Curve
from fabriscope.analysis.numbers.block_counts import MOST_RATIO, NOISES_APART, Noises, agreed, freedom_of, pooled
from fabriscope.analysis.numbers.neighbours import Series, variance, variance_apart
from fabriscope.analysis.values.launch_values import launch_values
from fabriscope.analysis.values.stopping import Rules
from fabriscope.analysis.values.turn_series import burst_series, turn_series
from fabriscope.analysis.words import significant
from fabriscope.model.blocks import LEAST_BLOCKS, PILOT_BLOCKS, USUAL_BLOCKS
from fabriscope.model.manifest import BlockChoice
from fabriscope.model.run_data import RunData


@dataclass(frozen=True)
class _Told:
    """What one comparison says: variances of its log ratio."""

    entry_ids: frozenset[str]
    of_blocks: float
    of_launches: float


def noises_of(run: RunData, kinds: Iterable[str], pilot_s: float) -> Noises | None:
    """Return the noises of a log ratio, of all comparisons of these kinds (all without any) that both pilots tell.

    None where there are none. `pilot_s` is how long a launch of the pilots measured.
    """
    wanted = tuple(kinds)
    asked = [name for name in KINDS if name != CONTROL and (name in wanted or not wanted)]
    told = [one for one in _told(run, asked) if one.of_launches > 0]
    if not told:
        return None
    entries = len(frozenset.union(*(one.entry_ids for one in told)))
    of_blocks, of_launches = ([getattr(one, name) for one in told] for name in ("of_blocks", "of_launches"))
    return pooled(of_blocks, of_launches, freedom_of(entries, len(told)), pilot_s)


def _told(run: RunData, kinds: Sequence[str]) -> Iterator[_Told]:
    values, turns = launch_values(run), run.once(turn_series)
    series = series_of(values, {**run.once(burst_series), **turns})
    entry_ids = {Curve(*curve): name for *curve, name in values.select(*IDENTITY, "entry_id").unique().iter_rows()}
    for kind in kinds:
        for family in families(values, KINDS[kind], Rules(), turns):
            pair = family.pair
            left, right = (series.get(Key(curve, pair.metric_id), {}) for curve in (pair.left_curve, pair.right_curve))
            ids = frozenset(entry_ids[curve] for curve in (pair.left_curve, pair.right_curve))
            for spot in family.spots:
                places = [place for place in left.keys() & right.keys() if place[0] == spot.size_bytes]
                if spot.evidence.count < PILOT_BLOCKS or not places:
                    continue
                of_means = takes_means(pair.metric_id)
                inside = agreed([_inside(left[one], right[one], of_means=of_means) for one in places], NOISES_APART)
                of_blocks = spot.evidence.spread**2
                yield _Told(ids, of_blocks, max(inside, of_blocks / MOST_RATIO))


def _inside(left: Series, right: Series, *, of_means: bool) -> float:
    """Return which variance of a block's log ratio is seen inside its launches."""
    apart = variance_apart(left, of_means=of_means) + variance_apart(right, of_means=of_means)
    return min(apart, variance(left, right, of_means=of_means)) if left.group == right.group else apart


def choice_words(choice: BlockChoice) -> str:
    """Return how many blocks were chosen, and why."""
    blocks = f"{choice.blocks} blocks of {_seconds(choice.launch_ns)} a launch"
    if choice.because:
        return f"{blocks}: {choice.because}"
    if choice.half_width is None or choice.between is None or choice.inside is None:
        return f"{blocks}: the budget is enough for no more than {LEAST_BLOCKS}, the fewest that decide anything"
    instead = ""
    if choice.usual_half_width is not None:
        instead = f" instead of {_percent(choice.usual_half_width)} with {USUAL_BLOCKS}"
    why = f"{blocks} make the expected interval narrowest: "
    if choice.is_only:
        why = f"{blocks}: the budget is enough for no more, and a verdict needs {LEAST_BLOCKS}; expected are "
    return (
        f"{why}{_percent(choice.half_width)} either way{instead}"
        f" (launches differ by {_percent(choice.between)}, the noise inside them adds {_percent(choice.inside)},"
        f" a block starts in {_seconds(choice.start_ns)})"
    )


def _percent(log: float) -> str:
    return f"{significant(100 * math.expm1(log), 2)} %"


def _seconds(length_ns: int) -> str:
    return f"{significant(length_ns / 1e9, 2)} s"
