"""The launches of one block: those that may share their time start together and measure in turns."""

from __future__ import annotations

import os
import secrets
import threading
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from fabriscope import plan as plans
from fabriscope import store
from fabriscope.launch.site import Site
from fabriscope.model.command import left_behind
from fabriscope.model.errors import FabriscopeError
from fabriscope.model.fabric import Fabric
from fabriscope.model.measurement import Launch
from fabriscope.model.mpi_settings import on_hosts
from fabriscope.model.record import LaunchRecord
from fabriscope.model.turns import TurnPlace
from fabriscope.progress import Progress
from fabriscope.registry import discover
from fabriscope.running.binding import Binding
from fabriscope.running.casualties import Casualties
from fabriscope.running.clearing import Clearing
from fabriscope.running.effort import measuring_ns
from fabriscope.running.launch_runner import LaunchRunner
from fabriscope.running.settings import Standing
from fabriscope.running.sharing import most_members, sharing_of

TABLES = Path("/dev", "shm")
"""Where the ranks 0 of a group have their table: it is mapped, and nothing of it is to reach a disk."""


class BlockRunner:
    """Measures the launches of blocks, one after the other or in groups, and stores each when it has ended."""

    def __init__(
        self,
        plan: plans.Plan,
        folder: store.RunFolder,
        site: Site,
        progress: Progress,
        cancel: threading.Event,
        done: Mapping[int, LaunchRecord],
    ) -> None:
        """Prepare; in the launches that are `done` cases may have hung."""
        self._plan = plan
        self._folder = folder
        self._site = site
        self._progress = progress
        self._cancel = cancel
        self._adapters = discover("adapters", "ADAPTER")
        self._casualties = Casualties(site)
        self._hung = Counter(case_id for record in done.values() for case_id in record.details.hung_case_ids)
        self._turn_ns = plans.turn_ns_of(plan.section.turns)
        self._standing = Standing(site)
        self._services = Clearing(progress)
        self._binding = Binding(plan, site.hosts, site.facts)
        self._binding.know(site.fabrics)
        self._binding.settle(site, folder.manifest.entries.values())

    def run(self, block: Sequence[Launch]) -> None:
        """Measure and store a block's launches; what is interrupted is not stored: it is measured again on resume."""
        self._services.clear(block)
        try:
            for launch, runner in self._measured(block):
                for sentence in filter(None, map(left_behind, runner.outcomes)):
                    self._progress.say(sentence)
                if self._cancel.is_set():
                    return
                stored = self._store(runner)
                self._hung.update(stored.details.hung_case_ids)
                self._progress.launch_ended(launch, stored.failures, measuring_ns(stored))
        finally:
            if problem := self._standing.end():
                self._progress.say(problem)

    def over(self, fabrics: Mapping[str, Fabric]) -> None:
        """Measure from now on over these fabrics, of the interfaces that the site has; between blocks alone."""
        self._site = self._site.with_fabrics(fabrics)
        self._binding.know(fabrics)
        self._standing = Standing(self._site)
        self._casualties.site = self._site

    def _measured(self, block: Sequence[Launch]) -> Iterator[tuple[Launch, LaunchRunner]]:
        if self._turn_ns is None:
            yield from self._alone((launch, None) for launch in block)
            return
        if any(not host.access for host in self._site.hosts.values()) and not os.access(TABLES, os.W_OK):
            yield from self._alone((launch, f"nothing can be written to {TABLES} here") for launch in block)
            return
        setting = [name for name, stack in self._site.mpi.items() if on_hosts(stack.knobs)]
        most = most_members(host.is_remote for host in self._site.hosts.values())
        sharing = sharing_of(block, self._site.fabrics, setting, self._plan.guests, self._turn_ns, most)
        for group in sharing.groups:
            yield from self._together([block[index] for index in group], self._turn_ns)
        yield from self._alone((block[index], reason) for index, reason in sharing.alone.items())

    def _alone(self, launches: Iterable[tuple[Launch, str | None]]) -> Iterator[tuple[Launch, LaunchRunner]]:
        for launch, reason in launches:
            if self._cancel.is_set():
                return
            runner = self._runner(launch, alone_because=reason)
            runner.measure(self._started(launch))
            yield launch, runner

    def _together(self, launches: Sequence[Launch], turn_ns: int) -> Iterator[tuple[Launch, LaunchRunner]]:
        """Yield the launches of a group once all have ended, for nothing may be stored while one of them measures."""
        if self._cancel.is_set():
            return
        path = str(TABLES / f"fabriscope-turns-{secrets.token_hex(16)}")  # who opens it looks at its owner
        places = [TurnPlace(path, member, len(launches), turn_ns) for member in range(len(launches))]
        runners = [self._runner(launch, place) for launch, place in zip(launches, places, strict=True)]
        expected_ns = sum(map(self._started, launches))
        with ThreadPoolExecutor(len(runners)) as pool:
            list(pool.map(lambda runner: runner.measure(expected_ns), runners))
        for runner in runners:
            runner.sweep()
        yield from zip(launches, runners, strict=True)

    def _runner(self, launch: Launch, turn: TurnPlace | None = None, alone_because: str | None = None) -> LaunchRunner:
        return LaunchRunner(
            self._plan,
            launch,
            self._adapters.get(launch.entry.instrument),
            self._site,
            self._casualties,
            self._hung,
            self._cancel,
            self._standing,
            self._folder.errors,
            turn,
            alone_because,
            self._binding,
        )

    def _started(self, launch: Launch) -> int:
        """Tell that a launch starts; return about how long it takes, in ns."""
        expected_ns = plans.expected_ns(launch, self._site.fabrics, self._plan.guests)
        self._progress.launch_started(launch, expected_ns)
        return expected_ns

    def _store(self, runner: LaunchRunner) -> LaunchRecord:
        """Keep what a launch measured; what the store has no column for fails the launch."""
        record, blocks, outcomes = runner.told()
        try:
            return self._folder.append(record, blocks, outcomes, again=True, counted=runner.counted)
        except FabriscopeError:
            raise
        except BaseException as error:  # what was measured has no room in the store's columns, for instance
            return self._folder.append(runner.failed(record, error), (), outcomes, again=True)
