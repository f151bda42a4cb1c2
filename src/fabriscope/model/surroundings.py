"""What the libraries that we load need of the process: told in a sentence, since they hang or abort without it."""

from __future__ import annotations

import os
import re
import resource
import threading

from fabriscope.model.errors import FabriscopeError, ToolMissing, shown

_LEAST_BYTES, _BYTES_OF_A_CORE = 2 << 30, 8 << 20
"""Of address space. `plan check` was seen to take 0.7 GiB, a report 1.7 on 2 cores and 2.1 with the threads of 64; with
less, threads cannot be started, and what waits for them waits for ever."""
_LEAST_DATA, _DATA_OF_A_CORE = 448 << 20, 16 << 20
"""Of writable memory, counted before it is used. A report was seen to take 377 MiB on 2 cores, and 6.3 for each further
thread of polars; those of OpenBLAS have 8. With less, polars spins or aborts."""
_THREADS, _THREADS_OF_POLARS = 16, 3
"""To start: beside one of OpenBLAS for each core; 20 were seen on 2 cores, 70 with 16 threads of polars."""
_STACK_BYTES = 256 << 10
"""Of a thread that only tries whether it may be started."""
_POLARS_THREADS = "POLARS_MAX_THREADS"
_NUMBERS = {"COLUMNS": "[1-9][0-9]{0,4}", "LINES": "[1-9][0-9]{0,4}", "SOURCE_DATE_EPOCH": "[0-9]{1,18}"}
"""Variables that our libraries read as numbers: of a terminal 0 wide they print nothing, of no number numpy ends."""


def check() -> None:
    """Raise ToolMissing where too little memory or too few threads may be had, FabriscopeError for a wrong variable.

    What other programs leave in the environment without a meaning, such as a width of 0, is taken out.
    """
    for name, pattern in _NUMBERS.items():
        if not re.fullmatch(pattern, os.environ.get(name, "1")):
            del os.environ[name]
    cores = os.cpu_count() or 1
    _check_memory(resource.RLIMIT_AS, _LEAST_BYTES + _BYTES_OF_A_CORE * cores, "the address space", "-v")
    _check_memory(resource.RLIMIT_DATA, _LEAST_DATA + _DATA_OF_A_CORE * cores, "writable memory", "-d")
    threads = os.environ.get(_POLARS_THREADS)
    if threads is not None and not re.fullmatch("[1-9][0-9]{0,3}", threads):
        what = f"{_POLARS_THREADS} is {shown(threads)}, which is no number of threads from 1 to 9999"
        raise FabriscopeError(what, fix=f"give one, or `unset {_POLARS_THREADS}`")
    cores = len(os.sched_getaffinity(0))
    needed = _THREADS + cores + _THREADS_OF_POLARS * int(threads or cores)
    may_start = _startable(needed)
    if may_start < needed:
        what = f"{may_start} more threads may be started, and {needed} are needed"
        raise ToolMissing(what, fix="raise the limit (`ulimit -u`, or that of the container), or end other processes")


def _check_memory(kind: int, least: int, what: str, option: str) -> None:
    soft, _ = resource.getrlimit(kind)
    if soft != resource.RLIM_INFINITY and soft < least:
        says = f"{what} is limited to {soft >> 20} MiB (ulimit {option}), and {least >> 20} are needed"
        raise ToolMissing(says, fix=f"raise the limit, or lift it: `ulimit {option} unlimited`")


def _startable(count: int) -> int:
    """Return how many threads can be started, up to a number: limits of users and containers are known by trying."""
    gate, started = threading.Event(), list[threading.Thread]()
    before = threading.stack_size(_STACK_BYTES)
    try:
        for _ in range(count):
            thread = threading.Thread(target=gate.wait, daemon=True)
            thread.start()
            started.append(thread)
    except RuntimeError:
        pass
    finally:
        gate.set()
        threading.stack_size(before)
    for thread in started:
        thread.join()  # ends: the gate is open
    return len(started)
