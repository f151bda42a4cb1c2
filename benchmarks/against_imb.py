"""fabriscope's collectives against IMB-MPI1's, by the same MPI library on the same hosts and link, in one run.

    python -m benchmarks.against_imb --link lab:gige --mpi mpich -o out        # from the checkout's root

At each point (collective, size), in an order drawn anew in each round, three launches are started at once and run in
turns of some milliseconds (`_peers_turns.py`): ours timed as IMB does (after a barrier; a barrier itself back to back),
ours on the common clock, and IMB. The first and the last of these are brought to one statistic, the median over
operations of the mean over ranks of each rank's own time, by overhearing the calls of both at every rank
(`_collective_calls.cc`); operations count that lie within a turn at every rank. The exit status is 0 if the two agree
within 5 % at every point (the geometric mean over the rounds of their ratios), 1 if not, and 3 if the machine was busy
before the start: then the numbers are shown, and nothing is claimed.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from benchmarks import _peers_report as report
from benchmarks._imb_report import CLOCK, IMB, OURS, Point, Reading, rows, table, verdict, write
from benchmarks._peers_link import SPARE_S, Link, link
from benchmarks._peers_turns import LATER, MARK, Operations, calls_of_all, take_turns

from fabriscope.adapters._imb_tests import TESTS
from fabriscope.model.benchmarks import kind_of
from fabriscope.model.case import Case, Entry
from fabriscope.model.errors import FabriscopeError, LaunchError, ParseError, ToolMissing
from fabriscope.model.measurement import Launch, ParsedLaunch, SampleBlock

BENCHMARKS = "barrier,bcast,allreduce,alltoall"
SIZES = "8,4096"
START_S = 0.5
"""For the start of the last program, while the others are stopped."""
LEAST_CALLS = 100
"""Of fewer no median is taken."""
BUSY_STATUS = 3


def main(argv: Sequence[str] | None = None) -> int:
    """Measure, print, and return the exit status."""
    wanted = _arguments(argv)
    names = tuple(f"node{number}" for number in range(1, wanted.hosts + 1))
    try:
        with link(wanted.link, wanted.mpi, wanted.imb, names) as place:
            if "collectives" not in place.listeners:
                raise FabriscopeError("there is no compiler of this MPI library", fix="install its development package")
            known = report.circumstances(place, wanted)
            print(report.circumstances_text(known), flush=True)
            readings = _measure(place, wanted)
            known["load_after"] = report.load()
    except FabriscopeError as error:
        print(f"against_imb: {error}", file=sys.stderr)
        return error.exit_code
    found = rows(readings)
    text = f"{table(found)}\n\n{verdict(found, readings, known)}"
    print(text)
    if wanted.output is not None:
        write(Path(wanted.output), known, readings, found, text)
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
    parser.add_argument(
        "--seconds", type=float, default=0.75, help="measuring time of a launch, in its turns (default 0.75)"
    )
    parser.add_argument("--mpi", default="mpich", help="MPI library by name or prefix (default mpich)")
    parser.add_argument("--imb", help="path of IMB-MPI1 (default: beside mpirun, else Intel's wheel, else on PATH)")
    parser.add_argument("--seed", type=int, default=1, help="of the orders (default 1)")
    parser.add_argument("-o", "--output", help="write OUTPUT.json and OUTPUT.md")
    wanted = parser.parse_args(argv)
    if wanted.ranks % wanted.hosts:
        parser.error("every host must have equally many ranks")
    return wanted


def _measure(place: Link, wanted: argparse.Namespace) -> list[Reading]:
    order = random.Random(wanted.seed)  # noqa: S311 - an order, no secret
    sizes = [int(word) for word in wanted.sizes.split(",")]
    points = [
        (name, size) for name in wanted.benchmarks.split(",") for size in (sizes if kind_of(name).has_size else [0])
    ]
    readings: list[Reading] = []
    for number in range(1, wanted.rounds + 1):
        for point in order.sample(points, len(points)):
            # IMB comes first: once it is heard it makes so many calls, whereas our engine's budget passes from then on.
            readings += _in_turns(place, number, point, [IMB, *order.sample([OURS, CLOCK], 2)], wanted)
        print(f"round {number} of {wanted.rounds} is done, load {report.load():.2f}", file=sys.stderr, flush=True)
    return readings


def _in_turns(
    place: Link, number: int, point: Point, programs: Sequence[str], wanted: argparse.Namespace
) -> list[Reading]:
    """Launch all programs at once for one point, let one run at a time, and return what was heard and said."""
    launches = {one: _launch(place, number, point, one, len(programs), wanted) for one in programs}
    timeout_s = 4 * (wanted.seconds * len(programs) + SPARE_S)
    with tempfile.TemporaryDirectory(prefix="calls-") as folder:
        marks = {one: f"{folder}/{one.replace(' ', '-')}" for one in programs}

        def run(program: str) -> ParsedLaunch | str:
            try:
                return place.run(launches[program], _listening(place, point, program, marks[program]), timeout_s)
            except (LaunchError, ToolMissing, ParseError) as error:
                return str(error)

        turns, said = take_turns(marks, run)
        heard = turns.heard(calls_of_all)
    return [_reading(number, point, one, said[one], heard[one]) for one in programs]


def _launch(
    place: Link, number: int, point: Point, program: str, program_count: int, wanted: argparse.Namespace
) -> Launch:
    """Return the launch; our engine's budget passes while others start or have their turn, IMB's is its own time."""
    case = _case(place, point, program, wanted.ranks // wanted.hosts)
    place.launch_count += 1
    seconds = wanted.seconds if program == IMB else wanted.seconds * program_count + START_S
    return Launch(place.launch_count, number, case.entry, (case,), place.launch_count, round(seconds * 1e9))


def _case(place: Link, point: Point, program: str, ranks_per_host: int) -> Case:
    benchmark, size = point
    hosts = tuple(name for name in place.hosts for _ in range(ranks_per_host))
    fabric = place.fabric.name if len(place.hosts) > 1 else None
    mpi = place.stack.name if place.stack else None
    entry = Entry("mpi", fabric, "inter" if fabric else "intra", hosts, mpi, "imb" if program == IMB else "engine")
    as_imb = "barrier" if TESTS[benchmark].is_synchronised else "back_to_back"
    return Case(entry, benchmark, size, parameters=(("timing", "common_clock" if program == CLOCK else as_imb),))


def _listening(place: Link, point: Point, program: str, mark: str) -> Mapping[str, str]:
    benchmark, size = point
    return {
        "LD_PRELOAD": place.listeners["collectives"],
        "COLLECTIVE": f"MPI_{TESTS[benchmark].name}",
        "COLLECTIVE_BYTES": str(size),
        MARK: mark,
        **({LATER: "1"} if program == IMB else {}),
    }


def _reading(number: int, point: Point, program: str, said: ParsedLaunch | str, heard: Operations) -> Reading:
    """Return the median of what was heard, and our own timing's; on the common clock the latter alone."""
    if isinstance(said, str):
        return Reading(number, *point, program, None, 0, said)
    own = _ours(said.blocks)
    times_ns = own if program == CLOCK else heard.times_ns
    count = len(times_ns)
    reason = said.results[0].reason
    if reason is None and count < LEAST_CALLS:
        reason = f"{count} operations were heard while all programs ran"
    if reason is not None:
        return Reading(number, *point, program, None, count, reason)
    own_ns = None if program == IMB else float(np.median(own))
    return Reading(number, *point, program, float(np.median(times_ns)), count, None, own_ns)


def _ours(blocks: Iterable[SampleBlock]) -> np.ndarray[Any, np.dtype[np.float64]]:
    """Return the measured operations, in ns each."""
    measured = [one for one in blocks if one.phase == "measure" and one.quantity == "operation_ns" and one.rank is None]
    return np.array([value / one.operations_per_sample for one in measured for value in one.values])


if __name__ == "__main__":
    sys.exit(main())
