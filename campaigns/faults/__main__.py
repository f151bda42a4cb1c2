"""Injects faults picked at random into small real runs in the lab, and checks what came of each.

    python -m campaigns.faults --count 200 --seed 2026 --output FOLDER     # from the checkout's root

After each fault: what was journalled before is still there, digit for digit, and readable; every measurement that
failed has its reason; nothing is left behind (processes, interfaces, mounts, shared memory, folders, labs); and
`--resume` completes the rest and changes no sample. FOLDER/cases.jsonl gets a line for each case; the campaign goes
on where it was interrupted, and the same command started more than once shares its cases. FOLDER/outcomes.md is the
table. Nothing asserts on time.
"""

from __future__ import annotations

import argparse
import contextlib
import fcntl
import json
import shutil
import signal
import sys
import time
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import Any

from campaigns.faults import place
from campaigns.faults.case import Missed, Run
from campaigns.faults.kinds import Kind, kinds, seeded
from campaigns.faults.sites import stacks

MAX_TRIES = 5
EXIT_PROBLEMS = 1
_GOOD_STATUSES = (0, 10)


def main() -> None:
    arguments = _arguments()
    place.enter("campaigns.faults")
    output: Path = arguments.output.absolute()
    output.mkdir(parents=True, exist_ok=True)
    known = _known(arguments, {case["kind"] for case in _read(output).values()})
    chosen = [known[name] for name in arguments.kinds or known]
    for number in unclaimed(arguments.count, output):
        if arguments.cases and number not in arguments.cases:
            continue
        kind = chosen[(number - 1) % len(chosen)] if arguments.each else seeded(arguments.seed, number).choice(chosen)
        case = _case(kind, number, arguments.seed, output)
        with (output / "cases.jsonl").open("a") as stream:
            stream.write(json.dumps(case) + "\n")
        print(
            f"{number:4} {kind.name:18} {case['outcome']:24} {case['elapsed_s']:5.1f} s  {'; '.join(case['problems'])}"
        )
        if case["problems"]:
            print(f"     again: --count {number} --cases {number} --seed {arguments.seed} --kinds {kind.name}")
        sys.stdout.flush()
    cases = _read(output)
    (output / "outcomes.md").write_text("\n".join(_table(list(cases.values()), known)) + "\n")
    if any(case["problems"] for case in cases.values()):
        raise SystemExit(EXIT_PROBLEMS)


def _known(arguments: argparse.Namespace, made: Collection[str]) -> dict[str, Kind]:
    """Return the kinds of faults; no MPI library is looked for where none of those that are asked for needs one."""
    without = kinds(None)
    if arguments.kinds and without.keys() >= {*arguments.kinds, *made}:
        return without
    return kinds(arguments.mpi or next((one.mpirun for one in stacks()), None), stacks())


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--seed", type=int, default=2026)
    parser.add_argument("--output", type=Path, required=True)
    parser.add_argument("--kinds", type=lambda text: text.split(","), help="only these, by their names")
    parser.add_argument(
        "--cases", type=lambda text: set(map(int, text.split(","))), help="only these, by their numbers"
    )
    parser.add_argument("--each", action="store_true", help="the kinds in turn instead of by chance")
    parser.add_argument("--mpi", help="mpirun of the MPI for the kinds that need one")
    return parser.parse_args()


def unclaimed(count: int, output: Path) -> Iterator[int]:
    """Yield the cases that are neither made nor under way elsewhere; each is ours until the next is asked for."""
    for number in range(1, count + 1):
        with (output / f"claim-{number:04}").open("w") as claim:
            try:
                fcntl.flock(claim, fcntl.LOCK_EX | fcntl.LOCK_NB)  # the kernel gives it back, whatever ends us
            except BlockingIOError:
                continue
            if number not in _read(output):
                yield number


def _read(output: Path) -> dict[int, dict[str, Any]]:
    path = output / "cases.jsonl"
    lines = path.read_text().splitlines() if path.exists() else []
    return dict(sorted((case["number"], case) for case in map(json.loads, lines)))


def _case(kind: Kind, number: int, seed: int, output: Path) -> dict[str, Any]:
    """Return what came of one fault; tries again where the run was over before it came."""
    started_s = time.monotonic()
    chance = seeded(seed, number)
    chance.random()  # chose the kind
    for attempt in range(MAX_TRIES):
        folder = output / f"case-{number:04}-{attempt}"
        shutil.rmtree(folder, ignore_errors=True)
        run = Run(folder, kind.plan, chance)
        case: dict[str, Any] = {"number": number, "kind": kind.name, "outcome": "over before", "problems": []}
        try:
            with contextlib.suppress(Missed):
                case |= _injected(kind, run)
        except Exception as error:  # a campaign goes on, and says what went wrong
            case["problems"].append(f"{type(error).__name__}: {error}")
            case["outcome"] = "problem"
        if case["outcome"] == "over before" and (status := _end(run)) not in _GOOD_STATUSES:
            case["problems"].append(f"without a fault it ended with {status}: {_last_words(run)}")
        if case["outcome"] != "over before" or case["problems"]:
            break
        shutil.rmtree(folder)
    if not case["problems"]:
        shutil.rmtree(folder, ignore_errors=True)
    return {**case, "seed": seed, "elapsed_s": round(time.monotonic() - started_s, 1)}


def _end(run: Run) -> int | None:
    with contextlib.suppress(RuntimeError):
        return run.end()
    return None


def _injected(kind: Kind, run: Run) -> dict[str, Any]:
    before = place.standing()
    with kind.surround(run):
        run.start()
        try:
            what = kind.inject(run)
            kept = run.journal()
        except BaseException:
            _end(run)
            raise
        ended = run.end()
        status = -signal.SIGKILL if run.was_killed else ended  # salloc tells of no signal
        problems = list(run.problems_of_folder(kept))
        samples = run.digests(kept)
        said = _last_words(run)
        failed, mishaps, count_then = run.reasons(), run.mishaps(), len(run.journal())
        problems += [*_unexplained(status, failed, said), *kind.check(run)]
        kind.mend(run)
        still_there = place.processes(run.mark) if status >= 0 else {}
        problems += [f"left running: {words}" for words in still_there.values()]
        resumed, resume_said = run.resume()
        if resumed not in _GOOD_STATUSES:
            problems.append(f"the resume ended with {resumed}: {resume_said.strip()}")
        problems += run.problems_of_folder(kept)
        problems += _incomplete(run)
        problems += [f"{name} has changed" for name, digest in run.digests(kept).items() if digest != samples[name]]
    left = place.left_behind(run.mark, before, run.temporary)
    lost = [one for one in left if run.lost_a_host and one.startswith("folder fabriscope-")]
    problems += [f"left behind: {one}" for one in left if one not in lost]
    return {
        "fault": what,
        "journalled_before": len(kept),
        "journalled_at_end": count_then,
        "launches": len(run.journal()),
        "exit_status": status,
        "said": said,
        "outcome": _outcome(status, failed, mishaps),
        "reasons": sorted(set(failed)),
        "mishaps": mishaps,
        "stand_ins": run.stand_ins(),
        "bad_ends": run.bad_ends(),
        "lost_with_a_host": lost,
        "problems": problems,
    }


def _last_words(run: Run) -> str:
    path = run.folder / "said"
    return run.said()[-500:] if path.exists() else ""


def _unexplained(status: int, failed: Sequence[str], said: str) -> Iterator[str]:
    if any(not reason for reason in failed):
        yield "a measurement failed without a reason"
    if status == 10 and not failed:
        yield "it says that measurements failed, and none did"
    if "Traceback" in said:
        yield f"it ended with a traceback: {said[-300:]}"
    if status in (1, 2, 5, 6, 7) or (status == 8 and not said):
        yield f"it ended with status {status}: {said}"


def _incomplete(run: Run) -> Iterator[str]:
    path = run.path / "manifest.json"
    if not path.exists():
        yield "the resumed run has no manifest"
        return
    planned = [one["launch_id"] for one in json.loads(path.read_text())["schedule"]]
    made: dict[int, dict[str, Any]] = {}
    for line in run.journal():
        record = json.loads(line)
        before = made.get(record["launch_id"])
        if before and not any(one["status"] == "failed" for one in before["results"].values()):
            yield f"launch {record['launch_id']} was made again, though nothing in it had failed"
        made[record["launch_id"]] = record
    if sorted(made) != sorted(planned):
        yield f"launches {sorted(made)} were made of {planned}"


def _outcome(status: int, failed: Sequence[str], mishaps: Sequence[str]) -> str:
    if status == 0:
        return "unharmed" if not mishaps else "went on, mishap noted"
    if status == 10 or failed:
        return "failures recorded"
    return "stopped, then resumed"


def _table(cases: Sequence[dict[str, Any]], known: dict[str, Kind]) -> Iterator[str]:
    columns = ("fault", "injected", "unharmed", "recorded, rest went on", "stopped, resumed", "wrong", "what was said")
    yield f"| {' | '.join(columns)} |"
    yield "|---" * len(columns) + "|"
    for name, kind in known.items():
        own = [case for case in cases if case["kind"] == name]
        if own:
            yield _row(kind.title, own)
    yield _row("**all**", cases)


def _row(title: str, cases: Sequence[dict[str, Any]]) -> str:
    counts = Counter("wrong" if case["problems"] else case["outcome"] for case in cases)
    recorded = counts["failures recorded"] + counts["went on, mishap noted"]
    wrong = counts["wrong"] + counts["over before"]
    words = Counter(one for case in cases for one in _sayings(case))
    said = words.most_common(1)[0][0].replace("|", "/").replace("\n", " ")[:200] if words and "all" not in title else ""
    cells = [title, len(cases), counts["unharmed"], recorded, counts["stopped, then resumed"], wrong, said]
    return f"| {' | '.join(map(str, cells))} |"


def _sayings(case: dict[str, Any]) -> list[str]:
    """Return what was recorded of a case: reasons, else mishaps, else the sentence or status that it ended with."""
    said = [line for line in case.get("said", "").splitlines() if line.startswith("fabriscope: ")]
    ended = [f"(exit status {case['exit_status']})"] if case.get("exit_status") not in (0, 10, None) else []
    return case.get("reasons") or case.get("mishaps") or said or ended


if __name__ == "__main__":
    main()
