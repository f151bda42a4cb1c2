"""The only orchestrator: from a plan to a run folder, launch by launch."""

from __future__ import annotations

import dataclasses
import functools
import itertools
import platform
import threading
from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fabriscope import plan as plans
from fabriscope import store
from fabriscope.analysis.values.busy import busy_words
from fabriscope.hosts import allocation
from fabriscope.launch.site import Site
from fabriscope.model.errors import HostError, StoreError
from fabriscope.model.host import Fact
from fabriscope.model.measurement import Launch
from fabriscope.model.record import LaunchRecord
from fabriscope.progress import Progress
from fabriscope.running import applications, causes, copy_rates, launch_counters, resumption, services, tuning_plan
from fabriscope.running import site as sites
from fabriscope.running.binding import Binding
from fabriscope.running.block_planner import BlockPlanner
from fabriscope.running.effort import Effort
from fabriscope.running.groups import BlockRunner
from fabriscope.running.idle_instruments import refuse as refuse_idle
from fabriscope.running.planned import check_specs
from fabriscope.running.sharpen import Sharpening
from fabriscope.running.tuning import Tuning, tried
from fabriscope.running.vocabulary import vocabulary


@dataclass(frozen=True)
class RunSummary:
    """How a run ended."""

    path: Path
    launch_count: int
    failed_cases: int
    """Measurements that failed, over all launches."""
    ok_cases: int
    is_complete: bool
    """False when it was interrupted."""

    @property
    def is_empty(self) -> bool:
        """Return whether it came to its end and nothing was measured: all failed, or no instrument could."""
        return self.is_complete and self.launch_count > 0 and not self.ok_cases


def start(plan: plans.Plan, path: Path, progress: Progress, cancel: threading.Event) -> RunSummary:
    """Measure a plan into a new run folder. Raises FabriscopeError; failing cases are recorded, not raised."""
    if plan.wants_allocation and allocation.find() is None:
        what = "the plan runs on the hosts of a batch job, and we are in none"
        raise HostError(what, where=plan.where("hosts"), fix="`fabriscope submit PLAN` makes one")
    store.refuse_impossible(path)
    plans.refuse_others(plan)
    with progress, sites.prepare(plan, progress.notice, cancel=cancel) as site:
        if plan.section.intervene:
            progress.notice("an audit of the hosts")
            plan, site = _with_causes(plan, site, causes.of_run(plan, site, _facts(site)))
        schedule = _schedule(plan, site)
        refuse_idle(plan, schedule)
        tuning_plan.check(plan, schedule, site.fabrics)
        progress.notice("the facts of every host")
        folder = store.create(path, _manifest(plan, schedule, site), plan.text, plan.companions)
        return _execute(plan, schedule, folder, site, progress, cancel)


def resume(
    path: Path, progress: Progress, cancel: threading.Event, *, keep_failed: bool = False, redo_damaged: bool = False
) -> RunSummary:
    """Go on with a run folder: launches that its journal lacks are made, and failed ones again unless `keep_failed`.

    It goes on as what it was begun as or not at all: StoreError names whatever differs (plan, fabrics, MPI, engine,
    hosts) and every file that is not as it was written; a launch whose files are damaged is made again where
    `redo_damaged` says so. Hosts that cannot be reached are casualties, as those are that a run loses on its way.
    Raises FabriscopeError.
    """
    folder = store.open_run(path)
    load_plan = functools.partial(resumption.stored_plan, folder, vocabulary())
    resumption.check_whole(folder, load_plan)
    kept = _kept(folder, keep_failed)
    damaged = resumption.damaged_launches(folder, kept)
    if not redo_damaged:
        resumption.refuse_damaged(path, damaged)
    kept = {key: record for key, record in kept.items() if key not in damaged}
    may_add = folder.manifest.plan.may_add and not folder.has_ended
    if len(kept) == len(folder.manifest.schedule) > 0 and not may_add:
        folder.end_if_open()  # it died between its last line and the last seal
        return _summary(folder, len(kept))  # whatever became of its hosts
    began_as = _on_the_same_hosts(load_plan(), folder)
    begun = causes.begun(folder.manifest.fabrics)
    plan = causes.extended(began_as, begun)
    resumption.refuse_other_plan(folder, plan)
    known = {name: list(host.facts) for name, host in folder.manifest.hosts.items()}
    with folder.lock(), progress, sites.prepare(began_as, progress.notice, known, cancel) as site:
        plan, site = _with_causes(began_as, site, begun)
        site = site.with_fabrics({**site.fabrics, **tried(folder.manifest.fabrics)})
        schedule = _schedule_as_begun(plan, site, folder)
        resumption.refuse_other_site(folder, _standing(plan, site), _facts(site))
        return _execute(plan, schedule, folder, site, progress, cancel, keep_failed=keep_failed, redo=damaged)


def _schedule_as_begun(plan: plans.Plan, site: Site, folder: store.RunFolder) -> plans.Schedule:
    """Return the schedule that a run was begun with; raises StoreError where there is none by this version."""
    for all_drawn in (False, True):  # older versions drew the order of every block
        schedule = _schedule(plan, site, all_drawn=all_drawn)
        if store.scheduled(schedule.launches) == folder.manifest.begun_with:
            return schedule
    raise StoreError(
        "this version of fabriscope would run other launches than the folder's manifest says",
        where=str(folder.path),
        fix=f"resume it with fabriscope {folder.manifest.fabriscope_version}, or start a new run",
    )


def _with_causes(plan: plans.Plan, site: Site, found: Sequence[causes.Cause]) -> tuple[plans.Plan, Site]:
    """Return plan and site with the fabrics over which something that an audit found is changed."""
    fabrics = causes.with_fabrics(site.fabrics, found)
    return causes.extended(plan, found), site.with_fabrics(fabrics) if found else site


def _kept(folder: store.RunFolder, keep_failed: bool, redo: Container[int] = ()) -> dict[int, LaunchRecord]:
    """Return the records, by launch id, of launches that need not be made again."""
    records = {key: record for key, record in folder.done().items() if key not in redo}
    return {key: record for key, record in records.items() if keep_failed or not _has_failed(record)}


def _has_failed(record: LaunchRecord) -> bool:
    """Return whether a measurement failed, or the launch though it tells of results: old versions wrote such lines."""
    return bool(record.failures) or (record.status == "failed" and record.ok_count > 0)


def _schedule(plan: plans.Plan, site: Site, *, all_drawn: bool = False) -> plans.Schedule:
    hosts = site.hosts.values() if plan.counts_cores else ()
    memory_bytes = applications.memory_per_host(plan, site.facts)
    schedule = plans.expand(
        plan, site.fabrics, sites.cores_per_host(hosts, site.facts), memory_bytes, all_drawn=all_drawn
    )
    check_specs(plan, schedule)
    Binding(plan, site.hosts, site.facts).check(schedule.entries)
    services.check(schedule, site, in_lab=plan.uses_lab)
    applications.check(schedule, site, in_lab=plan.uses_lab)
    return schedule


def _on_the_same_hosts(plan: plans.Plan, folder: store.RunFolder) -> plans.Plan:
    """Return the plan with the hosts that the run began on; raises StoreError if a batch job gave us others."""
    begun_on = tuple(folder.manifest.hosts)
    if not plan.wants_allocation or begun_on == plan.hosts:
        return plan
    if set(begun_on) <= set(plan.hosts):
        return dataclasses.replace(plan, hosts=begun_on)
    raise StoreError(
        f"the run began on {', '.join(begun_on)}, and this job has {', '.join(plan.hosts)}",
        where=str(folder.path),
        fix="ask for the same hosts, or start a new run",
    )


def _execute(
    plan: plans.Plan,
    schedule: plans.Schedule,
    folder: store.RunFolder,
    site: Site,
    progress: Progress,
    cancel: threading.Event,
    *,
    keep_failed: bool = False,
    redo: Container[int] = (),
) -> RunSummary:
    with folder.lock():
        done = _kept(folder, keep_failed, redo)
        left = [launch for launch in schedule.launches if launch.launch_id not in done]
        effort = Effort(plan, folder, progress)
        planner = BlockPlanner(plan, folder, site.fabrics, progress)
        wanted = [launch for launch in left if effort.counts(launch)]
        added = folder.manifest.launches[len(schedule.launches) :]
        wanted += [launch for launch in added if launch.launch_id not in done]
        expected_ns = plans.expected_by_launch(wanted, site.fabrics, plan.guests)
        progress.start(str(folder.path), len(folder.manifest.schedule), len(done), sum(expected_ns.values()))
        effort.announce(wanted)
        planner.announce()
        if left and (busy := busy_words(folder.manifest.hosts)):
            progress.say(busy)
        if plan.section.counters and left and not folder.has_idle() and not cancel.is_set():
            folder.note_idle(launch_counters.idle(site, cancel))
        blocks = BlockRunner(plan, folder, site, progress, cancel, done)
        sharpening = Sharpening(plan.section, folder, progress)
        adding = (planner, sharpening, Tuning(plan, folder, site, progress, blocks.over))
        for block in itertools.chain(_worth_making(left, effort), *(one.launches(done) for one in adding)):
            blocks.run(block)
            if cancel.is_set():
                break
        if not cancel.is_set():
            folder.end()
        is_decided = effort.is_adaptive and not cancel.is_set()
        return _summary(folder, len(folder.done()) if is_decided else len(folder.manifest.schedule))


def _worth_making(planned: list[Launch], effort: Effort) -> Iterator[list[Launch]]:
    """Yield, block by block, the launches that the plan asked for, as far as they decide something.

    What a block decides is asked before it begins, of what the blocks before it told.
    """
    for _, block in itertools.groupby(planned, key=lambda launch: launch.block):
        yield [launch for launch in block if effort.wants(launch)]
    effort.end()


def _summary(folder: store.RunFolder, launch_count: int) -> RunSummary:
    records = folder.done().values()
    failed, ok = sum(len(one.failures) for one in records), sum(one.ok_count for one in records)
    is_complete = len(records) == launch_count and not folder.manifest.is_to_choose
    return RunSummary(folder.path, len(records), failed, ok, is_complete)


def _facts(site: Site) -> dict[str, list[Fact]]:
    """Return the facts of every host; those of one that is gone are as they were."""
    from fabriscope.hosts import facts

    return {name: site.facts.get(name) or facts.collect(host) for name, host in site.hosts.items()}


def _standing(plan: plans.Plan, site: Site) -> dict[str, Any]:
    """Return the parts of the manifest that say what is measured: fabrics, lab, MPI libraries and programs."""
    return {
        "fabrics": dict(site.fabrics),
        "lab": sites.lab_spec(plan) if plan.uses_lab else None,
        "mpi": dict(site.mpi),
        "versions": resumption.versions(site, platform.python_version()),
    }


def _manifest(plan: plans.Plan, schedule: plans.Schedule, site: Site) -> dict[str, Any]:
    """Return everything that is known before the first launch."""
    copied = copy_rates.measured(site)
    collected = {name: [*found, copied[name]] for name, found in _facts(site).items()}
    section = plan.section
    may_add = {"version": store.SINCE_VERSION} if section.sharpen or section.tune or section.chooses_blocks else {}
    standing = _standing(plan, site)
    return store.describe(
        schedule.cases.values(),
        schedule.launches,
        site.fabrics.values(),
        site.mpi.values(),
        entries=schedule.entries,
        hosts=collected,
        name=plan.section.name,
        seed=plan.section.seed,
        plan=plan.section.model_dump(mode="json"),
        paper=plan.paper,
        lab=standing["lab"],
        versions=standing["versions"],
        **may_add,
    )
