"""Kills tunings at random moments, and checks that nothing stays changed and that the run goes on.

    python -m campaigns.settings.tunings --count 20 --seed 2026 --output FOLDER     # from the checkout's root

Each case tunes two settings of two hosts that outlive the run: those of a lab of the campaign's own, over the lab's
stand-in for ssh. At a random moment fabriscope is killed, or the processes at the hosts' ends, or both, or it gets
Ctrl-C. When nothing of it runs any more `fabriscope restore` is called once: all must be as it was, and the journal
empty. Then `fabriscope run --resume` goes on to the end of the tuning, and all must be as it was again.
FOLDER/cases.jsonl gets a line for each case.
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
from pathlib import Path
from typing import Any

from campaigns.faults import place
from campaigns.faults.kinds import seeded
from campaigns.settings.__main__ import LONG_S, WAYS, strike, wait

from fabriscope import lab, store
from fabriscope.hosts import access
from fabriscope.hosts.access import journal
from fabriscope.lab import Lab
from fabriscope.lab.presets import PRESETS
from fabriscope.model.lab import LabSpec

PLAN = """
name: tunings
hosts: node[1-2]
fabrics: {wire: {interface: eth0, settings: {tcp_sack: 0}}}
benchmarks: {ping_pong: {sizes: [1]}}
launches: 1
budget: 100ms
case_timeout: 1s
floor: false
counters: false
tune:
  knobs: {mtu: [700, 1500], tx_queue: [77, 1000]}
  objective: {benchmark: ping_pong}
  budget: 30s
"""
HOSTS = ("node1", "node2")
FILES = ("/sys/class/net/eth0/mtu", "/sys/class/net/eth0/tx_queue_len", "/proc/sys/net/ipv4/tcp_sack")
LONGEST_S = 30.0
"""About how long the run takes from its first change on: moments are drawn from within it."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--count", type=int, default=20)
    parser.add_argument("--seed", type=int, default=2026)
    parser.add_argument("--output", type=Path, required=True)
    arguments = parser.parse_args()
    place.enter("campaigns.settings.tunings")
    output: Path = arguments.output.absolute()
    for name, variable in (("state", "XDG_STATE_HOME"), ("tmp", "TMPDIR")):  # nobody else removes what is left in them
        (output / name).mkdir(parents=True, exist_ok=True, mode=0o700)
        os.environ[variable] = str(output / name)
    built = lab.up(LabSpec(HOSTS, {"wire": PRESETS["gige"]}))
    os.environ["FABRISCOPE_SSH"] = str(built.remote_shell)
    bad = 0
    try:
        for number in range(1, arguments.count + 1):
            case = killed(built, seeded(arguments.seed, number), output / f"case-{number:04}")
            bad += bool(case["problems"])
            with (output / "cases.jsonl").open("a") as stream:
                stream.write(json.dumps({"number": number, **case}) + "\n")
            told = f"{number:4} {case['way']:12} after {case['after_s']:4.1f} s, {case['set_then']} set,"
            print(f"{told} {case['set_after']} still, {case['launches']} launches  {case['problems']}", flush=True)
    finally:
        built.down()
    raise SystemExit(1 if bad else 0)


def killed(built: Lab, chance: random.Random, folder: Path) -> dict[str, Any]:
    """Return what came of one tuning that was killed; its folder stays where something is wrong."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    (folder / "plan.yaml").write_text(PLAN)
    before, mark = values(built), f"FABRISCOPE_CAMPAIGN_MARK={uuid.uuid4()}"
    words = ["env", mark, sys.executable, "-m", "fabriscope"]
    way, after_s = chance.choice(WAYS), chance.uniform(0, LONGEST_S)
    with (folder / "said").open("wb") as said:
        argv = [*words, "run", str(folder / "plan.yaml"), "-o", str(folder / "run"), "-q"]
        process = subprocess.Popen(argv, stdout=said, stderr=said, stdin=subprocess.DEVNULL)
    wait(lambda: process.poll() is not None or any(journal.folder().glob("*.json")))
    time.sleep(after_s)
    set_then = different(values(built), before)
    if process.poll() is None:
        strike(way, process, lambda: place.processes(mark), chance)
    process.wait(LONG_S)
    wait(lambda: not place.processes(mark))
    set_after = different(values(built), before)
    restored = subprocess.run([*words, "restore"], capture_output=True, text=True, timeout=LONG_S, check=False)
    problems = left(built, before, "after restore")
    if restored.returncode != 0:
        problems.append(f"restore ended with {restored.returncode}: {restored.stdout}{restored.stderr}")
    launches = 0
    if (folder / "run" / "manifest.json").exists():
        argv = [*words, "run", "--resume", str(folder / "run"), "-q"]
        done = subprocess.run(argv, capture_output=True, text=True, timeout=4 * LONG_S, check=False)
        if done.returncode != 0:
            problems.append(f"resume ended with {done.returncode}: {done.stdout}{done.stderr}")
        problems += left(built, before, "after resume") + unfinished(folder / "run")
        launches = len(store.open_run(folder / "run").done())
    if not problems:
        shutil.rmtree(folder)
    return {
        "way": way, "after_s": after_s, "set_then": set_then, "set_after": set_after, "launches": launches,
        "problems": problems,
    }  # fmt: skip


def unfinished(run: Path) -> list[str]:
    """Return what a tuning that has gone to its end lacks."""
    data = store.open_run(run).read()
    left_over = {line.launch_id for line in data.manifest.schedule} - {record.launch_id for record in data.journal}
    found = [f"launches {sorted(left_over)} are missing"] if left_over else []
    if not data.manifest.trials or len(data.manifest.schedule) <= 1:
        found.append("the tuning was not begun")
    return found


def values(built: Lab) -> list[str]:
    """Return what is set now on all hosts."""
    readings = [access.read(built.host(name), access.Wanted(globs=FILES)) for name in HOSTS]
    return [reading.files[path].strip() for reading in readings for path in FILES]


def different(now: list[str], before: list[str]) -> int:
    return sum(one != old for one, old in zip(now, before, strict=True))


def left(built: Lab, before: list[str], when: str) -> list[str]:
    """Return what is not as it was."""
    places = [f"{path} of {name}" for name in HOSTS for path in FILES]
    told = zip(places, values(built), before, strict=True)
    problems = [f"{where} is {now} {when}, was {old}" for where, now, old in told if now != old]
    with contextlib.suppress(FileNotFoundError):
        problems += [f"the journal has {path.name} still {when}" for path in journal.folder().glob("*.json")]
    return problems


if __name__ == "__main__":
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    main()
