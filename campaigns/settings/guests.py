"""Kills runs on Soft RoCE guests at random moments, and checks that nothing stays and that the run goes on.

    python -m campaigns.settings.guests --count 40 --seed 2026 --output FOLDER     # from the checkout's root

Each case sets three things of two guests and one of the switch between them. Guests live and die with the run, so no
setting outlives it; what may not stay is processes, labs, interfaces, mounts, control groups, temporary folders and
lines of the journal. At a random moment from the start to the end fabriscope is killed, or all that it has started (the
guests among it), or both, or one of them, or it gets Ctrl-C. Then `fabriscope restore` is called once, and
`fabriscope run --resume` goes on to the end. FOLDER/cases.jsonl gets a line for each case.
"""

from __future__ import annotations

import argparse
import contextlib
import ctypes
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from campaigns.faults import place
from campaigns.faults.kinds import seeded
from campaigns.settings.__main__ import LONG_S, WAYS, end, strike, wait

from fabriscope import store
from fabriscope.hosts.access import journal

PLAN = """
name: guests
hosts: kg[1-2]
guests: {kg1: {}, kg2: {cpu_share: 90%}}
fabrics:
  roce:
    lab: gige
    rdma: soft-roce
    settings: {mtu: 1400, tx_queue: 77, tcp_sack: 0, switch_buffer: 64KiB}
layers: [verbs]
benchmarks: {ping_pong: {sizes: [64]}}
launches: 2
budget: 200ms
case_timeout: 5s
floor: false
counters: false
"""
LONGEST_S = (12.0, 8.0)
"""About how long a run takes to make its guests, and from its first setting on: moments are drawn from within both."""
SHARE_ONCE_SET = 0.75
"""Of all moments, those that are counted from the first line of the journal on."""
ONE = "one of them"
_PR_SET_CHILD_SUBREAPER = 36
_GROUPS = Path("/sys/fs/cgroup")
_GROUP = re.compile(r"fabriscope-lab-.*-kg2")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--count", type=int, default=40)
    parser.add_argument("--seed", type=int, default=2026)
    parser.add_argument("--first", type=int, default=1, help="number of the first case")
    parser.add_argument("--output", type=Path, required=True)
    arguments = parser.parse_args()
    place.enter("campaigns.settings.guests")
    # What a killed process has started becomes a child of ours, so that nothing can hide.
    ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    output: Path = arguments.output.absolute()
    for name, variable in (("state", "XDG_STATE_HOME"), ("tmp", "TMPDIR")):  # nobody else removes what is left in them
        (output / name).mkdir(parents=True, exist_ok=True, mode=0o700)
        os.environ[variable] = str(output / name)
    bad = 0
    for number in range(arguments.first, arguments.first + arguments.count):
        case = killed(seeded(arguments.seed, number), output / f"case-{number:04}", output / "tmp")
        bad += bool(case["problems"])
        with (output / "cases.jsonl").open("a") as stream:
            stream.write(json.dumps({"number": number, **case}) + "\n")
        line = f"{number:4} {case['way']:12} after {case['after_s']:4.1f} s, {case['journalled']} journalled then,"
        print(f"{line} {case['journal_left']} after, {case['launches']} launches  {case['problems']}", flush=True)
    raise SystemExit(1 if bad else 0)


def killed(chance: random.Random, folder: Path, temporary: Path) -> dict[str, Any]:
    """Return what came of one run that was killed; its folder stays where something is wrong."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    (folder / "plan.yaml").write_text(PLAN)
    before = standing()
    words = [sys.executable, "-m", "fabriscope"]
    way, is_once_set = chance.choice([*WAYS, ONE]), chance.random() < SHARE_ONCE_SET
    after_s = chance.uniform(0, LONGEST_S[is_once_set])
    with (folder / "said").open("wb") as said:
        argv = [*words, "run", str(folder / "plan.yaml"), "-o", str(folder / "run"), "-q"]
        process = subprocess.Popen(argv, stdout=said, stderr=said, stdin=subprocess.DEVNULL)
    if is_once_set:
        wait(lambda: process.poll() is not None or entries())
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(after_s)
    journalled = len(entries())
    if process.poll() is None:
        hit(way, process, chance)
    process.wait(LONG_S)
    problems = [f"process {pid}: {told(pid)}, after the kill" for pid in ended()]
    journal_left = len(entries())
    restored = subprocess.run([*words, "restore"], capture_output=True, text=True, timeout=LONG_S, check=False)
    if restored.returncode != 0:
        problems.append(f"restore ended with {restored.returncode}: {restored.stdout}{restored.stderr}")
    problems += [f"the journal has {name} still" for name in entries()] + left(before, temporary, "after restore")
    launches = 0
    if (folder / "run" / "manifest.json").exists():
        problems += resumed(folder / "run", words) + left(before, temporary, "after resume")
        launches = len(store.open_run(folder / "run").done())
    if not problems:
        shutil.rmtree(folder)
    return {
        "way": way, "after_s": after_s, "journalled": journalled, "journal_left": journal_left, "launches": launches,
        "problems": problems,
    }  # fmt: skip


def resumed(run: Path, words: list[str]) -> list[str]:
    """Let a run go on to its end; return what is wrong then."""
    argv = [*words, "run", "--resume", str(run), "-q"]
    done = subprocess.run(argv, capture_output=True, text=True, timeout=2 * LONG_S, check=False)
    problems = [] if done.returncode == 0 else [f"resume ended with {done.returncode}: {done.stdout}{done.stderr}"]
    return problems + unfinished(run) + [f"the journal has {name} after resume" for name in entries()]


def hit(way: str, process: subprocess.Popen[bytes], chance: random.Random) -> None:
    """Kill what a way says."""
    if way != ONE:
        strike(way, process, descendants, chance)
    elif others := sorted(descendants() - {process.pid}):
        end(chance.choice(others), signal.SIGKILL)


def descendants() -> set[int]:
    """Return all processes that live and come from here."""
    parents: dict[int, int] = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            state, parent = path.read_text().rpartition(")")[2].split()[:2]
            if state not in "ZX":
                parents[int(path.parts[2])] = int(parent)
    found = {os.getpid()}
    while more := {pid for pid, parent in parents.items() if parent in found and pid not in found}:
        found |= more
    return found - {os.getpid()}


def standing() -> set[str]:
    """Return what could be left behind, the control groups of our labs too."""
    names = [name for _, folders, _ in os.walk(_GROUPS) for name in folders]  # groups of others come and go
    return place.standing() | {f"control group {name}" for name in names if _GROUP.fullmatch(name)}


def ended() -> set[int]:
    """Return what still runs when all has had time to end."""
    deadline = time.monotonic() + LONG_S / 2
    while (found := descendants()) and time.monotonic() < deadline:
        reap()
        time.sleep(0.05)
    reap()
    return found


def left(before: set[str], temporary: Path, when: str) -> list[str]:
    """Return what has not gone when it has had time to."""
    deadline = time.monotonic() + LONG_S / 2
    while True:
        reap()
        found = [f"process {pid}: {told(pid)}" for pid in descendants()] + sorted(standing() - before)
        found += [f"folder {path.name}" for path in temporary.iterdir()]
        if not found or time.monotonic() > deadline:
            return [f"{one}, {when}" for one in found]
        time.sleep(0.05)


def reap() -> None:
    """Take note of the ends of what became ours."""
    with contextlib.suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass


def told(pid: int) -> str:
    with contextlib.suppress(OSError):
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")[:160]
    return "ended"


def entries() -> list[str]:
    """Return the names of the journal's changes."""
    return sorted(path.name for path in journal.folder().glob("*.json"))


def unfinished(run: Path) -> list[str]:
    """Return what a run that has gone to its end lacks."""
    data = store.open_run(run).read()
    left_over = {line.launch_id for line in data.manifest.schedule} - {record.launch_id for record in data.journal}
    return [f"launches {sorted(left_over)} are missing"] if left_over else []


if __name__ == "__main__":
    main()
