"""Signals that end a command before it knows what to do about them, and after it has done all: a sentence and a status.

`fabriscope run` answers SIGTERM and SIGHUP by ending what it started (`cli/_measuring.py`), once it has begun. Before,
nothing is started yet, and a signal would end the process without a word; after, the run is whole.
"""

from __future__ import annotations

import os
import signal
import sys
from types import FrameType

ENDING = (signal.SIGTERM, signal.SIGHUP)
_COMMANDS = ("run",)
"""Those of which docs/exit-codes.md promises a status."""


def begin() -> None:
    """End with 128 and the signal's number, and a sentence, until the command has handlers of its own."""
    if sys.argv[1:2] and sys.argv[1] in _COMMANDS:
        for number in ENDING:
            if signal.getsignal(number) is not signal.SIG_IGN:  # nohup
                signal.signal(number, _end)


def interrupted() -> int:
    """Say that Ctrl-C came before anything was begun; return the status."""
    sys.stderr.write("fabriscope: interrupted before anything was begun\n")
    return 128 + signal.SIGINT


def over() -> None:
    """Let what has been done be the end: a signal that comes while Python leaves changes no status any more."""
    if sys.argv[1:2] and sys.argv[1] in _COMMANDS:
        for number in ENDING:
            signal.signal(number, signal.SIG_IGN)


def _end(number: int, _frame: FrameType | None) -> None:
    # nothing has been started: no exception, which whatever is being imported might swallow
    os.write(2, f"fabriscope: ended by {signal.Signals(number).name} before anything was measured\n".encode())
    os._exit(128 + number)
