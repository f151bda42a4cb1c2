"""What ends our processes when we cannot: a watcher that outlives us, and a mark that finds strays.

A process may leave its process group (mpirun's daemons do), and we may be killed without a chance to clean up.
Nothing is ever ended by name: only groups that we created, and processes that carry this launch's random mark.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import signal
import subprocess
import time
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Self

from fabriscope.launch._group import signal_if

MARK_VARIABLE = "FABRISCOPE_LAUNCH_MARK"

_MAX_SWEEPS = 20
_SWEEP_PAUSE_S = 0.005

# Reads `started GROUP` and `ended GROUP`; when its input ends, whatever still lives is ended.
_WATCH = """
live=""
while read -r verb group; do
  case $verb in
    started) live="$live $group" ;;
    ended) kept=""; for g in $live; do [ "$g" = "$group" ] || kept="$kept $g"; done; live=$kept ;;
  esac
done
[ -n "$live" ] || exit 0
for g in $live; do kill -s TERM -- "-$g" 2>/dev/null; done
sleep 2
for g in $live; do kill -s KILL -- "-$g" 2>/dev/null; done
"""


class Guard:
    """Ends the process groups that it was told of, should we die before we say that they have ended."""

    def __init__(self) -> None:
        self.mark = secrets.token_hex(16)
        self._watcher = subprocess.Popen(
            ["/bin/sh", "-c", _WATCH, "fabriscope-guard"],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        end_marked(self.mark)
        self._watcher.communicate()

    def started(self, group: int) -> None:
        """Put a process group under guard."""
        self._tell(f"started {group}")

    def ended(self, group: int) -> None:
        """Take a process group from guard; called before its leader is reaped, so the number is still ours."""
        self._tell(f"ended {group}")

    def _tell(self, line: str) -> None:
        if self._watcher.stdin is not None:
            with contextlib.suppress(BrokenPipeError):  # somebody ended the watcher; the launch goes on
                self._watcher.stdin.write(f"{line}\n".encode())
                self._watcher.stdin.flush()


def end_marked(mark: str) -> int:
    """End every process that carries the launch's mark in its environment; returns how many there were.

    Looks again for as long as something is found, because what is ended may have had a child a moment before; and a
    few times more while a process has no environment at all, as one in the middle of an exec.
    """
    needle = f"{MARK_VARIABLE}={mark}".encode()
    count = 0
    for _ in range(_MAX_SWEEPS):
        found, unclear = _sweep(needle)
        count += found
        if not found and not unclear:
            break
        time.sleep(_SWEEP_PAUSE_S)
    return count


def _sweep(needle: bytes) -> tuple[int, int]:
    """Return how many marked processes were ended, and how many could not be told."""
    found = unclear = 0
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        environment = _environment(entry)
        if environment and needle in environment.split(b"\0"):
            found += signal_if(int(entry.name), signal.SIGKILL, partial(_is_marked, entry, needle))
        elif environment == b"":
            unclear += _is_young(entry)
    return found, unclear


def _environment(process: Path) -> bytes | None:
    try:
        return (process / "environ").read_bytes()
    except OSError:  # it has ended, or it is another user's
        return None


def _is_marked(process: Path, needle: bytes) -> bool:
    return needle in (_environment(process) or b"").split(b"\0")


def _is_young(process: Path) -> bool:
    """Return whether a process is a program (kernel threads are none) that began within the last second."""
    try:
        (process / "exe").readlink()
        started_ticks = int((process / "stat").read_text().rpartition(")")[2].split()[19])
    except (OSError, IndexError):
        return False
    return time.clock_gettime(time.CLOCK_BOOTTIME) - started_ticks / os.sysconf("SC_CLK_TCK") < 1.0
