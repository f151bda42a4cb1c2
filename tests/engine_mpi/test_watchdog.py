"""What the engine's second thread holds beside an MPI library: nothing that the library may want to close."""

from __future__ import annotations

import secrets
import threading
from pathlib import Path

import pytest
from tests import needs

from fabriscope import engine_binary
from fabriscope.launch import mpi_jobs, processes
from fabriscope.model.command import Command
from fabriscope.model.host import Host
from fabriscope.model.mpi import MpiStack

STACKS = [stack for stack in needs.stacks() if stack.mpicxx is not None]
HERE = {"here": Host("here")}
MARK = "FABRISCOPE_TEST_JOB"
SPEC = b"fabriscope-spec 1\nbudget_ns 1500000000\ncase id=0 benchmark=ping_pong message_size_bytes=8\nend\n"
LONG_S = 120.0

pytestmark = [
    pytest.mark.skipif(not STACKS, reason=needs.NO_MPI),
    pytest.mark.timeout(900),
]


def ranks(mark: str) -> list[int]:
    """Return the engine's processes of one job, the oldest first."""
    found = []
    for path in Path("/proc").glob("[0-9]*"):
        try:
            is_engine = b"fabriscope-engine" in (path / "cmdline").read_bytes().split(b"\0")[0]
            if is_engine and f"{MARK}={mark}".encode() in (path / "environ").read_bytes().split(b"\0"):
                found.append(int(path.name))
        except OSError:
            continue
    return sorted(found)


def sockets(thread: Path) -> int:
    """Return how many sockets a thread has in its table of files, beside what it was started with."""
    return sum(int(one.name) > 2 and str(one.readlink()).startswith("socket:") for one in (thread / "fd").iterdir())


def has_own_files(pid: int) -> bool:
    """Return whether a thread has none of the sockets that the main thread has: a table of its own, and cleared."""
    threads = Path(f"/proc/{pid}/task")
    try:
        others = [sockets(one) for one in threads.iterdir() if one.name != str(pid)]
        return 0 in others and sockets(threads / str(pid)) > 0
    except OSError:
        return False


@pytest.mark.parametrize("stack", STACKS, ids=lambda stack: str(stack.name))
def test_the_watchdog_keeps_none_of_the_librarys_connections(stack: MpiStack) -> None:
    engine, mark = str(engine_binary.build_mpi_engine(stack)), secrets.token_hex(8)
    words = ("--transport", "mpi", "--rendezvous", "mpi", "--rank-count", "2", "--spec", "-")
    job = Command(("env", f"{MARK}={mark}", engine, *words), "here", stdin=SPEC, rank_hosts=("here", "here"))
    seen: set[int] = set()
    has_ended = threading.Event()

    def look() -> None:
        while not has_ended.wait(0.05):
            seen.update(pid for pid in ranks(mark) if has_own_files(pid))

    looking = threading.Thread(target=look)
    looking.start()
    (outcome,) = processes.run_commands([mpi_jobs.wrap(job, stack, HERE, None, None)], HERE, timeout_s=LONG_S)
    has_ended.set()
    looking.join()
    assert outcome.exit_status == 0, outcome.stderr.decode("utf-8", "replace")
    assert len(seen) == 2
