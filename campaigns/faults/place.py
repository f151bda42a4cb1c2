"""Where a fault campaign runs, and what a case may not leave behind there.

The campaign has mounts, interfaces, labs and a /dev/shm of its own, so that whatever it finds there is of its making.
"""

from __future__ import annotations

import contextlib
import os
import sys
import time
from collections.abc import Sequence
from pathlib import Path

_INSIDE = "FABRISCOPE_CAMPAIGN_INSIDE"
_PREPARE = """
set -e
mkdir -p /run/fabriscope 2>/dev/null || { mount -t tmpfs run /run && mkdir /run/fabriscope; }
mount -t tmpfs -o mode=0700 labs /run/fabriscope
mount -t tmpfs -o mode=1777 shm /dev/shm
ip link set lo up
exec "$@"
"""
GONE_TIMEOUT_S = 30.0


def inside(module: str, words: Sequence[str]) -> list[str]:
    """Return what starts a module in namespaces of its own, where `enter` has nothing more to do."""
    user = [] if os.geteuid() == 0 else ["--user", "--map-root-user"]
    unshare = ["unshare", *user, "--mount", "--net", "--propagation", "private", "--", "sh", "-c", _PREPARE, "sh"]
    return ["env", f"{_INSIDE}=1", *unshare, sys.executable, "-m", module, *words]


def enter(module: str) -> None:
    """Start this module again in namespaces of its own, unless it runs there already."""
    if not os.environ.get(_INSIDE):
        words = inside(module, sys.argv[1:])
        os.execvp(words[0], words)  # noqa: S606


def processes(mark: str) -> dict[int, str]:
    """Return the processes that carry a mark in their environment, with their words."""
    found = {}
    for path in Path("/proc").glob("[0-9]*"):
        pid = int(path.name)
        if carries(pid, mark):
            with contextlib.suppress(OSError):  # it has ended
                found[pid] = (path / "cmdline").read_bytes().replace(b"\0", b" ").decode()
    return found


def carries(pid: int, mark: str) -> bool:
    """Return whether a process that has not ended carries a mark in its environment."""
    try:
        return mark.encode() in Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
    except OSError:
        return False


def standing() -> set[str]:
    """Return what could be left behind, one line each: interfaces, mounts, shared memory, labs' folders."""
    found = {f"interface {path.name}" for path in Path("/sys/class/net").iterdir()}
    found |= {f"interface {line.split(':')[0].strip()}" for line in _lines("/proc/net/dev")[2:]}
    found |= {f"mount {line.split()[1]}" for line in _lines("/proc/self/mounts")}
    found |= {f"shared memory {path.name}" for path in Path("/dev/shm").iterdir()}  # noqa: S108 - our own
    found |= {f"lab {path.name}" for path in Path("/run/fabriscope").iterdir()}
    return found


def left_behind(mark: str, before: set[str], temporary: Path) -> list[str]:
    """Return what a case left, in words, when it has had time to go; empty if nothing."""
    deadline = time.monotonic() + GONE_TIMEOUT_S
    while True:
        left = [f"process {pid}: {words[:120]}" for pid, words in processes(mark).items()]
        left += sorted(standing() - before)
        left += [f"folder {path.name}" for path in temporary.iterdir()]
        if not left or time.monotonic() > deadline:
            return left
        time.sleep(0.05)


def _lines(path: str) -> list[str]:
    return Path(path).read_text().splitlines()
