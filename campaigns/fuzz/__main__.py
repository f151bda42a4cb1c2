"""Reads changed texts at every border, and finds what is raised, takes too long, needs too much, or is read wrongly.

    python -m campaigns.fuzz --count 20000 --seed 1                  # every target
    python -m campaigns.fuzz --target iperf3 --count 500 --seed 7    # one of them

What a border may do with a text: accept it, or refuse it by one of the project's own errors (FabriscopeError), within
2 s and 512 MiB. What breaks that is kept in tests/fuzz/corpus/TARGET, which tests/fuzz reads again in every run of the
tests. The same seed gives the same texts. The status is 1 if anything was found.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from types import FrameType

from campaigns.fuzz.mutated import chance_of, mutate
from campaigns.fuzz.targets import ROOT, Target, targets

from fabriscope.model.errors import FabriscopeError

LIMIT_S = 2.0
LIMIT_BYTES = 512 << 20
CORPUS = ROOT / "tests" / "fuzz" / "corpus"
_KEPT_PER_PLACE = 2
"""Texts that are kept of those that end at one place of the code."""


class TooLong(BaseException):
    """A text took longer than it may."""


@dataclass
class Found:
    """What came of a target's texts."""

    target: str
    text_count: int = 0
    accepted_count: int = 0
    refused_count: int = 0
    slowest_s: float = 0.0
    violations: dict[str, int] = field(default_factory=dict)
    """What happened, and where in the code, to how many texts did it."""


def attempt(target: Target, text: bytes) -> tuple[str, bool]:
    """Read a text; return what was wrong (empty for nothing), and whether the text was accepted."""
    try:
        signal.setitimer(signal.ITIMER_VIRTUAL, LIMIT_S)  # of our processor's time: other loads do not count
        try:
            return "", target.check(text)
        finally:
            signal.setitimer(signal.ITIMER_VIRTUAL, 0)
    except FabriscopeError as error:
        sentence = str(error)
        return ("" if sentence and "\n" not in sentence else f"no sentence: {sentence[:80]!r}"), False
    except TooLong:
        return f"longer than {LIMIT_S:g} s", False
    except BaseException as error:
        if isinstance(error, KeyboardInterrupt | SystemExit):
            raise
        return _place(error), False


def _place(error: BaseException) -> str:
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    place = f"{Path(trace.tb_frame.f_code.co_filename).name}:{trace.tb_lineno}" if trace else "?"
    words = f": {str(error)[:100]}" if isinstance(error, AssertionError) else ""
    return f"{type(error).__name__} at {place}{words}"


def texts(target: Target, count: int, seed: int) -> Iterator[bytes]:
    """Yield changed texts of a target, the same for the same seed."""
    seeds = list(target.seeds())
    for number in range(count):
        chance = chance_of(target.name, seed, number)
        yield mutate(chance.choice(seeds), seeds, chance)


def fuzz(target: Target, count: int, seed: int, corpus: Path | None = None) -> Found:
    """Read changed texts of a target, and keep in `corpus` those that break what is promised."""
    signal.signal(signal.SIGVTALRM, _too_long)
    found = Found(target.name)
    for text in texts(target, count, seed):
        began_s = time.process_time()
        problem, is_accepted = attempt(target, text)
        found.slowest_s = max(found.slowest_s, time.process_time() - began_s)
        found.text_count += 1
        found.accepted_count += is_accepted
        found.refused_count += not is_accepted and not problem
        if problem:
            key = problem.partition(": ")[0]
            found.violations[key] = found.violations.get(key, 0) + 1
            if corpus is not None and found.violations[key] <= _KEPT_PER_PLACE:
                folder = corpus / target.name
                folder.mkdir(parents=True, exist_ok=True)
                (folder / hashlib.sha256(text).hexdigest()[:16]).write_bytes(text)
    return found


def _too_long(_number: int, _frame: FrameType | None) -> None:
    raise TooLong


def limit_memory() -> None:
    """Give this process no more memory than a text may need, beyond what it has now."""
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    most = pages * resource.getpagesize() + LIMIT_BYTES
    resource.setrlimit(resource.RLIMIT_AS, (most, most))


def main() -> None:
    """See the module's docstring."""
    arguments = _arguments()
    if arguments.inside:
        known = targets()[arguments.target]
        list(known.seeds())
        limit_memory()
        print(json.dumps(asdict(fuzz(known, arguments.count, arguments.seed, arguments.corpus))))
        return
    names = [arguments.target] if arguments.target else sorted(targets())
    has_violations = False
    print("| target | texts | accepted | refused | violations | slowest |\n|---|---|---|---|---|---|")
    for name in names:
        words = ["--inside", "--target", name, "--count", str(arguments.count), "--seed", str(arguments.seed)]
        words += ["--corpus", str(arguments.corpus)]
        argv = [sys.executable, "-m", "campaigns.fuzz", *words]
        done = subprocess.run(argv, stdout=subprocess.PIPE, check=False, cwd=ROOT)
        if done.returncode != 0:
            print(f"| {name} | | | | ended with status {done.returncode} | |")
            has_violations = True
            continue
        found = Found(**json.loads(done.stdout.splitlines()[-1]))
        has_violations |= bool(found.violations)
        count = sum(found.violations.values())
        slowest = f"{found.slowest_s * 1e3:.0f} ms"
        print(f"| {name} | {found.text_count} | {found.accepted_count} | {found.refused_count} | {count} | {slowest} |")
        for place, times in sorted(found.violations.items(), key=lambda item: -item[1]):
            print(f"    {times:6} {place}")
        sys.stdout.flush()
    raise SystemExit(has_violations)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--target", help="one of them: " + ", ".join(sorted(targets())))
    parser.add_argument("--count", type=int, default=2000, help="texts of each target")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--corpus", type=Path, default=CORPUS, help="where texts that break a promise are kept")
    parser.add_argument("--inside", action="store_true", help=argparse.SUPPRESS)
    return parser.parse_args()


if __name__ == "__main__":
    main()
