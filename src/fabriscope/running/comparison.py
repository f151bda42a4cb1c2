"""Brings run folders and what is asked of them together into one answer: what `fabriscope compare` prints."""

from __future__ import annotations

import contextlib
import dataclasses
import itertools
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import polars as pl

from fabriscope import store
from fabriscope.analysis.comparing import choices, conditions, levels
from fabriscope.analysis.comparing.compared import Compared
from fabriscope.analysis.comparing.comparisons import KINDS, families
from fabriscope.analysis.comparing.conditions import MET, OPEN, Condition
from fabriscope.analysis.comparing.findings import findings, refuted_sentences
from fabriscope.analysis.comparing.judging import Family, judged
from fabriscope.analysis.comparing.ranges import ranges
from fabriscope.analysis.results import results_of
from fabriscope.analysis.values import slow_launches
from fabriscope.analysis.values.kept_state import KeptState
from fabriscope.analysis.values.known_traps import known_traps, sentences
from fabriscope.analysis.values.stopping import Rules, rules_of, rules_of_both
from fabriscope.analysis.values.tail_words import tail_notes
from fabriscope.analysis.values.tails import tail_values
from fabriscope.analysis.values.turn_series import NO_TURNS, SeriesOf, turn_series
from fabriscope.analysis.words import UNKNOWN, message_text, ratio_interval_text, ratio_text, value_text
from fabriscope.model.errors import FabriscopeError
from fabriscope.model.run_data import RunData
from fabriscope.running import same_launches
from fabriscope.running.evaluation import evaluating

UNPAIRED = (
    "the two runs share no blocks: compared unpaired, launch against launch; what changed on the machine between them "
    "counts as a difference"
)
_PAIRED_RATIO = (
    "it is the mean of the ratios inside blocks, and need not be the quotient of the two values, which are medians; "
    "sentences state leads with more caution than the table, since those that luck made larger are shown more often"
)
_UNPAIRED_RATIO = (
    "it is that of the means over each run's launches (geometric), and need not be the quotient of the two values, "
    "which are medians"
)


class SelectionError(FabriscopeError):
    """What is asked for is not in the run."""

    exit_code = 2


@dataclass(frozen=True)
class Pair:
    """One pair of curves: its sizes, and what they say together."""

    where: str
    text: str
    sides: tuple[str, str]
    rows: list[Compared]
    answers: dict[str, list[str]]
    """Condition to its answer for each row."""

    def cells(self) -> list[list[str]]:
        """Return the rows as they are printed."""
        return [
            [
                message_text(row.pair.left_curve.benchmark, row.message_size_bytes),
                *(value_text(value, row.pair.metric_id) for value in (row.left_value, row.right_value)),
                ratio_text(row.ratio),
                ratio_interval_text(row.low, row.high) or UNKNOWN,
                row.verdict + (f" ({row.blocks_to_decide} would decide)" if row.blocks_to_decide else ""),
                *(answer[index] for answer in self.answers.values()),
            ]
            for index, row in enumerate(self.rows)
        ]


@dataclass(frozen=True)
class Comparison:
    """What was compared, how, and what came of it."""

    title: str
    rules: Rules
    is_paired: bool
    notes: list[str]
    conditions: list[str]
    pairs: list[Pair] = field(default_factory=list)
    control_failed: bool = False
    lost_count: int = 0
    """Cases that the baseline has values of, and that the run tried without getting one."""

    @property
    def is_failed(self) -> bool:
        """Return whether a condition is met anywhere, or cannot be judged since the run lost what it tried."""
        return bool(self._count(MET)) or bool(self.conditions and self.lost_count)

    def conclusions(self) -> list[str]:
        """Return what came of the conditions, in sentences."""
        said = []
        for name in self.conditions:
            met, undecided, total = self._count(MET, name), self._count(OPEN, name), self._count(None, name)
            if met:
                alike = conditions.inside_margin(name, [(one.rows, one.answers) for one in self.pairs], self.rules)
                said.append(f"FAILED: {name} is met at {met} of {total} sizes.{alike}")
            elif undecided:
                why = "no launches show that nothing differs" if name == "different" else "more launches would tell"
                open_at = f"not ruled out at {undecided}: {why}"
                said.append(f"not decided: {name} is met at none of {total} sizes, and {open_at}.")
            else:
                said.append(f"passed: {name} is met at none of {total} sizes.")
        if self.conditions and self.lost_count:
            said.append(f"FAILED: what the baseline has values of failed in the run, cases: {self.lost_count}.")
        if self.control_failed:
            said.append("The A/A control failed: nothing of this can be trusted.")
        return said

    def as_dict(self) -> dict[str, Any]:
        """Return everything, for JSON."""
        return {
            "title": self.title,
            "paired": self.is_paired,
            "rules": dataclasses.asdict(self.rules),
            "notes": self.notes,
            "failed": self.is_failed,
            "control_failed": self.control_failed,
            "lost_cases": self.lost_count,
            "conditions": {
                name: {"met": self._count(MET, name), "open": self._count(OPEN, name), "sizes": self._count(None, name)}
                for name in self.conditions
            },
            "pairs": [{**vars(pair), "rows": [row.columns() for row in pair.rows]} for pair in self.pairs],
        }

    def _count(self, wanted: str | None, condition: str | None = None) -> int:
        told = [pair.answers[name] for pair in self.pairs for name in pair.answers if condition in (None, name)]
        said = [one for all_of in told for one in all_of]
        return len(said) if wanted is None else said.count(wanted)


def of(
    paths: Sequence[Path],
    left: str | None,
    right: str | None,
    wanted: Sequence[Condition],
    margin: float | None,
    percentile: str | None = None,
) -> Comparison:
    """Return the comparison of one run's entries, or of two runs: the last path's against the first's.

    It is of what launches typically took, or of a `percentile` of their operations (`p99`). A condition counts once,
    however often it is given. Raises StoreError, SelectionError for a selection that is not in the run, or
    SameLaunches.
    """
    wanted = conditions.distinct(wanted)
    runs = [store.open_run(path).read() for path in paths]
    same_launches.refuse(paths, runs)
    with contextlib.ExitStack() as borders:
        for path in paths:
            borders.enter_context(evaluating(path))
        values = [_values(run, percentile) for run in runs]
        controls = [results_of(run).control for run in runs]
        turns = NO_TURNS if percentile else runs[0].once(turn_series)
        found = _compared(paths, runs, values, left, right, wanted, margin, turns)
    if wanted and not found.pairs:
        text = "nothing can be compared, so that no condition can be judged"
        raise SelectionError(text, where=str(paths[-1]), fix="compare runs of one plan: the same fabrics and sizes")
    notes = [*found.notes, *(control.sentence() for control in controls if control is not None)]
    notes += [sentence for run in runs for sentence in (*refuted_sentences(run), results_of(run).refused) if sentence]
    if percentile:
        notes += tail_notes([(one.launch_tails, one.launch_values) for one in map(results_of, runs)], percentile)
    notes += [f"{path}: {note}" for path, run in zip(paths, runs, strict=True) for note in run.notes]
    every = [(path.resolve().name, results_of(run).launch_values) for path, run in zip(paths, runs, strict=True)]
    notes += [*_traps(runs, found.pairs), *slow_launches.of_runs(every)]
    failed = any(control is not None and control.is_failed for control in controls)
    return dataclasses.replace(found, notes=notes, control_failed=failed)


def _traps(runs: Sequence[RunData], pairs: Sequence[Pair]) -> list[str]:
    """Return the known traps of the numbers that are compared, a sentence each."""
    known = [row.pair for pair in pairs for row in pair.rows[:1]]
    compared = {(curve, pair.metric_id) for pair in known for curve in (pair.left_curve, pair.right_curve)}
    told = [
        trap
        for run in runs
        for trap in known_traps(run, results_of(run).graded)
        if (trap.curve, trap.metric_id) in compared
    ]
    return [f"known trap {sentence}" for sentence in sentences(dict.fromkeys(told))]


def _values(run: RunData, percentile: str | None) -> pl.DataFrame:
    results = results_of(run)
    if percentile is None:
        return results.launch_values
    return tail_values(results.launch_tails, results.launch_values, percentile)


def _compared(
    paths: Sequence[Path],
    runs: list[RunData],
    values: list[pl.DataFrame],
    left: str | None,
    right: str | None,
    wanted: Sequence[Condition],
    margin: float | None,
    turns: SeriesOf,
) -> Comparison:
    if len(runs) == 2:
        return _of_two(paths, runs, values, wanted, margin)
    run, rules = runs[0], _with_margin(rules_of(runs[0]), margin)
    if left is None or right is None:
        found = [one for kind in KINDS.values() for one in families(values[0], kind, rules, turns)]
        title = f"{run.manifest.name}: every comparison"
    else:
        try:
            every = results_of(run).launch_values  # of a percentile fewer launches have a value
            sides = [choices.selection(text, run, every) for text in (left, right)]
        except ValueError as error:
            raise SelectionError(str(error), where=str(paths[0])) from error
        found = choices.entries_compared(values[0], sides[0], sides[1], rules, turns)
        title = f"{run.manifest.name}: {left} against {right}"
    notes = [f"paired inside the blocks of one run; {_rules_text(rules)}", _paired_text(left)]
    notes += levels.guarded(found).notes() if wanted else []
    return Comparison(title, rules, True, notes, [one.text() for one in wanted], _pairs(found, wanted, rules))


def _of_two(
    paths: Sequence[Path],
    runs: list[RunData],
    values: list[pl.DataFrame],
    wanted: Sequence[Condition],
    margin: float | None,
) -> Comparison:
    each = rules_of(runs[1]), rules_of(runs[0])
    rules = _with_margin(rules_of_both(*each), margin)
    labels = [path.resolve().name for path in (paths[1], paths[0])]
    names = labels if labels[0] != labels[1] else [str(paths[1]), str(paths[0])]
    both = (runs[1], runs[0]), (values[1], values[0]), (names[0], names[1])
    found, refused = choices.runs_compared(*both, each)
    notes = [UNPAIRED, _rules_text(rules), f"ratio: how many times as fast {names[0]} is; {_UNPAIRED_RATIO}"]
    notes += choices.notes_of(*both, found, refused) + (levels.guarded(found).notes() if wanted else [])
    states = [results_of(run).kept_state for run in (runs[1], runs[0])]
    notes += [note for name, state in zip(names, states, strict=True) if (note := _of_hour(name, state))]
    title = f"{names[0]} against {names[1]}"
    compared = Comparison(title, rules, False, notes, [one.text() for one in wanted], _pairs(found, wanted, rules))
    return dataclasses.replace(compared, lost_count=len(_lost_cases(runs, values)))


def _of_hour(name: str, state: KeptState) -> str:
    """Return what a run's hour may have to do with a difference; nothing where no state was seen that could be."""
    if state.is_seen:
        return (
            f"in {name} the machine's speed {state.may}changed between stretches of launches: how far that may shift "
            "its values is part of every interval"
        )
    if state.spare_count and not state.is_told:
        return (
            f"the {state.launch_count} launches of {name} cannot tell whether the machine keeps a state from launch to "
            "launch: a difference may be that of two hours"
        )
    return ""


def _lost_cases(runs: list[RunData], values: list[pl.DataFrame]) -> set[str]:
    baseline, run = (set(of_run["case_id"]) for of_run in values)
    return (baseline & set(runs[1].manifest.cases)) - run


def _with_margin(rules: Rules, margin: float | None) -> Rules:
    return rules if margin is None else dataclasses.replace(rules, margin=margin)


def _rules_text(rules: Rules) -> str:
    return f"{rules.words}; equivalent means within {rules.margin * 100:g} %"


def _paired_text(left: str | None) -> str:
    """Return what a ratio inside blocks is, and of what; `left` is what was asked for, if anything."""
    return f"ratio: how many times as fast {left or 'what heads the left column of values'} is; {_PAIRED_RATIO}"


def _pairs(found: list[Family], wanted: Sequence[Condition], rules: Rules) -> list[Pair]:
    rows_left = iter(judged(found, rules))
    all_judged = [(one, list(itertools.islice(rows_left, len(one.spots)))) for one in found]
    told = conditions.answers(wanted, all_judged, rules)
    pairs = []
    for (one, rows), answers in zip(all_judged, told, strict=True):
        (finding,) = findings(ranges(rows))
        pairs.append(Pair(finding.where, finding.text, (one.pair.left, one.pair.right), rows, answers))
    return pairs
