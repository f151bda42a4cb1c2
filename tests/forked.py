"""`fabriscope` in a process of its own, forked from that of the tests: it need not load again what is loaded there.

For commands without polars, whose threads do not outlive a fork, and where nobody looks for the process by its words.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import subprocess
import sys
import traceback
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryFile
from typing import NoReturn

from fabriscope import __main__ as program
from fabriscope.registry import discover

discover("cli", "COMMAND")


def fabriscope(
    words: Sequence[str | Path], env: Mapping[str, str], timeout_s: float
) -> subprocess.CompletedProcess[str]:
    """Return what a command said, and its status. Raises TimeoutExpired; the process is ended then."""
    argv = ["fabriscope", *map(str, words)]
    with TemporaryFile() as out, TemporaryFile() as err:
        pid = os.fork()
        if pid == 0:
            _run(argv, env, out.fileno(), err.fileno())
        status = _waited(pid, argv, timeout_s)
        texts = []
        for file in (out, err):
            file.seek(0)
            texts.append(file.read().decode())
    return subprocess.CompletedProcess(argv, status, *texts)


def _waited(pid: int, argv: Sequence[str], timeout_s: float) -> int:
    handle = os.pidfd_open(pid)
    try:
        poll = select.poll()
        poll.register(handle, select.POLLIN)
        is_over = bool(poll.poll(timeout_s * 1000))
        if not is_over:
            os.kill(pid, signal.SIGKILL)
        _, status = os.waitpid(pid, 0)
    finally:
        os.close(handle)
    if not is_over:
        raise subprocess.TimeoutExpired(list(argv), timeout_s)
    return os.waitstatus_to_exitcode(status)


def _run(argv: list[str], env: Mapping[str, str], out: int, err: int) -> NoReturn:
    status = 1
    try:
        for number, descriptor, name in ((1, out, "stdout"), (2, err, "stderr")):
            # Written alone, as a shell's: two ranks could speak to each other through a file that both may read.
            os.dup2(os.open(f"/proc/self/fd/{descriptor}", os.O_WRONLY | os.O_APPEND), number)
            stream = os.fdopen(number, "w", closefd=False)
            setattr(sys, name, stream)
            setattr(sys, f"__{name}__", stream)
        sys.stdin = os.fdopen(0, closefd=False)
        os.environ.clear()
        os.environ.update(env)
        sys.argv = argv
        program.main()
        status = 0
    except SystemExit as ended:
        status = ended.code if isinstance(ended.code, int) else 1 if ended.code else 0
    except BaseException:
        os.write(2, traceback.format_exc().encode())
    finally:
        with contextlib.suppress(Exception):
            sys.stdout.flush()
            sys.stderr.flush()
        os._exit(status)
