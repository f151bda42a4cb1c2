"""One started command: a process group of its own, its output in files, its end seen without polling."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Mapping
from pathlib import Path
from typing import IO

from fabriscope.launch import _group
from fabriscope.launch._guard import Guard
from fabriscope.launch.job_group import GROUP_VARIABLE
from fabriscope.launch.on_host.sweep import MARK_VARIABLE
from fabriscope.model.command import Command, Outcome
from fabriscope.model.errors import LaunchError, ToolMissing
from fabriscope.model.host import Host

TAIL_BYTES = 1 << 18
"""Bytes of the longest last line that is looked for."""
READY_BYTES = 4 << 20
"""The first bytes of a program's output, where the line stands that says that it is ready."""
ELSEWHERE = "/"
"""The folder that programs run in. Where we were started others may have put files, and libraries read some of the
current folder: UCX its `ucx.conf`, which can name the folder of its modules."""
LOOK_S = 1.0
"""Between two looks for it: the program may measure meanwhile."""


class Process:
    """A command that runs; output goes to files, so no amount of it can block anybody."""

    _is_far = False

    def __init__(
        self, command: Command, host: Host, paths: tuple[Path, Path], guard: Guard, *, is_watcher: bool = False
    ) -> None:
        """Start it; raises ToolMissing or LaunchError. What watches the job is none of it."""
        self.command = command
        self._is_watcher = is_watcher
        self.timed_out = False
        self.was_stopped = False
        self.stood_still = False
        self.has_ended = threading.Event()
        self._exit_status = 0
        self._said_all_at_s: float | None = None
        self._looked_at_s = 0.0
        self._paths = paths
        self._guard = guard
        self._started_unix_ns = time.time_ns()
        self._started_ns = self._ended_ns = time.monotonic_ns()
        self._popen = self._start(host)
        guard.started(self._popen.pid, is_far=self._is_far)

    def _start(self, host: Host) -> subprocess.Popen[bytes]:
        return _popen(self.command, host, self._paths, self._guard, is_watcher=self._is_watcher)

    def watch(self, changed: threading.Event) -> None:
        """Set `changed` when the process ends."""
        threading.Thread(target=self._wait, args=(changed,), daemon=True).start()

    def _wait(self, changed: threading.Event) -> None:
        # Seen, not reaped: a dead leader that nobody reaped keeps its group's number from being given away.
        with contextlib.suppress(ChildProcessError):
            # ends: with the process; in a thread of its own, which keeps nobody from ending
            ended = os.waitid(os.P_PID, self._popen.pid, os.WEXITED | os.WNOWAIT)
            self._exit_status = ended.si_status if ended else 0  # a signal's number also tells a bad end
        self._ended_ns = time.monotonic_ns()
        self.has_ended.set()
        changed.set()

    @property
    def group(self) -> int:
        """Return the number of its process group."""
        return self._popen.pid

    def ask_to_end(self) -> None:
        """Send SIGTERM to the programs of the group; to mpirun alone, since it ends its ranks, remote ones too."""
        members = _group.programs(self._popen.pid)
        self.stood_still |= any(member.is_stopped for member in members)
        for member in members[:1] if self.command.rank_hosts else members:
            _group.send(member, signal.SIGTERM, self._popen.pid)

    def is_living(self) -> bool:
        """Return whether anything of the group is alive, its first process or another."""
        return not self.has_ended.is_set() or bool(_group.living(self._popen.pid))

    def kill(self) -> None:
        """End whatever is left of the group."""
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._popen.pid, signal.SIGKILL)

    def failed(self) -> bool:
        """Return whether it ended by itself and badly; servers may end as they like but those that must last."""
        by_itself = self.has_ended.is_set() and not self.was_stopped
        ended_badly = not self.command.is_server and self._exit_status != 0
        return by_itself and (self.command.must_last or ended_badly)

    def ready_groups(self) -> Mapping[str, str] | None:
        """Return the named groups of the first line that matches ready_pattern, None while there is none."""
        pattern = re.compile(self.command.ready_pattern or "")
        text = self._stdout(READY_BYTES).decode("utf-8", "replace")
        for line in text.split("\n")[:-1]:
            match = pattern.search(line)
            if match:
                return match.groupdict()
        return None

    def said_all_s(self) -> float:
        """Return how long ago it was first seen to have said its `last_line`; 0 as long as it has not."""
        now_s = time.monotonic()
        is_awaited = self.command.last_line is not None and self._said_all_at_s is None
        if is_awaited and now_s - self._looked_at_s >= LOOK_S:
            self._looked_at_s = now_s
            lines = self._tail().decode("utf-8", "replace").split("\n")[:-1]
            if any(re.search(self.command.last_line or "", line) for line in lines):
                self._said_all_at_s = now_s
        return now_s - self._said_all_at_s if self._said_all_at_s is not None else 0.0

    def _tail(self) -> bytes:
        with self._paths[0].open("rb") as file:
            file.seek(max(0, self._paths[0].stat().st_size - TAIL_BYTES))
            return file.read()

    def _stdout(self, most_bytes: int) -> bytes:
        return _begin_of(self._paths[0], most_bytes)

    def overflow(self) -> str:
        """Return what is wrong with a program that writes more than it may; empty for any other."""
        most_bytes = self.command.most_output_bytes
        if max(path.stat().st_size for path in self._paths) <= most_bytes:
            return ""
        return f"{Path(self.command.argv[0]).name} on {self.command.host} wrote more than {most_bytes >> 20} MiB"

    def finish(self) -> Outcome:
        """Return the outcome of a process that has ended; what it left in its group is ended."""
        self.kill()
        self._guard.ended(self._popen.pid)
        # ends: at once, since it has ended
        exit_status = self._popen.wait() if self.has_ended.is_set() else None
        return self._outcome(None if self.was_stopped else exit_status)

    def _outcome(self, exit_status: int | None) -> Outcome:
        return Outcome(
            command=self.command,
            exit_status=exit_status,
            stdout=self._stdout(self.command.most_output_bytes),
            stderr=_begin_of(self._paths[1], self.command.most_output_bytes),
            started_unix_ns=self._started_unix_ns,
            elapsed_ns=self._ended_ns - self._started_ns,
            timed_out=self.timed_out,
            stood_still=self.stood_still,
        )


def _begin_of(path: Path, most_bytes: int) -> bytes:
    with path.open("rb") as file:
        return file.read(min(most_bytes, path.stat().st_size))  # a buffer of this size is taken before anything is read


def _popen(
    command: Command, host: Host, paths: tuple[Path, Path], guard: Guard, *, is_watcher: bool
) -> subprocess.Popen[bytes]:
    # Programs of the field translate their words; we read the English ones.
    own = {"LC_ALL": "C", **_temporary(command, host, guard)}
    env = {**os.environ, **own, **host.env, **command.env, MARK_VARIABLE: guard.mark}
    group = guard.group if host.kind != "guest" else None  # a guest has a kernel of its own
    if group is not None and is_watcher:
        env[GROUP_VARIABLE] = group.words
    with contextlib.ExitStack() as stack:
        stdin = stack.enter_context(tempfile.TemporaryFile(dir=guard.folder))
        stdin.write(command.stdin or b"")
        stdin.seek(0)
        words = [str(Path(word).expanduser()) if word.startswith("~/") else word for word in command.argv]
        argv = (*host.access, *(("env", "-C", ELSEWHERE) if host.access else ()), *words)
        if group is not None and not is_watcher:
            argv = group.joining(argv, env)
        return popen(argv, host, paths, env, stdin if command.stdin else subprocess.DEVNULL, folder=ELSEWHERE)


def _temporary(command: Command, host: Host, guard: Guard) -> dict[str, str]:
    """Return the variable by which a program keeps its temporary files where they go with the launch.

    Libraries leave some when they are killed (Open MPI its session's folders). Nothing for a job whose launcher tells
    other machines of it, which have no such folder, and on a guest, whose files go with it.
    """
    stays = host.kind == "namespace" or set(command.rank_hosts) <= {host.name} or command.keeps_env
    return {"TMPDIR": str(guard.folder)} if stays and host.kind != "guest" else {}


def popen(
    argv: tuple[str, ...],
    host: Host,
    paths: tuple[Path, Path],
    env: Mapping[str, str] | None,
    stdin: int | IO[bytes],
    *,
    folder: str | None = None,
) -> subprocess.Popen[bytes]:
    """Start a program of this machine; raises ToolMissing or LaunchError."""
    with contextlib.ExitStack() as stack:
        stdout, stderr = (stack.enter_context(path.open("wb")) for path in paths)
        try:
            return subprocess.Popen(
                argv, stdin=stdin, stdout=stdout, stderr=stderr, env=env, cwd=folder, start_new_session=True
            )
        except FileNotFoundError as error:
            raise ToolMissing(f"{argv[0]} is not on this machine", where=f"host {host.name}") from error
        except OSError as error:
            raise LaunchError(f"{argv[0]} cannot be started: {error}", where=f"host {host.name}") from error
