"""Which processors the ranks of launches have, and what the plan's hosts have to give."""

from __future__ import annotations

import contextlib
import dataclasses
import os
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from functools import cached_property
from pathlib import Path

from fabriscope.launch.site import Site
from fabriscope.model import processors
from fabriscope.model.case import Entry
from fabriscope.model.errors import PlanError
from fabriscope.model.fabric import Fabric
from fabriscope.model.host import Fact, Host
from fabriscope.model.processors import DEFAULT, NONE, Dealt, Processors, Wish
from fabriscope.plan import Plan

OUR_ENGINE = "engine"
HERE = ""
"""What the machine is called that we are on, and that is shared by all hosts of a lab."""
NOT_ASKED = "their hosts have not been asked yet"
_GUEST = "guest"
_FACT = "cpu.order"


def here() -> Processors:
    """Return the processors that we may use on this machine."""
    return processors.found(Path("/proc/cpuinfo").read_text(errors="replace"), os.sched_getaffinity(0))


class Binding:
    """Deals out processors to the ranks of a plan's launches, by one rule for all of them."""

    def __init__(self, plan: Plan, hosts: Mapping[str, Host], facts: Mapping[str, list[Fact]] | None) -> None:
        """Prepare; of hosts that are reached over a network the `facts` say which processors they have.

        None: these hosts have not been asked yet.
        """
        self._plan = plan
        self._hosts = hosts
        self._facts = facts or {}
        self._are_asked = facts is not None
        self._switch = ""
        self._tries: Mapping[str, str] = {}

    def know(self, fabrics: Mapping[str, Fabric]) -> None:
        """Take those over which a tuning tries settings for the fabrics that they are but for these."""
        self._tries = {name: one.tries for name, one in fabrics.items() if one.tries}

    def _as_planned(self, entry: Entry) -> Entry:
        return dataclasses.replace(entry, fabric=self._tries.get(entry.fabric or "", entry.fabric))

    def of(self, entry: Entry) -> Dealt:
        """Return the processors of every rank of a launch; raises PlanError for a list that does not fit."""
        entry = self._as_planned(entry)
        wish = wished(self._plan, entry)
        if wish in (None, DEFAULT, NONE):
            return Dealt(NONE, is_forbidden=wish == NONE)
        if entry.instrument != OUR_ENGINE:
            return Dealt(NONE, because=f"{entry.instrument} runs where its launcher and the system put it")
        if any(self._hosts[name].kind == _GUEST for name in entry.hosts):
            return Dealt(NONE, because="a guest has one processor, and its kernel runs where the system puts it")
        machines = [self._machine(name) for name in entry.hosts]
        try:
            dealt = processors.deal(wish, machines, self._known)
        except ValueError as error:
            key = ("fabrics", entry.fabric, "bind") if _of_fabric(self._plan, entry) is not None else ("bind",)
            fix = "name one for each rank among those, or write `bind: core`"
            if entry.layer == "null":
                fix += ", or leave out the floor, which has two ranks on one host: `floor: false`"
            raise PlanError(str(error), where=self._plan.where(*map(str, key)), fix=fix) from error
        if not self._are_asked and not dealt.processors and set(machines) != {HERE}:
            return Dealt(NONE, because=NOT_ASKED)
        return dataclasses.replace(dealt, switch=self._switch)

    def is_wanted(self, entry: Entry) -> bool:
        """Return whether the plan says anything of where the entry's ranks run."""
        return wished(self._plan, self._as_planned(entry)) not in (None, DEFAULT)

    def settle(self, site: Site, entries: Collection[Entry]) -> None:
        """Give the lab's switch what no rank of these entries has, where any is bound. Raises PlanError, LabError."""
        dealt = [self.of(entry) for entry in entries]
        left = processors.left_over(dealt, self._known[HERE])
        if left and any(one.processors for one in dealt) and site.confine(left):
            self._switch = left

    def check(self, entries: Iterable[Entry]) -> None:
        """Raise PlanError where processors are named that some launch cannot have."""
        for entry in entries:
            self.of(entry)

    def _machine(self, host: str) -> str:
        return host if self._hosts[host].is_remote else HERE

    @cached_property
    def _known(self) -> dict[str, Processors]:
        return {HERE: here(), **dict(self._told())}

    def _told(self) -> Iterator[tuple[str, Processors]]:
        for host, of_host in self._facts.items():
            order = next((fact.value for fact in of_host if fact.name == _FACT), None)
            if isinstance(order, str) and host in self._hosts and self._hosts[host].is_remote:
                with contextlib.suppress(ValueError):  # what no kernel says is not known
                    yield host, processors.read(order)


def wished(plan: Plan, entry: Entry) -> Wish:
    """Return how a plan wants the ranks of an entry bound: what its MPI library is told comes before all else."""
    if entry.mpi is not None and any(one.name == entry.mpi and one.bind is not None for one in plan.section.mpi):
        return None
    of_fabric = _of_fabric(plan, entry)
    return of_fabric if of_fabric is not None else plan.section.bind


def _of_fabric(plan: Plan, entry: Entry) -> Wish:
    section = plan.section.fabrics.get(entry.fabric) if entry.fabric is not None else None
    return section.bind if section is not None else None


def planned(plan: Plan, near: Callable[[str], bool]) -> Binding:
    """Return the rule before there are hosts: those that are not `near` say at the run what they have."""
    is_here = {name: plan.uses_lab or near(name) for name in plan.hosts}
    kinds = {name: _GUEST if name in plan.guests else "machine" for name in plan.hosts}
    hosts = {name: Host(name, () if is_near else ("ssh",), kind=kinds[name]) for name, is_near in is_here.items()}
    return Binding(plan, hosts, None)


def described(binding: Binding, entries: Iterable[Entry]) -> Iterator[str]:
    """Yield where the ranks of entries will run, in words: a line for all that run alike, and why others do not."""
    alike: dict[Dealt, list[str]] = {}
    for entry in entries:
        if binding.is_wanted(entry):
            alike.setdefault(binding.of(entry), []).append(entry.label())
    for dealt, labels in alike.items():
        who = labels[0] if len(labels) == 1 else f"{len(labels)} entries ({labels[0]} ...)"
        if dealt.processors:
            yield f"{who}: ranks on the processors {processors.of_ranks(dealt.processors)}"
        elif dealt.because == NOT_ASKED:
            yield f"{who}: the run says on which processors ranks run, for {dealt.because}"
        else:
            why = f"since {dealt.because}" if dealt.because else "as `bind` says"
            yield f"{who}: ranks are bound to nothing, {why}"
