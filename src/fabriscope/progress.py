"""What a run says while it runs: for a person at a terminal, for a log, or as JSON lines for a script."""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable
from types import TracebackType
from typing import Any, Protocol, Self

from fabriscope.model.counting import counted
from fabriscope.model.errors import printable
from fabriscope.model.measurement import Launch
from fabriscope.model.terminals import UNWRAPPED

_PLAIN: Any = {"markup": False, "emoji": False, "highlight": False}
"""A console for words that others wrote: brackets and colons in them are brackets and colons."""


class Progress(Protocol):
    """Told of every step of a run."""

    def notice(self, what: str) -> None:
        """Something that takes time begins."""

    def say(self, sentence: str) -> None:
        """Something that a reader of the progress should know."""

    def start(self, run_path: str, launch_count: int, done_count: int, expected_ns: int) -> None:
        """The launches begin; `expected_ns` is about how long those that are left will take."""

    def more(self, launch_count: int, expected_ns: int) -> None:
        """Add launches to those that were planned; `expected_ns` is about how long they will take."""

    def launch_started(self, launch: Launch, expected_ns: int) -> None:
        """One launch begins."""

    def launch_ended(self, launch: Launch, failed: dict[str, str], elapsed_ns: int) -> None:
        """One launch is stored; `failed` holds the reason of every case that failed."""

    def end(self, run_path: str, launch_count: int, failed_count: int, answer: list[str], *, is_complete: bool) -> None:
        """The run is over; `answer` holds the first sentences of what came of it."""

    def __enter__(self) -> Self: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...


class QuietProgress:
    """Says nothing."""

    def more(self, launch_count: int, expected_ns: int) -> None:
        """See Progress."""

    def notice(self, what: str) -> None:
        """See Progress."""

    def say(self, sentence: str) -> None:
        """See Progress."""

    def start(self, run_path: str, launch_count: int, done_count: int, expected_ns: int) -> None:
        """See Progress."""

    def launch_started(self, launch: Launch, expected_ns: int) -> None:
        """See Progress."""

    def launch_ended(self, launch: Launch, failed: dict[str, str], elapsed_ns: int) -> None:
        """See Progress."""

    def end(self, run_path: str, launch_count: int, failed_count: int, answer: list[str], *, is_complete: bool) -> None:
        """See Progress."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        pass


class Unheard:
    """Hands everything on to another one, and falls silent once nobody can hear it: the terminal or the pipe closed."""

    def __init__(self, told: Progress) -> None:
        self._told = told
        self._is_heard = True

    def _tell(self, say: Callable[[], object]) -> None:
        if self._is_heard:
            try:
                say()
            except OSError:
                self._is_heard = False

    def notice(self, what: str) -> None:
        """See Progress."""
        self._tell(lambda: self._told.notice(what))

    def say(self, sentence: str) -> None:
        """See Progress."""
        self._tell(lambda: self._told.say(sentence))

    def start(self, run_path: str, launch_count: int, done_count: int, expected_ns: int) -> None:
        """See Progress."""
        self._tell(lambda: self._told.start(run_path, launch_count, done_count, expected_ns))

    def more(self, launch_count: int, expected_ns: int) -> None:
        """See Progress."""
        self._tell(lambda: self._told.more(launch_count, expected_ns))

    def launch_started(self, launch: Launch, expected_ns: int) -> None:
        """See Progress."""
        self._tell(lambda: self._told.launch_started(launch, expected_ns))

    def launch_ended(self, launch: Launch, failed: dict[str, str], elapsed_ns: int) -> None:
        """See Progress."""
        self._tell(lambda: self._told.launch_ended(launch, failed, elapsed_ns))

    def end(self, run_path: str, launch_count: int, failed_count: int, answer: list[str], *, is_complete: bool) -> None:
        """See Progress."""
        self._tell(lambda: self._told.end(run_path, launch_count, failed_count, answer, is_complete=is_complete))

    def __enter__(self) -> Self:
        self._tell(self._told.__enter__)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._tell(lambda: self._told.__exit__(kind, error, trace))


class JsonProgress(QuietProgress):
    """One JSON object a line on standard output."""

    def _say(self, event: str, **values: Any) -> None:
        print(json.dumps({"event": event, "unix_ns": time.time_ns(), **values}), flush=True)  # noqa: T201 - its job

    def notice(self, what: str) -> None:
        """See Progress."""
        self._say("preparing", what=what)

    def say(self, sentence: str) -> None:
        """See Progress."""
        self._say("said", sentence=sentence)

    def start(self, run_path: str, launch_count: int, done_count: int, expected_ns: int) -> None:
        """See Progress."""
        self._say("started", run=run_path, launches=launch_count, done=done_count, expected_ns=expected_ns)

    def more(self, launch_count: int, expected_ns: int) -> None:
        """See Progress."""
        self._say("launches_added", launches=launch_count, expected_ns=expected_ns)

    def launch_started(self, launch: Launch, expected_ns: int) -> None:
        """See Progress."""
        self._say(
            "launch_started",
            launch_id=launch.launch_id,
            block=launch.block,
            entry=launch.entry.entry_id,
            cases=len(launch.cases),
            expected_ns=expected_ns,
        )

    def launch_ended(self, launch: Launch, failed: dict[str, str], elapsed_ns: int) -> None:
        """See Progress."""
        self._say("launch_ended", launch_id=launch.launch_id, failed=failed, elapsed_ns=elapsed_ns)

    def end(self, run_path: str, launch_count: int, failed_count: int, answer: list[str], *, is_complete: bool) -> None:
        """See Progress."""
        told = {"complete": is_complete, "launches": launch_count, "failed": failed_count, "answer": answer}
        self._say("ended", run=run_path, **told)


class TerminalProgress(QuietProgress):
    """A bar with what runs now, how far, and how long still; plain lines where the output is no terminal."""

    def __init__(self, now_ns: Callable[[], int] = time.monotonic_ns) -> None:
        """Prepare; `now_ns` tells the time."""
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn

        found = Console(file=sys.stderr, **_PLAIN)  # as wide as its terminal, or as COLUMNS says
        is_told = found.is_terminal or "COLUMNS" in os.environ
        self._console = found if is_told else Console(file=sys.stderr, width=UNWRAPPED, **_PLAIN)
        self._bar = Progress(
            TextColumn("{task.completed:>3.0f}/{task.total:.0f}"),
            BarColumn(bar_width=30),
            TextColumn("about {task.fields[left]:>8} left"),
            TextColumn("{task.description}"),
            console=self._console,
            disable=not self._console.is_terminal,
        )
        self._left_ns = 0
        self._expected_ns: dict[int, int] = {}
        self._ended_expected_ns = 0
        self._now_ns = now_ns
        self._began_ns: int | None = None
        self._took_ns = 0
        self._task: Any = None

    def notice(self, what: str) -> None:
        """See Progress."""
        self._print(f"preparing {what}", style="dim")

    def say(self, sentence: str) -> None:
        """See Progress."""
        self._print(sentence)

    def start(self, run_path: str, launch_count: int, done_count: int, expected_ns: int) -> None:
        """See Progress."""
        self._left_ns = expected_ns
        count = counted(launch_count - done_count, "launch")
        self._print(f"{count}, about {_clock(expected_ns)} on an idle machine, into {run_path}")
        self._task = self._bar.add_task("", total=launch_count, completed=done_count, left=_clock(expected_ns))
        self._bar.start()

    def more(self, launch_count: int, expected_ns: int) -> None:
        """See Progress."""
        self._left_ns = expected_ns
        total = self._bar.tasks[0].total or 0
        self._bar.update(self._task, total=total + launch_count, left=_clock(expected_ns))

    def launch_started(self, launch: Launch, expected_ns: int) -> None:
        """See Progress."""
        self._expected_ns[launch.launch_id] = expected_ns
        self._began_ns = self._began_ns or self._now_ns()
        left = self._left_text()
        self._bar.update(self._task, description=f"block {launch.block}: {launch.entry.label()}", left=left)
        self._bar.refresh()
        if not self._console.is_terminal:
            self._print(
                f"launch {launch.launch_id}, block {launch.block}: {launch.entry.label()}, {launch.entry.placement}"
                f" (about {left} left)"
            )

    def launch_ended(self, launch: Launch, failed: dict[str, str], elapsed_ns: int) -> None:
        """See Progress."""
        expected_ns = self._expected_ns.pop(launch.launch_id, 0)  # its own: a group's launches have all started
        self._left_ns -= expected_ns
        self._ended_expected_ns += expected_ns
        self._took_ns = max(elapsed_ns, self._now_ns() - (self._began_ns or 0))
        self._bar.update(self._task, advance=1, left=self._left_text())
        if failed:
            reason = next(iter(failed.values()))
            self._print(
                f"{launch.entry.label()}: {len(failed)} of {len(launch.cases)} measurements failed: {reason}",
                style="yellow",
            )

    def _print(self, words: str, style: str | None = None) -> None:
        """Print a sentence, in which a program's words may stand: the terminal obeys none of them, nor do we."""
        self._console.print(printable(words), style=style)

    def _left_text(self) -> str:
        """Say about how long it still takes, if what is left is as much slower than expected as all that has ended.

        That is by the clock on the wall: launches that measure in turns overlap, and what lies between launches counts.
        """
        pace = self._took_ns / self._ended_expected_ns if self._ended_expected_ns else 1.0
        return _clock(round(self._left_ns * pace))

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._bar.stop()


def _clock(duration_ns: int) -> str:
    seconds = max(0, round(duration_ns / 1e9))
    return f"{seconds // 60}:{seconds % 60:02d} min" if seconds >= 60 else f"{seconds} s"
