"""The process that `tests.forked` forks commands from: it loads whatever they may need, and runs none itself.

    python -m tests.fork_server DESCRIPTOR ROOM     # of a socket, on which it is asked; blanks, for words of commands

polars has threads once it has computed, which do not outlive a fork: a process of tests cannot be forked from.
"""

from __future__ import annotations

import contextlib
import ctypes
import gc
import importlib
import json
import os
import pkgutil
import select
import signal
import socket
import sys
import traceback
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NoReturn

from fabriscope import __main__ as program
from fabriscope.model import blas_threads

LONGEST_REQUEST_BYTES = 1 << 17
ROOMS = (
    *("adapters", "analysis", "audit", "cli", "configure", "devices", "knobs", "launch", "model", "plan", "readers"),
    *("reports", "running", "store"),
)
"""Those of which every module is loaded, save what is text for other hosts; these load what they need of others."""
STREAMS = ("stdin", "stdout", "stderr")
SENT_COUNT = len(STREAMS) + 1
"""Descriptors that come with a request: the streams, and where the status is to be written."""
_IDLE_THREADS = ("jemalloc_bg_thd", "polars-ooc-clea")
"""What polars starts when it is loaded, and what nothing waits for: of memory that is free, and of files on a disk."""
_LIBC = ctypes.CDLL(None, use_errno=True)
_TEXTS = ("fabriscope.launch.on_host", "fabriscope.launch.in_front", "fabriscope.launch._")


def load() -> None:
    """Load every module of fabriscope, and with them all packages that they need."""
    blas_threads.none_from_now_on()
    for room in ROOMS:
        package = importlib.import_module(f"fabriscope.{room}")
        for info in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            if not info.name.startswith(_TEXTS):
                importlib.import_module(info.name)
    for name in ("scipy.special", "scipy.stats"):
        importlib.import_module(name)
    gc.collect()
    gc.freeze()  # what forked commands share with us stays shared
    threads = {path.read_text().strip() for path in Path("/proc/self/task").glob("[0-9]*/comm")}
    if not threads <= {Path("/proc/self/comm").read_text().strip(), *_IDLE_THREADS}:
        raise RuntimeError(f"some of these threads would be missed by what is forked: {', '.join(sorted(threads))}")


def main() -> None:
    """Fork a command for each request, and write its status where the request says, until nobody asks any more."""
    asked = socket.socket(fileno=int(sys.argv[1]))
    load()
    kept = _descriptors() - {asked.fileno()}
    running: dict[int, tuple[int, int]] = {}
    poll = select.poll()
    poll.register(asked, select.POLLIN)
    while True:
        for descriptor, _ in poll.poll():
            if descriptor != asked.fileno():
                poll.unregister(descriptor)
                _report(descriptor, *running.pop(descriptor))
                continue
            text, sent, _, _ = socket.recv_fds(asked, LONGEST_REQUEST_BYTES, SENT_COUNT)
            if not text:
                return
            *streams, status = sent
            pid = os.fork()
            if pid == 0:
                run(json.loads(text), streams, kept)
            for stream in streams:
                os.close(stream)
            handle = os.pidfd_open(pid)
            running[handle] = pid, status
            poll.register(handle, select.POLLIN)
            asked.send(str(pid).encode())


def _descriptors() -> set[int]:
    return {int(path.name) for path in Path("/proc/self/fd").iterdir()}


def _report(handle: int, pid: int, into: int) -> None:
    _, status = os.waitpid(pid, 0)
    os.close(handle)
    with contextlib.suppress(BrokenPipeError):  # nobody waits any more
        os.write(into, str(os.waitstatus_to_exitcode(status)).encode())
    os.close(into)


def run(request: dict[str, Any], streams: list[int], kept: set[int]) -> NoReturn:
    """Be the command of a request; `kept` are the descriptors that a process of its own would have too."""
    status = 1
    try:
        if request["inside"] is not None:
            enter(request["inside"])
        if request["session"]:
            os.setsid()
        for number, (descriptor, name) in enumerate(zip(streams, STREAMS, strict=True)):
            os.dup2(descriptor, number)
            stream = os.fdopen(number, "w" if number else "r", closefd=False)
            setattr(sys, name, stream)
            setattr(sys, f"__{name}__", stream)
        for descriptor in _descriptors() - {0, 1, 2} - kept:
            with contextlib.suppress(OSError):
                os.close(descriptor)
        os.chdir(request["folder"])
        os.environ.clear()
        os.environ.update(request["env"])
        look_like([sys.executable, "-m", *request["argv"]], request["env"])
        sys.argv = request["argv"]
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


def enter(pid: int) -> None:
    """Go on as a process in another's namespaces, as by nsenter; who we were waits, and ends as that one does."""
    handles = [os.open(f"/proc/{pid}/ns/{kind}", os.O_RDONLY) for kind in ("pid", "uts", "ipc", "net", "mnt")]
    for handle in handles:
        if _LIBC.setns(handle, 0) != 0:
            raise OSError(ctypes.get_errno(), f"setns into those of process {pid}")
        os.close(handle)
    if child := os.fork():
        _, status = os.waitpid(child, 0)
        code = os.waitstatus_to_exitcode(status)
        if code < 0:
            with contextlib.suppress(OSError):  # SIGKILL has no other
                signal.signal(-code, signal.SIG_DFL)
            os.kill(os.getpid(), -code)
        os._exit(code)


def look_like(words: Sequence[str], env: Mapping[str, str]) -> None:
    """Let /proc tell these words and this environment of us, each as far as what the server was started with has room.

    Only once `os.environ` was emptied: what the C library knew of it stood there.
    """
    numbers = [int(one) for one in Path("/proc/self/stat").read_text().rpartition(")")[2].split()[1:]]
    places = numbers[44:46], numbers[46:48]  # the 48th to 51st of all
    for (begin, end), text in zip(places, (words, [f"{name}={value}" for name, value in env.items()]), strict=True):
        told = b"".join(os.fsencode(one) + b"\0" for one in text)[: end - begin - 1]
        ctypes.memmove(begin, told.ljust(end - begin, b"\0"), end - begin)


if __name__ == "__main__":
    main()
