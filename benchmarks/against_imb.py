"""fabriscope's collectives against IMB-MPI1's, by the same MPI library on the same hosts and link, in one run.

    python -m benchmarks.against_imb --link lab:gige --mpi mpich -o out        # from the checkout's root

For each point (collective, size), in an order drawn anew in each round, three launches follow each other in a random
order: ours timed as IMB does (after a barrier; a barrier itself back to back), ours on the common clock, and IMB. The
first two of one definition are brought to one statistic: the median over operations of the mean over ranks of each
rank's own time. IMB prints means of means, so the time of each of its calls is overheard at every rank
(`_collective_calls.cc`). The exit status is 0 if the medians over launches agree within 5 % at every point, 1 if not,
and 3 if the machine was busy before the start: then the numbers are shown, and nothing is claimed.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import random
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from benchmarks import _peers_report as report
from benchmarks._peers_link import SPARE_S, Link, link
from benchmarks._peers_values import ratio_interval

from fabriscope.adapters._imb_tables import TESTS
from fabriscope.launch import processes
from fabriscope.model.benchmarks import kind_of
from fabriscope.model.case import Case, Entry
from fabriscope.model.errors import FabriscopeError, LaunchError, ParseError, ToolMissing
from fabriscope.model.measurement import Launch, SampleBlock

BENCHMARKS = "barrier,bcast,allreduce,alltoall"
SIZES = "8,4096"
MOST_DIFFERENCE = 0.05
BUSY_STATUS = 3
OURS, CLOCK, IMB = "ours", "common clock", "IMB"
TIMES = "times"

Point = tuple[str, int]
"""Benchmark and message size in bytes."""


@dataclass(frozen=True)
class Reading:
    """What one launch gave for one point."""

    round: int
    benchmark: str
    message_size_bytes: int
    program: str
    median_ns: float | None
    operation_count: int = 0
    reason: str | None = None


@dataclass(frozen=True)
class Row:
    """One point: medians over launches in ns, and what each round said of their ratio."""

    benchmark: str
    message_size_bytes: int
    ours: float
    clock: float | None
    imb: float
    ratio: float
    ratio_low: float
    """Of the 95 % interval over the rounds' own ratios."""
    ratio_high: float
    clock_ratio: float | None
    round_count: int

    @property
    def holds(self) -> bool:
        """Return whether ours and IMB's agree as promised."""
        return abs(self.ratio - 1) <= MOST_DIFFERENCE

    @property
    def word(self) -> str:
        """Return whether it holds, and whether the interval leaves that open."""
        if self.ratio_low > 1 + MOST_DIFFERENCE or self.ratio_high < 1 - MOST_DIFFERENCE:
            return "NO"
        is_inside = self.ratio_low >= 1 - MOST_DIFFERENCE and self.ratio_high <= 1 + MOST_DIFFERENCE
        return ("yes" if self.holds else "no") + ("" if is_inside else ", open")


def main(argv: Sequence[str] | None = None) -> int:
    """Measure, print, and return the exit status."""
    wanted = _arguments(argv)
    names = tuple(f"node{number}" for number in range(1, wanted.hosts + 1))
    try:
        with (
            tempfile.TemporaryDirectory(prefix="listener-") as folder,
            link(wanted.link, wanted.mpi, wanted.imb, names) as place,
        ):
            known = report.circumstances(place, wanted)
            print(report.circumstances_text(known), flush=True)
            readings = _measure(place, _listener(folder, place), wanted)
            known["load_after"] = report.load()
    except FabriscopeError as error:
        print(f"against_imb: {error}", file=sys.stderr)
        return error.exit_code
    found = rows(readings)
    text = f"{table(found)}\n\n{_verdict(found, readings, known)}"
    print(text)
    if wanted.output is not None:
        _write(Path(wanted.output), known, readings, found, text)
    if report.is_busy(known):
        return BUSY_STATUS
    return 0 if found and all(row.holds for row in found) else 1


def _arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--link", default="lab:gige", help="lab:local, lab:gige ... (default lab:gige)")
    parser.add_argument("--hosts", type=int, default=4, help="hosts of the lab (default 4)")
    parser.add_argument("--ranks", type=int, default=4, help="ranks, equally many on each host (default 4)")
    parser.add_argument("--benchmarks", default=BENCHMARKS, help=f"collectives (default {BENCHMARKS})")
    parser.add_argument("--sizes", default=SIZES, help=f"bytes, separated by commas (default {SIZES})")
    parser.add_argument("--rounds", type=int, default=5, help="launches of each program at each point (default 5)")
    parser.add_argument("--seconds", type=float, default=0.75, help="measuring time of a launch (default 0.75)")
    parser.add_argument("--mpi", default="mpich", help="MPI library by name or prefix (default mpich)")
    parser.add_argument("--imb", help="path of IMB-MPI1 (default: beside mpirun, else Intel's wheel, else on PATH)")
    parser.add_argument("--seed", type=int, default=1, help="of the orders (default 1)")
    parser.add_argument("-o", "--output", help="write OUTPUT.json and OUTPUT.md")
    wanted = parser.parse_args(argv)
    if wanted.ranks % wanted.hosts:
        parser.error("every host must have equally many ranks")
    return wanted


def _listener(folder: str, place: Link) -> str:
    """Return the library that writes down how long each call of a collective lasts, compiled for this MPI."""
    source, library = Path(__file__).with_name("_collective_calls.cc"), f"{folder}/collective_calls.so"
    compiler = place.stack.mpicxx if place.stack else None
    if compiler is None:
        raise FabriscopeError("there is no compiler of this MPI library", fix="install its development package")
    argv = [compiler, "-std=c++17", "-O2", "-shared", "-fPIC", str(source), "-o", library]
    done = subprocess.run(argv, capture_output=True, text=True, timeout=600, check=False)
    if done.returncode:
        raise FabriscopeError(f"{source} does not compile: {done.stderr.strip()}")
    return library


def _measure(place: Link, listener: str, wanted: argparse.Namespace) -> list[Reading]:
    order = random.Random(wanted.seed)  # noqa: S311 - an order, no secret
    sizes = [int(word) for word in wanted.sizes.split(",")]
    points = [
        (name, size) for name in wanted.benchmarks.split(",") for size in (sizes if kind_of(name).has_size else [0])
    ]
    readings: list[Reading] = []
    for number in range(1, wanted.rounds + 1):
        for point in order.sample(points, len(points)):
            for program in order.sample([OURS, CLOCK, IMB], 3):
                readings.append(_launch(place, listener, number, point, program, wanted))
        print(f"round {number} of {wanted.rounds} is done, load {report.load():.2f}", file=sys.stderr, flush=True)
    return readings


def _launch(place: Link, listener: str, number: int, point: Point, program: str, wanted: argparse.Namespace) -> Reading:
    case = _case(place, point, program, wanted.ranks // wanted.hosts)
    place.launch_count += 1
    budget_ns = round(wanted.seconds * 1e9)
    launch = Launch(place.launch_count, number, case.entry, (case,), place.launch_count, budget_ns)
    adapter = place.adapters.get(case.entry.instrument)
    with tempfile.TemporaryDirectory(prefix="calls-") as folder:
        env = _listening(listener, point, folder) if program == IMB else {}
        try:
            commands = [
                place.wrapped(dataclasses.replace(one, env={**one.env, **env}), case.entry)
                for one in adapter.commands(launch, place.context(case.entry))
            ]
            outcomes = processes.run_commands(commands, place.hosts, timeout_s=4 * wanted.seconds + 4 * SPARE_S)
            parsed = adapter.parse(launch, outcomes)
        except (LaunchError, ToolMissing, ParseError) as error:
            return Reading(number, *point, program, None, 0, str(error))
        own: Any = parsed.details.get(case.case_id)
        repetitions = int(own["repetitions"]) if program == IMB and own else 0
        values = _overheard(Path(folder), repetitions) if program == IMB else _ours(parsed.blocks)
    median_ns = float(np.median(values)) if len(values) else None
    return Reading(number, *point, program, median_ns, len(values), parsed.results[0].reason)


def _case(place: Link, point: Point, program: str, ranks_per_host: int) -> Case:
    benchmark, size = point
    hosts = tuple(name for name in place.hosts for _ in range(ranks_per_host))
    fabric = place.fabric.name if len(place.hosts) > 1 else None
    mpi = place.stack.name if place.stack else None
    entry = Entry("mpi", fabric, "inter" if fabric else "intra", hosts, mpi, "imb" if program == IMB else "engine")
    as_imb = "barrier" if TESTS[benchmark].is_synchronised else "back_to_back"
    return Case(entry, benchmark, size, parameters=(("timing", "common_clock" if program == CLOCK else as_imb),))


def _listening(listener: str, point: Point, folder: str) -> dict[str, str]:
    benchmark, size = point
    return {
        "LD_PRELOAD": listener,
        "COLLECTIVE": f"MPI_{TESTS[benchmark].name}",
        "COLLECTIVE_BYTES": str(size),
        "COLLECTIVE_TIMES": f"{folder}/{TIMES}",
    }


def _overheard(folder: Path, repetitions: int) -> np.ndarray[Any, np.dtype[np.float64]]:
    """Return the mean over ranks of every call of the last `repetitions`: those before them warmed up."""
    heard = [np.fromfile(path, dtype=np.int64)[-repetitions:] for path in sorted(folder.glob(f"{TIMES}.*"))]
    if not heard or not repetitions or len({len(times) for times in heard}) != 1:
        return np.empty(0)
    return np.asarray(np.mean(heard, axis=0), dtype=np.float64)


def _ours(blocks: Iterable[SampleBlock]) -> np.ndarray[Any, np.dtype[np.float64]]:
    """Return the measured operations, in ns each."""
    measured = [one for one in blocks if one.phase == "measure" and one.quantity == "operation_ns" and one.rank is None]
    return np.array([value / one.operations_per_sample for one in measured for value in one.values])


def rows(readings: Sequence[Reading]) -> list[Row]:
    """Return one row for each point at which ours and IMB's have a value in at least one common round."""
    values: dict[Point, dict[str, dict[int, float]]] = {}
    for one in readings:
        if one.median_ns is not None:
            of_point = values.setdefault((one.benchmark, one.message_size_bytes), {})
            of_point.setdefault(one.program, {})[one.round] = one.median_ns
    found = []
    for point, programs in sorted(values.items()):
        ours, clock, imb = (programs.get(program, {}) for program in (OURS, CLOCK, IMB))
        common = sorted(set(ours) & set(imb))
        if not common:
            continue
        ratios = [ours[number] / imb[number] for number in common]
        mine = statistics.median(ours[number] for number in common)
        other = statistics.median(imb[number] for number in common)
        by_clock = statistics.median(clock.values()) if clock else None
        clock_ratio = by_clock / other if by_clock is not None else None
        found.append(
            Row(*point, mine, by_clock, other, mine / other, *ratio_interval(ratios), clock_ratio, len(common))
        )
    return found


HEAD = ("collective", "bytes", "ours us", "IMB us", "ratio", "low", "high", "common clock us", "to IMB", "within 5 %")


def _cells(row: Row) -> tuple[str, ...]:
    return (
        row.benchmark,
        str(row.message_size_bytes),
        f"{row.ours / 1e3:.2f}",
        f"{row.imb / 1e3:.2f}",
        f"{row.ratio:.3f}",
        f"{row.ratio_low:.3f}",
        f"{row.ratio_high:.3f}",
        "-" if row.clock is None else f"{row.clock / 1e3:.2f}",
        "-" if row.clock_ratio is None else f"{row.clock_ratio:.3f}",
        row.word,
    )


def table(found: Sequence[Row]) -> str:
    """Return the table, in Markdown that is as good on a terminal."""
    lines = [HEAD, *(_cells(row) for row in found)]
    widths = [max(len(line[column]) for line in lines) for column in range(len(HEAD))]
    lines.insert(1, tuple("-" * width for width in widths))
    return "\n".join(
        "| " + " | ".join(cell.rjust(width) for cell, width in zip(line, widths, strict=True)) + " |" for line in lines
    )


def _verdict(found: Sequence[Row], readings: Sequence[Reading], known: dict[str, Any]) -> str:
    kept = f"at {sum(row.holds for row in found)} of {len(found)} points"
    said = ["promise: medians of ours, timed as IMB does, and of IMB differ by 5 % at most"]
    if report.is_busy(known):
        said.append(f"NOTHING IS CLAIMED: the load was {known['load_before']:.2f} before the start; it held {kept}")
    else:
        said.append(f"kept {kept}")
    missing: dict[tuple[str, str], list[str]] = {}
    for one in readings:
        if one.median_ns is None:
            place = f"{one.benchmark} {one.message_size_bytes} B round {one.round}"
            missing.setdefault((one.program, one.reason or "no reason"), []).append(place)
    for (program, reason), places in missing.items():
        said.append(f"no value: {program}: {reason} ({places[0]}, {len(places)} in all)")
    return "\n".join(said)


def _write(output: Path, known: dict[str, Any], readings: Sequence[Reading], found: Sequence[Row], text: str) -> None:
    output.parent.mkdir(parents=True, exist_ok=True)
    content = {
        "circumstances": known,
        "readings": [dataclasses.asdict(one) for one in readings],
        "rows": [{**dataclasses.asdict(row), "holds": row.holds} for row in found],
    }
    output.with_name(output.name + ".json").write_text(json.dumps(content, indent=1) + "\n")
    output.with_name(output.name + ".md").write_text(f"{report.circumstances_text(known)}\n\n{text}\n")


if __name__ == "__main__":
    sys.exit(main())
