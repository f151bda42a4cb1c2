"""What tests of changes share: processes that hold one, and changes that a crash has left."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from fabriscope.hosts.access import changes, journal
from fabriscope.hosts.access.changes import Change, Result
from fabriscope.hosts.access.journal import Entry
from fabriscope.model.host import HERE, Host

LONG_S = 60.0


def mtu(path: Path, new: str = "9000") -> Change:
    return Change.of_file("the MTU of eth0", str(path), new)


def restored(*, is_asked: bool = False, is_dry: bool = False) -> list[Result]:
    return list(changes.restored(journal.entries(), is_asked=is_asked, is_dry=is_dry))


def wait_until(is_so: Callable[[], object]) -> None:
    until_s = time.monotonic() + LONG_S
    while not is_so():
        assert time.monotonic() < until_s
        time.sleep(0.02)


HOLDER = """
import sys, time
from fabriscope.hosts.access.changes import Change, changed
from fabriscope.model.host import Host
path, new, *access = sys.argv[1:]
with changed(Host("far" if access else "localhost", tuple(access)), Change.of_file("the MTU of eth0", path, new)):
    print("changed", flush=True)
    sys.stdin.read()
"""


@contextmanager
def holder(path: Path, new: str = "9000", host: Host = HERE) -> Iterator[subprocess.Popen[str]]:
    """Yield a process that holds a change and ends it when its input does."""
    argv = [sys.executable, "-c", HOLDER, str(path), new, *host.access]
    with subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "changed\n"
        try:
            yield process
        finally:
            process.kill()


def end_of(process: subprocess.Popen[str]) -> int:
    """Return the process at the host's end that watches over a holder's change."""
    (pid,) = children(process.pid)
    return pid


def children(pid: int) -> list[int]:
    return [int(word) for word in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def left_over(path: Path, **differently: object) -> Entry:
    """Return the entry of a change that nobody holds and that stands: both ends were killed."""
    with holder(path) as process:
        for pid in (end_of(process), process.pid):
            os.kill(pid, signal.SIGSTOP)
        os.kill(end_of(process), signal.SIGKILL)
        process.kill()
    (entry,) = journal.entries()
    if differently:
        document = json.loads(entry.path.read_text())
        entry.path.write_text(json.dumps({**document, **differently}))
        (entry,) = journal.entries()
    return entry
