"""Rounds of further sizes, near the crossovers and the protocol changes that a run has seen."""

from __future__ import annotations

import itertools
from collections.abc import Container, Iterator
from dataclasses import replace

from fabriscope import plan as plans
from fabriscope import store
from fabriscope.analysis.comparing.decisions import added_are_decided
from fabriscope.analysis.comparing.sharpening import PER_INTERVAL, Interval, intervals, sizes_inside, words_of
from fabriscope.analysis.curve import Curve
from fabriscope.analysis.frames import planned_cases
from fabriscope.analysis.numbers.intervals import LEAST_BLOCKS
from fabriscope.analysis.values.stopping import UNTIL_DECIDED
from fabriscope.model.case import Case, Entry
from fabriscope.model.manifest import Near
from fabriscope.model.measurement import Launch
from fabriscope.model.run_data import RunData
from fabriscope.plan.schema import PlanSection
from fabriscope.progress import Progress

MOST_TOLD = 3
"""Intervals named of each round; the journal and the report have them all."""
ANCHORED = "ping_pong"
"""The benchmark whose sizes are set in relation to each other, by the model of time over size (values/fits.py)."""


class Sharpening:
    """Adds launches to a run's folder, and hands them out with those that were added before it was interrupted.

    What a round adds follows from the data before it alone: a resumed run comes to the same launches.
    """

    def __init__(self, section: PlanSection, folder: store.RunFolder, progress: Progress) -> None:
        self._section = section
        self._folder = folder
        self._progress = progress

    def launches(self, done: Container[int]) -> Iterator[list[Launch]]:
        """Yield, by blocks, the launches of every round that are to be made, one round after the other."""
        begun, choice = len(self._folder.manifest.additions), self._folder.manifest.choice
        if choice is not None and choice.blocks < LEAST_BLOCKS:
            return
        for number in range(1, self._section.sharpen + 1):
            if number > begun and not self._add(number):
                return
            yield from self._wanted(number, done)

    def _wanted(self, number: int, done: Container[int]) -> Iterator[list[Launch]]:
        """Yield what is left of a round; of a run that goes on until it is decided, until the round's sizes are."""
        manifest = self._folder.manifest
        rounds = {line.launch_id: line.round for line in manifest.schedule}
        launches = [launch for launch in manifest.launches if rounds[launch.launch_id] == number]
        least = launches[0].block + LEAST_BLOCKS
        for block, of_block in itertools.groupby(launches, key=lambda launch: launch.block):
            may_end = self._section.until == UNTIL_DECIDED and block >= least
            if may_end and added_are_decided(self._folder.read(), self._section.compare, number, block - 1):
                return
            yield [launch for launch in of_block if launch.launch_id not in done]

    def _add(self, number: int) -> bool:
        """Look, choose sizes, and add their launches; return whether anything is left to sharpen."""
        run = self._folder.read()
        choice = Choice(run, self._section)
        near = [about for one in intervals(run, self._section.compare) if (about := choice.take(one))]
        if not near:
            self._progress.say(f"round {number} of {self._section.sharpen}: nothing is left to sharpen")
            return False
        last = max(record.block for record in run.journal)
        every = run.manifest.launches
        if run.manifest.choice is not None:
            every = every[len(run.manifest.begun_with) :]  # a pilot measures for another time than the later ones
        blocks = range(last + 1, last + 1 + self._block_count(run))
        launches = plans.round_of(number, self._section, every, choice.cases(), blocks)
        self._folder.add(number, launches, near)
        expected_ns = sum(plans.start_ns(one.entry.layer, len(one.entry.hosts)) + one.budget_ns for one in launches)
        told = "; ".join(words_of(one) for one in near[:MOST_TOLD])
        more = f"; and {len(near) - MOST_TOLD} more" if len(near) > MOST_TOLD else ""
        self._progress.say(
            f"round {number} of {self._section.sharpen}, {len(launches)} launches, about"
            f" {expected_ns / 60e9:.1f} minutes more: {told}{more}"
        )
        self._progress.more(len(launches), expected_ns)
        return True

    def _block_count(self, run: RunData) -> int:
        if run.manifest.choice is not None:
            return run.manifest.choice.blocks
        if self._section.until != UNTIL_DECIDED:
            return self._section.block_count
        planned = {line.launch_id for line in run.manifest.planned}
        so_far = {record.block for record in run.journal if record.launch_id in planned}
        return max(LEAST_BLOCKS, min(plans.TYPICAL_BLOCKS, len(so_far)))


class Choice:
    """The sizes that a round adds to each entry, as far as its launches have room for them."""

    def __init__(self, run: RunData, section: PlanSection) -> None:
        self._section = section
        self._known: dict[Curve, dict[int, Case]] = {}
        for row in planned_cases(run):
            self._known.setdefault(row.curve, {})[row.message_size_bytes] = run.manifest.cases[row.case_id]
        counts = {line.entry_id: len(line.case_ids) for line in run.manifest.planned}
        self._room = {entry_id: max(plans.LEAST_ROOM, count) for entry_id, count in counts.items()}
        self._new: dict[Curve, dict[int, Case]] = {}
        self._cases: dict[Entry, dict[Case, None]] = {}

    def take(self, interval: Interval) -> Near | None:
        """Take sizes inside an interval, the same for all of its curves; return what was taken, None for nothing."""
        fresh = {size for curve in interval.curves for size in self._new.get(curve, ())}
        fresh = {size for size in fresh if interval.above_bytes < size < interval.below_bytes}
        taken = {size for curve in interval.curves for size in self._known.get(curve, ())}
        wanted = sorted(fresh)[:PER_INTERVAL]
        wanted = sorted([*wanted, *sizes_inside(interval, taken | fresh, PER_INTERVAL - len(wanted))])
        while wanted and not self._fits(interval, wanted):
            wanted.pop(0 if len(wanted) % 2 else -1)  # the middle one stays longest
        if not wanted:
            return None
        for curve in interval.curves:
            cases = self._cases_at(curve, interval, wanted) or []
            self._new.setdefault(curve, {}).update({case.message_size_bytes: case for case in cases})
            self._cases.setdefault(cases[0].entry, {}).update(dict.fromkeys(cases))
        return Near(interval.what, interval.above_bytes, interval.below_bytes, tuple(wanted))

    def cases(self) -> dict[Entry, list[Case]]:
        """Return the cases of a launch of each entry that is concerned: what is new, and its anchors."""
        return {
            entry: sorted(cases, key=lambda one: (one.benchmark, one.series, one.message_size_bytes))
            for entry, cases in self._cases.items()
        }

    def _fits(self, interval: Interval, sizes: list[int]) -> bool:
        """Return whether every curve can have these sizes, and the launches of its entry have room for them."""
        for curve in interval.curves:
            cases = self._cases_at(curve, interval, sizes)
            if cases is None:
                return False
            entry = cases[0].entry
            if len({**self._cases.get(entry, {}), **dict.fromkeys(cases)}) > self._room.get(entry.entry_id, 0):
                return False
        return True

    def _cases_at(self, curve: Curve, interval: Interval, sizes: list[int]) -> list[Case] | None:
        """Return the cases of a curve at these sizes, new ones first, then the anchors; None where one cannot be."""
        known = self._known.get(curve, {})
        ends = [known[size] for size in (interval.above_bytes, interval.below_bytes) if size in known]
        if not ends:
            return None
        section = self._section.benchmarks[ends[0].benchmark]
        found = [plans.at_size(ends[0], size, section) for size in sizes]
        cases = [replace(one, entry=ends[0].entry) for one in found if one is not None]
        if len(cases) < len(sizes):
            return None
        return [*cases, *(ends if ends[0].benchmark == ANCHORED else ())]
