"""A small run with a call that fails, made in a process of its own, and what is checked of it."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import sys
import time
import traceback
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from campaigns.failures import calls as failing
from campaigns.failures import runs
from campaigns.failures import store as made_up
from campaigns.failures.calls import Counters, Failure
from campaigns.faults import place

from fabriscope.lab import state as lab_state
from fabriscope.model.errors import FabriscopeError

LIMIT_S = 150.0
KILLED = (-signal.SIGKILL, 137)
DOCUMENTED = (0, 1, 2, 5, 6, 7, 8, 10)
"""Statuses of docs/exit-codes.md that a run may end with here."""
MISTAKE = "an error in fabriscope itself"
"""What a command or a launch says where nobody foresaw what happened."""


def forked(work: Callable[[], int], said: Path) -> int:
    """Run a function in a process of its own, that has what it says in a file; return the status.

    A FabriscopeError ends it as it ends the command line. Raises TimeoutError; the process is ended then.
    """
    for stream in (sys.stdout, sys.stderr):
        stream.flush()  # or the child says once more what we have said and nobody has written yet
    pid = os.fork()
    if pid == 0:
        status = 1
        try:
            os.setsid()
            descriptor = os.open(said, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
            for number in (1, 2):
                os.dup2(descriptor, number)
            status = work()
        except FabriscopeError as error:
            os.write(2, f"fabriscope: {error}\n".encode())
            status = error.exit_code
        except BaseException:
            os.write(2, traceback.format_exc().encode())
        finally:
            with contextlib.suppress(Exception):
                sys.stdout.flush()
                sys.stderr.flush()
            os._exit(status)
    deadline = time.monotonic() + LIMIT_S
    while True:
        ended, status = os.waitpid(pid, os.WNOHANG)
        if ended:
            return os.waitstatus_to_exitcode(status)
        if time.monotonic() > deadline:
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
            raise TimeoutError(f"it did not end in {LIMIT_S:.0f} s")
        time.sleep(0.002)


def problems_of_words(status: int, said: str, may_die: bool) -> Iterator[str]:
    """Yield what is wrong with how a command ended."""
    lines = [line for line in said.splitlines() if line.strip()]
    if "Traceback" in said or MISTAKE in said:
        yield f"a traceback: {lines[-1][:300]}"
    elif status in KILLED and may_die:
        return
    elif status not in DOCUMENTED:
        yield f"it ended with status {status}: {said[-300:]}"
    elif status not in (0, 10) and (len(lines) != 1 or not lines[0].startswith("fabriscope: ")):
        yield f"status {status} without one sentence: {said[-300:]}"


class Trial:
    """A small run that can be repeated, and the folder of each."""

    def __init__(self, part: runs.Part, output: Path, library: str) -> None:
        self.part = part
        self.library = library
        self.output = output / part.name
        self.output.mkdir(exist_ok=True)

    def counted(self) -> dict[str, int]:
        """Make the undisturbed run, and return how many calls of each kind it made."""
        raise NotImplementedError

    def checked(self, work: Callable[[], list[str]], folder: Path) -> list[str]:
        """Return the problems that a check finds, made in a process of its own."""
        results = folder / "results"

        def write() -> int:
            results.write_text(json.dumps(work()))
            return 0

        if forked(write, folder / "checked") != 0:
            return [f"the check failed: {(folder / 'checked').read_text()[-500:]}"]
        return list(json.loads(results.read_text()))

    def make(self, number: int, failure: Failure) -> dict[str, Any]:
        """Return what came of one failure."""
        folder = self.output / f"case-{number:05}"
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        counters = Counters(folder / "counters")
        case: dict[str, Any] = {}
        try:
            case = self.tried(folder, counters, failure)
        except TimeoutError as error:
            case = {"status": None, "said": "", "resumed": None, "problems": [str(error)]}
        case["hits"] = counters.hits()
        if not case["problems"]:
            shutil.rmtree(folder)
        return case

    def tried(self, folder: Path, counters: Counters, failure: Failure) -> dict[str, Any]:
        """Make the run with the failure, check, resume, check; return what came of it."""
        raise NotImplementedError


class MadeUp(Trial):
    """The store alone, in this process's children."""

    def counted(self) -> dict[str, int]:
        """Make the undisturbed run, and return how many calls of each kind it made."""
        folder = self.output / f"undisturbed-{os.getpid()}"
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        counters = Counters(folder / "counters")
        self._undisturbed = folder / "run"
        status = self._measured(self._undisturbed, counters, None, folder / "said")[0]
        if status != 0:
            raise RuntimeError(f"the undisturbed run failed: {(folder / 'said').read_text()}")
        return counters.counts()

    def _measured(self, path: Path, counters: Counters, failure: Failure | None, said: Path) -> tuple[int, bytes]:
        out, into = os.pipe()
        calls = counters.spec(failure, [str(path)])

        def work() -> int:
            failing.arm(calls)
            made_up.measure(path, into)
            return 0

        try:
            status = forked(work, said)
        finally:
            os.close(into)
        with os.fdopen(out, "rb") as stream:
            return status, stream.read()

    def tried(self, folder: Path, counters: Counters, failure: Failure) -> dict[str, Any]:
        """Make the run with the failure, check, go on, and compare with the undisturbed folder."""
        path = folder / "run"
        status, acknowledged = self._measured(path, counters, failure, folder / "said")
        said = (folder / "said").read_text()
        problems = list(problems_of_words(status, said, failure.way in failing.DEATHS))
        problems += self.checked(
            lambda: list(made_up.problems_after_fault(path, acknowledged, self._undisturbed)), folder
        )
        again = path if (path / "manifest.json").exists() else folder / "second"
        work = made_up.go_on if again == path else made_up.measure
        nowhere = os.open(os.devnull, os.O_WRONLY)
        resumed = forked(lambda: work(again, nowhere) or 0, folder / "resumed")
        os.close(nowhere)
        words = (folder / "resumed").read_text()
        problems += [f"the resume: {one}" for one in problems_of_words(resumed, words, may_die=False)]
        if resumed == 0:
            problems += self.checked(lambda: list(made_up.problems_after_resume(again, self._undisturbed)), folder)
        return {"status": status, "said": said[-300:], "resumed": resumed, "resume_said": words, "problems": problems}


class Real(Trial):
    """A run of the command line on this machine or in a lab."""

    def counted(self) -> dict[str, int]:
        """Make the undisturbed run, and return how many calls of each kind it made."""
        folder = self.output / f"undisturbed-{os.getpid()}"
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        counters = Counters(folder / "counters")
        status = self._run(folder, counters, None, "mark")
        if status != 0:
            raise RuntimeError(f"the undisturbed run ended with {status}: {(folder / 'said').read_text()}")
        counts = counters.counts()
        return {call: count for call, count in counts.items() if not self.part.calls or call in self.part.calls}

    def _run(self, folder: Path, counters: Counters, failure: Failure | None, mark: str) -> int:
        plan, temporary = folder / "plan.yaml", folder / "tmp"
        plan.write_text(self.part.plan)
        temporary.mkdir(exist_ok=True)
        names = {"RUN": str(folder / "run"), "TMP": str(temporary)}
        calls = counters.spec(failure, [names.get(one, one) for one in self.part.places])

        def work() -> int:
            os.environ |= _environment(folder, mark)
            if self.part.program:
                preload = {"LD_PRELOAD": self.library, "FAILING_CALLS": calls, "FAILING_PROGRAM": self.part.program}
                os.environ |= preload
            else:
                failing.arm(calls)
            return runs.command("run", str(plan), "-o", str(folder / "run"), "-q")

        return forked(work, folder / "said")

    def _resume(self, folder: Path, path: Path, mark: str) -> int:
        words = (
            ("--resume", str(path))
            if (path / "manifest.json").exists()
            else (str(folder / "plan.yaml"), "-o", str(path))
        )

        def work() -> int:
            os.environ |= _environment(folder, mark)
            return runs.command("run", *words, "-q")

        return forked(work, folder / "resumed")

    def tried(self, folder: Path, counters: Counters, failure: Failure) -> dict[str, Any]:
        """Make the run with the failure, check, resume, check again, and look for what is left."""
        mark, before = str(uuid.uuid4()), place.standing()
        status = self._run(folder, counters, failure, mark)
        said, path = _without_path((folder / "said").read_text(), folder), folder / "run"
        may_die = not self.part.program and failure.way in failing.DEATHS
        problems = list(problems_of_words(status, said, may_die))
        problems += self.checked(lambda: list(runs.problems_of_folder(path)), folder)
        kept = runs.whole_lines(path)
        digests = runs.digests(path, kept)
        again = path if (path / "manifest.json").exists() or not path.exists() else folder / "second"
        resumed = self._resume(folder, again, mark)
        words = _without_path((folder / "resumed").read_text(), folder)
        problems += [f"the resume: {one}" for one in problems_of_words(resumed, words, may_die=False)]
        if again == path:
            problems += self.checked(lambda: list(runs.problems_after_resume(path, kept, digests)), folder)
        if resumed == 0:
            problems += self.checked(lambda: list(runs.problems_of_end(again)), folder)
        problems += self.checked(_as_the_next_lab, folder)
        left = place.left_behind(f"FABRISCOPE_CAMPAIGN_MARK={mark}", before, folder / "tmp")
        problems += [f"left behind: {one}" for one in left]
        return {
            "status": status,
            "said": said[-300:],
            "journalled": len(kept),
            "resumed": resumed,
            "resume_said": words[-300:],
            "problems": problems,
        }


def _as_the_next_lab() -> list[str]:
    """Remove the record of a lab that nobody needs, as the next lab does: a run that was complete builds none."""
    lab_state.remove_left_overs()
    return []


def _environment(folder: Path, mark: str) -> dict[str, str]:
    state = {"TMPDIR": str(folder / "tmp"), "XDG_STATE_HOME": str(folder / "state")}
    return {**state, "FABRISCOPE_CAMPAIGN_MARK": mark}


def _without_path(said: str, folder: Path) -> str:
    """Return what a command said beside the run folder, which it names at the end."""
    return "\n".join(line for line in said.splitlines() if line not in (str(folder / "run"), str(folder / "second")))
