"""What a run that goes on until it is decided has decided, what it still needs, and what more time would buy."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

import polars as pl

from fabriscope.analysis.comparing.compared import UNDECIDED, Compared
from fabriscope.analysis.comparing.comparisons import KINDS, compared
from fabriscope.analysis.comparing.control import CONTROL
from fabriscope.analysis.curve import IDENTITY, Curve
from fabriscope.analysis.numbers.forecasts import MOST_BLOCKS_ADVISED, SEQUENTIAL_FROM, Forecast, joined
from fabriscope.analysis.values.launch_values import launch_values
from fabriscope.analysis.values.stopping import UNTIL_DECIDED, rules_of
from fabriscope.analysis.values.turn_series import turn_series
from fabriscope.model.run_data import RunData


@dataclass(frozen=True)
class State:
    """Where a run stands after some blocks."""

    block_count: int
    decided: int
    """Comparisons, each of one pair at one size."""
    total: int
    open_entries: frozenset[str]
    """Ids of the entries that undecided comparisons are about."""
    blocks_to_decide: Forecast | None
    """How many blocks in all would decide what can be decided; None for nothing."""
    decidable: int
    """How many of the undecided comparisons those blocks would decide; the others differ too little."""
    block_ns: int
    """About how long one more block of the open entries takes."""

    @property
    def is_decided(self) -> bool:
        """Return whether something was to be decided, and nothing is left."""
        return 0 < self.total == self.decided

    def sentence(self) -> str:
        """Return where the run stands, and what more time would buy."""
        if not self.total:
            return f"after {self.block_count} blocks there is nothing to compare"
        head = f"after {self.block_count} blocks {self.decided} of {self.total} comparisons are decided"
        if self.is_decided:
            return head
        hopeless = self.total - self.decided - self.decidable
        if self.blocks_to_decide is None and self.block_count < SEQUENTIAL_FROM:
            return f"{head}; {self.block_count} blocks cannot tell how many more would decide the others"
        if self.blocks_to_decide is None:
            return f"{head}; the others would take more than {MOST_BLOCKS_ADVISED} blocks"
        more = self.blocks_to_decide.less(self.block_count)
        minutes = " to ".join(dict.fromkeys(f"{count * self.block_ns / 60e9:.1f}" for count in more))
        what = f"{self.decidable} of the others" if hopeless else "the others"
        return f"{head}; {more} blocks more, {minutes} minutes, would decide {what}"


def state_of(run: RunData, kinds: Iterable[str] = (), blocks: int | None = None) -> State:
    """Return the state of a run, of its first blocks alone where `blocks` says so; `kinds` of comparison or all."""
    if blocks is not None:
        run = replace(run, journal=tuple(record for record in run.journal if record.block <= blocks))
    values = launch_values(run)
    rows = _compared(run, values, tuple(kinds))
    undecided = [row for row in rows if row.verdict == UNDECIDED]
    of_entries = values.select(*IDENTITY, "entry_id").unique()
    entry_ids = {Curve(*curve): entry_id for *curve, entry_id in of_entries.iter_rows()}
    pairs = [row.pair for row in undecided]
    open_entries = {entry_ids[curve] for pair in pairs for curve in (pair.left_curve, pair.right_curve)}
    known = [row.blocks_to_decide for row in undecided if row.blocks_to_decide is not None]
    return State(
        max((record.block for record in run.journal), default=0),
        len(rows) - len(undecided),
        len(rows),
        frozenset(open_entries),
        joined(known),
        len(known),
        _block_ns(run, open_entries),
    )


def more_time(run: RunData) -> list[str]:
    """Return what a run that goes on until it is decided has decided, and what more time would buy."""
    plan = run.manifest.plan
    if plan.until != UNTIL_DECIDED or not run.journal:
        return []
    sentence = state_of(run, plan.compare or ()).sentence()
    return [f"{sentence[0].upper()}{sentence[1:]}."]


def added_are_decided(run: RunData, kinds: Iterable[str], number: int, blocks: int) -> bool:
    """Return whether the first blocks decide all comparisons at the sizes of a round; without any, nothing is."""
    run = replace(run, journal=tuple(record for record in run.journal if record.block <= blocks))
    rows = _compared(run, launch_values(run).filter(pl.col("round") == number), tuple(kinds))
    return bool(rows) and all(row.verdict != UNDECIDED for row in rows)


def _compared(run: RunData, values: pl.DataFrame, kinds: tuple[str, ...]) -> list[Compared]:
    asked = [kind for name, kind in KINDS.items() if name != CONTROL and (name in kinds or not kinds)]
    turns = run.once(turn_series)
    return [row for kind in asked for row in compared(values, kind, rules_of(run), turns)]


def _block_ns(run: RunData, entry_ids: Iterable[str]) -> int:
    """Return how long the launches of these entries take together, on average."""
    total = 0.0
    for entry_id in entry_ids:
        times = [record.elapsed_ns for record in run.journal if record.entry_id == entry_id]
        total += sum(times) / len(times) if times else 0.0
    return round(total)
