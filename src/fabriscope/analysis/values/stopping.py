"""How a run comes to its end, and so by which rule its verdicts are taken."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from fabriscope.analysis.numbers.evidence import ANYTIME, CONFIDENCE, FIXED, SEQUENTIAL, Floats, Mean
from fabriscope.analysis.numbers.intervals import MARGIN
from fabriscope.model.blocks import USUAL_BLOCKS
from fabriscope.model.run_data import RunData

ERROR_RATE = 1 - CONFIDENCE
ON_THE_WAY = 0.005
"""What looks before a planned end may err; the verdicts at the end have the rest."""
MOST_ADDED_BLOCKS = 10
"""Of a round of sharpening in a run that goes on until it is decided."""
UNTIL_DECIDED = "decided"
UNTIL_LAUNCHES = "launches"
ADDED_WORDS = "sizes that a round added are judged among themselves"
CHOSEN_WORDS = "Student's t: the number of blocks was chosen by the noise of the first two, not by who leads in them"
TIMED_WORDS = "Student's t: the number of blocks was chosen by the time that the first two took"
UNPAIRED_WORDS = "anytime-valid: the run goes on until its comparisons are decided"
"""Of a run whose pairs are judged by the group-sequential t, which is of ratios inside its blocks."""


@dataclass(frozen=True)
class Rules:
    """How verdicts are taken."""

    method: str = FIXED
    margin: float = MARGIN
    error_rate: float = ERROR_RATE - ON_THE_WAY
    words: str = "Student's t: the number of blocks was fixed before the run"
    horizon: int = 0
    """The most blocks that a run has which is looked at after each: its pairs are judged by the group-sequential t."""

    @property
    def unpaired_words(self) -> str:
        """Return by which rule single values have their intervals, and runs that share no blocks are compared."""
        return UNPAIRED_WORDS if self.horizon else self.words

    def mean(self, values: Sequence[float] | Floats, blur: float = 0.0, *, is_added: bool = False) -> Mean:
        """Return what the differences of a pair say, one for each block, by these rules.

        `is_added` says that a round of sharpening measured them, which has at most MOST_ADDED_BLOCKS.
        """
        if not self.horizon:
            return Mean(values, self.method, blur)
        return Mean(values, SEQUENTIAL, blur, MOST_ADDED_BLOCKS if is_added else self.horizon)


def rules_of(run: RunData) -> Rules:
    """Return the rules of a run.

    Student's t needs a number of blocks that was fixed beforehand, and all of them. A run that goes on until it is
    decided has at most so many, and its pairs are judged by the group-sequential t; its single values, and a run that
    is looked at before its end, by what holds at any time. What a planned number of blocks says before its end and at
    it errs in 5 % together.
    """
    rules = _rules_of(run)
    added = [one for one in run.manifest.additions if one.trials is None]
    return replace(rules, words=f"{rules.words}; {ADDED_WORDS}") if added else rules


def _rules_of(run: RunData) -> Rules:
    plan = run.manifest.plan
    margin = float(plan.margin or MARGIN)
    ended = {record.launch_id for record in run.journal}
    planned = {line.launch_id for line in run.manifest.schedule}
    if plan.until == UNTIL_DECIDED:
        most = max((line.block for line in run.manifest.planned), default=0)
        words = f"group-sequential t: the run goes on until its comparisons are decided, for at most {most} blocks"
        return Rules(ANYTIME, margin, ERROR_RATE, words, most)
    if run.manifest.is_to_choose:
        return Rules(ANYTIME, margin, ON_THE_WAY, "anytime-valid: these are pilots, and more blocks will come")
    if planned - ended:
        words = f"anytime-valid: {len(ended & planned)} of {len(planned)} launches are there, and more may come"
        return Rules(ANYTIME, margin, ON_THE_WAY, words)
    choice = run.manifest.choice
    if choice is None or (choice.because and choice.blocks == USUAL_BLOCKS):
        return Rules(margin=margin)
    return Rules(margin=margin, words=TIMED_WORDS if choice.because else CHOSEN_WORDS)


def rules_of_both(one: Rules, other: Rules) -> Rules:
    """Return the rules of two runs that are compared: the more careful ones, and the first one's margin."""
    careful = one if one.method == ANYTIME or other.method == FIXED else other
    words, error_rate = careful.unpaired_words, min(one.error_rate, other.error_rate)
    return replace(careful, margin=one.margin, error_rate=error_rate, words=words, horizon=0)
