"""What ends our processes when we cannot: a watcher that outlives us, and a mark that finds strays.

A process may leave its process group (mpirun's daemons do), and we may be killed without a chance to clean up.
Nothing is ever ended by name: only groups that we created, and processes that carry this launch's random mark.
"""

from __future__ import annotations

import contextlib
import functools
import os
import secrets
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from types import TracebackType
from typing import Self

from fabriscope.launch import job_group
from fabriscope.launch.on_host import sweep, temporary
from fabriscope.model import folders
from fabriscope.model.errors import LaunchError

# Reads `started GROUP`, `far GROUP` (what runs on another host), `ended GROUP` and `over`. When its input ends,
# whatever still lives is ended, and the folder $1 goes. Where nobody said `over` we were killed, perhaps before a start
# was told: then Python ($2) looks for the mark. What is far has a guard on its host that hears of our end too, and
# cleans up; srun would kill that guard if it were asked to end at once, so it has 5 s to end by itself.
_WATCH = """
live="" far="" over=""
without() { kept=""; for g in $2; do [ "$g" = "$1" ] || kept="$kept $g"; done; }
living() { kept=""; for g in $1; do kill -s 0 -- "-$g" && kept="$kept $g"; done 2>/dev/null; }
send() { for g in $2; do kill -s "$1" -- "-$g"; done 2>/dev/null; }
while read -r verb group; do
  case $verb in
    started) live="$live $group" ;;
    far) far="$far $group" ;;
    over) over=yes ;;
    ended) without "$group" "$live"; live=$kept; without "$group" "$far"; far=$kept ;;
  esac
done
send TERM "$live"
tries=50
while [ -n "$far" ] && [ "$tries" -gt 0 ]; do
  sleep 0.1
  living "$far"; far=$kept tries=$((tries - 1))
done
send TERM "$far"
live="$live$far"
if [ -n "$live" ]; then
  sleep 2
  send KILL "$live"
fi
[ -n "$over" ] || "$2" -I -S -c "$3" "$4" "$5"
if [ -n "$6" ]; then
  while read -r pid; do echo "$pid" > "${6%/*}/cgroup.procs"; done < "$6/cgroup.procs"
  rmdir -- "$6"
fi 2>/dev/null
rm -rf -- "$1"
"""
_END_MARKED = "import runpy, sys; runpy.run_path(sys.argv[1])['end_marked'](sys.argv[2])"


END_PATIENCE_S = 15.0
"""What outlives us gets this long to end once we need it no more: its work takes a second, and a grace of two."""
KILL_PATIENCE_S = 5.0


def temporary_root() -> Path:
    """Return the folder for temporary ones with random names: the usual one, unless others can replace what is in it.

    Raises LaunchError where none will do.
    """
    # As Python's tempfile, but that tries each by a file of its own, which stays where it is killed meanwhile.
    named = [folder for name in ("TMPDIR", "TEMP", "TMP") if (folder := os.environ.get(name))]
    problems = []
    for folder in dict.fromkeys((*named, "/tmp", "/var/tmp")):  # noqa: S108 - looked at, and only for random names
        if not os.access(folder, os.W_OK | os.X_OK):
            problems.append(f"{folder} is not there for us to write to")
            continue
        try:
            why = folders.problem(folder, folders.SHARED)
        except OSError as error:
            why = f"{folder}: {error.strerror}"
        if why is None:
            return Path(folder).absolute()
        problems.append(why)
    raise LaunchError(
        f"no temporary folder can be trusted: {'; '.join(problems)}",
        fix="set TMPDIR to a folder that only you can write",
    )


@functools.cache
def clear_once(root: Path) -> None:
    """Remove the folders of launches that were killed together with their watchers; what is used stays."""
    temporary.clear_abandoned(str(root))


def start_watcher(script: str, *words: str) -> subprocess.Popen[bytes]:
    """Start a shell script that outlives us: it reads lines from us, and their end is ours."""
    watcher = subprocess.Popen(
        ["/bin/sh", "-c", script, *words],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
        bufsize=0,
    )
    assert watcher.stdin is not None  # noqa: S101 - it is a pipe
    os.set_blocking(watcher.stdin.fileno(), False)  # one that is stopped reads nothing, and must not stop us
    return watcher


def end_watcher(watcher: subprocess.Popen[bytes]) -> bool:
    """Close its input, and return whether it did what it is there for; one that does not end in time is killed."""
    try:
        watcher.communicate(timeout=END_PATIENCE_S)
    except subprocess.TimeoutExpired:
        watcher.kill()  # also one that is stopped
        with contextlib.suppress(subprocess.TimeoutExpired):
            watcher.wait(KILL_PATIENCE_S)
        return False
    return watcher.returncode == 0


class Guard:
    """Ends the process groups that it was told of, should we die before we say that they have ended.

    It has a private temporary folder for everything that a launch writes, which goes with it, whatever ends us.
    """

    def __init__(self, *, counts_datagrams: bool = False) -> None:
        """Begin to watch. Raises LaunchError, or OSError where the folder cannot be made."""
        self.mark = secrets.token_hex(16)
        # Short: libraries put sockets into it, whose paths may have 107 bytes.
        self.folder = temporary_root() / f"fabriscope-{secrets.token_hex(6)}"
        self._groups: list[int] = []
        self.group = job_group.make(self.mark, counts_datagrams=counts_datagrams)
        words = (sys.executable, _END_MARKED, sweep.__file__, self.mark, str(self.group.path) if self.group else "")
        self._watcher = start_watcher(_WATCH, "fabriscope-guard", str(self.folder), *words)
        try:
            # Now that the watcher knows of it: should we be killed here, it goes too.
            self._held = temporary.make_held(str(self.folder))
        except BaseException:
            self._tell("over")
            end_watcher(self._watcher)
            raise
        clear_once(self.folder.parent)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        sweep.end_marked(self.mark)
        self._tell("over")
        if not end_watcher(self._watcher):
            for group in self._groups:
                with contextlib.suppress(ProcessLookupError, PermissionError):
                    os.killpg(group, signal.SIGKILL)
        if self.group is not None:
            self.group.remove()
        shutil.rmtree(self.folder, ignore_errors=True)
        os.close(self._held)

    def started(self, group: int, *, is_far: bool = False) -> None:
        """Put a process group under guard; `is_far` where it stands for one on another host, under a guard there."""
        self._groups.append(group)
        self._tell(f"far {group}" if is_far else f"started {group}")

    def ended(self, group: int) -> None:
        """Take a process group from guard; called before its leader is reaped, so the number is still ours."""
        with contextlib.suppress(ValueError):
            self._groups.remove(group)
        self._tell(f"ended {group}")

    def _tell(self, line: str) -> None:
        if self._watcher.stdin is not None:
            with contextlib.suppress(OSError):  # somebody ended or stopped the watcher; the launch goes on
                self._watcher.stdin.write(f"{line}\n".encode())
