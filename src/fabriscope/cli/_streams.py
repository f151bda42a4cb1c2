"""The three streams of a command: there, fit for every character, and silent where nobody can hear them."""

from __future__ import annotations

import errno
import io
import os
import sys
from pathlib import Path
from typing import TextIO

import click

from fabriscope.model.errors import printable

_STDOUT = 1


class OutputFailed(OSError):
    """Standard output takes nothing more, and not because its reader went away: its disk is full."""

    def sentence(self) -> str:
        """Return what is wrong, and what to do."""
        what = f"standard output cannot be written: {self.strerror}"
        return f"{what} -- make room, or write it elsewhere; what it holds is not all of it"


class _Stream(io.FileIO):
    """A descriptor that falls silent when its reader goes away, as does standard error for whatever reason."""

    def __init__(self, number: int) -> None:
        super().__init__(number, "w", closefd=False)
        self._is_terminal = os.isatty(number)
        self._is_heard = True

    def write(self, content: object, /) -> int:
        if not isinstance(content, bytes | bytearray | memoryview):
            raise TypeError(type(content).__name__)
        if self._is_heard:
            try:
                return super().write(content)
            except BlockingIOError:
                raise
            except OSError as error:
                is_gone = error.errno == errno.EPIPE or (error.errno == errno.EIO and self._is_terminal)
                if not is_gone and self.fileno() == _STDOUT:
                    raise OutputFailed(error.errno, error.strerror) from error
                self._is_heard = False
        return memoryview(content).nbytes


def say(words: str, *, is_told: bool = False) -> None:
    """Print what a program, a host or a file may have said; `is_told`: to standard error, as our own sentence.

    Nothing in it is obeyed by a terminal: a title, a colour, a direction of writing stand there as what they are.
    """
    click.echo(f"fabriscope: {printable(words)}" if is_told else printable(words), err=is_told)


def say_path(path: Path) -> None:
    """Print a path alone: as it is for a program that reads it, and without what a terminal would obey for people."""
    if sys.stdout.isatty():
        say(str(path))
    else:
        click.echo(str(path), color=True)  # so that click takes nothing out of it


def open_all() -> None:
    """See to it that all three streams are there, and take what the locale has no sign for (as an escape).

    Where one was closed before we began, the next file that is opened would get its number, and our words.
    """
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        stream: TextIO | None = getattr(sys, name)
        if stream is None:
            descriptor = os.open(os.devnull, os.O_RDWR)
            if descriptor != number:
                os.dup2(descriptor, number)
            os.set_inheritable(number, True)
            setattr(sys, name, os.fdopen(number, "r" if name == "stdin" else "w"))
        elif number and isinstance(stream, io.TextIOWrapper):
            if stream is getattr(sys, f"__{name}__"):
                stream = _told(stream, number)
                setattr(sys, name, stream)
            stream.reconfigure(errors="backslashreplace")


def _told(stream: io.TextIOWrapper, number: int) -> io.TextIOWrapper:
    """Return a stream like this one that knows what becomes of its words."""
    at_once = stream.line_buffering or stream.write_through
    return io.TextIOWrapper(io.BufferedWriter(_Stream(number)), encoding=stream.encoding, line_buffering=at_once)
