"""One command on a host over ssh: the guard runs it there, and ends it when we say so or are gone."""

from __future__ import annotations

import contextlib
import queue
import secrets
import subprocess
import sys
import threading
from dataclasses import replace
from typing import Any

from fabriscope.hosts.access.orders import PATIENCE_S
from fabriscope.hosts.access.sent import HEARTBEAT_S, order
from fabriscope.launch._process import READY_BYTES, Process, popen
from fabriscope.launch.on_host import program
from fabriscope.launch.ssh import on_host
from fabriscope.model.command import Outcome
from fabriscope.model.errors import ParseError
from fabriscope.model.foreign import BEGIN, decode_json
from fabriscope.model.host import Host

_HERE, _ASK, _KILL = b".", b"T", b"K"
_FILES = ("sweep", "temporary", "guard")


class RemoteProcess(Process):
    """A command that runs on a host which `Host.access` reaches by a line of shell.

    Variables and standard input travel on standard input, where no other user of a machine can read them.
    """

    _is_far = True

    def _start(self, host: Host) -> subprocess.Popen[bytes]:
        self._host = host
        self._words: queue.SimpleQueue[bytes] = queue.SimpleQueue()
        self._is_asked_to_die = False
        sys.audit("fabriscope.started", host.name, self.command.argv)
        started = popen(on_host(host.access), host, self._paths, None, subprocess.PIPE)
        threading.Thread(target=self._tell, args=(started,), daemon=True).start()
        return started

    def _tell(self, process: subprocess.Popen[bytes]) -> None:
        """Tell the guard what to run, then what it is asked for, and that we are still here."""
        assert process.stdin is not None  # noqa: S101 - it is a pipe
        words = {
            "argv": self.command.argv,
            "env": {**self._host.env, **self.command.env},
            "mark": f"{self._host.mark}.{secrets.token_hex(8)}",
            "is_mpi": bool(self.command.rank_hosts),
            "has_folder": set(self.command.rank_hosts) <= {self._host.name} or self.command.keeps_env,
            "patience_s": PATIENCE_S,
        }
        with contextlib.suppress(OSError, ValueError):  # it has ended
            process.stdin.write(program(_FILES, "guard()") + order(words, self.command.stdin or b""))
            process.stdin.flush()
            while not self.has_ended.is_set():
                try:
                    word = self._words.get(timeout=HEARTBEAT_S)
                except queue.Empty:
                    word = _HERE
                process.stdin.write(word)
                process.stdin.flush()
        with contextlib.suppress(OSError):
            process.stdin.close()

    def ask_to_end(self) -> None:
        """Let the guard send SIGTERM: to the program's group, of an MPI job to mpirun alone."""
        self._words.put(_ASK)

    def kill(self) -> None:
        """Let the guard end what is left; asked again, end the connection, which the guard understands too."""
        if self._is_asked_to_die or self.has_ended.is_set():
            super().kill()
        self._is_asked_to_die = True
        self._words.put(_KILL)

    def _stdout(self, most_bytes: int) -> bytes:
        return super()._stdout(most_bytes).partition(BEGIN + b"\n")[2]

    def _outcome(self, exit_status: int | None) -> Outcome:
        outcome = super()._outcome(exit_status)
        said, found, words = outcome.stderr.rpartition(BEGIN)
        ending = _read(words) if found else None
        if ending is None:
            loss = b"" if self.was_stopped else self._loss()
            return replace(outcome, stderr=outcome.stderr + loss, is_lost=True)
        if "cannot_start" in ending:
            said += f"{ending['cannot_start']}\n".encode()
        status = ending.get("exit_status", exit_status)
        return replace(outcome, stderr=said, exit_status=None if self.was_stopped else status)

    def _loss(self) -> bytes:
        how = "was lost" if self._stdout_began() else "could not be made"
        return f"the connection to host {self._host.name} {how}\n".encode()

    def _stdout_began(self) -> bool:
        return BEGIN + b"\n" in super()._stdout(READY_BYTES)


def _read(words: bytes) -> dict[str, Any] | None:
    try:
        read = decode_json(words.partition(b"\n")[0], "")  # behind it, srun tells of a bad end in its own words
    except ParseError:  # cut off in the middle
        return None
    return read if isinstance(read, dict) else None
