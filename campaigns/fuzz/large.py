"""Reads and imports logs as large as are accepted, by the commands themselves, within 2 s and 512 MiB.

    python -m campaigns.fuzz.large                          # of every program: 16 MiB, and as many lines as are read
    python -m campaigns.fuzz.large --random 500 --seed 1    # logs of the tests and samples, made large at random

A text that breaks the promise is kept in --kept, and the status is 1. Time is that of the processor, which grows on a
busy machine: what is too slow is tried once more, and the lesser time counts.
"""

from __future__ import annotations

import argparse
import os
import shutil
import statistics
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from campaigns.fuzz.large_rows import ROWS
from campaigns.fuzz.large_texts import harmful, random_texts, well_formed

from fabriscope.readers.work import MOST_LINES

LIMIT_S = 2.0
LIMIT_MIB = 512
_STATUSES = {"read": (0, 2, 10), "import": (0, 6, 10)}
_KIND = {"text": (), "json": ("--json",), "csv": ("--csv",)}


@dataclass(frozen=True)
class Ended:
    """How one command ended."""

    seconds: float
    mib: float
    status: int
    said: str

    def problem(self, command: str) -> str:
        """Return what was promised and is not so; empty for nothing."""
        if "Traceback" in self.said or "its log is" in self.said or self.status not in _STATUSES[command]:
            return f"status {self.status}: {self.said[-100:]!r}"
        if self.seconds > LIMIT_S:
            return f"{self.seconds:.2f} s"
        return f"{self.mib:.0f} MiB" if self.mib > LIMIT_MIB else ""


def ended(words: list[str], scratch: Path) -> Ended:
    """Run a command and return how it ended."""
    said = scratch / "said"
    argv = [sys.executable, "-c", f"import sys; sys.argv[0] = 'fabriscope'; {_MAIN}", *words]
    files = [
        (os.POSIX_SPAWN_OPEN, 1, "/dev/null", os.O_WRONLY, 0),
        (os.POSIX_SPAWN_OPEN, 2, str(said), os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600),
    ]
    process = os.posix_spawn(sys.executable, argv, os.environ, file_actions=files)
    _, status, used = os.wait4(process, 0)
    text = said.read_text(errors="replace")
    return Ended(used.ru_utime + used.ru_stime, _peak_mib(text), os.waitstatus_to_exitcode(status), text)


_MARK = "peak KiB: "
_MAIN = (
    "import atexit; from pathlib import Path;"
    f"atexit.register(lambda: print('{_MARK}' + Path('/proc/self/status').read_text().split('VmHWM:')[1].split()[0], "
    "file=sys.stderr)); from fabriscope.__main__ import main; main()"
)
"""VmHWM is the program's own; what wait4 tells has the peak of who started it."""


def _peak_mib(text: str) -> float:
    return float(text.rpartition(_MARK)[2].split()[0]) / 1024 if _MARK in text else 0.0


def trials(text: bytes, scratch: Path) -> Iterator[tuple[str, Ended, str]]:
    """Yield what each command did with a text, and what it broke of the promise."""
    log, run = scratch / "large.log", scratch / "run"
    log.write_bytes(text)
    words = {kind: ("read", ["read", str(log), *more]) for kind, more in _KIND.items()}
    words["import"] = ("import", ["import", str(log), "-o", str(run)])
    for kind, (command, argv) in words.items():
        how = ended(argv, scratch)
        if how.seconds > LIMIT_S:
            shutil.rmtree(run, ignore_errors=True)
            again = ended(argv, scratch)
            how = min(how, again, key=lambda one: one.seconds)
        shutil.rmtree(run, ignore_errors=True)
        yield kind, how, how.problem(command)


def _texts(arguments: argparse.Namespace) -> Iterator[tuple[str, bytes]]:
    if arguments.random:
        yield from random_texts(arguments.random, arguments.seed)
        return
    for name in ROWS:
        yield f"{name}, 16 MiB", well_formed(name)
        lines = ROWS[name][1](1).count("\n")
        yield f"{name}, {MOST_LINES} lines", well_formed(name, most_rows=(MOST_LINES - 100) // lines)
    for name, make in harmful().items():
        yield name, make()


def main() -> None:
    """See the module's docstring."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--random", type=int, default=0, metavar="COUNT", help="texts made at random instead")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--kept", type=Path, help="folder for texts that break the promise")
    arguments = parser.parse_args()
    seconds: list[float] = []
    mib: list[float] = []
    broken = count = 0
    with tempfile.TemporaryDirectory(prefix="fuzz-large-") as place:
        for name, text in _texts(arguments):
            count += 1
            for kind, how, problem in trials(text, Path(place)):
                seconds.append(how.seconds)
                mib.append(how.mib)
                if not arguments.random or problem:
                    print(
                        f"| {name} | {kind} | {how.seconds:.2f} s | {how.mib:.0f} MiB | {how.status} | {problem} |",
                        flush=True,
                    )
                if problem:
                    broken += 1
                    if arguments.kept is not None:
                        arguments.kept.mkdir(parents=True, exist_ok=True)
                        (arguments.kept / f"{name.replace(' ', '-').replace('/', '-')}-{kind}").write_bytes(text)
    print(
        f"{count} texts, {len(seconds)} commands: median {statistics.median(seconds):.2f} s, most "
        f"{max(seconds):.2f} s and {max(mib):.0f} MiB; {broken} broke the promise"
    )
    raise SystemExit(broken > 0)


if __name__ == "__main__":
    main()
