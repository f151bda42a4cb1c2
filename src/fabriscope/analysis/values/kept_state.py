"""Whether the machine kept a state from launch to launch, and what that leaves open of single values.

All entries' launches together, in the order of time, see what the few of one entry cannot. Where a state lasts, all
launches of a run met a part of what the machine is like: an interval over them is of that hour, and is widened by what
other hours may bring. Ratios inside blocks are of launches that met the same state, and are not widened.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import polars as pl

from fabriscope.analysis.numbers.evidence import Floats
from fabriscope.analysis.numbers.levels import p_without_levels
from fabriscope.analysis.numbers.persistence import Ints, offset, p_of_independence, standardized
from fabriscope.analysis.values.clock_steps import STEP
from fabriscope.model.blocks import LEAST_BLOCKS
from fabriscope.model.metrics import metric_of
from fabriscope.model.run_data import RunData

KEPT = "kept_state"
SEEN_BELOW = 0.1
"""A p-value below which a state counts as seen: an interval that is widened in vain costs width, not truth."""
SHOWN_BELOW = 0.05
"""A p-value below which a state is told as a fact."""
TELLING = 16
"""Launches beyond the first of each entry: with fewer, a state that lasts for five launches is missed in one run of
four and more often (`campaigns.statistics.kept_states`)."""

OFTEN = 0.2
"""The share of launches from which on another level is none that only a few launches meet, past which medians lie."""
LEVELS_BELOW = 0.01
"""How often launches of normal distributions are to be said to come on levels."""


@dataclass(frozen=True)
class KeptState:
    """What a run's launches, in the order of time, say of it."""

    launch_count: int = 0
    spare_count: int = 0
    """Launches beyond the first of each entry and round; those that measured in turns count as one."""
    p_value: float = 1.0
    """Of the hypothesis that launches have nothing of those before them."""
    lasting: float = 0.0
    """About how many launches, one after the other, a state lasts; 0 where none was seen."""
    halves: Mapping[tuple[str, int], float] = field(default_factory=dict)
    """Entry id and round to the half-width, as a logarithm, that belongs into the square of an interval's."""
    has_levels: bool = False
    """Launches come on few levels with little between them, of which the few of an entry may all have met one."""

    @property
    def is_seen(self) -> bool:
        """Return whether the machine is taken to keep a state."""
        return self.p_value < SEEN_BELOW

    @property
    def is_told(self) -> bool:
        """Return whether there are enough launches for a state to be seen, were there one."""
        return self.spare_count >= TELLING

    @property
    def may(self) -> str:
        """Return what goes before that the speed changed: nothing where that is shown, else `may have `."""
        return "" if self.p_value < SHOWN_BELOW else "may have "

    def sentence(self) -> str:
        """Return what a reader must know of the intervals of single values; nothing where there is nothing to know."""
        if self.is_seen:
            count = f"{self.lasting:.0f} launches"
            held = f"{self.may}held for stretches of about {count} and changed"
            return (
                f"The machine's speed {held} between them (chance alone looks so with p = {self.p_value:.2g},"
                f" {self.launch_count} launches): the interval of a single value is wider for it and still of this"
                " hour, another day may differ by more. Ratios inside blocks are of launches that met the same speed:"
                " their intervals are not widened, though what waits by looking may gain or lose more by another speed"
                " than what sleeps."
            )
        if not self.spare_count:
            return ""
        if not self.is_told:
            return (
                f"{self.launch_count} launches cannot tell whether the machine keeps a state from launch to launch:"
                " where it does, the interval of a single value is of this hour."
            )
        return f"No state that lasts from launch to launch was seen in {self.launch_count} launches."


NOT_ASKED = KeptState()
Order = Mapping[int, tuple[float, str]]
"""Launch id to when it began, in s, and what the launches share that measured in turns with each other."""
Entry = tuple[str, int]
"""Entry id and round: launches of one are alike in what they measure."""


@dataclass(frozen=True)
class _Slot:
    """What ran at one time: a launch, or those that measured in turns with each other."""

    began: float
    kind: tuple[int, ...]
    """The entries, by their place."""
    level: float
    """The mean over them, in standard deviations."""


def order_of(run: RunData) -> Order:
    """Return when the launches of a run began, and which measured in turns with each other; of none read from logs.

    A run that does not say when is taken to have made its launches one after the other, at equal distances.
    """
    own = [record for record in run.journal if record.details.read_from is None]
    is_timed = all(record.started_unix_ns for record in own)
    return {
        record.launch_id: (
            record.started_unix_ns / 1e9 if is_timed else float(record.launch_id),
            record.details.turn_group or f"launch {record.launch_id}",
        )
        for record in own
    }


def kept_state(values: pl.DataFrame, order: Order) -> KeptState:
    """Return what launch values say of the machine's state.

    A launch's level is the median over its cases and metrics of how much slower it was than their mean. Launches that
    measured in turns with each other met one state, and count as one.
    """
    levels = [row for row in levels_of(values) if row[0] in order]
    return replace(_kept_state(levels, order), has_levels=_has_levels(levels, _steps(values)))


def _steps(values: pl.DataFrame) -> dict[str, float]:
    """Return entry id to the longest step of the clock behind its values, a share of them."""
    if STEP not in values.columns:
        return {}
    return dict(values.group_by("entry_id").agg(pl.col(STEP).max()).iter_rows())


def _has_levels(levels: Sequence[tuple[int, Entry, float]], steps: Mapping[str, float]) -> bool:
    """Return whether launches come on levels that are not those of a clock's steps."""
    of_entries: dict[Entry, list[float]] = {}
    for _, entry, level in levels:
        of_entries.setdefault(entry, []).append(level)
    series = [
        np.array(some)
        for (entry_id, _), some in of_entries.items()
        if len(some) >= LEAST_BLOCKS and np.diff(np.sort(some)).max() > 2 * steps.get(entry_id, 0.0)
    ]
    return p_without_levels(series) < LEVELS_BELOW and _share_aside(series) >= OFTEN


def _share_aside(series: Sequence[Floats]) -> float:
    """Return which share of all launches lies on the smaller side of its entry's widest gap, where that is wide."""
    ordered = [np.sort(values) for values in series]
    gaps = [np.diff(values) for values in ordered]
    widest = max(float(gap.max()) for gap in gaps)
    below = [(int(gap.argmax()) + 1, len(gap) + 1) for gap in gaps if gap.max() > widest / 2]
    return sum(min(count, of - count) for count, of in below) / sum(map(len, ordered))


def _kept_state(levels: Sequence[tuple[int, Entry, float]], order: Order) -> KeptState:
    names: list[Entry] = list(dict.fromkeys(entry for _, entry, _ in levels))
    entries = np.array([names.index(entry) for _, entry, _ in levels], dtype=np.int64)
    scaled, deviations = standardized(np.array([level for _, _, level in levels]), entries)
    slots = _slots([launch for launch, _, _ in levels], entries, scaled, deviations, order)
    places = {kind: at for at, kind in enumerate(dict.fromkeys(slot.kind for slot in slots))}
    spare = len(slots) - len(places)
    if spare < 1:
        return KeptState(len(levels))
    kinds = np.array([places[slot.kind] for slot in slots], dtype=np.int64)
    times = np.array([slot.began for slot in slots])
    level, spreads = standardized(np.array([slot.level for slot in slots]), kinds)
    p_value = p_of_independence(level, kinds, times)
    if p_value >= SEEN_BELOW:
        return KeptState(len(levels), spare, p_value)
    found = offset(level, kinds, times)
    halves: dict[Entry, float] = {}
    for kind, at in places.items():
        for entry in kind:
            half = float(found.halves[at] * spreads[at] * deviations[entry])
            halves[names[entry]] = max(half, halves.get(names[entry], 0.0))
    together = len(levels) / len(slots)
    usual = float(np.mean(np.diff(times))) or 1.0
    return KeptState(len(levels), spare, p_value, max(1.0, together * found.lasting / usual), halves)


def with_kept_state(values: pl.DataFrame, order: Order) -> pl.DataFrame:
    """Return launch values with a column KEPT: what the machine's state adds to the interval of the value's case.

    It is a half-width, as a logarithm, whose square is added to that of the interval's; 0 where no state was seen.
    """
    halves = kept_state(values, order).halves
    rows = [(*entry, half) for entry, half in halves.items()]
    known = pl.DataFrame(rows, schema={"entry_id": pl.String, "round": pl.Int32, KEPT: pl.Float64}, orient="row")
    joined = values.join(known, on=["entry_id", "round"], how="left", maintain_order="left")
    return joined.with_columns(pl.col(KEPT).fill_null(0.0))


def levels_of(values: pl.DataFrame) -> list[tuple[int, Entry, float]]:
    """Return launch id, entry and level of each launch: how much slower it was, the median over its cases, as a log."""
    sound = values.filter(pl.col("value") > 0, ~pl.col("impossible"))
    ways = {name: -metric_of(name).sign for name in sound.get_column("metric_id").unique().to_list()}
    slower = pl.col("value").log() * pl.col("metric_id").replace_strict(ways, default=1, return_dtype=pl.Int64)
    centred = slower - slower.mean().over("case_id", "metric_id", "round")
    grouped = (
        sound.with_columns(centred.alias("_level"))
        .group_by("launch_id", "entry_id", "round", maintain_order=True)
        .agg(pl.col("_level").median())
    )
    return [(launch, (entry, number), level) for launch, entry, number, level in grouped.iter_rows()]


def _slots(launch_ids: list[int], entries: Ints, scaled: Floats, deviations: Floats, order: Order) -> list[_Slot]:
    """Return what ran at one time, in the order of time; launches of entries that never vary are left out."""
    together: dict[str, list[int]] = {}
    for place, launch_id in enumerate(launch_ids):
        if deviations[entries[place]] > 0:
            together.setdefault(order[launch_id][1], []).append(place)
    slots = [
        _Slot(
            min(order[launch_ids[place]][0] for place in places),
            tuple(sorted(int(entries[place]) for place in places)),
            float(scaled[places].mean()),
        )
        for places in together.values()
    ]
    return sorted(slots, key=lambda slot: slot.began)
