"""`--verbose` and `--quiet`, which every command has: each program as it is started, or no remark on what is under way.

What a command finds, and what is wrong, is told either way.
"""

from __future__ import annotations

import functools
import logging
import os
import shlex
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from fabriscope.model.errors import printable

if TYPE_CHECKING:
    from rich.status import Status

LOG = logging.getLogger("fabriscope")
_LEVELS = {"verbose": logging.DEBUG, "quiet": logging.WARNING}
_HELP = {
    "verbose": "Say which programs are started, as they are started.",
    "quiet": "Say nothing of what is under way.",
}
_MOST_CHARACTERS = 200
"""Of a word of a started program; a script is a word, too."""


class _Handler(logging.Handler):
    """Prints on standard error as it is now: a progress bar puts itself in its place."""

    def emit(self, record: logging.LogRecord) -> None:
        click.echo(printable(record.getMessage()), err=True)


@functools.cache
def _handler() -> logging.Handler:
    return _Handler()


def begin() -> None:
    """Let remarks be printed, until an option says otherwise."""
    LOG.addHandler(_handler())
    LOG.propagate = False
    LOG.setLevel(logging.INFO)


def remark(words: str) -> None:
    """Print what somebody who waits likes to know, on standard error, unless the command is to be quiet."""
    LOG.info("%s", words)


def status(words: str, *, is_shown: bool = True) -> Status:
    """Return what shows on a terminal that something is under way, while it is entered."""
    from rich.console import Console  # a twentieth of a second

    return Console(stderr=True, quiet=not (is_shown and LOG.isEnabledFor(logging.INFO))).status(words)


def give(command: click.Command) -> click.Command:
    """Give a command, and those that it groups, the two options that it has not; its own letters stay its own."""
    for part in getattr(command, "commands", {}).values():
        give(part)
    taken = {word for param in command.params for word in param.opts}
    for name in _LEVELS:
        if f"--{name}" not in taken and not isinstance(command, click.Group):
            command.params.append(_option(name, taken))
    return command


def _option(name: str, taken: set[str]) -> click.Option:
    words = [word for word in (f"-{name[0]}", f"--{name}") if word not in taken]
    return click.Option(words, is_flag=True, expose_value=False, callback=_choose, help=_HELP[name])


def _choose(_ctx: click.Context, param: click.Parameter, is_given: bool) -> None:
    if is_given:
        LOG.setLevel(_LEVELS[str(param.name)])
        if param.name == "verbose":
            _listen()


@functools.cache
def _listen() -> None:
    """Hear of each program that Python starts for us, and of those that others start for us on hosts."""
    sys.addaudithook(_hear)


def _hear(event: str, about: tuple[Any, ...]) -> None:
    # Nothing may be raised here: Python would not start the program.
    if event == "subprocess.Popen":
        LOG.debug("+ %s", _line(about[1]))
    elif event == "fabriscope.started":
        LOG.debug("%s + %s", about[0], _line(about[1]))


def _line(argv: str | bytes | os.PathLike[str] | Sequence[str | bytes | os.PathLike[str]]) -> str:
    """Return the words of a program as a shell takes them, long ones and scripts cut."""
    every = [argv] if isinstance(argv, str | bytes | os.PathLike) else argv
    return " ".join(_cut(shlex.quote(os.fsdecode(word))) for word in every)


def _cut(word: str) -> str:
    first = word.splitlines()[0] if word else word
    return word if len(first) == len(word) <= _MOST_CHARACTERS else f"{first[:_MOST_CHARACTERS]}..."
