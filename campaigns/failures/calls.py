"""Calls of a process that fail on purpose: which, the how-manieth, and how. `_failing_calls.c` makes them fail."""

from __future__ import annotations

import ctypes
import errno
import os
import struct
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

SOURCE = Path(__file__).with_name("calls.c")
KINDS = (
    "open", "look", "write", "fsync", "close", "rename", "mkdir", "unlink", "link", "truncate", "chmod", "lock",
    "fork", "pipe", "poll", "read", "wait", "signalfd", "mount",
)  # fmt: skip
"""As in the source, in its order. `look` opens for reading; `unlink` removes folders too."""
DEATHS = ("before", "after", "torn")
"""The process ends before the call, or when it has been made, or has written half of what it was to write."""
WAYS = {
    "open": ("EMFILE", "ENOSPC for ever", "before", "after"),
    "look": ("EMFILE", "before", "after"),
    "write": ("ENOSPC for ever", "EIO", "EINTR", "short", "torn", "before", "after"),
    "fsync": ("EIO", "ENOSPC for ever", "before", "after"),
    "close": ("EIO", "before", "after"),
    "rename": ("EIO", "ENOSPC for ever", "before", "after"),
    "mkdir": ("ENOSPC", "ENOSPC for ever", "before", "after"),
    "unlink": ("EIO", "before", "after"),
    "link": ("EIO", "before", "after"),
    "truncate": ("EIO", "before", "after"),
    "chmod": ("EPERM", "before", "after"),
    "lock": ("ENOLCK", "before", "after"),
    "fork": ("EAGAIN", "EAGAIN for ever", "before", "after"),
    "pipe": ("EMFILE", "before", "after"),
    "poll": ("EINTR", "before", "after"),
    "read": ("EIO", "before"),
    "wait": ("EINTR", "before", "after"),
    "signalfd": ("EMFILE", "before", "after"),
    "mount": ("EPERM", "before", "after"),
}
"""How calls of each kind fail: by an errno, by writing half of what was to be written, or by death."""
READY = "FABRISCOPE_INJECTED_READY"
_COUNTERS_BYTES = 8 * (len(KINDS) + 1)


@dataclass(frozen=True)
class Failure:
    """One call that fails."""

    call: str
    nth: int
    way: str
    """`EIO`, `EIO for ever` (later calls of the kind too), `short`, `torn`, `before` or `after`."""

    def words(self) -> str:
        """Return the failure in words."""
        return f"{self.call} {self.nth}: {self.way}"

    def spec(self) -> str:
        """Return the words of `failing_calls_arm`."""
        number = getattr(errno, self.way.split()[0], self.way)
        lasts = "ever" if self.way.endswith("for ever") else "once"
        return f"call={self.call};nth={self.nth};how={number};for={lasts}"


def failures(counts: Mapping[str, int], *, is_brief: bool = False) -> Iterator[Failure]:
    """Yield every failure of every call that was counted, in the order of the kinds.

    What a death after a call leaves is what a death before the next call of any kind finds; where `is_brief`, only
    forks have both, since their child goes on.
    """
    for call in KINDS:
        for nth in range(1, counts.get(call, 0) + 1):
            for way in WAYS[call]:
                if way != "after" or call == "fork" or not is_brief:
                    yield Failure(call, nth, way)


def build(folder: Path) -> Path:
    """Compile the library into a folder; return its path. Raises CalledProcessError."""
    library = folder / "failing_calls.so"
    unfinished = folder / f"failing_calls-{os.getpid()}.so"
    compiler = os.environ.get("CC", "cc")
    subprocess.run([compiler, "-shared", "-fPIC", "-O1", "-o", str(unfinished), str(SOURCE), "-ldl"], check=True)
    unfinished.replace(library)
    return library


def prepared(folder: Path) -> dict[str, str]:
    """Return the variables with which a process finds the library loaded, compiled into a folder."""
    return {"LD_PRELOAD": str(build(folder)), READY: "1", "POLARS_MAX_THREADS": "2"}


class Counters:
    """A file that counts the calls of every process it is given to."""

    def __init__(self, path: Path) -> None:
        self._path = path
        path.write_bytes(bytes(_COUNTERS_BYTES))

    def spec(self, failure: Failure | None, places: Sequence[str]) -> str:
        """Return what is to be armed: a failure, or none, which only counts."""
        under = f";under={'|'.join(places)}" if places else ""
        return f"counts={self._path}{under}" + (f";{failure.spec()};log={self._path}.log" if failure else "")

    def counts(self) -> dict[str, int]:
        """Return how many calls of each kind were counted."""
        numbers = struct.unpack(f"{len(KINDS) + 1}q", self._path.read_bytes())
        return dict(zip(KINDS, numbers, strict=False))

    def hits(self) -> list[str]:
        """Return the calls that failed, with what they were made on."""
        path = self._path.with_name(f"{self._path.name}.log")
        return path.read_text().splitlines() if path.exists() else []


def arm(spec: str) -> None:
    """Let a call of this process fail; the library is preloaded."""
    ctypes.CDLL(None).failing_calls_arm(spec.encode())
