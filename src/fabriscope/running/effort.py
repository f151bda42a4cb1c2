"""Which launches of a schedule are made: all of them, or those that still decide something."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from fabriscope import bug_log, store
from fabriscope import plan as plans
from fabriscope.analysis.comparing.decisions import State, state_of
from fabriscope.analysis.numbers.intervals import LEAST_BLOCKS
from fabriscope.analysis.values.stopping import UNTIL_DECIDED
from fabriscope.model.case import beside_words
from fabriscope.model.counting import counted
from fabriscope.model.measurement import Launch
from fabriscope.model.record import LaunchRecord
from fabriscope.progress import Progress


class Effort:
    """Says of every launch, in the order of the schedule, whether it is worth its time.

    Under `until: decided` it looks after every block, at that block's and earlier ones' data alone: a resumed run
    comes to the same answers.
    """

    def __init__(self, plan: plans.Plan, folder: store.RunFolder, progress: Progress) -> None:
        self.is_adaptive = plan.section.until == UNTIL_DECIDED
        self._section = plan.section
        self._folder = folder
        self._progress = progress
        self._made = frozenset(folder.done())
        self._begun = max((record.block for record in folder.done().values()), default=0)
        self._looked_at: int | None = None
        self._state: State | None = None
        self._is_over = bool(folder.manifest.additions)  # sizes were added to what had come to its end

    def announce(self, wanted: Sequence[Launch]) -> None:
        """Say beforehand which launches are not of what the plan asks about, and about how long it takes at most."""
        if beside := beside_words(launch.entry for launch in wanted):
            self._progress.say(f"among the {counted(len(wanted), 'launch')}: {beside}")
        if self.is_adaptive and not self._is_over:
            self._progress.say(
                f"until decided: {LEAST_BLOCKS} blocks at least, and at most {self._section.launches} or"
                f" {self._section.budget / 60e9:.1f} minutes of measuring"
            )

    def counts(self, launch: Launch) -> bool:
        """Return whether an estimate of time counts the launch: the budget is enough for a typical number of blocks."""
        return not self.is_adaptive or launch.block <= plans.TYPICAL_BLOCKS

    def wants(self, launch: Launch) -> bool:
        """Return whether a launch is to be made; those of blocks that are over are not, unless it is made again.

        What an earlier run made and now comes up once more has failed: it was worth its time then.
        """
        if not self.is_adaptive or launch.launch_id in self._made:
            return True
        if launch.block < self._begun or self._is_over:
            return False
        if launch.block <= LEAST_BLOCKS:
            return True
        if self._looked_at != launch.block:
            self._look(launch.block)
            if not self.is_adaptive:
                return True
        state = self._state
        entry = replace(launch.entry, twin=False)  # the control goes on as long as what it repeats
        return not self._is_over and state is not None and entry.entry_id in state.open_entries

    def end(self) -> None:
        """Say what came of it, and what more time would buy."""
        if self.is_adaptive and self._folder.done() and not self._folder.manifest.additions:
            state = self._state_after(None)
            if state is None:
                return
            is_spent = self._measured_ns(self._section.block_count + 1) >= self._section.budget
            why = f"the {'budget is' if is_spent else 'blocks are'} spent"
            if not state.total:
                why = "nothing can be decided"
            elif state.is_decided:
                why = "everything is decided"
            self._progress.say(f"{why}: {state.sentence()}")

    def _look(self, block: int) -> None:
        """Look at everything before a block."""
        self._looked_at = block
        self._state = self._state_after(block - 1)
        if self._state is None:
            return
        self._is_over = self._state.is_decided or self._measured_ns(block) >= self._section.budget
        if not self._is_over:
            self._progress.say(self._state.sentence())

    def _state_after(self, blocks: int | None) -> State | None:
        """Return what is decided after a number of blocks (None: all); None after an error that nobody foresaw.

        From then on every launch is made that was planned.
        """
        run = self._folder.read()
        try:
            return state_of(run, self._section.compare, blocks)
        except Exception as error:
            self.is_adaptive = False
            self._progress.say(bug_log.report(error, "looking at what is decided", self._folder.errors))
            return None

    def _measured_ns(self, block: int) -> int:
        """Return the time of the launches before a block, without what starting them costs."""
        entries = self._folder.manifest.entries
        spent = 0
        for record in self._folder.done().values():
            if record.block < block:
                entry = entries[record.entry_id]
                spent += max(0, measuring_ns(record) - plans.start_ns(entry.layer, len(entry.hosts)))
        return spent


def measuring_ns(record: LaunchRecord) -> int:
    """Return the time that a launch took, without that in which it waited for its turn."""
    turns = record.details.turns
    return record.elapsed_ns - (min(turns.rested_ns, record.elapsed_ns) if turns is not None else 0)
