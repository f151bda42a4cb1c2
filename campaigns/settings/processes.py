"""Processes that a campaign begins without starting an interpreter, and what they have begun."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable
from pathlib import Path

from campaigns.settings.__main__ import wait
from campaigns.settings.guests import reap


def begun(what: Callable[[], None], log: Path) -> int:
    """Return the process that does it; it begins without the start of an interpreter, which would be most of a case."""
    pid = os.fork()
    if pid:
        return pid
    code = 1
    with log.open("wb") as stream:  # ends the process whatever happens
        try:
            os.setsid()
            os.dup2(stream.fileno(), 1)
            os.dup2(stream.fileno(), 2)
            what()
            code = 0
        except SystemExit as error:
            code = error.code if isinstance(error.code, int) else 1
        except BaseException as error:  # the campaign's own code must not go on in a second process
            os.write(2, f"{type(error).__name__}: {error}\n".encode())
        finally:
            os._exit(code)


def below(pid: int) -> set[int]:
    """Return what a process has begun, and what that has."""
    found: set[int] = set()
    with contextlib.suppress(OSError):
        for task in Path(f"/proc/{pid}/task").iterdir():
            for child in map(int, (task / "children").read_text().split()):
                found |= {child} | below(child)
    return found


def is_gone(pid: int) -> None:
    """Wait for the end of a process of ours."""
    wait(lambda: has_ended(pid))
    reap()


def has_ended(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] in "ZX"
    except OSError:
        return True
