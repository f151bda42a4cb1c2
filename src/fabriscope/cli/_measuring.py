"""What commands share that measure: signals that end a run cleanly, and plans made of a command line's words."""

from __future__ import annotations

import contextlib
import re
import signal
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING

import click

from fabriscope.model.counting import counted

if TYPE_CHECKING:
    from fabriscope.plan import Plan
    from fabriscope.running.run import RunSummary

EXIT_AFTER_SIGNAL = 128
EXIT_SOME_FAILED = 10
MOST_SHOWN = 60
"""Characters of a plan's line that nobody has written."""


class Cancel:
    """Turns Ctrl-C, kill and a closed terminal into an event; a second Ctrl-C is Python's own KeyboardInterrupt."""

    def __init__(self) -> None:
        self.event = threading.Event()
        self.signal_number: int | None = None
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, self._stop)

    def _stop(self, number: int, _frame: FrameType | None) -> None:
        self.signal_number = number
        self.event.set()
        if number == signal.SIGINT:  # a closing terminal sends two SIGHUP: those mean one thing
            signal.signal(number, signal.default_int_handler)


def refuse_failed(summary: RunSummary) -> None:
    """End the process with 10 where measurements of a run failed, or there are none at all."""
    if summary.failed_cases or summary.is_empty:
        raise SystemExit(EXIT_SOME_FAILED)


def failed_sentence(summary: RunSummary) -> str:
    """Return how many measurements failed, and what can be done."""
    return (
        f"{counted(summary.failed_cases, 'measurement')} failed; the report lists them with their reasons, and "
        f"`fabriscope run --resume {summary.path}` tries them again"
    )


def folder_for(name: str) -> Path:
    """Return where a new run is kept unless the user says where."""
    return Path("runs") / f"{name}-{time.strftime('%Y%m%d-%H%M%S')}"


def check(name: str, text: str) -> Plan:
    """Return the plan that words of the command line made; raises PlanError, as of any plan.

    Nobody has seen its file, which is no more: what is wrong is told of the words and their line.
    """
    from fabriscope import plan as plans
    from fabriscope.running.vocabulary import vocabulary

    with tempfile.TemporaryDirectory(prefix=f"fabriscope-{name}-") as scratch:
        path = Path(scratch) / f"{name}.yaml"
        path.write_text(text)
        with _of_words(name, path, text):
            return plans.load(path, vocabulary())


@contextlib.contextmanager
def _of_words(name: str, path: Path, text: str) -> Iterator[None]:
    """Tell mistakes of a plan's file as those of a command's words: the line beside its number, which nobody sees."""
    from fabriscope.model.errors import FabriscopeError

    lines = text.splitlines()

    def place(match: re.Match[str]) -> str:
        number = int(match[1])
        line = lines[number - 1].strip() if 0 < number <= len(lines) else ""
        shown = f" (`{line[:MOST_SHOWN]}`)" if line else ""
        return f"{name}'s plan, line {number}{shown}"

    try:
        yield
    except FabriscopeError as error:
        if f"{path}:" not in str(error):
            raise
        raise type(error)(re.sub(rf"{re.escape(str(path))}:(\d+)", place, str(error))) from error


def measure(name: str, text: str, output: Path | None, *, quiet: bool, shows_plan: bool = False) -> RunSummary:
    """Measure a plan that words of the command line made; what is wrong in it is told as of any plan.

    A good one is printed on standard error where `shows_plan`.

    Ends the process, with the status of the signal, where it was interrupted. Raises FabriscopeError.
    """
    from fabriscope.progress import QuietProgress, TerminalProgress, Unheard
    from fabriscope.running import run

    checked = check(name, text)
    if shows_plan:
        click.echo(text, err=True)
    cancel = Cancel()
    progress = Unheard(QuietProgress() if quiet else TerminalProgress())
    with _of_words(name, Path(checked.file), text):
        summary = run.start(checked, output or folder_for(name), progress, cancel.event)
    if cancel.signal_number is not None and not summary.is_complete:
        resume = f"`fabriscope run --resume {summary.path}` goes on"
        click.echo(f"interrupted after {counted(summary.launch_count, 'launch')}; {resume}")
        raise SystemExit(EXIT_AFTER_SIGNAL + cancel.signal_number)
    return summary
