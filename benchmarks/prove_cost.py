"""What `fabriscope prove` costs a job: the seconds that it adds, and what it takes from the job's own time.

    python -m benchmarks.prove_cost -o out          # from the checkout's root, as root, on a quiet machine

Each round runs a job in a lab's host twice, alone and under `prove`, in an order that alternates. A job says itself how
long its work took; what `prove` adds is the rest of the difference, and the whole of it where the work is as fast.
Promises: the median of the added time is at most 1.5 s, and the median ratio of the own times of a job that takes a
second or more at most 1.01: of a shorter one, what it loses is a part of the added time. The
latency of a ping-pong is `prove_overhead`'s. Then the memory of a collector beside 10,000 connections is measured.
The exit status is 0 if all promises hold, 1 if one is broken, and 10 if an interval is too wide to tell.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks._peers_report import cpu, load
from benchmarks._peers_values import median_interval

from fabriscope import lab
from fabriscope.hosts import counters
from fabriscope.lab.presets import PRESETS
from fabriscope.model.errors import FabriscopeError, LaunchError
from fabriscope.model.host import Host
from fabriscope.model.lab import LabSpec

MOST_ADDED_S, MOST_RATIO, MOST_MEMORY_MIB = 1.5, 1.01, 100
LEAST_OWN_S = 1.0
CONNECTION_COUNT = 10_000
ROUNDS_OF_A_LAB = 5
"""Then a new one: connections that were closed a minute ago still cost the kernel time."""
LIMIT_S = 60
EXIT_BROKEN, EXIT_UNDECIDED = 1, 10
FAR = "10.10.0.2"
SERVER = (str(Path(__file__).parents[1] / "campaigns/corpus/tcp.py"), "serve", "7777")
SHORT = f"""
import socket, time
began_s = time.monotonic()
for _ in range(200):
    with socket.create_connection(("{FAR}", 7777)) as client: client.sendall(bytes(20_000))
print("seconds", time.monotonic() - began_s)
"""
STREAM = f"""
import json, subprocess
told = subprocess.run(["iperf3", "-J", "-c", "{FAR}", "-n", "24G"], capture_output=True, text=True, check=True).stdout
print("seconds", json.loads(told)["end"]["sum_sent"]["seconds"])
"""
NOTHING = "print('seconds', 1.0)"
JOBS = {"iperf3, 24 GiB": STREAM, "200 short connections": SHORT, "a program that does nothing": NOTHING}
MANY = """
import os, resource, socket, sys, time
most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
count = int(sys.argv[1])
with socket.create_server(("127.0.0.1", 0), backlog=4096) as listener:
    if os.fork():
        held = [listener.accept()[0] for _ in range(count)]
    else:
        held = [socket.create_connection(("127.0.0.1", listener.getsockname()[1])) for _ in range(count)]
        for client in held: client.sendall(bytes(100))
    time.sleep(5)
"""


def main(argv: Sequence[str] | None = None) -> int:
    """Measure, print, and return the exit status."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--rounds", type=int, default=30)
    parser.add_argument("-o", "--output", help="write OUTPUT.json")
    wanted = parser.parse_args(argv)
    load_before = load()
    try:
        measured = _measured(wanted.rounds)
    except FabriscopeError as error:
        print(f"prove_cost: {error}", file=sys.stderr)
        return error.exit_code
    memory = {count: _memory_mib(count) for count in (0, CONNECTION_COUNT)}
    print(f"{cpu()}; load before {load_before:.2f}, after {load():.2f}; {wanted.rounds} rounds")
    print("\n".join(_line(name, one) for name, one in measured.items()))
    print(", ".join(f"a collector beside {count:,} connections: {size:.0f} MiB" for count, size in memory.items()))
    if wanted.output:
        told = {"cpu": cpu(), "load_before": load_before, "jobs": measured, "memory_mib": memory}
        Path(wanted.output + ".json").write_text(json.dumps(told, indent=1) + "\n")
    return _status(measured, memory[CONNECTION_COUNT])


def _measured(round_count: int) -> dict[str, dict[str, Any]]:
    """Return job to what each round found; raises FabriscopeError."""
    found: dict[str, dict[str, Any]] = {title: {} for title in JOBS}
    for done in range(0, round_count, ROUNDS_OF_A_LAB):
        for title, program in JOBS.items():
            for key, values in _in_a_lab(program, min(ROUNDS_OF_A_LAB, round_count - done)).items():
                found[title].setdefault(key, []).extend(values)
    return found


def _in_a_lab(program: str, round_count: int) -> dict[str, list[float]]:
    built = lab.up(LabSpec(("node1", "node2"), {"first": PRESETS["local"]}))
    servers: list[subprocess.Popen[str]] = []
    try:
        for words in ([sys.executable, *SERVER], ["iperf3", "-s", "--forceflush"]):
            argv = [*built.host("node2").access, *words]
            servers.append(subprocess.Popen(argv, stdout=subprocess.PIPE, text=True))
            while "istening" not in servers[-1].stdout.readline():  # type: ignore[union-attr]
                pass
        return _rounds(built.host("node1"), built.state.name, program, round_count)
    finally:
        for one in servers:
            one.kill()
            one.wait()
        built.down()


def _rounds(near: Host, name: str, program: str, count: int) -> dict[str, list[float]]:
    words = [sys.executable, "-c", program]
    prove = [sys.executable, "-m", "fabriscope", "prove", "--lab", name, "--", *words]
    seen: dict[str, list[tuple[float, float]]] = {"alone": [], "proved": []}
    for number in range(count + 1):
        for which in ("alone", "proved") if number % 2 else ("proved", "alone"):
            seen[which].append(_timed([*near.access, *words] if which == "alone" else prove))
    pairs = list(zip(seen["proved"], seen["alone"], strict=True))[1:]  # the first round warms up
    added_s, ratios = [ours[0] - theirs[0] for ours, theirs in pairs], [ours[1] / theirs[1] for ours, theirs in pairs]
    return {"added_s": added_s, "ratios": ratios, "own_s": [one[1] for _, one in pairs]}


def _timed(argv: Sequence[str]) -> tuple[float, float]:
    """Return how long a command took, and how long its work by its own word."""
    began_s = time.monotonic()
    done = subprocess.run(argv, capture_output=True, text=True, timeout=LIMIT_S, check=False)
    took_s = time.monotonic() - began_s
    own = next((line.split()[1] for line in done.stdout.splitlines() if line.startswith("seconds ")), None)
    if own is None:
        raise LaunchError(f"a job did not say how long it took: {(done.stderr or done.stdout).strip()[-300:]}")
    return took_s, float(own)


def _memory_mib(connection_count: int) -> float:
    """Return the most memory that a collector on this machine had beside the connections of its job."""
    (command,) = counters.commands([Host("localhost")], mark="cost")
    env = {**os.environ, **command.env}
    with tempfile.TemporaryFile() as said:
        watching = subprocess.Popen(command.argv, stdin=subprocess.PIPE, stdout=said, env=env)
        watching.stdin.write(command.stdin or b"")  # type: ignore[union-attr]
        watching.stdin.close()  # type: ignore[union-attr]
        watching.stdin = None
    time.sleep(1)
    marked = {**os.environ, "FABRISCOPE_LAUNCH_MARK": "cost.1"}
    words = [sys.executable, "-c", MANY, str(connection_count)]
    subprocess.run(words, stdout=subprocess.DEVNULL, env=marked, timeout=LIMIT_S, check=True)
    status = Path(f"/proc/{watching.pid}/status").read_text()
    watching.send_signal(signal.SIGTERM)
    watching.communicate(timeout=LIMIT_S)
    return int(next(line.split()[1] for line in status.splitlines() if line.startswith("VmHWM"))) / 1024


def _line(name: str, one: Mapping[str, Any]) -> str:
    low, high = median_interval(one["ratios"])
    added, own = sorted(one["added_s"]), statistics.median(one["own_s"])
    ratio = f"{statistics.median(one['ratios']):.4f} ({low:.4f} to {high:.4f})"
    least, most = added[0], added[-1]
    return f"{name}: {statistics.median(added):.2f} s added ({least:.2f} to {most:.2f}); own {own:.3f} s, ratio {ratio}"


def _status(measured: Mapping[str, Mapping[str, Any]], memory_mib: float) -> int:
    long_ones = [one for one in measured.values() if statistics.median(one["own_s"]) >= LEAST_OWN_S]
    intervals = [median_interval(one["ratios"]) for one in long_ones]
    is_slow = any(statistics.median(one["added_s"]) > MOST_ADDED_S for one in measured.values())
    if is_slow or memory_mib > MOST_MEMORY_MIB or any(low > MOST_RATIO for low, _ in intervals):
        return EXIT_BROKEN
    return EXIT_UNDECIDED if any(high > MOST_RATIO for _, high in intervals) else 0


if __name__ == "__main__":
    sys.exit(main())
