# ruff: noqa: PTH115, PTH118, PTH123, PTH208
# Finds and ends what a launch left behind. Plain Python 3.6: imported by `_guard`, and sent to hosts as text.
# Nothing is ever ended by name: only processes that carry a launch's random mark in their environment.
import hashlib
import os
import shutil
import signal
import tempfile
import time
from collections.abc import Callable

MARK_VARIABLE = "FABRISCOPE_LAUNCH_MARK"
MAX_SWEEPS = 20
SWEEP_PAUSE_S = 0.005
MAX_CHASE_S = 10.0
GUARDS_GRACE_S = 4.0
GRACE_POLL_S = 0.1


def end_marked(mark: str) -> int:
    """End every process whose mark, in its environment, begins with this one; returns how many there were.

    Looks again for as long as something is found (MAX_CHASE_S at most), because what is ended may have had a child a
    moment before; and MAX_SWEEPS times while a process has no environment at all, as one in the middle of an exec.
    """
    needle = (MARK_VARIABLE + "=" + mark).encode()
    ended = set()
    doubts = 0
    until_s = time.monotonic() + MAX_CHASE_S
    while time.monotonic() < until_s:
        found, unclear = _sweep(needle)
        ended |= found
        doubts += not found
        if not found and (not unclear or doubts >= MAX_SWEEPS):
            break
        time.sleep(0 if found else SWEEP_PAUSE_S)
    return len(ended)  # one that takes its time to die is found again


def wait_for_guards(mark: str) -> None:
    """Return once nothing carries the mark, or after a grace: a guard asks its program to end, and gives it 2 s.

    What a program has elsewhere, in a service or in /dev/shm, goes only where it is not killed at once.
    """
    needle = (MARK_VARIABLE + "=" + mark).encode()
    until_s = time.monotonic() + GUARDS_GRACE_S
    while time.monotonic() < until_s:
        numbers = [name for name in os.listdir("/proc") if name.isdigit() and int(name) != os.getpid()]
        if not any(_has(_environment(name) or b"", needle) for name in numbers):
            return
        time.sleep(GRACE_POLL_S)


def folder_prefix(mark: str) -> str:
    """Return how the names of temporary folders begin that guards make for a launch's programs, by its host's mark."""
    return "fabriscope-" + hashlib.sha256(mark.partition(".")[0].encode()).hexdigest()[:8]


def remove_folders(mark: str) -> int:
    """Remove what guards that were killed left in the temporary folder; returns how many folders there were."""
    place, prefix, count = tempfile.gettempdir(), folder_prefix(mark), 0
    for name in os.listdir(place):
        path = os.path.join(place, name)
        if name.startswith(prefix) and os.lstat(path).st_uid == os.geteuid():
            shutil.rmtree(path, ignore_errors=True)
            count += 1
    return count


def signal_if(pid: int, number: int, is_ours: "Callable[[], bool]") -> bool:
    """Send a signal to a process if `is_ours()` says so, through a handle; returns whether it was sent.

    A number that was given to somebody else in between is left alone.
    """
    try:
        if not hasattr(os, "pidfd_open"):  # Python before 3.9
            return _kill_if(pid, number, is_ours)
        try:
            handle = os.pidfd_open(pid)
        except ProcessLookupError:
            return False
        except OSError:  # Linux before 5.3 has no handles
            return _kill_if(pid, number, is_ours)
        try:
            if is_ours():
                signal.pidfd_send_signal(handle, number)
                return True
        finally:
            os.close(handle)
    except (ProcessLookupError, PermissionError):
        pass
    return False


def _kill_if(pid: int, number: int, is_ours: "Callable[[], bool]") -> bool:
    if not is_ours():
        return False
    os.kill(pid, number)
    return True


def _sweep(needle: bytes) -> "tuple[set[int], int]":
    """Return the marked processes that were ended, and how many could not be told."""
    found, unclear = set(), 0
    numbers = [int(name) for name in os.listdir("/proc") if name.isdigit()]
    # The youngest first: it is the one that is about to have a child, which this list does not hold.
    for name in map(str, sorted(numbers, reverse=True)):
        if int(name) == os.getpid():
            continue
        environment = _environment(name)
        if environment and _has(environment, needle):
            if signal_if(int(name), signal.SIGKILL, _check(name, needle)):
                found.add(int(name))
        elif environment == b"":
            unclear += _is_young(name)
    return found, unclear


def _check(pid: str, needle: bytes) -> "Callable[[], bool]":
    return lambda: _has(_environment(pid) or b"", needle)


def _has(environment: bytes, needle: bytes) -> bool:
    return environment.startswith(needle) or b"\0" + needle in environment


def _environment(pid: str) -> "bytes | None":
    try:
        with open("/proc/" + pid + "/environ", "rb") as file:
            return file.read()
    except OSError:  # it has ended, or it is another user's
        return None


def _is_young(pid: str) -> bool:
    """Return whether a process is a program (kernel threads are none) that began within the last second."""
    try:
        os.readlink("/proc/" + pid + "/exe")
        with open("/proc/" + pid + "/stat") as file:
            started_ticks = int(file.read().rpartition(")")[2].split()[19])
    except (OSError, IndexError, ValueError):
        return False
    return time.clock_gettime(7) - started_ticks / os.sysconf("SC_CLK_TCK") < 1.0  # 7 is CLOCK_BOOTTIME
