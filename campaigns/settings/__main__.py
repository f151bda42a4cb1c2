"""Kills runs between setting something of a host and putting it back, and checks that nothing stays set.

    python -m campaigns.settings --count 60 --seed 2026 --output FOLDER     # from the checkout's root

Each case is a small run on this machine whose fabric sets three things of the loopback interface and of TCP, in a
network namespace of the campaign's own. At a random moment fabriscope is killed, or the processes at the host's end,
or both, or it gets Ctrl-C. When nothing of it runs any more, `fabriscope restore` is called once: all three must be as
they were, and the journal empty. FOLDER/cases.jsonl gets a line for each case.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
import uuid
from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from campaigns.faults import place
from campaigns.faults.kinds import seeded

from fabriscope.hosts.access import journal

PLAN = """
name: settings
hosts: localhost
fabrics: {wire: {interface: lo, settings: {mtu: 9000, tx_queue: 77, tcp_sack: 0}}}
layers: [tcp]
placements: [intra]
intra_fabrics: [wire]
benchmarks: {ping_pong: {sizes: [1]}}
launches: 3
budget: 600ms
case_timeout: 1s
floor: false
counters: false
"""
FILES = ("/sys/class/net/lo/mtu", "/sys/class/net/lo/tx_queue_len", "/proc/sys/net/ipv4/tcp_sack")
WAYS = ("fabriscope", "ends", "everything", "ends first", "interrupt")
LONG_S = 120.0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--count", type=int, default=60)
    parser.add_argument("--seed", type=int, default=2026)
    parser.add_argument("--output", type=Path, required=True)
    arguments = parser.parse_args()
    place.enter("campaigns.settings")
    # Interfaces in /sys are those of the network namespace that it was mounted in.
    subprocess.run(["mount", "-t", "sysfs", "sysfs", "/sys"], check=True, timeout=LONG_S)
    output: Path = arguments.output.absolute()
    for name, variable in (("state", "XDG_STATE_HOME"), ("tmp", "TMPDIR")):  # nobody else removes what is left in them
        (output / name).mkdir(parents=True, exist_ok=True, mode=0o700)
        os.environ[variable] = str(output / name)
    cases = []
    for number in range(1, arguments.count + 1):
        case = killed(seeded(arguments.seed, number), output / f"case-{number:04}")
        cases.append(case)
        with (output / "cases.jsonl").open("a") as stream:
            stream.write(json.dumps({"number": number, **case}) + "\n")
        print(f"{number:4} {case['way']:12} {case['set_then']} set, {case['set_after']} still  {case['problems']}")
        sys.stdout.flush()
    ways = Counter((case["way"], case["set_then"] > 0) for case in cases)
    print(
        ", ".join(f"{way}: {count} {'while set' if is_set else 'otherwise'}" for (way, is_set), count in ways.items())
    )
    if any(case["problems"] for case in cases):
        raise SystemExit(1)


def killed(chance: random.Random, folder: Path) -> dict[str, Any]:
    """Return what came of one run that was killed; its folder stays where something is wrong."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    (folder / "plan.yaml").write_text(PLAN)
    before, mark = values(), f"FABRISCOPE_CAMPAIGN_MARK={uuid.uuid4()}"
    words = ["env", mark, sys.executable, "-m", "fabriscope"]
    way = chance.choice(WAYS)
    with (folder / "said").open("wb") as said:
        argv = [*words, "run", str(folder / "plan.yaml"), "-o", str(folder / "run"), "-q"]
        process = subprocess.Popen(argv, stdout=said, stderr=said, stdin=subprocess.DEVNULL)
    wait(lambda: process.poll() is not None or any(journal.folder().glob("*.json")))
    time.sleep(chance.uniform(0, 1.5))
    set_then = len([one for one, old in zip(values(), before, strict=True) if one != old])
    strike(way, process, lambda: place.processes(mark), chance)
    process.wait(LONG_S)
    wait(lambda: not place.processes(mark))
    set_after = len([one for one, old in zip(values(), before, strict=True) if one != old])
    restored = subprocess.run([*words, "restore"], capture_output=True, text=True, timeout=LONG_S, check=False)
    problems = [
        f"{path} is {now}, was {old}" for path, now, old in zip(FILES, values(), before, strict=True) if now != old
    ]
    problems += [f"the journal has {path.name} still" for path in journal.folder().glob("*.json")]
    if restored.returncode != 0:
        problems.append(f"restore ended with {restored.returncode}: {restored.stdout}{restored.stderr}")
    if not problems:
        shutil.rmtree(folder)
    return {"way": way, "set_then": set_then, "set_after": set_after, "problems": problems}


def values() -> list[str]:
    """Return what is set now."""
    return [Path(path).read_text().strip() for path in FILES]


def strike(
    way: str, process: subprocess.Popen[bytes], running: Callable[[], Iterable[int]], chance: random.Random
) -> None:
    """Kill what a way says of what is running, each process at its own moment."""
    if way == "interrupt":
        end(process.pid, signal.SIGINT)
        return
    if way == "everything":
        end(process.pid, signal.SIGSTOP)  # no more children from here on
    others = [pid for pid in running() if pid != process.pid]
    chance.shuffle(others)
    if way != "fabriscope":
        for pid in others:
            end(pid, signal.SIGKILL)
    if way == "ends first":
        time.sleep(chance.uniform(0, 0.2))
    if way != "ends":
        end(process.pid, signal.SIGKILL)


def end(pid: int, number: signal.Signals) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, number)


def wait(is_so: Any) -> None:
    until_s = time.monotonic() + LONG_S
    while not is_so():
        if time.monotonic() > until_s:
            raise TimeoutError(f"not within {LONG_S:.0f} s")
        time.sleep(0.005)


if __name__ == "__main__":
    main()
