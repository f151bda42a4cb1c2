"""The circumstances of a comparison, and its result on the terminal, as Markdown and as JSON."""

from __future__ import annotations

import argparse
import dataclasses
import json
import os
import platform
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks._peers_link import HOSTS, Link
from benchmarks._peers_values import LEAST_BANDWIDTH_RATIO, MOST_LATENCY_RATIO, OURS, Reading, Row, overall, strictest

from fabriscope import __version__

VERSION_OPTIONS = {"sockperf": "--version", "qperf": "--version", "iperf3": "--version"}
KNOBS = ("tcp_congestion_control", "tcp_rmem", "tcp_wmem", "tcp_slow_start_after_idle")
STATISTICS = {
    "latency_ns": "median",
    "bandwidth_bytes_per_s": "mean rate, windows",
    "stream_bandwidth_bytes_per_s": "mean rate",
}


MOST_LOAD = 0.5
"""Before the start; above it somebody else competes for the cores."""


def load() -> float:
    """Return the load average of the last minute."""
    return os.getloadavg()[0]


def circumstances(place: Link, wanted: argparse.Namespace) -> dict[str, Any]:
    """Return everything that a reader of the numbers has to know."""
    versions = {
        name: _said((path, VERSION_OPTIONS[name])) for name, path in place.programs.items() if name in VERSION_OPTIONS
    }
    host = place.hosts[HOSTS[0]]
    knobs = {name: _said((*host.access, "cat", f"/proc/sys/net/ipv4/{name}")) for name in KNOBS}
    return {
        "link": place.name,
        "fabric": dataclasses.asdict(place.fabric),
        "arguments": vars(wanted),
        "load_before": load(),
        "cpu": cpu(),
        "cpu_count": os.cpu_count(),
        "kernel": platform.release(),
        "fabriscope": __version__,
        "engine": place.engine,
        "mpi": place.stack.name if place.stack else None,
        "programs": place.programs,
        "versions": versions,
        "sockets": {"tcp_nodelay": "on, except qperf, which never sets it", **knobs},
    }


def is_busy(known: dict[str, Any]) -> bool:
    """Return whether others used the machine, so that nothing may be claimed."""
    return bool(known["load_before"] > MOST_LOAD)


def cpu() -> str:
    """Return the processor's name."""
    lines = Path("/proc/cpuinfo").read_text().splitlines()
    return next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), platform.machine())


def _said(argv: Sequence[str]) -> str:
    done = subprocess.run(argv, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=10, check=False)
    lines = [line.strip() for line in (done.stdout + done.stderr).splitlines() if line.strip()]
    return " ".join(lines[0].split()) if lines else "unknown"


def circumstances_text(known: dict[str, Any]) -> str:
    """Return the circumstances in a few lines."""
    arguments = known["arguments"]
    versions = "; ".join(known["versions"].values())
    knobs = ", ".join(f"{name} {known['sockets'][name]}" for name in KNOBS)
    return "\n".join(
        (
            f"link {known['link']}; {known['cpu_count']} x {known['cpu']}; Linux {known['kernel']}",
            f"load before {known['load_before']:.2f}; {arguments['rounds']} rounds of {arguments['seconds']} s",
            f"fabriscope {known['fabriscope']}; MPI {known['mpi']}; {versions}",
            f"TCP_NODELAY {known['sockets']['tcp_nodelay']}; {knobs}",
        )
    )


HEAD = (
    "layer",
    "benchmark",
    "bytes",
    "window",
    "peer",
    "statistic",
    OURS,
    "peer's",
    "ratio",
    "low",
    "high",
    "operations",
    "",
)


def _cells(row: Row, is_strictest: bool) -> tuple[str, ...]:
    scale, digits = (1e6, 1) if row.larger_is_better else (1e3, 2)
    return (
        row.layer,
        row.benchmark,
        str(row.message_size_bytes),
        str(row.window_size),
        row.peer,
        STATISTICS[row.metric_id],
        f"{row.ours / scale:.{digits}f}",
        f"{row.theirs / scale:.{digits}f}",
        f"{row.ratio:.3f}",
        f"{row.ratio_low:.3f}",
        f"{row.ratio_high:.3f}",
        f"{row.our_operations or '?'}/{row.their_operations or '?'}",
        ("*" if is_strictest else "") + ("" if row.holds else " FAILS" if row.is_decided else " fails, open"),
    )


def _lines(found: Sequence[Row]) -> list[tuple[str, ...]]:
    worst = strictest(found)
    return [_cells(row, row in worst) for row in found]


def table(found: Sequence[Row]) -> str:
    """Return the table for a terminal: microseconds, or 10^6 bytes a second; `*` marks the fastest peer."""
    lines = [HEAD, *_lines(found)]
    widths = [max(len(line[column]) for line in lines) for column in range(len(HEAD))]
    is_word = {"layer", "benchmark", "peer", "statistic", ""}
    return "\n".join(
        "  ".join(
            cell.ljust(width) if name in is_word else cell.rjust(width)
            for name, cell, width in zip(HEAD, line, widths, strict=True)
        ).rstrip()
        for line in lines
    )


def verdict(found: Sequence[Row], readings: Sequence[Reading], known: dict[str, Any]) -> str:
    """Return whether the promise holds, where it does not, what has no value, and each peer over all points."""
    worst = strictest(found)
    broken = [row for row in worst if not row.holds]
    said = [
        f"promise: latency at most {MOST_LATENCY_RATIO}, bandwidth at least {LEAST_BANDWIDTH_RATIO} of the fastest peer"
    ]
    kept = f"at {len(worst) - len(broken)} of {len(worst)} points"
    if is_busy(known):
        said.append(
            f"NOTHING IS CLAIMED: the load was {known['load_before']:.2f} before the start; it would hold {kept}"
        )
    else:
        said.append(f"kept {kept}")
    shown = sum(row.is_decided for row in broken)
    said.append(f"  broken beyond a single point's 95 % interval at {shown} of them")
    said += [
        f"  not at: {row.layer} {row.benchmark} {row.message_size_bytes} B against {row.peer}: {row.ratio:.3f}"
        f" (95 %: {row.ratio_low:.3f} to {row.ratio_high:.3f}, {len(row.ratios)} launches of each)"
        for row in broken
    ]
    missing: dict[tuple[str, str], list[str]] = {}
    for one in readings:
        if not one.values:
            place = f"{one.layer} {one.benchmark} {one.message_size_bytes} B launch {one.block}"
            missing.setdefault((one.program, one.reason or "no reason"), []).append(place)
    for (program, reason), places in missing.items():
        some = ", ".join(places[:3]) + (f" and {len(places) - 3} more" if len(places) > 3 else "")
        said.append(f"  no value: {program}: {reason} ({some})")
    said += [
        f"  over all {one.point_count} points, {one.layer} {one.benchmark} against {one.peer}: {one.ratio:.3f}"
        f" (95 %: {one.ratio_low:.3f} to {one.ratio_high:.3f})"
        for one in overall(found)
    ]
    return "\n".join(said)


def write(output: Path, known: dict[str, Any], readings: Sequence[Reading], found: Sequence[Row]) -> None:
    """Write OUTPUT.json (every reading, and the rows) and OUTPUT.md (what a person reads)."""
    output.parent.mkdir(parents=True, exist_ok=True)
    content = {
        "circumstances": known,
        "readings": [dataclasses.asdict(one) for one in readings],
        "rows": [{**dataclasses.asdict(row), "ratio": row.ratio, "holds": row.holds} for row in found],
    }
    output.with_name(output.name + ".json").write_text(json.dumps(content, indent=1) + "\n")
    lines = ["| " + " | ".join(cells) + " |" for cells in (HEAD, ("---",) * len(HEAD), *_lines(found))]
    notes = "us, or 10^6 bytes/s. `*`: the fastest peer of the point, like with like. Ratio: ours over theirs, the"
    notes += " median of the launches' own; low and high: its 95 % interval. Open: the promise's"
    notes += " edge lies inside. Operations: ours/theirs in a launch."
    text = "\n\n".join((circumstances_text(known), "\n".join(lines), notes, verdict(found, readings, known)))
    load_after = f"load after {known['load_after']:.2f}"
    output.with_name(output.name + ".md").write_text(f"{text}\n\n{load_after}\n")
