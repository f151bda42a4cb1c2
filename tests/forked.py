"""`fabriscope` in a process of its own, forked from one that has loaded what commands need (`tests.fork_server`).

It is as `python -m fabriscope` is, its words and its environment in /proc too, as far as there is room for them.
"""

from __future__ import annotations

import atexit
import contextlib
import functools
import json
import os
import select
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path

from tests.needs import ROOT

from fabriscope.lab import Lab

_ONE_ASKS = threading.Lock()
_END_TIMEOUT_S = 20.0
_ROOM_FOR_WORDS = 4096
_ROOM_FOR_ENVIRONMENT = 1 << 15


@functools.cache
def _server() -> socket.socket:
    """Return where a fork is asked for; the server ends when this process does."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with theirs:
        argv = [sys.executable, "-P", "-m", "tests.fork_server", str(theirs.fileno()), " " * _ROOM_FOR_WORDS]
        # fabriscope itself is the one that is tested here: installed, with its programs, or of a folder of PYTHONPATH.
        search = os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH"))))
        env = {**os.environ, "PYTHONPATH": search, "FABRISCOPE_TEST_ROOM": " " * _ROOM_FOR_ENVIRONMENT}
        env.pop("POLARS_MAX_THREADS", None)  # a test may have set one that is wrong
        server = subprocess.Popen(
            argv, env=env, cwd=ROOT, pass_fds=[theirs.fileno()], stdin=subprocess.DEVNULL, start_new_session=True
        )
    atexit.register(_end, ours, server)
    return ours


def _end(asking: socket.socket, server: subprocess.Popen[bytes]) -> None:
    asking.close()
    server.wait(_END_TIMEOUT_S)


class Command:
    """A command that was started: as a `subprocess.Popen` of which both streams are captured."""

    def __init__(
        self,
        words: Sequence[str | Path],
        env: Mapping[str, str],
        *,
        session: bool = False,
        stdin: int | None = None,
        inside: int | None = None,
    ) -> None:
        """Start it; `inside` is the process whose namespaces it is to have."""
        self.args = ["fabriscope", *map(str, words)]
        self.returncode: int | None = None
        self._said = [os.memfd_create(name) for name in ("stdout", "stderr")]
        self._status, into = os.pipe()
        given = stdin if stdin is not None else os.open(os.devnull, os.O_RDONLY)
        # Written alone, as a shell's: two ranks could speak to each other through a file that both may read.
        out, err = (os.open(f"/proc/self/fd/{said}", os.O_WRONLY | os.O_APPEND) for said in self._said)
        request = {"argv": self.args, "env": dict(env), "folder": str(Path.cwd()), "session": session, "inside": inside}
        with _ONE_ASKS:
            socket.send_fds(_server(), [json.dumps(request).encode()], [given, out, err, into])
            answer = _server().recv(64)
        for descriptor in (out, err, into, *([given] if stdin is None else [])):
            os.close(descriptor)
        if not answer:
            raise RuntimeError("tests.fork_server has ended: standard error says why")
        self.pid = int(answer)

    def wait(self, timeout: float | None = None) -> int:
        """Return its status. Raises TimeoutExpired."""
        if self.returncode is None:
            poll = select.poll()
            poll.register(self._status, select.POLLIN)
            if not poll.poll(None if timeout is None else timeout * 1000):
                raise subprocess.TimeoutExpired(self.args, timeout or 0.0)
            self.returncode = int(os.read(self._status, 64))
            os.close(self._status)
        return self.returncode

    def poll(self) -> int | None:
        """Return its status, or None while it runs."""
        try:
            return self.wait(0)
        except subprocess.TimeoutExpired:
            return None

    def communicate(self, timeout: float | None = None) -> tuple[str, str]:
        """Return what it said on both streams once it has ended. Raises TimeoutExpired."""
        self.wait(timeout)
        out, err = (_text(descriptor) for descriptor in self._said)
        return out, err

    def __del__(self) -> None:
        for descriptor in self._said:
            os.close(descriptor)

    def send_signal(self, number: int) -> None:
        """Send it a signal, unless it has ended."""
        if self.poll() is None:
            os.kill(self.pid, number)

    def kill(self) -> None:
        """End it by SIGKILL, unless it has ended."""
        self.send_signal(signal.SIGKILL)


def _text(descriptor: int) -> str:
    return os.pread(descriptor, os.fstat(descriptor).st_size, 0).decode()


def fabriscope(
    words: Sequence[str | Path],
    env: Mapping[str, str] | None = None,
    timeout_s: float = 120,
    stdin: int | None = None,
    inside: int | None = None,
) -> subprocess.CompletedProcess[str]:
    """Return what a command said, and its status. Raises TimeoutExpired; the process is ended then."""
    command = Command(words, os.environ if env is None else env, stdin=stdin, inside=inside)
    try:
        out, err = command.communicate(timeout_s)
    except subprocess.TimeoutExpired:
        command.kill()
        raise
    return subprocess.CompletedProcess(command.args, command.wait(), out, err)


def process_of(host: str, built: Lab) -> int:
    """Return the process of a lab's host, one without a kernel of its own, whose namespaces a command may have."""
    namespace = Path(f"/proc/{built.state.keeper.pid}/ns/pid").readlink()
    own = str(built.state.details["pids"][host])
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if (folder / "ns" / "pid").readlink() == namespace:
                (numbers,) = (one for one in (folder / "status").read_text().splitlines() if one.startswith("NSpid:"))
                if numbers.split()[-1] == own:
                    return int(folder.name)
    raise LookupError(f"no process of {host} is there")
