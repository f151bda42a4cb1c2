"""Runs the commands of one launch and brings back their outcomes, whatever they do.

Everything that was started is ended when `run_commands` returns, and also when we are killed (`_guard`).
"""

from __future__ import annotations

import math
import os
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path

from fabriscope.hosts.access import leftovers
from fabriscope.hosts.access.leftovers import Leftover
from fabriscope.launch import _group
from fabriscope.launch._guard import Guard
from fabriscope.launch._process import Process
from fabriscope.launch._remote_process import RemoteProcess
from fabriscope.launch._standstill import Standstill
from fabriscope.launch.job_group import JobGroup
from fabriscope.model.command import Command, Leaving, Outcome
from fabriscope.model.errors import LaunchError, ToolMissing
from fabriscope.model.host import HERE, Host

PEER_GRACE_S = 2.0
"""Once a command has failed, the time that the others get to notice."""
LAST_LINE_GRACE_S = 10.0
"""From a program's last line of use to SIGTERM."""
TERM_GRACE_S = 3.0
"""From SIGTERM to SIGKILL."""
LEAVING_GRACE_S = 20.0
"""The same of a program that removes what it made elsewhere when it is asked to end: another takes longer to start."""
KILL_GRACE_S = 10.0
"""From SIGKILL until we leave a process that the kernel does not let go."""
UNDO_LIMIT_S = 60.0
"""The time that what a command left elsewhere may take to be removed."""
WATCHERS_GRACE_S = 30.0
"""The time that all watchers together get to be ready, then the launch begins without them; and to end."""

_READY_POLL_S = 0.003
_READY_POLL_PART = 0.05
"""How much later than it could a look at a program's output comes: who waits for a program's last line waits while
that program measures, on its own host perhaps, and each look costs it a processor."""
_OUTPUT = "output"
"""What the commands say is kept here, in the launch's own temporary folder."""
_CANCEL_POLL_S = 0.1
_STOP_POLL_S = 0.02


def run_commands(
    commands: Sequence[Command],
    hosts: Mapping[str, Host],
    *,
    timeout_s: float,
    stopped_s: float = math.inf,
    raw_dir: Path | None = None,
    cancel: threading.Event | None = None,
    watchers: Sequence[Command] = (),
) -> list[Outcome]:
    """Return the outcomes of all watchers and then of the commands that were started, in order.

    They start one after the other, each once the one before it is ready, or has ended if that one `is_alone`. Then we
    wait until all that are no servers have ended, one has failed and the others' grace is over, `timeout_s` (for all
    together) has passed, a signal has kept one from running for `stopped_s` (SIGSTOP; not seen of hosts over ssh), or
    `cancel` is set; whatever still runs is ended. One that has said its `last_line` is ended before that. What one has
    left elsewhere is removed at the end. `raw_dir` keeps `<index>-<program>.stdout` and `.stderr`. `watchers` are
    servers that see the whole launch: they start all at once, before the first command, and are ended after the last
    one. One that is not ready in time is killed, and keeps nobody from starting.
    Raises ToolMissing or LaunchError if a program cannot be started, and KeyboardInterrupt without a `cancel`.
    """
    with ExitStack() as stack:
        guard = stack.enter_context(Guard())
        folder = raw_dir or guard.folder / _OUTPUT
        folder.mkdir(parents=True, exist_ok=True)
        launch = _Launch(hosts, folder, guard, time.monotonic() + timeout_s, cancel or threading.Event())
        launch.standstill = Standstill(stopped_s)
        try:
            launch.start_watchers(watchers)
            launch.start(commands)
            launch.wait()  # ends: at the launch's deadline
        except KeyboardInterrupt:
            if cancel is None:
                raise
            cancel.set()
        finally:
            outcomes = [launch.undo(outcome) for outcome in launch.finish()]
            launch.forget_unmade()
        launch.check()
        return outcomes


@contextmanager
def watching(
    watchers: Sequence[Command], hosts: Mapping[str, Host]
) -> Iterator[tuple[Callable[[], list[Outcome]], JobGroup | None]]:
    """Start watchers, and yield, once those are ready that live, what ends them and returns their outcomes.

    For what is not launched by us: it is to join the group that is yielded too, if there is one. They end with the
    block at the latest. Raises ToolMissing or LaunchError.
    """
    with ExitStack() as stack:
        guard = stack.enter_context(Guard(counts_datagrams=True))
        folder = guard.folder / _OUTPUT
        folder.mkdir()
        launch = _Launch(hosts, folder, guard, math.inf, threading.Event())
        outcomes: list[Outcome] = []

        def end() -> list[Outcome]:
            if not outcomes:
                outcomes.extend(launch.finish())
            return outcomes

        try:
            launch.start_watchers(watchers)
            yield end, guard.group
        finally:
            end()


class _Launch:
    """The processes of one launch, and why the rest of them must end."""

    def __init__(
        self, hosts: Mapping[str, Host], folder: Path, guard: Guard, deadline_s: float, cancel: threading.Event
    ) -> None:
        self.processes: list[Process] = []
        self.watchers: list[Process] = []
        self.standstill = Standstill(math.inf)
        self._hosts = hosts
        self._folder = folder
        self._guard = guard
        self._deadline_s = deadline_s
        self._cancel = cancel
        self._changed = threading.Event()
        self._overflow = ""
        self._made: dict[str, tuple[Leftover, int]] = {}

    def start_watchers(self, commands: Sequence[Command]) -> None:
        """Start the watchers at once, and wait until those are ready that live.

        One that is late is killed: what it would see as there before the launch may be the launch's.
        """
        for index, command in enumerate(commands):
            self._add(self.watchers, command, f"watcher-{index}", is_watcher=True)
        until_s = time.monotonic() + WATCHERS_GRACE_S
        for process in self.watchers:
            if self._ready_groups(process, until_s) is None and not process.has_ended.is_set():
                process.was_stopped = True
                process.kill()

    def start(self, commands: Sequence[Command]) -> None:
        """Start the commands in order; stops at the first that ends, hangs or is cancelled before it is ready."""
        words: dict[str, str] = {}
        for command in commands:
            process = self._add(self.processes, command.with_words(words), str(len(self.processes)))
            if command.is_alone:
                self._wait_alone(process)
                if self._is_over():
                    return
            if command.ready_pattern is None:
                continue
            groups = self._ready_groups(process)
            if groups is None:
                return
            words.update(groups)

    def _wait_alone(self, process: Process) -> None:
        """Return once a process has ended, or was ended as it was over its limit or had said its last line."""
        until_s = time.monotonic() + (process.command.limit_s or math.inf)
        while not process.has_ended.wait(_CANCEL_POLL_S) and not self._is_over():
            process.timed_out = time.monotonic() >= until_s
            if process.timed_out or process.said_all_s() > LAST_LINE_GRACE_S:
                self._end([process])

    def _add(self, processes: list[Process], command: Command, number: str, *, is_watcher: bool = False) -> Process:
        host = self._hosts.get(command.host) or (HERE if command.host == HERE.name else None)
        if host is None:
            raise LaunchError(f"no host {command.host!r} is known", where=command.argv[0])
        if command.leaving is not None:
            self._made[command.leaving.what] = leftovers.record(host, command.leaving)
        stem = f"{number}-{Path(command.argv[0]).name}"
        paths = (self._folder / f"{stem}.stdout", self._folder / f"{stem}.stderr")
        kind = RemoteProcess if host.is_remote else Process
        process = kind(command, host, paths, self._guard, is_watcher=is_watcher)
        processes.append(process)
        process.watch(self._changed)
        return process

    def _ready_groups(self, process: Process, until_s: float = math.inf) -> Mapping[str, str] | None:
        began_s = time.monotonic()
        while True:
            has_ended = process.has_ended.is_set()  # asked first: its last line may be the one
            groups = process.ready_groups()
            is_vain = has_ended or self._lacks_one() or self._is_over() or time.monotonic() >= until_s
            if groups is not None or is_vain:
                return groups
            waited_s = time.monotonic() - began_s
            process.has_ended.wait(min(max(_READY_POLL_S, _READY_POLL_PART * waited_s), _CANCEL_POLL_S))

    def _is_over(self) -> bool:
        self._overflow = self._overflow or next((text for one in self.processes if (text := one.overflow())), "")
        is_ended = bool(self._overflow) or self._cancel.is_set() or time.monotonic() >= self._deadline_s
        return is_ended or self._stands_still()

    def _stands_still(self) -> bool:
        """Return whether a signal has kept one from running for too long; that one is known for it from then on."""
        if self.standstill.is_due():
            running = {process.group: process for process in self.processes if not process.has_ended.is_set()}
            self.standstill.look(_group.stopped(running))
            for group in self.standstill.found & running.keys():
                running[group].stood_still = True
        return bool(self.standstill.found)

    def _lacks_one(self) -> bool:
        """Return whether one without which the others wait in vain has ended."""
        return any(process.command.must_last and process.failed() for process in self.processes)

    def check(self) -> None:
        """Raise LaunchError for a program that was ended because it wrote too much."""
        if self._overflow:
            raise LaunchError(f"{self._overflow}: it was ended")

    def wait(self) -> None:
        """Return when nothing is left to wait for."""
        while self._running() and not self._is_over():
            self._changed.wait(min(_CANCEL_POLL_S, max(self._deadline_s - time.monotonic(), 0)))
            self._changed.clear()
            if any(process.failed() for process in self.processes if not process.command.is_alone):
                self._wait_for_ends(self._running(), min(PEER_GRACE_S, self._deadline_s - time.monotonic()))
                break
            self._end([process for process in self._running() if process.said_all_s() > LAST_LINE_GRACE_S])
        if time.monotonic() >= self._deadline_s:
            for process in self._running():
                process.timed_out = True

    def _running(self) -> list[Process]:
        return [p for p in self.processes if not p.command.is_server and not p.has_ended.is_set()]

    def _wait_for_ends(self, processes: Sequence[Process], grace_s: float) -> None:
        until_s = time.monotonic() + grace_s
        for process in processes:
            while not process.has_ended.wait(min(_CANCEL_POLL_S, max(until_s - time.monotonic(), 0))):
                if time.monotonic() >= until_s or self._is_over():
                    return

    def finish(self) -> list[Outcome]:
        """Return the outcomes; whatever still runs is ended first, and the watchers when nothing else does."""
        self._end(self.processes)
        self._end(self.watchers, WATCHERS_GRACE_S)
        return [process.finish() for process in (*self.watchers, *self.processes)]

    def undo(self, outcome: Outcome) -> Outcome:
        """Have removed what a command left elsewhere, if it may have left anything; return what is known of that."""
        leaving = outcome.command.leaving
        if leaving is None:
            return outcome
        entry, held_by = self._made.pop(leaving.what)
        try:
            is_gone = outcome.says(leaving.gone) or self._is_removed(outcome.command, leaving)
            if is_gone:
                entry.drop()
        finally:
            os.close(held_by)
        return replace(outcome, may_have_left=not is_gone, left_as="" if is_gone else entry.name)

    def forget_unmade(self) -> None:
        """Cross out what commands would have made that could not be started."""
        for entry, held_by in self._made.values():
            entry.drop()
            os.close(held_by)

    def _is_removed(self, command: Command, leaving: Leaving) -> bool:
        try:
            remover = self._add([], replace(command, argv=leaving.argv, leaving=None), f"undo-{len(self.processes)}")
        except (ToolMissing, LaunchError):
            return False
        remover.has_ended.wait(UNDO_LIMIT_S)
        self._end([remover])
        return remover.finish().says(leaving.gone)

    def _end(self, processes: Sequence[Process], grace_s: float = TERM_GRACE_S) -> None:
        """End those that still run: SIGTERM, a grace, SIGKILL."""
        running = [process for process in processes if not process.has_ended.is_set()]
        for process in running:
            process.was_stopped = True
            process.ask_to_end()
        grace_s = LEAVING_GRACE_S if any(process.command.leaving for process in running) else grace_s
        until_s = time.monotonic() + grace_s
        while any(process.is_living() for process in running) and time.monotonic() < until_s:
            time.sleep(_STOP_POLL_S)
        for process in running:
            process.kill()
        until_s = time.monotonic() + KILL_GRACE_S
        for process in running:
            process.has_ended.wait(max(until_s - time.monotonic(), 0))
