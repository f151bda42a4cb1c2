"""What ends our processes when we cannot: a watcher that outlives us, and a mark that finds strays.

A process may leave its process group (mpirun's daemons do), and we may be killed without a chance to clean up.
Nothing is ever ended by name: only groups that we created, and processes that carry this launch's random mark.
"""

from __future__ import annotations

import contextlib
import secrets
import subprocess
from pathlib import Path
from types import TracebackType
from typing import Self

from fabriscope.launch.on_host.sweep import end_marked

# Reads `started GROUP` and `ended GROUP`; when its input ends, whatever still lives is ended, and the folder $1 goes.
_WATCH = """
live=""
while read -r verb group; do
  case $verb in
    started) live="$live $group" ;;
    ended) kept=""; for g in $live; do [ "$g" = "$group" ] || kept="$kept $g"; done; live=$kept ;;
  esac
done
if [ -n "$live" ]; then
  for g in $live; do kill -s TERM -- "-$g" 2>/dev/null; done
  sleep 2
  for g in $live; do kill -s KILL -- "-$g" 2>/dev/null; done
fi
[ -z "$1" ] || rm -rf -- "$1"
"""


class Guard:
    """Ends the process groups that it was told of, should we die before we say that they have ended."""

    def __init__(self, temporary: Path | None = None) -> None:
        """Begin to watch; a temporary folder goes with us, whatever ends us."""
        self.mark = secrets.token_hex(16)
        self._watcher = subprocess.Popen(
            ["/bin/sh", "-c", _WATCH, "fabriscope-guard", str(temporary or "")],
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
        end_marked(self.mark)
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
