"""Tunes five settings of a lab whose best values are known, beside launches of all 96 combinations of their values.

    python -m campaigns.tuning --output FOLDER [--budget 4min] [--no-full]     # from the checkout's root, as root

The hosts are those of a lab of the campaign's own, reached over its stand-in for ssh, so that they outlive the runs. By
construction two settings matter over 100 Mb/s with a delay of 2 ms: with an MTU of 9000 most of a frame is data, and a
send buffer of 4 MiB alone holds the 50 kB that are under way, which the kernel counts twice. The three others do
nothing there. Printed: what is recommended, with its gain; how long the tuning took, and all combinations, in as many
blocks as the screening had; and what of the hosts is not as it was before. Ends with 1 where the best was not found or
something is not as it was.
"""

from __future__ import annotations

import argparse
import dataclasses
import itertools
import math
import os
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path

from campaigns.faults import place

from fabriscope import lab, store
from fabriscope.analysis.tuning.tuned import tuning_of
from fabriscope.hosts import access
from fabriscope.hosts.access import journal
from fabriscope.lab import Lab
from fabriscope.lab.presets import PRESETS
from fabriscope.model.lab import LabSpec

LEVELS = {
    "mtu": ("600", "1500", "4000", "9000"),
    "tcp_send_buffer": ("16384", "65536", "4194304"),
    "tcp_timestamps": ("0", "1"),
    "tcp_sack": ("0", "1"),
    "tx_queue": ("100", "1000"),
}
BEST = {"mtu": "9000", "tcp_send_buffer": "4194304"}
NOW = "settings: {mtu: 1500, tcp_send_buffer: 65536}"
"""What the tuning starts from."""
HEAD = """
name: {name}
hosts: node[1-2]
fabrics:
{fabrics}
layers: [tcp]
benchmarks: {{bandwidth: {{sizes: [256KiB], window: 4}}}}
launches: {launches}
budget: {budget_s}s
floor: false
counters: false
"""
TUNE = """
tune:
  knobs: {{{knobs}}}
  objective: {{benchmark: bandwidth}}
  budget: {budget}
"""
LAUNCH_S = 0.5
MOST_FABRICS = 48
"""Of one run: a plan takes 64 at most."""
HOSTS = ("node1", "node2")
FILES = (
    "/sys/class/net/eth0/mtu", "/sys/class/net/eth0/tx_queue_len", "/proc/sys/net/ipv4/tcp_wmem",
    "/proc/sys/net/ipv4/tcp_timestamps", "/proc/sys/net/ipv4/tcp_sack",
)  # fmt: skip
LONG_S = 7200.0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--output", type=Path, required=True)
    parser.add_argument("--budget", default="4min", help="of the tuning")
    parser.add_argument("--no-full", action="store_true", help="launch no combination that the tuning does not")
    arguments = parser.parse_args()
    place.enter("campaigns.tuning")
    output: Path = arguments.output.absolute()
    for name, variable in (("state", "XDG_STATE_HOME"), ("tmp", "TMPDIR")):
        (output / name).mkdir(parents=True, exist_ok=True, mode=0o700)
        os.environ[variable] = str(output / name)
    spec = dataclasses.replace(PRESETS["ethernet-100"], delay_ns=2_000_000, mtu_bytes=9000)
    built = lab.up(LabSpec(HOSTS, {"wire": spec}))
    os.environ["FABRISCOPE_SSH"] = str(built.remote_shell)
    try:
        before = values(built)
        problems, blocks, took_s = tuned(output, arguments.budget)
        problems += [f"{where} is {now}, was {before[where]}" for where, now in values(built).items()
                     if now != before[where]]  # fmt: skip
        problems += [f"the journal has {path.name} still" for path in journal.folder().glob("*.json")]
        if not arguments.no_full:
            full(output, blocks, took_s)
    finally:
        built.down()
    print("; ".join(problems) or "everything is as it was before")
    raise SystemExit(1 if problems else 0)


def tuned(output: Path, budget: str) -> tuple[list[str], int, float]:
    """Tune, and say what came of it; return what is wrong, the blocks of the screening, and how long it took."""
    knobs = _settings({name: f"[{', '.join(levels)}]" for name, levels in LEVELS.items()})
    fabrics = f"  wire: {{interface: eth0, {NOW}}}"
    text = HEAD.format(name="tune", fabrics=fabrics, launches=2, budget_s=2 * LAUNCH_S)
    took_s = run(output / "tune", text + TUNE.format(knobs=knobs, budget=budget))
    data = store.open_run(output / "tune").read()
    found = tuning_of(data)
    if found is None or found.gain is None:
        return ["nothing was recommended"], 2, took_s
    screening = [line for line in data.manifest.schedule if line.round == 1]
    blocks = len({line.block for line in screening})
    gain, ends = found.gain.result.centre, (found.gain.result.low, found.gain.result.high)
    print(
        f"recommended: {dict(found.recommended or {})}, faster by {_percent(gain)} ({' to '.join(map(_percent, ends))})"
    )
    total = len(data.manifest.schedule)
    print(f"tuning: {took_s:.0f} s, {total} launches, {len(screening)} of them in {blocks} blocks of the screening")
    missed = {name: value for name, value in BEST.items() if (found.recommended or {}).get(name) != value}
    return [f"{name} {value} was not recommended" for name, value in missed.items()], blocks, took_s


def full(output: Path, blocks: int, tuning_s: float) -> None:
    """Launch all combinations in as many blocks as the screening had, and say how long it took."""
    combinations = [dict(zip(LEVELS, chosen, strict=True)) for chosen in itertools.product(*LEVELS.values())]
    took_s = 0.0
    for first in range(0, len(combinations), MOST_FABRICS):
        part = combinations[first : first + MOST_FABRICS]
        fabrics = "\n".join(
            f"  c{at}: {{interface: eth0, settings: {{{_settings(one)}}}}}" for at, one in enumerate(part, first)
        )
        text = HEAD.format(name="full", fabrics=fabrics, launches=blocks, budget_s=LAUNCH_S * blocks * len(part))
        took_s += run(output / f"full-{first}", text)
    print(
        f"all {len(combinations)} combinations in {blocks} blocks: {took_s:.0f} s; the tuning took "
        f"{tuning_s / took_s:.0%} of that"
    )


def run(folder: Path, text: str) -> float:
    """Run a plan, and return how long that took."""
    plan = folder.with_suffix(".yaml")
    plan.write_text(text)
    started_s = time.monotonic()
    argv = [sys.executable, "-m", "fabriscope", "run", str(plan), "-o", str(folder), "-q"]
    done = subprocess.run(argv, capture_output=True, text=True, timeout=LONG_S, check=False)
    if done.returncode != 0:
        sys.exit(f"{folder.name}: {done.stdout}{done.stderr}")
    return time.monotonic() - started_s


def values(built: Lab) -> dict[str, str]:
    """Return what is set now on all hosts."""
    readings = {name: access.read(built.host(name), access.Wanted(globs=FILES)) for name in HOSTS}
    return {f"{path} of {name}": reading.files[path].strip() for name, reading in readings.items() for path in FILES}


def _settings(one: Mapping[str, str]) -> str:
    return ", ".join(f"{name}: {value}" for name, value in one.items())


def _percent(log_ratio: float) -> str:
    return f"{math.expm1(log_ratio):.1%}"


if __name__ == "__main__":
    main()
