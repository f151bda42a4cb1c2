"""How many blocks a run makes whose plan leaves that open: chosen after its pilots, by what they tell of its noise."""

from __future__ import annotations

import itertools
import math
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from itertools import pairwise

from fabriscope import bug_log, store
from fabriscope import plan as plans
from fabriscope.analysis.comparing.pilots import choice_words, noises_of
from fabriscope.analysis.numbers.block_counts import STARTS_APART, Costs, Noises, agreed, narrowest, planned
from fabriscope.model.blocks import LEAST_BLOCKS, MOST_CHOSEN_BLOCKS, PILOT_BLOCKS, USUAL_BLOCKS
from fabriscope.model.case import Entry
from fabriscope.model.fabric import Fabric
from fabriscope.model.manifest import BlockChoice
from fabriscope.model.measurement import Launch
from fabriscope.model.record import LaunchRecord
from fabriscope.model.units import duration_words
from fabriscope.progress import Progress

MOST_BETWEEN_S = 1.0
"""Between launches that follow each other: what lies longer apart was interrupted, since a resume takes longer."""
NO_NOISE = "the pilots tell no noise: no comparison was measured in both, or their launches had too few bursts of it"
_ROUND = 1
"""Of the journal's line: there is no other that adds launches."""
_SECOND = 1e9


class BlockPlanner:
    """Chooses how many blocks follow the pilots, and hands their launches out.

    The choice follows from the pilots' lines of the journal alone: a resumed run comes to the same launches.
    """

    def __init__(
        self, plan: plans.Plan, folder: store.RunFolder, fabrics: Mapping[str, Fabric], progress: Progress
    ) -> None:
        self._section = plan.section
        self._folder = folder
        self._fabrics = fabrics
        self._progress = progress

    def announce(self) -> None:
        """Say beforehand that more will follow than is known yet."""
        if self._folder.manifest.is_to_choose and not _nothing_to_choose(self._pilots()):
            self._progress.say(
                f"launches: auto: {PILOT_BLOCKS} blocks tell the noise, then the run chooses how many follow in what is"
                f" left of its budget of {duration_words(self._section.budget)}"
            )

    def launches(self, done: Container[int]) -> Iterator[list[Launch]]:
        """Yield, by blocks, the launches after the pilots that are to be made."""
        if not self._section.chooses_blocks:
            return
        pilots = self._pilots()
        if self._folder.manifest.choice is None:
            self._choose(pilots)
        planned_ids = {line.launch_id for line in self._folder.manifest.planned[len(pilots) :]}
        later = [launch for launch in self._folder.manifest.launches if launch.launch_id in planned_ids]
        for _, block in itertools.groupby(later, key=lambda launch: launch.block):
            yield [launch for launch in block if launch.launch_id not in done]

    def _pilots(self) -> tuple[Launch, ...]:
        return self._folder.manifest.launches[: len(self._folder.manifest.begun_with)]

    def _choose(self, pilots: Sequence[Launch]) -> None:
        choice = self._choice(pilots)
        lengths_ns = plans.lengthened(choice.launch_ns, self._least_ns(pilots))
        launches = plans.blocks_of(self._section.seed, pilots, choice.blocks, lengths_ns)
        self._folder.add(_ROUND, launches, choice=choice)
        self._progress.say(f"launches: {choice_words(choice)}")
        if blocks := choice.blocks - PILOT_BLOCKS:
            self._progress.more(len(launches), blocks * (choice.start_ns + sum(lengths_ns.values())))

    def _choice(self, pilots: Sequence[Launch]) -> BlockChoice:
        """Return how many blocks there will be: of the narrowest interval, or the usual ones as far as time allows."""
        costs = self._costs(pilots, self._least_ns(pilots))
        start_ns, most = round(costs.start_s * _SECOND), costs.most_blocks(MOST_CHOSEN_BLOCKS)
        because = _nothing_to_choose(pilots)
        noises, because = (None, because) if because else self._noises(costs.pilot_s)
        best = narrowest(noises, costs) if noises is not None else None
        if noises is None or best is None:
            blocks = min(most, USUAL_BLOCKS)
            length_s = costs.launch_s(blocks - PILOT_BLOCKS) if blocks > PILOT_BLOCKS else None
            because = self._too_small(costs) if length_s is None else because
            length_ns = round((costs.pilot_s if length_s is None else length_s) * _SECOND)
            return BlockChoice(blocks, length_ns, start_ns, because)
        usual = planned(noises, costs, USUAL_BLOCKS) if best.blocks != USUAL_BLOCKS else None
        return BlockChoice(
            best.blocks,
            round(best.launch_s * _SECOND),
            start_ns,
            between=noises.between,
            inside=noises.inside / math.sqrt(best.launch_s),
            half_width=best.half_width,
            usual_half_width=usual.half_width if usual is not None else None,
            is_only=most == LEAST_BLOCKS,
        )

    def _too_small(self, costs: Costs) -> str:
        """Return that there is no time for a block after the pilots, and which budget would do."""
        least_ns = round(sum(costs.least_s) * _SECOND)
        enough = duration_words(plans.enough_ns(costs.start_s * _SECOND, least_ns))
        took_s = self._section.budget / _SECOND - costs.left_s
        return (
            f"the budget of {duration_words(self._section.budget)} is too small for more, since these pilots took"
            f" {took_s:.2g} s, and a verdict needs {LEAST_BLOCKS} blocks; {enough} would do"
        )

    def _noises(self, pilot_s: float) -> tuple[Noises | None, str]:
        """Return what the pilots tell, or why they do not."""
        try:
            noises = noises_of(self._folder.read(), self._section.compare, pilot_s)
        except Exception as error:
            self._progress.say(bug_log.report(error, "choosing the number of blocks", self._folder.errors))
            return None, "the pilots could not be read"
        return noises, "" if noises is not None else NO_NOISE

    def _least_ns(self, pilots: Iterable[Launch]) -> dict[Entry, int]:
        """Return entry to what its launches measure at least; the floor's have a time of their own."""
        turn_ns = plans.turn_ns_of(self._section.turns)
        first = {launch.entry: launch for launch in pilots if launch.entry.layer != plans.FLOOR}
        return {entry: plans.told_ns(launch, self._fabrics, turn_ns) for entry, launch in first.items()}

    def _costs(self, pilots: Sequence[Launch], least_ns: Mapping[Entry, int]) -> Costs:
        """Return what a block costs, by what the pilots took."""
        ids = {launch.launch_id for launch in pilots}
        records = [record for record in self._folder.done().values() if record.launch_id in ids]
        took_s = took_ns(records) / _SECOND
        measured_s = sum(launch.budget_ns for launch in pilots if launch.entry in least_ns) / _SECOND / PILOT_BLOCKS
        blocks = sorted({launch.block for launch in pilots})
        each_s = [took_ns(one for one in records if one.block == block) / _SECOND for block in blocks]
        between_s = (took_s - sum(each_s)) / PILOT_BLOCKS
        start_s = agreed([max(0.0, one_s + between_s - measured_s) for one_s in each_s], STARTS_APART)
        shortest_s = min((launch.budget_ns for launch in pilots if launch.entry in least_ns), default=0) / _SECOND
        least_s = tuple(of_entry / _SECOND for of_entry in least_ns.values())
        return Costs(start_s, least_s, shortest_s, self._section.budget / _SECOND - took_s)


def _nothing_to_choose(pilots: Sequence[Launch]) -> str:
    """Return why nothing can be chosen, whatever the pilots tell; empty where it can."""
    return plans.nothing_to_choose({launch.entry: launch.cases for launch in pilots})


def took_ns(records: Iterable[LaunchRecord]) -> int:
    """Return how long launches took, with what lay between those that followed each other; groups count once."""
    spans: dict[str, tuple[int, int]] = {}
    for record in records:
        name = record.details.turn_group or f"launch {record.launch_id}"
        begin, end = record.started_unix_ns, record.started_unix_ns + record.elapsed_ns
        known = spans.get(name, (begin, end))
        spans[name] = min(begin, known[0]), max(end, known[1])
    ordered = sorted(spans.values())
    between = (later[0] - earlier[1] for earlier, later in pairwise(ordered))
    known_ns = [gap_ns for gap_ns in between if 0 <= gap_ns <= MOST_BETWEEN_S * _SECOND]
    each_ns = sum(known_ns) / len(known_ns) if known_ns else 0.0
    return round(sum(end - begin for begin, end in ordered) + each_ns * len(ordered))
