"""The only orchestrator: from a plan to a run folder, launch by launch."""

from __future__ import annotations

import dataclasses
import platform
import secrets
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fabriscope import __version__, engine_binary, store
from fabriscope import plan as plans
from fabriscope import site as sites
from fabriscope.adapters import engine
from fabriscope.adapters.base import Adapter, AdapterContext
from fabriscope.launch import mpi_jobs, processes
from fabriscope.model.command import Command, Outcome
from fabriscope.model.errors import LaunchError, ParseError, PlanError, StoreError, ToolMissing
from fabriscope.model.measurement import CaseResult, Launch, ParsedLaunch, SampleBlock
from fabriscope.progress import Progress
from fabriscope.registry import discover
from fabriscope.site import Site

SETTLE_NS = 30 * 10**9
"""A launch may take its expected time twice, one case's time-out, and so long, before we end it."""
MAX_ATTEMPTS = 4
"""A launch is started again without the case that hung, so often at most."""


@dataclass(frozen=True)
class RunSummary:
    """How a run ended."""

    path: Path
    launch_count: int
    failed_cases: int
    """Measurements that are not ok, over all launches."""
    is_complete: bool
    """False when it was interrupted."""


def vocabulary() -> plans.Vocabulary:
    """Return the names that plans may use in this installation, the engine's own plug-ins among them."""
    from fabriscope.lab.presets import PRESETS
    from fabriscope.model.benchmarks import BENCHMARKS

    instruments = discover("adapters", "ADAPTER")
    built_in = engine_binary.list_plugins()
    return plans.Vocabulary(
        benchmarks=frozenset(BENCHMARKS) | built_in["benchmarks"],
        instruments=frozenset(instruments.plugins),
        layers=(built_in["transports"] | {"tcp", "shm", "mpi"}) - {"null"},
        presets=frozenset(PRESETS),
    )


def start(plan: plans.Plan, path: Path, progress: Progress, cancel: threading.Event) -> RunSummary:
    """Measure a plan into a new run folder. Raises FabriscopeError; failing cases are recorded, not raised."""
    with progress, sites.prepare(plan, progress.notice) as site:
        schedule = _schedule(plan, site)
        progress.notice("the facts of every host")
        folder = store.create(path, _manifest(plan, schedule, site), plan.text, plan.companions)
        return _execute(plan, schedule, folder, site, progress, cancel)


def resume(path: Path, progress: Progress, cancel: threading.Event) -> RunSummary:
    """Go on with a run folder: the launches that its journal lacks are made. Raises FabriscopeError."""
    folder = store.open_run(path)
    plan = plans.load(path / store.PLAN_NAME, vocabulary())
    with progress, sites.prepare(plan, progress.notice) as site:
        schedule = _schedule(plan, site)
        if _planned(schedule) != folder.manifest["schedule"]:
            raise StoreError(
                "this version of fabriscope would run other launches than the folder's manifest says",
                where=str(path),
                fix=f"resume it with fabriscope {folder.manifest['fabriscope_version']}, or start a new run",
            )
        return _execute(plan, schedule, folder, site, progress, cancel)


def _schedule(plan: plans.Plan, site: Site) -> plans.Schedule:
    hosts = site.hosts.values() if plan.counts_cores else ()
    schedule = plans.expand(plan, site.fabrics, sites.cores_per_host(hosts, site.facts))
    check_specs(plan, schedule)
    return schedule


def check_specs(plan: plans.Plan, schedule: plans.Schedule) -> None:
    """Raise PlanError for a launch whose specification no mpirun could be trusted to hand to rank 0."""
    for launch in schedule.launches:
        if (launch.entry.layer, launch.entry.instrument) != ("mpi", "engine") or launch.block > 1:
            continue
        spec_bytes = len(engine.spec_text(launch, AdapterContext({})))
        if spec_bytes > mpi_jobs.MAX_STDIN_BYTES:
            raise PlanError(
                f"{len(launch.cases)} cases in one launch of {launch.entry.label()} are more than mpirun can be "
                f"trusted to hand on ({spec_bytes} bytes of standard input, {mpi_jobs.MAX_STDIN_BYTES} are safe)",
                where=plan.file,
                fix="choose fewer sizes or benchmarks, or make two plans of it",
            )


def _execute(
    plan: plans.Plan,
    schedule: plans.Schedule,
    folder: store.RunFolder,
    site: Site,
    progress: Progress,
    cancel: threading.Event,
) -> RunSummary:
    adapters = discover("adapters", "ADAPTER")
    with folder.lock():
        done = folder.done()
        left = [launch for launch in schedule.launches if launch.launch_id not in done]
        expected_ns = sum(plans.expected_ns(launch, site.fabrics) for launch in left)
        progress.start(str(folder.path), len(schedule.launches), len(done), expected_ns)
        hung = {case_id for record in done.values() for case_id in record["details"].get("hung_case_ids", [])}
        for launch in left:
            if cancel.is_set():
                break
            expected_ns = plans.expected_ns(launch, site.fabrics)
            progress.launch_started(launch, expected_ns)
            runner = _LaunchRunner(plan, launch, adapters.get(launch.entry.instrument), site, hung, cancel)
            record, blocks, outcomes = runner.run(expected_ns)
            if cancel.is_set():
                break  # what was interrupted is measured again on resume
            hung |= set(record["details"].get("hung_case_ids", []))
            folder.append(record, blocks, outcomes)
            progress.launch_ended(launch, _failures(record), record["elapsed_ns"])
        records = folder.done().values()
        failed_cases = sum(len(_failures(record)) for record in records)
        return RunSummary(folder.path, len(records), failed_cases, len(records) == len(schedule.launches))


class _LaunchRunner:
    """Runs one launch, again without a case that hung, and says what came of every case."""

    def __init__(
        self,
        plan: plans.Plan,
        launch: Launch,
        adapter: Adapter,
        site: Site,
        hung: set[str],
        cancel: threading.Event,
    ) -> None:
        self._plan = plan
        self._launch = launch
        self._adapter = adapter
        self._site = site
        self._cancel = cancel
        self._blocks: list[SampleBlock] = []
        self._outcomes: list[Outcome] = []
        self._details: dict[str, Any] = {}
        self._results = {
            case.case_id: CaseResult(case.case_id, "skipped", "it hung in an earlier launch")
            for case in launch.cases
            if case.case_id in hung
        }

    def run(self, expected_ns: int) -> tuple[dict[str, Any], list[SampleBlock], list[Outcome]]:
        """Return the journal's record, the samples, and the raw outcomes."""
        started_unix_ns, started_ns = time.time_ns(), time.monotonic_ns()
        hung: list[str] = []
        for _ in range(MAX_ATTEMPTS):
            left = tuple(case for case in self._launch.cases if case.case_id not in self._results)
            if not left or self._cancel.is_set():
                break
            parsed = self._attempt(dataclasses.replace(self._launch, cases=left), expected_ns)
            self._blocks += parsed.blocks
            groups = {**self._details.get("groups", {}), **_groups(parsed)}
            self._details |= parsed.details | ({"groups": groups} if groups else {})
            retry = parsed.hung_case_id is not None and len(left) > 1
            for result in parsed.results:
                if not retry or result.status == "ok" or result.case_id == parsed.hung_case_id:
                    self._results[result.case_id] = result
            if parsed.hung_case_id is not None:
                hung.append(parsed.hung_case_id)
            if not retry:
                break
        for case in self._launch.cases:
            given_up = CaseResult(case.case_id, "failed", f"not reached: {len(hung)} other cases hung before it")
            self._results.setdefault(case.case_id, given_up)
        if hung:
            self._details["hung_case_ids"] = hung
        return self._record(started_unix_ns, time.monotonic_ns() - started_ns), self._blocks, self._outcomes

    def _attempt(self, launch: Launch, expected_ns: int) -> ParsedLaunch:
        timeout_ns = 2 * expected_ns + self._plan.section.case_timeout + SETTLE_NS
        try:
            commands = [self._wrapped(command) for command in self._adapter.commands(launch, self._context())]
            outcomes = processes.run_commands(
                commands, self._site.hosts, timeout_s=timeout_ns / 1e9, cancel=self._cancel
            )
        except (LaunchError, ToolMissing) as error:
            return _all_failed(launch, str(error))
        self._outcomes += outcomes
        if any(outcome.timed_out or outcome.exit_status != 0 for outcome in outcomes):
            self._sweep()
        try:
            return self._adapter.parse(launch, outcomes)
        except ParseError as error:
            return _all_failed(launch, str(error))

    def _context(self) -> AdapterContext:
        entry, site = self._launch.entry, self._site
        return AdapterContext(
            hosts=site.hosts,
            fabric=site.fabrics[entry.fabric] if entry.fabric else None,
            mpi=site.mpi[entry.mpi] if entry.mpi else None,
            engine=site.engine,
            mpi_engine=site.mpi_engines.get(entry.mpi or ""),
            programs=site.programs,
            token=secrets.token_hex(16),
            case_timeout_ns=self._plan.section.case_timeout,
        )

    def _wrapped(self, command: Command) -> Command:
        """Return the command, with the MPI's launcher before it if it is an MPI job."""
        entry, site = self._launch.entry, self._site
        if not command.rank_hosts:
            return command
        fabric = site.fabrics[entry.fabric] if entry.fabric else None
        return mpi_jobs.wrap(command, site.mpi[entry.mpi or ""], site.hosts, fabric, site.remote_shell)

    def _sweep(self) -> None:
        """End what a broken launch may have left on its hosts."""
        self._site.sweep(set(self._launch.entry.hosts))

    def _record(self, started_unix_ns: int, elapsed_ns: int) -> dict[str, Any]:
        results = {key: {"status": one.status, "reason": one.reason} for key, one in self._results.items()}
        bad = [one.reason for one in self._results.values() if one.status == "failed"]
        return {
            "launch_id": self._launch.launch_id,
            "block": self._launch.block,
            "entry_id": self._launch.entry.entry_id,
            "status": "failed" if len(bad) == len(results) else "ok",
            "reason": bad[0] if bad else None,
            "results": results,
            "started_unix_ns": started_unix_ns,
            "elapsed_ns": elapsed_ns,
            "details": self._details,
            "fabric_counters": self._site.lab.counters() if self._site.lab is not None else {},
        }


def _groups(parsed: ParsedLaunch) -> dict[str, Any]:
    groups = parsed.details.get("groups")
    return groups if isinstance(groups, dict) else {}


def _all_failed(launch: Launch, reason: str) -> ParsedLaunch:
    return ParsedLaunch((), tuple(CaseResult(case.case_id, "failed", reason) for case in launch.cases))


def _failures(record: Mapping[str, Any]) -> dict[str, str]:
    return {key: one["reason"] or "" for key, one in record["results"].items() if one["status"] == "failed"}


def _planned(schedule: plans.Schedule) -> list[dict[str, Any]]:
    return [
        {
            "launch_id": launch.launch_id,
            "block": launch.block,
            "entry_id": launch.entry.entry_id,
            "case_ids": [case.case_id for case in launch.cases],
            "seed": launch.seed,
            "budget_ns": launch.budget_ns,
        }
        for launch in schedule.launches
    ]


def _manifest(plan: plans.Plan, schedule: plans.Schedule, site: Site) -> dict[str, Any]:
    """Return everything that is known before the first launch."""
    from fabriscope.hosts import facts

    collected = {name: site.facts.get(name) or facts.collect(host) for name, host in site.hosts.items()}
    return {
        "fabriscope_version": __version__,
        "name": plan.section.name,
        "seed": plan.section.seed,
        "plan": plan.section.model_dump(mode="json"),
        "paper": plan.paper,
        "cases": {key: dataclasses.asdict(case) for key, case in schedule.cases.items()},
        "entries": {one.entry_id: {**dataclasses.asdict(one), "label": one.label()} for one in schedule.entries},
        "fabrics": {name: dataclasses.asdict(fabric) for name, fabric in site.fabrics.items()},
        "mpi": {name: dataclasses.asdict(stack) for name, stack in site.mpi.items()},
        "schedule": _planned(schedule),
        "hosts": {name: {"facts": [dataclasses.asdict(fact) for fact in found]} for name, found in collected.items()},
        "lab": dataclasses.asdict(sites.lab_spec(plan)) if plan.uses_lab else None,
        "versions": {"python": platform.python_version(), "engine": site.engine},
    }
