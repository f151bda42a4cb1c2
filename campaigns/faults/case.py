"""One small run that a fault is injected into: its plan, its processes, its journal."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import pty
import random
import signal
import subprocess
import sys
import time
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path

from campaigns.faults import place
from tests import forked

from fabriscope import lab
from fabriscope.lab import Lab

LAB_PLAN = """
name: fault
hosts: node[1-3]
fabrics: {wire: {lab: gige}}
layers: [tcp, shm]
placements: [inter, intra]
benchmarks: {ping_pong: {sizes: [1, 4KiB]}}
launches: 3
budget: 900ms
case_timeout: 1s
floor: false
turns: off
"""
MPI_PLAN = """
name: fault
hosts: node[1-3]
fabrics: {wire: {lab: gige}}
layers: [mpi]
mpi: [{name: chosen, path: MPIRUN}]
placements: [inter, intra]
benchmarks: {ping_pong: {sizes: [1, 4KiB]}}
launches: 2
budget: 800ms
case_timeout: 1s
floor: false
turns: off
"""
SSH_PLAN = """
name: fault
hosts: node[1-3]
fabrics: {wire: {interface: eth0}}
layers: [tcp]
benchmarks: {ping_pong: {sizes: [1, 4KiB]}}
launches: 5
budget: 500ms
case_timeout: 1s
floor: false
turns: off
"""
LOCAL_PLAN = """
name: fault
hosts: localhost
layers: [tcp, shm]
placements: [intra]
benchmarks: {ping_pong: {sizes: [1, 4KiB]}}
launches: 4
budget: 800ms
case_timeout: 1s
floor: false
turns: off
"""
END_TIMEOUT_S = 240.0
_POLL_S = 0.05
"""Between looks at a run: each reads what every process of the machine was started with."""


class Missed(Exception):
    """The run was over before the fault came; another moment is tried."""


class OnTerminal:
    """The few things that a campaign asks of a process, for one that was forked on a terminal of its own."""

    def __init__(self, argv: list[str], said: Path) -> None:
        self.pid, self._terminal = pty.fork()
        if self.pid == 0:
            os.execvp(argv[0], argv)  # noqa: S606
        self._said = said
        self._status: int | None = None
        os.set_blocking(self._terminal, False)

    def close(self) -> None:
        """Close the terminal."""
        os.close(self._terminal)
        self._terminal = -1

    def _read(self) -> None:
        """Keep what was printed: on a terminal that nobody reads, a program stops when some KiB are on it."""
        with self._said.open("ab") as said, contextlib.suppress(OSError):
            while self._terminal >= 0 and (printed := os.read(self._terminal, 1 << 16)):
                said.write(printed)

    def poll(self) -> int | None:
        self._read()
        if self._status is None:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                self._status = os.waitstatus_to_exitcode(status)
        return self._status

    def wait(self, timeout_s: float | None = None) -> int:
        deadline = time.monotonic() + (timeout_s or 60)
        while (status := self.poll()) is None:
            if time.monotonic() > deadline:
                raise subprocess.TimeoutExpired("fabriscope", timeout_s or 60)
            time.sleep(0.01)
        return status


class Run:
    """A run under a fault."""

    def __init__(self, folder: Path, plan: str, chance: random.Random) -> None:
        self.folder = folder
        self.path = folder / "run"
        self.temporary = folder / "tmp"
        self.temporary.mkdir(parents=True)
        self.plan = folder / "plan.yaml"
        self.plan.write_text(plan)
        self.chance = chance
        self.launch_count = 0
        self.extra_env: dict[str, str] = {}
        self.prefix: tuple[str, ...] = ()
        self.mark = f"FABRISCOPE_CAMPAIGN_MARK={uuid.uuid4()}"
        self.own_lab: Lab | None = None
        self.has_terminal = False
        self.was_killed = False
        """By SIGKILL, by the fault: what it leaves running ends soon, and its status says nothing."""
        self.lost_a_host = False
        """With everything on it, what watches over temporary folders there too: those stay, as on any dead host."""
        self.process: subprocess.Popen[bytes] | OnTerminal | forked.Command | None = None

    def words(self, *words: str | Path) -> list[str]:
        """Return the command line of a fabriscope that can be found by its mark."""
        env = (f"{name}={value}" for name, value in self._env().items())
        return [*self.prefix, "env", *env, sys.executable, "-m", "fabriscope", *map(str, words)]

    def _env(self) -> dict[str, str]:
        return {**dict([self.mark.split("=")]), "TMPDIR": str(self.temporary), **self.extra_env}

    def _command(self, *words: str | Path) -> subprocess.Popen[bytes] | forked.Command:
        """Start a fabriscope, in a session of its own: forked, unless something is to be there before it."""
        if not self.prefix and "LD_PRELOAD" not in self.extra_env:
            return forked.Command(words, {**os.environ, **self._env()}, session=True)
        argv = self.words(*words)
        with (self.folder / "said").open("wb") as out:
            return subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=out, stderr=out, start_new_session=True)

    def start(self) -> None:
        """Start the run, and leave it to itself."""
        words, said = ("run", self.plan, "-o", self.path), self.folder / "said"
        self.process = OnTerminal(self.words(*words), said) if self.has_terminal else self._command(*words, "-q")

    def close_terminal(self) -> None:
        """Close the terminal that the run was started on."""
        if isinstance(self.process, OnTerminal):
            self.process.close()

    def is_over(self) -> bool:
        """Return whether it has ended."""
        return self.process is not None and self.process.poll() is not None

    def end(self) -> int:
        """Wait until the run has ended; return its status."""
        if (process := self.process) is None:
            return 0
        try:
            status = process.wait(END_TIMEOUT_S)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            raise RuntimeError(f"the run did not end in {END_TIMEOUT_S:.0f} s") from None
        if isinstance(process, forked.Command):
            (self.folder / "said").write_text("".join(process.communicate()))
        return status

    def resume(self) -> tuple[int, str]:
        """Go on with the run, or start it again if it had not begun; return the status and what it said."""
        began = (self.path / "manifest.json").exists()
        if not began and self.path.exists():
            self.path = self.path.with_name("second")
        words = ("--resume", self.path) if began else (self.plan, "-o", self.path)
        self.process = self._command("run", *words, "-q")
        return self.end(), self.said()

    def said(self) -> str:
        return (self.folder / "said").read_text(errors="replace").strip()

    def journal(self) -> list[str]:
        """Return the whole lines of the journal."""
        path = self.path / "journal.jsonl"
        lines = path.read_text().splitlines(keepends=True) if path.exists() else []
        return [line for line in lines if line.endswith("\n")]

    def reasons(self) -> list[str]:
        """Return why measurements failed; an empty text is a reason that is missing."""
        records = [json.loads(line) for line in self.journal()]
        results = [one for record in records for one in record["results"].values()]
        return [one["reason"] or "" for one in results if one["status"] != "ok"]

    def stand_ins(self) -> list[dict[str, str]]:
        """Return which host stood in for which, for each launch where one did."""
        found = [json.loads(line)["stand_ins"] for line in self.journal()]
        return [one for one in found if one]

    def bad_ends(self) -> list[str]:
        """Return how commands ended that did not end with status 0."""
        commands = [command for line in self.journal() for command in json.loads(line)["commands"]]
        return [f"{Path(one['argv'][0]).name}: {one['exit_status']}" for one in commands if one["exit_status"] != 0]

    def mishaps(self) -> list[str]:
        """Return what befell the run beside its measurements."""
        return [words for line in self.journal() for words in json.loads(line)["mishaps"]]

    def problems_of_folder(self, kept: list[str]) -> Iterator[str]:
        """Yield what is wrong with the folder, given the journal's lines before the fault."""
        if self.journal()[: len(kept)] != kept:
            yield "what was journalled before the fault has changed"
        if not (self.path / "manifest.json").exists():
            if kept:
                yield "the manifest is gone"
            return
        done = forked.fabriscope(["verify", self.path])
        if done.returncode != 0:
            yield f"verify says {done.stdout.strip()} {done.stderr.strip()}"

    def pause_until(self, is_there: Callable[[], bool]) -> None:
        """Wait for something of the run; raises Missed if it ends before."""
        deadline = time.monotonic() + END_TIMEOUT_S
        while not is_there():
            if self.is_over() or time.monotonic() > deadline:
                raise Missed
            time.sleep(_POLL_S)

    def random_moment(self, launch_count: int) -> None:
        """Wait for a moment in the middle of a random launch; raises Missed if the run ends before."""
        lines = self.chance.randrange(launch_count)
        self.pause_until(lambda: (self.path / "manifest.json").exists() and len(self.journal()) >= lines)
        time.sleep(self.chance.uniform(0, 0.5))
        if self.is_over():
            raise Missed

    def lab(self) -> Lab:
        """Return the run's lab; raises Missed if the run ends before it stands."""
        found: list[str] = []

        def look() -> bool:
            found[:] = [
                one.name
                for one in lab.recorded()
                if one.owner and place.carries(one.owner.pid, self.mark) and one.is_complete and not one.is_left_over
            ]
            return bool(found)

        self.pause_until(look)
        return lab.find(found[0])

    def own_processes(self) -> list[int]:
        """Return fabriscope's own processes of this run."""
        return [
            pid for pid, line in place.processes(self.mark).items() if " -m fabriscope " in line and self._is_it(pid)
        ]

    @staticmethod
    def _is_it(pid: int) -> bool:
        """Return whether a process is fabriscope itself, not a program that starts it (`salloc`, `env`)."""
        with contextlib.suppress(OSError):
            return Path(f"/proc/{pid}/comm").read_text().startswith("python")
        return False

    def programs(self, *names: str) -> dict[int, str]:
        """Return process id to name of the run's processes whose program has one of these names."""
        found = {pid: Path(line.split()[0]).name for pid, line in place.processes(self.mark).items() if line.split()}
        return {pid: name for pid, name in found.items() if name in names}

    def digests(self, lines: list[str]) -> dict[str, str]:
        """Return the digests of the samples that lines of the journal name."""
        names = [name for line in lines if (name := json.loads(line)["samples"])]
        return {name: hashlib.sha256((self.path / name).read_bytes()).hexdigest() for name in names}

    def pids(self, *words: str) -> list[int]:
        """Return the run's processes whose program has one of these names."""
        return list(self.programs(*words))


def kill(pids: list[int], number: signal.Signals = signal.SIGKILL) -> None:
    """Send a signal to processes that may have ended meanwhile."""
    for pid in pids:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, number)
