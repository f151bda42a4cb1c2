"""What ends our processes when we cannot: a watcher that outlives us, and a mark that finds strays.

A process may leave its process group (mpirun's daemons do), and we may be killed without a chance to clean up.
Nothing is ever ended by name: only groups that we created, and processes that carry this launch's random mark.
"""

from __future__ import annotations

import contextlib
import secrets
import subprocess
import sys
from pathlib import Path
from types import TracebackType
from typing import Self

from fabriscope.launch.on_host import sweep

# Reads `started GROUP`, `ended GROUP` and `over`. When its input ends, whatever still lives is ended, and the folder $1
# goes. Where nobody said `over` we were killed, perhaps before a start was told: then Python ($2) looks for the mark.
_WATCH = """
live="" over=""
while read -r verb group; do
  case $verb in
    started) live="$live $group" ;;
    over) over=yes ;;
    ended) kept=""; for g in $live; do [ "$g" = "$group" ] || kept="$kept $g"; done; live=$kept ;;
  esac
done
if [ -n "$live" ]; then
  for g in $live; do kill -s TERM -- "-$g" 2>/dev/null; done
  sleep 2
  for g in $live; do kill -s KILL -- "-$g" 2>/dev/null; done
fi
[ -n "$over" ] || "$2" -I -S -c "$3" "$4" "$5"
[ -z "$1" ] || rm -rf -- "$1"
"""
_END_MARKED = "import runpy, sys; runpy.run_path(sys.argv[1])['end_marked'](sys.argv[2])"


class Guard:
    """Ends the process groups that it was told of, should we die before we say that they have ended."""

    def __init__(self, temporary: Path | None = None) -> None:
        """Begin to watch; a temporary folder goes with us, whatever ends us."""
        self.mark = secrets.token_hex(16)
        words = (sys.executable, _END_MARKED, sweep.__file__, self.mark)
        self._watcher = subprocess.Popen(
            ["/bin/sh", "-c", _WATCH, "fabriscope-guard", str(temporary or ""), *words],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        sweep.end_marked(self.mark)
        self._tell("over")
        self._watcher.communicate()

    def started(self, group: int) -> None:
        """Put a process group under guard."""
        self._tell(f"started {group}")

    def ended(self, group: int) -> None:
        """Take a process group from guard; called before its leader is reaped, so the number is still ours."""
        self._tell(f"ended {group}")

    def _tell(self, line: str) -> None:
        if self._watcher.stdin is not None:
            with contextlib.suppress(BrokenPipeError):  # somebody ended the watcher; the launch goes on
                self._watcher.stdin.write(f"{line}\n".encode())
                self._watcher.stdin.flush()
