"""Runs two ranks while strangers of one kind knock at every port of rank 0, and counts the runs that complete.

usage: python -m campaigns.rendezvous_strangers [--runs N] [--engine PATH] [--kind NAME ...] [--flood]

Each kind makes 50 connections a second at each port; with --flood two threads make as many as they can. Rank 1 is
started after the strangers. A run is complete if both ranks end with status 0 and the footer says ok.
"""

from __future__ import annotations

import argparse
import json
import os
import secrets
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from campaigns.rendezvous_strangers.kinds import HOST, KINDS, Strangers

from fabriscope import engine_binary

SPEC = """fabriscope-spec 1
budget_ns 50000000
case id=a benchmark=ping_pong message_size_bytes=8
case id=b benchmark=ping_pong message_size_bytes=8 tcp_nodelay=0
case id=c benchmark=bandwidth message_size_bytes=1024 window_size=8 send_buffer_bytes=65536
"""
HEAD_START_S = 0.5
TIMEOUT_S = 60


@dataclass(frozen=True)
class Trial:
    is_complete: bool
    connections: int
    rejected: int
    reason: str


def trial(engine: str, kind: str, *, threads: int, pause_s: float, seed: int) -> Trial:
    """Return what became of one run of two ranks among strangers."""
    words = [engine, "--transport", "tcp", "--rendezvous", "tcp", "--data-address", HOST, "--die-with-parent"]
    environment = {**os.environ, "FABRISCOPE_TOKEN": secrets.token_hex(16)}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "spec"
        path.write_text(SPEC)
        errors = (Path(folder) / "errors").open("w+")
        first = subprocess.Popen(
            [*words, "--rank", "0", "--listen", HOST, "--spec", str(path)],
            env=environment, stdout=subprocess.PIPE, stderr=errors, text=True,
        )  # fmt: skip
        port = json.loads(first.stdout.readline() if first.stdout else "")["tcp_port"]
        second = None
        try:
            with Strangers(kind, first.pid, threads=threads, pause_s=pause_s, seed=seed) as strangers:
                time.sleep(HEAD_START_S)
                argv = [*words, "--rank", "1", "--connect", f"{HOST}:{port}"]
                second = subprocess.Popen(argv, env=environment, stdout=subprocess.DEVNULL, stderr=errors)
                output, _ = first.communicate(timeout=TIMEOUT_S)
                second.wait(timeout=TIMEOUT_S)
        except subprocess.TimeoutExpired:
            return Trial(False, strangers.connections, 0, f"not ended after {TIMEOUT_S} s")
        finally:
            for process in (first, second):
                if process is not None and process.poll() is None:
                    process.kill()
                    process.wait()
        footer = json.loads(output.splitlines()[-1])
        errors.seek(0)
        is_complete = first.returncode == second.returncode == 0 and footer["status"] == "ok"
        is_complete = is_complete and footer["failure_count"] == 0
        reason = "" if is_complete else (errors.read().strip() or output.splitlines()[-2])
        errors.close()
        return Trial(is_complete, strangers.connections, footer["rejected_connection_count"], reason)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--engine", default=None)
    parser.add_argument("--kind", action="append", choices=list(KINDS))
    parser.add_argument("--flood", action="store_true")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    engine = options.engine or str(engine_binary.find_engine())
    threads, pause_s = (2, 0.0) if options.flood else (1, 0.02)
    all_complete = True
    print("kind           complete   connections   rejected   first failure")
    for kind in options.kind or KINDS:
        trials = [
            trial(engine, kind, threads=threads, pause_s=pause_s, seed=options.seed + number)
            for number in range(options.runs)
        ]
        complete = sum(one.is_complete for one in trials)
        connections, rejected = sum(one.connections for one in trials), sum(one.rejected for one in trials)
        reason = next((one.reason for one in trials if one.reason), "").replace("\n", " | ")
        print(f"{kind:<14} {complete:>3} of {options.runs:<3} {connections:>11} {rejected:>10}   {reason}", flush=True)
        all_complete = all_complete and complete == options.runs
    return 0 if all_complete else 1


if __name__ == "__main__":
    sys.exit(main())
