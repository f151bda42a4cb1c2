"""What a run is, as its manifest says: the nouns that it was planned of, and what was added to them later."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from fabriscope.model.blocks import AUTO, PILOT_BLOCKS
from fabriscope.model.by_key import ByKey
from fabriscope.model.case import Case, Entry
from fabriscope.model.fabric import Fabric
from fabriscope.model.host import HostFacts
from fabriscope.model.lab import SwitchSpec
from fabriscope.model.limits import DurationNs, LogWidth, Ordinal, Seed, Share, SizeBytes, UnixNs, Whole32
from fabriscope.model.measurement import Launch
from fabriscope.model.mpi import MpiStack
from fabriscope.model.paper import PaperFacts
from fabriscope.model.tuning import Trials


@dataclass(frozen=True)
class ScheduledLaunch:
    """A launch by the ids of what it visits."""

    launch_id: Ordinal
    block: Ordinal
    entry_id: str
    case_ids: tuple[str, ...]
    seed: Seed
    budget_ns: DurationNs
    round: Whole32 = 0
    """The round that added it; 0 for what the plan asked for."""


@dataclass(frozen=True)
class Near:
    """Why sizes were added, and which: something changes between two sizes that had been measured."""

    what: str
    """In words: `ping-pong, TCP, between hosts: the lead passes to gige`."""
    above_bytes: SizeBytes
    below_bytes: SizeBytes
    sizes_bytes: tuple[SizeBytes, ...]


@dataclass(frozen=True)
class Round:
    """What one round added to the plan."""

    round: Ordinal
    near: tuple[Near, ...]
    case_ids: tuple[str, ...]
    """The cases that are new in it."""
    after_lines: Whole32
    """Lines that the journal had when it was decided."""
    trials: Trials | None = None
    """Of a round of tuning, which adds configurations and no sizes."""


@dataclass(frozen=True)
class BlockChoice:
    """How many blocks a run chose after its pilots, and why."""

    blocks: Ordinal
    """The pilots among them."""
    launch_ns: DurationNs
    """For how long each launch after the pilots measures."""
    start_ns: DurationNs
    """What a block takes beside measuring."""
    because: str = ""
    """Why there was nothing to choose; empty where the noises told."""
    between: LogWidth | None = None
    """Standard deviation of a block's log ratio, of what no longer launch takes away."""
    inside: LogWidth | None = None
    """That of the noise inside launches of this length."""
    half_width: LogWidth | None = None
    """Half of the interval of a log ratio that was expected."""
    usual_half_width: LogWidth | None = None
    """The same of five blocks in the same time; None where there was no time for these, or five were chosen."""
    is_only: bool = False
    """Whether there was time for no other number."""


@dataclass(frozen=True)
class TuneFacts:
    """That a plan tunes a fabric, and which."""

    fabric: str | None = None
    """None where the plan has one alone."""


@dataclass(frozen=True)
class PlanFacts:
    """Of the plan, what a run is judged and reported by."""

    description: str | None = None
    margin: Share | None = None
    """Ratios within it count as equal; None: the usual one."""
    launches: str | int | None = None
    """Of each entry; `auto`: as many as a run chooses after its pilots."""
    until: str | int | None = None
    compare: tuple[str, ...] | None = None
    """Kinds of comparison; None or none: all."""
    sharpen: Whole32 | None = None
    tune: TuneFacts | None = None
    imported: Whole32 | None = None
    """Logs that the run was read from; None for what we launched."""
    osu_options: Mapping[str, object] = field(default_factory=dict)
    imb_options: Mapping[str, object] = field(default_factory=dict)
    """What suites of others were told beside the benchmarks, by the names that the plan has."""

    @property
    def may_add(self) -> bool:
        """Return whether launches may be added to those that the plan asked for."""
        return bool(self.sharpen) or self.tune is not None or self.chooses_blocks

    @property
    def chooses_blocks(self) -> bool:
        """Return whether a run chooses the number of its blocks."""
        return self.launches == AUTO


@dataclass(frozen=True)
class LabFacts:
    """Of the lab, what is measured over."""

    fabrics: Mapping[str, SwitchSpec] = field(default_factory=dict)
    cpu_shares: Mapping[str, Share] = field(default_factory=dict)
    """Guest to its share of one processor's time, where it is a slower machine on purpose."""


@dataclass(frozen=True)
class Manifest(ByKey):
    """What a run is; with the cases and launches that were added later as if they had been planned."""

    version: int
    run_id: str | None = None
    created_unix_ns: UnixNs | None = None
    fabriscope_version: str = ""
    name: str = "run"
    seed: int | None = None
    plan: PlanFacts = field(default_factory=PlanFacts)
    paper: PaperFacts | None = None
    """The paper that the plan re-runs, its names resolved."""
    cases: Mapping[str, Case] = field(default_factory=dict)
    entries: Mapping[str, Entry] = field(default_factory=dict)
    fabrics: Mapping[str, Fabric] = field(default_factory=dict)
    mpi: Mapping[str, MpiStack] = field(default_factory=dict)
    schedule: tuple[ScheduledLaunch, ...] = ()
    hosts: Mapping[str, HostFacts] = field(default_factory=dict)
    lab: LabFacts | None = None
    versions: Mapping[str, object] = field(default_factory=dict)
    sealed: bool = False
    additions: tuple[Round, ...] = ()
    choice: BlockChoice | None = None
    """Of a run that chooses the number of its blocks; None until it has."""
    document: Mapping[str, Any] = field(default_factory=dict, compare=False, repr=False)
    """The JSON that it was read from, with what it says beyond this."""

    @property
    def switches(self) -> Mapping[str, SwitchSpec]:
        """Return fabric name to its emulated switch; empty on real machines."""
        return self.lab.fabrics if self.lab is not None else {}

    @property
    def trials(self) -> tuple[Trials, ...]:
        """Return the rounds of a tuning."""
        return tuple(one.trials for one in self.additions if one.trials is not None)

    @property
    def is_to_choose(self) -> bool:
        """Return whether how many blocks there will be is not chosen yet."""
        return self.plan.chooses_blocks and self.choice is None

    @property
    def addition_count(self) -> int:
        """Return how many lines of the journal added launches."""
        return len(self.additions) + (self.choice is not None)

    @property
    def begun_with(self) -> tuple[ScheduledLaunch, ...]:
        """Return the launches that were planned when the run began."""
        return tuple(one for one in self.planned if self.choice is None or one.block <= PILOT_BLOCKS)

    @cached_property
    def planned(self) -> tuple[ScheduledLaunch, ...]:
        """Return the launches that the plan asked for, those among them whose number the run chose."""
        return tuple(launch for launch in self.schedule if not launch.round)

    @cached_property
    def launches(self) -> tuple[Launch, ...]:
        """Return the schedule as launches, in order: what a resumed run goes on with."""
        return tuple(
            Launch(
                launch_id=line.launch_id,
                block=line.block,
                entry=self.entries[line.entry_id],
                cases=tuple(self.cases[case_id] for case_id in line.case_ids),
                seed=line.seed,
                budget_ns=line.budget_ns,
            )
            for line in self.schedule
        )
