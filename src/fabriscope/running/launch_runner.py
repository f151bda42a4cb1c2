"""Runs one launch of a run, whatever happens to it, and says what came of every case."""

from __future__ import annotations

import contextlib
import dataclasses
import secrets
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from fabriscope import bug_log
from fabriscope import plan as plans
from fabriscope.adapters.base import Adapter, AdapterContext
from fabriscope.launch import mpi_jobs, processes
from fabriscope.launch.site import Site
from fabriscope.model.case import Entry
from fabriscope.model.command import Command, Outcome
from fabriscope.model.errors import FabriscopeError, HostError, LabError, ParseError, PlanError, ToolMissing
from fabriscope.model.measurement import CaseResult, Launch, ParsedLaunch, SampleBlock
from fabriscope.model.metrics import unit_of
from fabriscope.model.processors import NONE, Dealt
from fabriscope.model.switch_series import Counted, SwitchSeries
from fabriscope.model.turns import TurnPlace
from fabriscope.running import launch_counters
from fabriscope.running.binding import Binding
from fabriscope.running.casualties import Casualties
from fabriscope.running.launch_limits import launch_limit_s, stopped_limit_s
from fabriscope.running.settings import Standing

MAX_ATTEMPTS = 4
"""How often a launch is started again without the case that hung."""
MAX_HANGS = 2
"""Launches in which a case may hang before it is left out of later ones: once may have been an accident."""


class LaunchRunner:
    """Runs one launch, again without a case that hung, and says what came of every case."""

    def __init__(
        self,
        plan: plans.Plan,
        launch: Launch,
        adapter: Adapter,
        site: Site,
        casualties: Casualties,
        hung: Mapping[str, int],
        cancel: threading.Event,
        standing: Standing,
        errors: Path | None = None,
        turn: TurnPlace | None = None,
        alone_because: str | None = None,
        binding: Binding | None = None,
    ) -> None:
        """Prepare a launch, of which `standing` sets things; `turn` is its place in a group, or why it is alone."""
        self._errors = errors
        self._turn, self._standing, self._binding, self._dealt = turn, standing, binding, Dealt(NONE)
        self._plan, self._launch = plan, launch
        self._adapter = adapter
        self._site = site
        self._casualties = casualties
        self._mishaps: list[str] = []
        self._stand_ins: dict[str, str] = {}
        self._cancel = cancel
        self._blocks: list[SampleBlock] = []
        self.outcomes: list[Outcome] = []
        self.counted = Counted({})
        """What its hosts, where the plan wants that, and the lab's switch counted in the last attempt."""
        self._started_unix_ns = self._elapsed_ns = 0
        self._details: dict[str, Any] = {"alone_because": alone_because} if alone_because else {}
        self._details |= {"turn_group": turn.group} if turn else {}
        self.may_have_left: set[str] = set()
        """Hosts on which processes of a broken attempt may live still."""
        self._results = {
            case.case_id: CaseResult(case.case_id, "skipped", f"it hung in {MAX_HANGS} earlier launches")
            for case in launch.cases
            if hung.get(case.case_id, 0) >= MAX_HANGS
        }

    def run(self, expected_ns: int) -> tuple[dict[str, Any], list[SampleBlock], list[Outcome]]:
        """Return the journal's record, the samples, and the raw outcomes."""
        self.measure(expected_ns)
        return self.told()

    def measure(self, expected_ns: int) -> None:
        """Run the launch; of a group's launches each does in a thread of its own."""
        self._started_unix_ns, started_ns = time.time_ns(), time.monotonic_ns()
        hung: list[str] = []
        try:
            placed, self._stand_ins = self._casualties.place(self._launch)
            self._deal(placed.entry)
            hung = self._measure(placed, expected_ns)
        except (HostError, ToolMissing, PlanError) as error:
            self._take(_all_failed(self._launch, str(error)))
        except BaseException as error:  # a launch is a border: nothing that goes wrong in it ends the run
            self._take(_all_failed(self._launch, self._unforeseen(error)))
        for case in self._launch.cases:
            given_up = CaseResult(case.case_id, "failed", f"not reached: {len(hung)} other cases hung before it")
            self._results.setdefault(case.case_id, given_up)
        if hung and not self._mishaps:
            self._details["hung_case_ids"] = hung
        self._elapsed_ns = time.monotonic_ns() - started_ns

    def _deal(self, entry: Entry) -> None:
        """Give the ranks their processors, those of stand-ins too; raises PlanError."""
        if self._binding is not None and self._binding.is_wanted(entry):
            self._dealt = self._binding.of(entry)
            self._details["bound"] = dataclasses.asdict(self._dealt)

    def told(self) -> tuple[dict[str, Any], list[SampleBlock], list[Outcome]]:
        """Return the journal's record, the samples, and the raw outcomes of what was measured."""
        if launch_counters.is_told_over_time(self._launch):
            self.counted = Counted(self.counted.watches, self._over_time())
        return self._record(), self._blocks, self.outcomes

    def _over_time(self) -> SwitchSeries | None:
        """Return what the lab's switch counted while the launch ran."""
        told = self._of_site(lambda: self._site.switch_series(self._started_unix_ns))
        try:
            return launch_counters.series_of(told, self._launch.entry.fabric, self._started_unix_ns + self._elapsed_ns)
        except ValueError as error:
            self._mishaps.append(self._unforeseen(error))
            return None

    def _measure(self, placed: Launch, expected_ns: int) -> list[str]:
        """Run the launch on the hosts that it was given, until every case has its result; return those that hung."""
        hung: list[str] = []
        for _ in range(MAX_ATTEMPTS):
            left = tuple(case for case in placed.cases if case.case_id not in self._results)
            if not left or self._cancel.is_set():
                break
            self._standing.hold(placed.entry)  # again, where a sweep after the attempt before has ended it
            parsed = self._attempt(dataclasses.replace(placed, cases=left), expected_ns)
            retry = parsed.hung_case_id is not None and len(left) > 1 and not self._mishaps
            self._take(parsed, but_not_failed=retry)
            if parsed.hung_case_id is not None:
                hung.append(parsed.hung_case_id)
            if not retry:
                break
        return hung

    def _take(self, parsed: ParsedLaunch, *, but_not_failed: bool = False) -> None:
        """Keep what an attempt brought; results of cases that will be tried again do not count yet."""
        self._blocks += parsed.blocks
        groups = {**self._details.get("groups", {}), **_groups(parsed)}
        self._details |= parsed.details | ({"groups": groups} if groups else {})
        for result in parsed.results:
            if not but_not_failed or result.status == "ok" or result.case_id == parsed.hung_case_id:
                self._results.setdefault(result.case_id, result)

    def _attempt(self, launch: Launch, expected_ns: int) -> ParsedLaunch:
        outcomes: list[Outcome] = []
        try:
            outcomes = self._run_commands(launch, expected_ns)
            parsed = _of_its_cases(self._adapter.parse(launch, outcomes), launch)
        except FabriscopeError as error:
            parsed = _all_failed(launch, str(error))
        except OSError as error:  # our own temporary folder: it is full, or gone
            parsed = _all_failed(launch, f"what the launch's processes say cannot be kept: {error}")
        except BaseException as error:
            parsed = _all_failed(launch, self._unforeseen(error))
        ended_badly = any(one.timed_out or one.is_lost or one.exit_status != 0 for one in outcomes)
        if ended_badly or any(result.status == "failed" for result in parsed.results):
            self.may_have_left = set(launch.entry.hosts)
            if self._turn is None:
                self.sweep()
            return self._explained(launch, parsed)
        return parsed

    def _run_commands(self, launch: Launch, expected_ns: int) -> list[Outcome]:
        """Run the launch's commands while its hosts are watched; return their outcomes, which are kept as they are."""
        commands = [self._wrapped(command) for command in self._adapter.commands(launch, self._context())]
        section = self._plan.section
        watchers = launch_counters.watchers(self._site, launch.entry.hosts, launch) if section.counters else []
        outcomes = processes.run_commands(
            commands,
            self._site.hosts,
            timeout_s=launch_limit_s(expected_ns, section.case_timeout, commands),
            stopped_s=stopped_limit_s(section.case_timeout),
            cancel=self._cancel,
            watchers=watchers,
        )
        watched, outcomes = outcomes[: len(watchers)], outcomes[len(watchers) :]
        self.outcomes += outcomes
        self.counted = Counted(launch_counters.watches(self._site, watched))
        return outcomes

    def _unforeseen(self, error: BaseException) -> str:
        """Return the reason of measurements that failed by an error that nobody foresaw; its traceback is kept."""
        if isinstance(error, bug_log.PASSED_BY):
            raise error
        about = f"launch {self._launch.launch_id}, {self._launch.entry.label()}"
        return bug_log.report(error, about, self._errors)

    def _explained(self, launch: Launch, parsed: ParsedLaunch) -> ParsedLaunch:
        """Return what came of a launch that failed, with the reason that lies deeper, if there is one."""
        if self._cancel.is_set():
            return parsed
        self._mishaps += (found := self._casualties.look(launch.entry.hosts))
        refused = self._standing.refusal(launch.entry, self.outcomes)
        if not (found or refused):
            return parsed
        why = "; ".join(found)
        results = tuple(
            dataclasses.replace(one, reason=refused or f"{why} ({one.reason})") if one.status == "failed" else one
            for one in parsed.results
        )
        return dataclasses.replace(parsed, results=results)

    def _context(self) -> AdapterContext:
        entry, site = self._launch.entry, self._site
        return AdapterContext(
            hosts=site.hosts,
            fabric=site.fabrics[entry.fabric] if entry.fabric else None,
            mpi=site.mpi[entry.mpi] if entry.mpi else None,
            engine=site.engine,
            mpi_engine=site.mpi_engines.get(entry.mpi or ""),
            npb=site.npb.get(entry.mpi or ""),
            profiler=site.profilers.get(entry.mpi or ""),
            imb=self._plan.section.imb_options.options(),
            osu=site.osu.get(entry.mpi or ""),
            programs=site.programs,
            token=secrets.token_hex(16),
            case_timeout_ns=self._plan.section.case_timeout,
            turn=self._turn,
            processors=self._dealt.processors,
            may_run_elsewhere=self._dealt.is_optional,
        )

    def _wrapped(self, command: Command) -> Command:
        """Return the command, with the MPI's launcher before it if it is an MPI job."""
        entry, site = self._launch.entry, self._site
        if not command.rank_hosts:
            return command
        fabric = site.fabrics[entry.fabric] if entry.fabric else None
        stack = site.mpi[entry.mpi or ""]
        if self._dealt.processors or self._dealt.is_forbidden:  # our engine's ranks take what they are given themselves
            stack = dataclasses.replace(stack, bind=NONE)
        return mpi_jobs.wrap(command, stack, site.hosts, fabric, site.remote_shell, site.slurm)

    def sweep(self) -> None:
        """End what a broken launch may have left on its hosts, and whatever else runs there: nobody may measure now."""
        if self.may_have_left:
            self._mishaps += filter(None, [self._standing.end()])  # a sweep ends the hosts' ends, which put it back
            with contextlib.suppress(LabError, HostError):  # a host that is gone has nothing left to end
                self._site.sweep(self.may_have_left)
        self.may_have_left = set()

    def failed(self, record: Mapping[str, Any], error: BaseException) -> dict[str, Any]:
        """Return the record of a launch whose results cannot be stored, though they were measured."""
        why = self._unforeseen(error)
        results = {case.case_id: {"status": "failed", "reason": why} for case in self._launch.cases}
        return {**record, "status": "failed", "reason": why, "results": results, "details": {}}

    def _of_site(self, read: Callable[[], Mapping[str, object]]) -> Mapping[str, object]:
        """Return what the site says, or nothing: a lab that is gone altogether shows in its hosts."""
        try:
            return read()
        except LabError:
            return {}
        except BaseException as error:
            self._mishaps.append(self._unforeseen(error))
            return {}

    def _fabric_counters(self) -> Mapping[str, object]:
        if mended := self._site.mend():  # a switch that was started again has nothing of what was set
            self._mishaps += filter(None, (*mended, self._standing.end()))
        return self._site.counters()

    def _record(self) -> dict[str, Any]:
        counters, consoles = self._of_site(self._fabric_counters), self._of_site(self._site.consoles)
        results = {key: {"status": one.status, "reason": one.reason} for key, one in self._results.items()}
        bad = [one.reason for one in self._results.values() if one.status == "failed"]
        return {
            "launch_id": self._launch.launch_id,
            "block": self._launch.block,
            "entry_id": self._launch.entry.entry_id,
            "status": "failed" if len(bad) == len(results) else "ok",
            "reason": bad[0] if bad else None,
            "results": results,
            "started_unix_ns": self._started_unix_ns,
            "elapsed_ns": self._elapsed_ns,
            "details": self._details,
            "mishaps": [*self._casualties.tell(), *self._mishaps],
            "stand_ins": self._stand_ins,
            "fabric_counters": counters,
            "consoles": consoles,
        }


def _groups(parsed: ParsedLaunch) -> dict[str, Any]:
    groups = parsed.details.get("groups")
    return groups if isinstance(groups, dict) else {}


def _of_its_cases(parsed: ParsedLaunch, launch: Launch) -> ParsedLaunch:
    """Return what an adapter read.

    Raises ParseError where it is about cases that the launch does not have, or of a quantity of unknown unit.
    """
    known = {case.case_id for case in launch.cases}
    named = {result.case_id for result in parsed.results} | {block.case_id for block in parsed.blocks}
    if not named <= known:
        strangers = ", ".join(sorted(named - known))
        raise ParseError(f"the output is about cases that this launch does not have: {strangers}")
    for quantity in {block.quantity for block in parsed.blocks}:
        unit_of(quantity)
    return parsed


def _all_failed(launch: Launch, reason: str) -> ParsedLaunch:
    return ParsedLaunch((), tuple(CaseResult(case.case_id, "failed", reason) for case in launch.cases))
