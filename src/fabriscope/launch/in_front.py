"""Runs somebody's own program as their shell would: with our standard streams, told of the signals that we are sent."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Self

from fabriscope.launch._group import WAITERS
from fabriscope.launch.job_group import JobGroup
from fabriscope.model import search_paths
from fabriscope.model.errors import LaunchError, ToolMissing

PASSED_ON = (signal.SIGINT, signal.SIGQUIT, signal.SIGTERM, signal.SIGHUP)
_OF_TERMINAL = (signal.SIGINT, signal.SIGQUIT)
MOST_KEPT_BYTES = 16 << 20
"""Of what a program says; libraries speak of themselves at the start."""
_DRAIN_S = 5.0
"""What a program leaves behind may hold its output open for ever."""
_ARRIVAL = """
import os, signal, sys
with open("/proc/self/environ", "rb") as stream:
    variables = dict(one.split(b"=", 1) for one in stream.read().split(b"\\0") if b"=" in one)
if signal.getsignal(signal.SIGINT) == signal.default_int_handler:
    signal.signal(signal.SIGINT, signal.SIG_DFL)
for number in (signal.SIGPIPE, signal.SIGXFSZ):
    signal.signal(number, signal.SIG_DFL)
signal.pthread_sigmask(signal.SIG_UNBLOCK, (signal.SIGINT, signal.SIGQUIT))
try:
    os.execvpe(sys.argv[1], sys.argv[1:], variables)
except OSError as error:
    print(f"{sys.argv[1]}: {error.strerror}", file=sys.stderr, flush=True)
    os._exit(127 if isinstance(error, FileNotFoundError) else 126)
"""
"""Turns into the program, which is to find signals and variables as they were before this interpreter started."""


@dataclass(frozen=True)
class Ending:
    """How a program ended."""

    exit_status: int
    """Negative for the signal that ended it."""
    started_unix_ns: int
    elapsed_ns: int
    was_signalled: bool
    """A signal came for it, from the terminal or through us."""
    said: str = ""
    """What it wrote, both streams one after the other, if it was to be kept."""


def run(
    argv: Sequence[str],
    env: Mapping[str, str],
    *,
    access: Sequence[str] = (),
    group: JobGroup | None = None,
    keep_words: bool = False,
) -> Ending:
    """Run a program to its end, with standard input, output and error of our own.

    `access` are words that lead to a host of a lab; `group` is what it is to be a member of. With `keep_words` its
    output passes through us, byte by byte, and is kept beside. To be called from the main thread. Raises ToolMissing
    or LaunchError where it does not start.
    """
    words = [*access, sys.executable, "-I", "-S", "-c", _ARRIVAL, *argv] if access else list(argv)
    # As it was given to us, search paths too; what leads to a host of a lab is found by ours.
    variables = {**os.environ, **({} if access else search_paths.given()), **env}
    words = list(group.joining(words, variables)) if group is not None else words
    pipe = subprocess.PIPE if keep_words else None
    sys.stdout.flush()
    started_unix_ns, started_ns = time.time_ns(), time.monotonic_ns()
    with _PassingOn() as passing_on:
        # The terminal's keys are for the program alone: what leads to it is born deaf to them, and waits.
        with _held_back(_OF_TERMINAL if access else ()):
            process = _started(words, argv[0], variables, pipe)
        passing_on.to(process)
        kept = [_Copy(stream, to) for stream, to in ((process.stdout, 1), (process.stderr, 2)) if stream is not None]
        exit_status = process.wait()  # ends: with the user's own program, or by the signals that are passed on to it
    elapsed_ns = time.monotonic_ns() - started_ns
    said = "".join(one.text() for one in kept)
    return Ending(exit_status, started_unix_ns, elapsed_ns, bool(passing_on.came), said)


def _started(words: Sequence[str], name: str, env: Mapping[str, str], pipe: int | None) -> subprocess.Popen[bytes]:
    try:
        return subprocess.Popen(words, env=env, stdout=pipe, stderr=pipe)
    except FileNotFoundError as error:
        raise ToolMissing(f"there is no program {name}", fix="give its path, or what PATH has") from error
    except OSError as error:
        raise LaunchError(f"{name} cannot be started: {error.strerror}") from error


@contextlib.contextmanager
def _held_back(numbers: Sequence[signal.Signals]) -> Iterator[None]:
    """Block signals; processes that are started meanwhile keep them blocked."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, numbers)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


class _PassingOn:
    """Gives signals to the program for as long as the block lasts; what comes before it is there waits for it."""

    def __init__(self) -> None:
        self.came: list[int] = []
        self._early: list[int] = []
        self._pid = 0

    def __enter__(self) -> Self:
        self._before = {number: signal.signal(number, self._take) for number in PASSED_ON}
        return self

    def __exit__(self, *_: object) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def to(self, process: subprocess.Popen[bytes]) -> None:
        """Tell whom the signals are for."""
        self._pid = process.pid
        for number in self._early:
            self._send(number)

    def _take(self, number: int, _frame: FrameType | None) -> None:
        self.came.append(number)
        if not self._pid:
            self._early.append(number)
        # The terminal's own keys reach the whole group in front, the program too: mpirun takes two for "at once".
        elif not (number in _OF_TERMINAL and _is_in_front()):
            self._send(number)

    def _send(self, number: int) -> None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(_program_below(self._pid), number)


def _is_in_front() -> bool:
    """Return whether we have a terminal that sends us its signals."""
    try:
        terminal = os.open("/dev/tty", os.O_RDONLY | os.O_NOCTTY)
    except OSError:
        return False
    try:
        return os.tcgetpgrp(terminal) == os.getpgrp()
    except OSError:
        return False
    finally:
        os.close(terminal)


def _program_below(pid: int) -> int:
    """Return the program that a process merely waits for, as on a host of a lab; itself where it waits for none."""
    while True:
        try:
            name = Path(f"/proc/{pid}/comm").read_text().strip()
            children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
        except OSError:
            return pid
        if name not in WAITERS or len(children) != 1:
            return pid
        pid = int(children[0])


class _Copy:
    """Copies a stream to one of our own, and keeps its beginning."""

    def __init__(self, stream: object, to: int) -> None:
        self._source: int = stream.fileno()  # type: ignore[attr-defined]
        self._stream, self._to = stream, to
        self._kept = bytearray()
        self._thread = threading.Thread(target=self._copy, daemon=True)
        self._thread.start()

    def _copy(self) -> None:
        with contextlib.suppress(OSError):  # nobody reads us: the program is told so by its own pipe
            while part := os.read(self._source, 1 << 16):
                self._kept += part[: max(0, MOST_KEPT_BYTES - len(self._kept))]
                while part:
                    part = part[os.write(self._to, part) :]
        self._stream.close()  # type: ignore[attr-defined]

    def text(self) -> str:
        """Return what was kept, once the stream has ended or nothing more can be waited for."""
        self._thread.join(_DRAIN_S)
        return bytes(self._kept).decode(errors="replace")
