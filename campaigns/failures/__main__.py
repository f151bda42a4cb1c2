"""Lets every call that may fail do so, one after the other, in small runs, and checks what came of each.

    python -m campaigns.failures --part store --output FOLDER     # from the checkout's root; see --help

A preloaded library counts the calls of one program of a run (writes, opens, renames, forks ...) and lets the n-th of a
kind fail, or ends the process before it, after it or in its middle: for every n of an undisturbed run. After each:
what was stored is there and readable, `verify` finds nothing changed, no traceback, a documented status with one
sentence, `--resume` ends with the same numbers for what was kept, and nothing is left behind. FOLDER/PART.jsonl gets a
line for each failure, FOLDER/outcomes.md a row for each part, and the same command goes on where it was interrupted.
With --share 1/2 and 2/2 two processes share the failures.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import random
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from campaigns.failures import calls as failing
from campaigns.failures import runs
from campaigns.failures.calls import Failure
from campaigns.failures.trials import KILLED, MadeUp, Real, Trial
from campaigns.faults import place

EXIT_PROBLEMS = 1


def main() -> None:
    """Make every failure of a part that was not made yet, and print the table."""
    arguments = _arguments()
    output: Path = arguments.output.absolute()
    output.mkdir(parents=True, exist_ok=True)
    if not os.environ.get(failing.READY):
        os.environ |= failing.prepared(output)
        place.enter("campaigns.failures")
        os.execv(sys.executable, [sys.executable, "-m", "campaigns.failures", *sys.argv[1:]])  # noqa: S606
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
    (output / "outcomes.md").write_text("\n".join(_summary(output)) + "\n")
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


def _make(trial: Trial, chosen: list[tuple[int, Failure]], path: Path) -> None:
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


OUTCOMES = {
    "never came": "never came",
    "unharmed": "unharmed",
    "recorded": "recorded",
    "refused": "one sentence",
    "died": "died",
    "wrong": "wrong",
}
"""What may come of a failure, and its column: it was recorded as a failed measurement, or ended the run."""


def _table(cases: dict[int, dict[str, Any]]) -> Iterator[str]:
    """Yield a row for each kind of call."""
    yield from _head("call")
    for call in (*failing.KINDS, "all"):
        own = [case for case in cases.values() if call in ("all", case["call"])]
        if own:
            yield _row(call, own)


def _summary(output: Path) -> Iterator[str]:
    """Yield a row for each part that was made into this folder."""
    yield from _head("where")
    for part in runs.PARTS.values():
        cases = list(_read(output / f"{part.name}.jsonl").values())
        if cases:
            highest = {case["call"]: max(one["nth"] for one in cases if one["call"] == case["call"]) for case in cases}
            yield _row(f"{part.title}: {_words(highest)}", cases)


def _head(first: str) -> Iterator[str]:
    columns = (first, "n", "failures", *OUTCOMES.values())
    yield f"| {' | '.join(columns)} |"
    yield "|---" * len(columns) + "|"


def _row(title: str, cases: Sequence[dict[str, Any]]) -> str:
    outcomes = Counter(map(_outcome, cases))
    calls = len({(case["call"], case["nth"]) for case in cases})
    return f"| {' | '.join(map(str, (title, calls, len(cases), *(outcomes[name] for name in OUTCOMES))))} |"


def _outcome(case: dict[str, Any]) -> str:
    if case["problems"]:
        return "wrong"
    if not case["hits"]:
        return "never came"
    return {0: "unharmed", 10: "recorded"}.get(case["status"], "died" if case["status"] in KILLED else "refused")


if __name__ == "__main__":
    main()
