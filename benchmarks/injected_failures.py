"""Lets every call that may fail do so, one after the other, in small runs, and checks what came of each.

    python -m benchmarks.injected_failures --part store --output FOLDER     # from the checkout's root; see --help

A preloaded library counts the calls of one program of a run (writes, opens, renames, forks ...) and lets the n-th of a
kind fail, or ends the process before it, after it or in its middle: for every n of an undisturbed run. After each:
what was stored is there and readable, `verify` finds nothing changed, no traceback, a documented status with one
sentence, `--resume` ends with the same numbers for what was kept, and nothing is left behind. FOLDER/PART.jsonl gets a
line for each failure, and the same command goes on where it was interrupted. With --share 1/2 and 2/2 two processes
share the failures.
"""

from __future__ import annotations

import argparse
import contextlib
import gc
import json
import os
import random
import shutil
import signal
import sys
import time
import traceback
import uuid
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from benchmarks import _failing_calls as failing
from benchmarks import _fault_place as place
from benchmarks import _injected_runs as runs
from benchmarks import _injected_store as made_up
from benchmarks._failing_calls import Counters, Failure

from fabriscope.model.errors import FabriscopeError

LIMIT_S = 150.0
EXIT_PROBLEMS = 1
KILLED = (-signal.SIGKILL, 137)
DOCUMENTED = (0, 1, 2, 5, 6, 7, 8, 10)
"""Statuses of docs/exit-codes.md that a run may end with here."""
MISTAKE = "an error in fabriscope itself"
"""What a command or a launch says where nobody foresaw what happened."""
_READY = "FABRISCOPE_INJECTED_READY"


def main() -> None:
    """Make every failure of a part that was not made yet, and print the table."""
    arguments = _arguments()
    output: Path = arguments.output.absolute()
    output.mkdir(parents=True, exist_ok=True)
    if not os.environ.get(_READY):
        os.environ |= {"LD_PRELOAD": str(failing.build(output)), _READY: "1", "POLARS_MAX_THREADS": "2"}
        place.enter("benchmarks.injected_failures")
        os.execv(sys.executable, [sys.executable, "-m", "benchmarks.injected_failures", *sys.argv[1:]])  # noqa: S606
    library = os.environ.pop("LD_PRELOAD")
    part = runs.PARTS[arguments.part]
    runs.import_all()
    gc.freeze()  # what forked children share with us stays shared
    trial = (MadeUp if part.name == "store" else Real)(part, output, library)
    counts = trial.counted()
    chosen = list(enumerate(failing.failures(counts, is_brief=part.name != "store"), start=1))
    if arguments.every > 1:
        first = random.Random(arguments.seed).randrange(arguments.every)  # noqa: S311 - no secret
        chosen = chosen[first :: arguments.every]
    if arguments.only:
        chosen = [(number, failure) for number, failure in chosen if number in arguments.only]
    print(f"{part.title}: {len(chosen)} failures of {sum(counts.values())} calls: {_words(counts)}")
    share, shares = map(int, arguments.share.split("/"))
    _make(trial, [one for one in chosen if one[0] % shares == share % shares], output / f"{part.name}.jsonl")
    cases = _read(output / f"{part.name}.jsonl")
    print("\n".join(_table(cases)))
    if any(case["problems"] for case in cases.values()):
        raise SystemExit(EXIT_PROBLEMS)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--part", choices=list(runs.PARTS), default="store")
    parser.add_argument("--output", type=Path, required=True)
    parser.add_argument("--every", type=int, default=1, help="only every n-th failure, the first of them by the seed")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument(
        "--only", type=lambda text: set(map(int, text.split(","))), help="only failures of these numbers"
    )
    parser.add_argument("--share", default="1/1", help="of several processes with one output: which, of how many")
    return parser.parse_args()


def _words(counts: dict[str, int]) -> str:
    return ", ".join(f"{count} {call}" for call, count in counts.items() if count)


def _make(trial: MadeUp | Real, chosen: list[tuple[int, Failure]], path: Path) -> None:
    done = _read(path)
    for number, failure in chosen:
        if number in done:
            continue
        started_s = time.monotonic()
        case: dict[str, Any] = {"number": number, "call": failure.call, "nth": failure.nth, "way": failure.way}
        case |= trial.make(number, failure)
        case["elapsed_s"] = round(time.monotonic() - started_s, 2)
        with path.open("a") as stream:
            stream.write(json.dumps(case) + "\n")
        if case["problems"]:
            print(
                f"{number} {failure.words()} ({'; '.join(case['hits'][:2])}): {'; '.join(case['problems'])}", flush=True
            )


def _read(path: Path) -> dict[int, dict[str, Any]]:
    lines = path.read_text().splitlines() if path.exists() else []
    return {case["number"]: case for case in map(json.loads, lines)}


def forked(work: Callable[[], int], said: Path) -> int:
    """Run a function in a process of its own, that has what it says in a file; return the status.

    A FabriscopeError ends it as it ends the command line. Raises TimeoutError; the process is ended then.
    """
    pid = os.fork()
    if pid == 0:
        status = 1
        try:
            os.setsid()
            descriptor = os.open(said, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
            for stream in (1, 2):
                os.dup2(descriptor, stream)
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


class _Trial:
    """A small run that can be repeated, and the folder of each."""

    def __init__(self, part: runs.Part, output: Path, library: str) -> None:
        self.part = part
        self.library = library
        self.output = output / part.name
        self.output.mkdir(exist_ok=True)

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


class MadeUp(_Trial):
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


class Real(_Trial):
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


def _environment(folder: Path, mark: str) -> dict[str, str]:
    state = {"TMPDIR": str(folder / "tmp"), "XDG_STATE_HOME": str(folder / "state")}
    return {**state, "FABRISCOPE_CAMPAIGN_MARK": mark}


def _without_path(said: str, folder: Path) -> str:
    """Return what a command said beside the run folder, which it names at the end."""
    return "\n".join(line for line in said.splitlines() if line not in (str(folder / "run"), str(folder / "second")))


def _table(cases: dict[int, dict[str, Any]]) -> Iterator[str]:
    columns = (
        "call",
        "n",
        "failures",
        "never came",
        "unharmed",
        "failures recorded",
        "refused, one sentence",
        "died",
        "wrong",
    )
    yield f"| {' | '.join(columns)} |"
    yield "|---" * len(columns) + "|"
    for call in (*failing.KINDS, "all"):
        own = [case for case in cases.values() if call in ("all", case["call"])]
        if own:
            outcomes = Counter(_outcome(case) for case in own)
            names = ("never came", "unharmed", "recorded", "refused", "died", "wrong")
            highest = {case["call"]: max(one["nth"] for one in own if one["call"] == case["call"]) for case in own}
            cells = [call, sum(highest.values()), len(own), *(outcomes[name] for name in names)]
            yield f"| {' | '.join(map(str, cells))} |"


def _outcome(case: dict[str, Any]) -> str:
    if case["problems"]:
        return "wrong"
    if not case["hits"]:
        return "never came"
    return {0: "unharmed", 10: "recorded"}.get(case["status"], "died" if case["status"] in KILLED else "refused")


if __name__ == "__main__":
    main()
