"""Signals that end a command before it knows what to do about them, and after it has done all: a sentence and a status.

Before a command begins nothing is started yet, and after its end all is done; in between Ctrl-C is a KeyboardInterrupt.
`fabriscope run` answers SIGTERM and SIGHUP by ending what it started (`cli/_measuring.py`), once it has begun. Before,
a signal would end the process without a word; after, the run is whole.
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
    """End with 128 and the signal's number, and a sentence, until the command has handlers of its own.

    Python itself answers Ctrl-C with a KeyboardInterrupt wherever it is, in the middle of what is being loaded.
    """
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _interrupted)
    if sys.argv[1:2] and sys.argv[1] in _COMMANDS:
        for number in ENDING:
            if signal.getsignal(number) is not signal.SIG_IGN:  # nohup
                signal.signal(number, _end)


def begun() -> None:
    """Let Ctrl-C be a KeyboardInterrupt: a command begins, and ends by it as it has to."""
    if signal.getsignal(signal.SIGINT) is _interrupted:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def interrupted() -> int:
    """Say that Ctrl-C came before anything was begun; return the status."""
    os.write(2, b"fabriscope: interrupted before anything was begun\n")
    return 128 + signal.SIGINT


def over() -> None:
    """Let what has been done be the end: a signal that comes while Python leaves changes no status any more.

    Ctrl-C ends the process at once, should it not leave.
    """
    if signal.getsignal(signal.SIGINT) in (signal.default_int_handler, _interrupted):
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    if sys.argv[1:2] and sys.argv[1] in _COMMANDS:
        for number in ENDING:
            signal.signal(number, signal.SIG_IGN)


def _interrupted(_number: int, _frame: FrameType | None) -> None:
    os._exit(interrupted())


def _end(number: int, _frame: FrameType | None) -> None:
    # nothing has been started: no exception, which whatever is being imported might swallow
    os.write(2, f"fabriscope: ended by {signal.Signals(number).name} before anything was measured\n".encode())
    os._exit(128 + number)
