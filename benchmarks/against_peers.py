"""fabriscope's engine against NetPIPE, sockperf, qperf, iperf3 and IMB, launch for launch on one link.

    python -m benchmarks.against_peers --link lab:gige --mpi mpich -o out      # from the checkout's root

For each point (layer, benchmark, size), in an order drawn anew in each round, every program is launched once, over MPI
ten times. A launch is the replicate. The speed of a virtual machine changes several times a second, by more than
programs differ: so all programs of a ping-pong are started at once and run in turns of some milliseconds
(`_peers_turns.py`), and every one, ours too, is overheard (`_round_trips.cc`, docs/peers.md): latencies are medians of
round trips, by one definition. Bandwidths, which no program may be stopped in, and messages that take a good part of a
turn on their wire are measured one after the other. The exit status is 0 if the promise holds at every point (latency
at most 1.03 of the fastest peer's, bandwidth at least 0.98), 1 if not, and 3 if the machine was busy before the start:
then the numbers are shown, and nothing is claimed.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections.abc import Sequence
from pathlib import Path

from benchmarks import _peers_report as report
from benchmarks._peers_link import Link, link
from benchmarks._peers_turns import TURN_S
from benchmarks._peers_values import OURS, Point, Reading, rows

from fabriscope.model.errors import FabriscopeError

SIZES = tuple(1 << power for power in range(21))
QUICK_SIZES = (1, 1024, 65536)
BANDWIDTH_SIZES = (65536, 131072, 1 << 20)
WINDOW_BYTES = 16 << 20
"""Bytes of a window over TCP: iperf3 waits for no answer, so that of a window has to weigh little."""
MPI_WINDOW_SIZE = 64
SLOW_SIZE = 131072
SLOW_FACTOR = 2
ROUND_TRIPS_IN_TURN = 20
ROUND_TRIPS_ALONE = 80
WINDOWS = 4
"""At least, in a launch: of one alone, which begins slowly, no rate is taken."""
MPI_LAUNCHES_IN_ROUND = 10
"""Of a ping-pong in turns. A launch over MPI takes a second, one of all programs over TCP six; and it has one of two or
three latencies, up to 15 % apart, whichever program it is."""
BUSY_STATUS = 3
PEERS = {  # those that take longest to start first: of programs in turns, one that is heard waits for the others
    ("tcp", "ping_pong"): ("sockperf", "netpipe", "qperf"),
    ("tcp", "bandwidth"): ("iperf3", "qperf"),
    ("mpi", "ping_pong"): ("imb",),
    ("mpi", "bandwidth"): ("imb",),
}


def main(argv: Sequence[str] | None = None) -> int:
    """Measure, print, and return the exit status."""
    wanted = _arguments(argv)
    points = _points(wanted)
    try:
        mpi_name = wanted.mpi if "mpi" in wanted.layers.split(",") and wanted.mpi != "none" else None
        with link(wanted.link, mpi_name, wanted.imb) as place:
            circumstances = report.circumstances(place, wanted)
            print(report.circumstances_text(circumstances), flush=True)
            readings = _measure(place, points, wanted)
            circumstances["load_after"] = report.load()
    except FabriscopeError as error:
        print(f"against_peers: {error}", file=sys.stderr)
        return error.exit_code
    found = rows(readings)
    print(report.table(found))
    print(report.verdict(found, readings, circumstances))
    if wanted.output is not None:
        report.write(Path(wanted.output), circumstances, readings, found)
    if report.is_busy(circumstances):
        return BUSY_STATUS
    ours_failed = any(one.program == OURS and not one.values for one in readings)
    return 0 if found and not ours_failed and all(row.holds for row in found) else 1


def _arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--link", default="lab:gige", help="loopback, lab:local, lab:gige ... (default lab:gige)")
    parser.add_argument("--layers", default="tcp,mpi", help="tcp, mpi or both (default)")
    parser.add_argument("--benchmarks", default="ping_pong,bandwidth", help="default both")
    parser.add_argument("--sizes", help="bytes, separated by commas (default every power of two from 1 to 1048576)")
    parser.add_argument("--rounds", type=int, default=7, help="launches of each program at each point (default 7)")
    parser.add_argument("--seconds", type=float, default=0.75, help="measuring time of a launch (default 0.75)")
    parser.add_argument("--mpi", default="intelmpi", help="MPI library by name or prefix, or none (default intelmpi)")
    parser.add_argument("--imb", help="path of IMB-MPI1 (default: beside mpirun, else Intel's wheel, else on PATH)")
    parser.add_argument("--programs", help="peers to take, separated by commas (default all that are here)")
    parser.add_argument("--seed", type=int, default=1, help="of the orders (default 1)")
    parser.add_argument("--quick", action="store_true", help="three sizes, two rounds: does it work at all?")
    parser.add_argument("-o", "--output", help="write OUTPUT.json and OUTPUT.md")
    return parser.parse_args(argv)


def _points(wanted: argparse.Namespace) -> list[Point]:
    """Return what is measured; `--quick` is written back into the arguments."""
    if wanted.quick:
        wanted.rounds = min(wanted.rounds, 2)
    sizes = tuple(int(word) for word in wanted.sizes.split(",")) if wanted.sizes else None
    points: list[Point] = []
    for layer in wanted.layers.split(","):
        if layer == "mpi" and wanted.mpi == "none":
            continue
        if "ping_pong" in wanted.benchmarks.split(","):
            points += [(layer, "ping_pong", size, 1) for size in sizes or (QUICK_SIZES if wanted.quick else SIZES)]
        if "bandwidth" in wanted.benchmarks.split(","):
            for size in BANDWIDTH_SIZES[:1] if wanted.quick else BANDWIDTH_SIZES:
                points.append((layer, "bandwidth", size, MPI_WINDOW_SIZE if layer == "mpi" else WINDOW_BYTES // size))
    return points


def _budget_ns(place: Link, point: Point, seconds: float) -> int:
    """Return the measuring time of a launch: more where an operation takes milliseconds, or there are but a few."""
    _, benchmark, size, window = point
    is_slow = benchmark == "bandwidth" or size >= SLOW_SIZE
    least_s = WINDOWS * window * _wire_s(place, size) / 2 if benchmark == "bandwidth" else 0.0
    least_s = max(least_s, ROUND_TRIPS_ALONE * _wire_s(place, size))
    return round(1e9 * max(seconds * (SLOW_FACTOR if is_slow else 1), least_s))


def _wire_s(place: Link, size: int) -> float:
    """Return how long a round trip's bytes are on the wire."""
    rate = place.fabric.line_rate_bits_per_s
    return 2 * size * 8 / rate if rate else 0.0


def _fits_turns(place: Link, point: Point) -> bool:
    """Return whether a turn holds many of this point's operations; else the wire takes most of their time."""
    _, benchmark, size, _ = point
    return benchmark == "ping_pong" and _wire_s(place, size) * ROUND_TRIPS_IN_TURN <= TURN_S


def _measure(place: Link, points: Sequence[Point], wanted: argparse.Namespace) -> list[Reading]:
    order = random.Random(wanted.seed)  # noqa: S311 - an order, no secret
    chosen = set(wanted.programs.split(",")) if wanted.programs else None
    visits = [(point, time) for point in points for time in range(_launches_in_round(place, point))]
    readings: list[Reading] = []
    for number in range(wanted.rounds):
        of_round: list[Reading] = []
        try:
            for point, time in order.sample(visits, len(visits)):
                block = number * _launches_in_round(place, point) + time + 1
                peers = [one for one in PEERS[point[:2]] if chosen is None or one in chosen]
                budget_ns = _budget_ns(place, point, wanted.seconds)
                of_round += _at(place, block, point, [*peers, OURS], budget_ns, order)
        except KeyboardInterrupt:
            print(f"interrupted in round {number + 1}: those before it count", file=sys.stderr)
            break
        readings += of_round
        print(f"round {number + 1} of {wanted.rounds} is done, load {report.load():.2f}", file=sys.stderr, flush=True)
    return readings


def _launches_in_round(place: Link, point: Point) -> int:
    return MPI_LAUNCHES_IN_ROUND if point[0] == "mpi" and _fits_turns(place, point) else 1


def _at(
    place: Link, block: int, point: Point, programs: Sequence[str], budget_ns: int, order: random.Random
) -> list[Reading]:
    """Return what every program reads at one point in one block."""
    if _fits_turns(place, point):
        return place.measure_in_turns(block, point, programs, budget_ns * len(programs))
    readings: list[Reading] = []
    for program in order.sample(programs, len(programs)):
        if point[1] == "ping_pong":
            readings += place.measure_in_turns(block, point, [program], budget_ns)
        else:
            readings.append(place.measure(block, point, program, budget_ns))
    return readings


if __name__ == "__main__":
    sys.exit(main())
