"""Rounds of configurations of settings: which are tried, over fabrics of their own, and when a tuning is over."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Callable, Container, Iterator, Mapping, Sequence

from fabriscope import plan as plans
from fabriscope import store
from fabriscope.analysis.tuning.points import objective_of, points_of, record_of
from fabriscope.analysis.tuning.steps import Step, next_step
from fabriscope.launch.site import Site
from fabriscope.model.fabric import Fabric
from fabriscope.model.host import Host
from fabriscope.model.measurement import Launch
from fabriscope.model.mpi_settings import MPI_SETTINGS
from fabriscope.model.tuning import Configuration, Factor, Trials
from fabriscope.plan import Plan
from fabriscope.progress import Progress
from fabriscope.running import library_probing, settings
from fabriscope.running.probing import Probed, probed
from fabriscope.running.tuning_commands import commands_of
from fabriscope.running.tuning_plan import Bases, Fabrics, time_of, values_of
from fabriscope.running.tuning_time import HALVING_BLOCKS, SETTING_NS, TuningTime


def tried(fabrics: Fabrics) -> dict[str, Fabric]:
    """Return the fabrics that a run which has begun tries settings over, of those in its manifest."""
    return {name: one for name, one in fabrics.items() if one.tries}


class Tuning:
    """Adds rounds of launches to a run's folder, and hands them out with those that were added before.

    What a round tries follows from the data before it and from what hosts took in the first one, which the journal
    has: a resumed run goes on with the same.
    """

    def __init__(
        self, plan: Plan, folder: store.RunFolder, site: Site, progress: Progress, over: Callable[[Fabrics], None]
    ) -> None:
        """Prepare; `over` is told the fabrics that launches are about to use."""
        self._plan, self._folder, self._site, self._progress = plan, folder, site, progress
        self._over = over

    def launches(self, done: Container[int]) -> Iterator[list[Launch]]:
        """Yield, by blocks, the launches of every round that are to be made, one round after the other."""
        if self._plan.section.tune is None:
            return
        bases = Bases(self._plan, self._folder.manifest.launches)
        for number in itertools.count(1):
            if number > len(self._folder.manifest.additions) and not self._add(number, bases):
                return
            manifest = self._folder.manifest
            self._over({**self._site.fabrics, **tried(manifest.fabrics)})
            rounds = {line.launch_id: line.round for line in manifest.schedule}
            launches = [one for one in manifest.launches if rounds[one.launch_id] == number]
            for _, block in itertools.groupby(launches, key=lambda launch: launch.block):
                yield [launch for launch in block if launch.launch_id not in done]

    def _add(self, number: int, bases: Bases) -> bool:
        """Look, choose configurations, and add their launches; return whether there is anything to launch."""
        if number == 1:
            trials, blocks = self._screening(bases)
        else:
            step = self._next()
            if step is None:
                self._progress.say("tuning: nothing is left to try")
                return False
            trials, blocks = self._following(step.stage, step.configurations, bases)
        fabrics = [self._fabric(name, one) for name, one in trials.configurations.items()]
        of_round = bases.all if trials.stage == "confirmation" else [bases.objective]
        every, names = self._folder.manifest.launches, [bases.fabric, *trials.configurations]
        last = max(launch.block for launch in every)
        launches = (
            plans.trials_of(number, self._plan.section.seed, every, of_round, names, range(last + 1, last + 1 + blocks))
            if trials.configurations
            else ()
        )
        self._folder.add(number, launches, fabrics=fabrics, trials=trials)
        self._tell(trials, launches)
        return bool(launches)

    def _next(self) -> Step | None:
        run = self._folder.read()
        points = points_of(run)
        objective = objective_of(run, points)
        return next_step(record_of(run, points, objective)) if objective is not None else None

    def _tell(self, trials: Trials, launches: Sequence[Launch]) -> None:
        for sentence in trials.left_out:
            self._progress.say(f"tuning: {sentence}")
        expected_ns = sum(plans.start_ns(one.entry.layer, len(one.entry.hosts)) + one.budget_ns for one in launches)
        expected_ns += len(launches) * SETTING_NS * max((len(one) for one in trials.configurations.values()), default=0)
        if not launches:
            self._progress.say("tuning: no setting is left to try")
            return
        self._progress.say(
            f"tuning, {trials.stage}: {len(trials.configurations)} configurations, {len(launches)} launches"
        )
        self._progress.more(len(launches), expected_ns)

    def _screening(self, bases: Bases) -> tuple[Trials, int]:
        """Return the two-level design over what the hosts take, and its blocks."""
        fabric, values = self._site.fabrics[bases.fabric], values_of(self._plan)
        self._progress.notice("which values the hosts take")
        names = dict.fromkeys(host for one in bases.all for host in one.entry.hosts)
        hosts = [self._site.hosts[name] for name in names if name not in self._site.absent]
        found = self._probed(bases, fabric, hosts, values)
        levels, sentences = _levels(found)
        factors = tuple(_factor(knob, of_knob) for knob, of_knob in levels.items())
        about = Trials(
            "screening",
            bases.fabric,
            bases.case.case_id,
            factors=factors,
            levels=levels,
            current=found.current,
            left_out=(*found.left_out, *sentences),
        )
        if not factors:
            return about, 0
        time = self._time(bases, levels)
        runs = [
            {
                one.knob: value
                for one, sign in zip(factors, signs, strict=True)
                if (value := (one.low, one.high)[sign > 0])
            }
            for signs in time.design.runs
        ]
        named = self._named(bases.fabric, runs)
        return dataclasses.replace(
            about, configurations=named, resolution=time.design.resolution
        ), time.screening_blocks

    def _probed(
        self, bases: Bases, fabric: Fabric, hosts: Sequence[Host], values: Mapping[str, Sequence[str]]
    ) -> Probed:
        """Return what hosts and the switch take, and what counts in the library of what is to become faster."""
        of_hosts = {name: of_name for name, of_name in values.items() if name not in MPI_SETTINGS}
        of_library = {name: of_name for name, of_name in values.items() if name in MPI_SETTINGS}
        entry = bases.objective.entry
        places = [
            probed(fabric, hosts, of_hosts, self._site.switch_of(fabric)),
            library_probing.probed(self._site, entry, of_library),
        ]
        good = {**places[0].values, **places[1].values}
        return Probed(
            {name: good[name] for name in values if name in good},
            {**places[0].current, **places[1].current},
            (*places[0].left_out, *places[1].left_out),
        )

    def _following(self, stage: str, wanted: Sequence[Configuration], bases: Bases) -> tuple[Trials, int]:
        trials = self._folder.manifest.trials[0]
        named = self._named(bases.fabric, wanted)
        if stage == "halving":
            return Trials("halving", bases.fabric, trials.objective, named), HALVING_BLOCKS
        commands = tuple(commands_of(next(iter(named.values())), self._site.fabrics[bases.fabric], self._site.hosts))
        about = Trials("confirmation", bases.fabric, trials.objective, named, commands=commands)
        return about, self._time(bases, trials.levels).confirming_blocks

    def _time(self, bases: Bases, levels: Mapping[str, Sequence[str | None]]) -> TuningTime:
        return time_of(self._plan, bases, self._site.fabrics, [len(one) for one in levels.values()])

    def _named(self, base: str, wanted: Sequence[Configuration]) -> dict[str, Configuration]:
        """Return a fabric's name for each configuration: the one that it has, or a new one."""
        manifest = self._folder.manifest
        known = {
            tuple(sorted(one.items())): name
            for trials in manifest.trials
            for name, one in trials.configurations.items()
        }
        fresh = (name for number in itertools.count(1) if (name := f"{base}-try-{number}") not in manifest.fabrics)
        return {known.get(tuple(sorted(one.items()))) or next(fresh): one for one in wanted}

    def _fabric(self, name: str, configuration: Configuration) -> Fabric:
        base = self._site.fabrics[plans.tuned_fabric(self._plan.section)]
        return settings.with_knobs(dataclasses.replace(base, name=name, tries=base.name), configuration)


def _levels(found: Probed) -> tuple[dict[str, tuple[str | None, ...]], list[str]]:
    """Return every value of each setting that is tried, what is set now among them, and what has none to try.

    What is set now has no value of its own where hosts differ in it, and where nothing tells it.
    """
    levels: dict[str, tuple[str | None, ...]] = {}
    sentences = []
    for knob, values in found.values.items():
        now = set(found.current.get(knob, {}).values())
        is_untold = len(now) != 1
        known = dict.fromkeys((*values, *(() if is_untold else now)))
        every = sorted(known, key=int) if all(one.isdecimal() for one in known) else list(known)
        if is_untold:
            levels[knob] = (*every, None)
        elif len(every) > 1:
            levels[knob] = tuple(every)
        else:
            sentences.append(f"{knob} is left out: {every[0]} is what is set already, and nothing else is to be tried")
    return levels, sentences


def _factor(knob: str, levels: Sequence[str | None]) -> Factor:
    """Return the two values that a screening has of a setting: of numbers the ends; nothing stands for what is set."""
    named = [one for one in levels if one is not None]
    return Factor(knob, named[0] if len(named) > 1 else "", named[-1])
