"""What watching costs: an 8 B ping-pong with and without the collector on both hosts, paired.

    python -m benchmarks.prove_overhead -o out                  # from the checkout's root, over TCP
    python -m benchmarks.prove_overhead --mpi openmpi -o out    # over MPI as well

Promises: the latency grows by less than 1 %, its median and its mean (what a reading takes from a few round trips shows
in the mean alone), and a reading takes less than 50 ms. Each round launches both at once, in turns (`_peers_turns.py`);
the collector has its program's turns, so with both running it takes twice the share that it has of a job alone. The
interval is taken over the rounds' ratios. The exit status is 0 if all promises hold, 1 if one is broken, and 10 if an
interval is too wide to tell.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import secrets
import statistics
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import numpy as np
from benchmarks._peers_link import Link, link
from benchmarks._peers_report import cpu, load
from benchmarks._peers_turns import MARK, round_trips, take_turns
from benchmarks._peers_values import OURS, Reading, ratio_interval

from fabriscope.hosts import counters
from fabriscope.launch import processes
from fabriscope.launch.job_group import JobGroup
from fabriscope.model.counters import Watch
from fabriscope.model.errors import FabriscopeError

SIZE_BYTES = 8
MOST_RATIO, MOST_READING_MS = 1.01, 50.0
WATCHED, ALONE = "watched", "alone"
EXIT_BROKEN, EXIT_UNDECIDED = 1, 10


@dataclass(frozen=True)
class Round:
    """One pair of launches."""

    layer: str
    with_ns: float
    """Median latency, as the next."""
    without_ns: float
    mean_with_ns: float
    mean_without_ns: float

    @property
    def ratio(self) -> float:
        """Return how much longer the median took with the watch."""
        return self.with_ns / self.without_ns

    @property
    def mean_ratio(self) -> float:
        """Return how much longer the mean took with the watch."""
        return self.mean_with_ns / self.mean_without_ns


def main(argv: Sequence[str] | None = None) -> int:
    """Measure, print, and return the exit status."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--link", default="lab:local", help="loopback, or lab:PRESET")
    parser.add_argument("--mpi", help="an MPI library, for MPI's ping-pong beside TCP's")
    parser.add_argument("--rounds", type=int, default=40)
    parser.add_argument("--seconds", type=float, default=3.0, help="measuring time of a launch")
    parser.add_argument("--interval", type=float, default=1.0, help="seconds from reading to reading")
    parser.add_argument("-o", "--output", help="write OUTPUT.json")
    wanted = parser.parse_args(argv)
    load_before = load()
    rounds: list[Round] = []
    watches: list[Watch] = []
    try:
        with link(wanted.link, wanted.mpi) as place:
            for number in range(1, wanted.rounds + 1):
                for layer in ("tcp", "mpi") if wanted.mpi else ("tcp",):
                    one, seen = _round(place, layer, number, wanted)
                    rounds.append(one)
                    watches += seen
                    print(f"round {number}, {layer}: {one.ratio:.4f}, mean {one.mean_ratio:.4f}", file=sys.stderr)
    except FabriscopeError as error:
        print(f"prove_overhead: {error}", file=sys.stderr)
        return error.exit_code
    print(f"{cpu()}; load before {load_before:.2f}, after {load():.2f}; {wanted.rounds} rounds over {wanted.link}")
    layers = dict.fromkeys(one.layer for one in rounds)
    found = {layer: _summary([one for one in rounds if one.layer == layer]) for layer in layers}
    costs = _costs(watches)
    print("\n".join(_lines(found, costs)))
    if wanted.output:
        content = {"cpu": cpu(), "load_before": load_before, "link": wanted.link, "layers": found, "costs": costs}
        content |= {"rounds": [asdict(one) for one in rounds], "interval_s": wanted.interval, "seconds": wanted.seconds}
        Path(wanted.output + ".json").write_text(json.dumps(content, indent=1) + "\n")
    return _status(found, costs)


def _lines(found: Mapping[str, Mapping[str, float]], costs: Mapping[str, float]) -> Iterator[str]:
    for layer, one in found.items():
        of_median = f"{one['ratio']:.4f} ({one['low']:.4f} to {one['high']:.4f})"
        of_mean = f"{one['mean_ratio']:.4f} ({one['mean_low']:.4f} to {one['mean_high']:.4f})"
        yield f"{layer}: {one['without_ns'] / 1e3:.2f} us without; ratio of medians {of_median}, of means {of_mean}"
    least, most = costs["median_ms"], costs["worst_ms"]
    yield f"between readings: median {least:.2f} ms, worst {most:.2f} ms of a core, {costs['core_share']:.3%} in all"


def _round(place: Link, layer: str, number: int, wanted: argparse.Namespace) -> tuple[Round, list[Watch]]:
    """Launch both once, in turns; raises FabriscopeError where one gives no value."""
    seen: list[Watch] = []
    point = (layer, "ping_pong", SIZE_BYTES, 1)
    with tempfile.TemporaryDirectory() as folder:
        marks = {one: f"{folder}/{one}" for one in (WATCHED, ALONE)}
        launches = {one: place.launch(number, point, OURS, round(wanted.seconds * 2e9)) for one in marks}

        def run(name: str) -> Reading:
            mark = marks[name]
            watch = _watched(place, wanted.interval, seen, mark) if name == WATCHED else contextlib.nullcontext()
            with watch as group:  # in which TCP's programs are born, as under `prove`
                inside = place if group is None else replace(place, pin=group.joining(place.pin or ("env",)))
                return inside.launched(launches[name], place.listening(layer, SIZE_BYTES, mark))

        turns, _ = take_turns(marks, run)
        heard_ns = {name: one.times_ns for name, one in turns.heard(round_trips).items()}
    if any(not len(trips) for trips in heard_ns.values()):
        raise FabriscopeError("one of the two ping-pongs was not heard")
    medians = (float(np.median(heard_ns[one])) / 2 for one in (WATCHED, ALONE))
    means = (float(heard_ns[one].mean()) / 2 for one in (WATCHED, ALONE))
    return Round(layer, *medians, *means), seen


@contextlib.contextmanager
def _watched(place: Link, interval_s: float, seen: list[Watch], mark: str) -> Iterator[JobGroup | None]:
    hosts = place.hosts if place.lab is not None else dict(list(place.hosts.items())[:1])
    commands = counters.commands(hosts.values(), interval_s, secrets.token_hex(16))
    watchers = [replace(one, env={**one.env, MARK: mark}) for one in commands]
    with processes.watching(watchers, hosts) as (end, group):
        yield group
        seen += [counters.parse(outcome) for outcome in end()]


def _summary(rounds: Sequence[Round]) -> dict[str, float]:
    found = {
        "with_ns": statistics.median(one.with_ns for one in rounds),
        "without_ns": statistics.median(one.without_ns for one in rounds),
    }
    for prefix, ratios in (("", [one.ratio for one in rounds]), ("mean_", [one.mean_ratio for one in rounds])):
        low, high = ratio_interval(ratios)
        found |= {f"{prefix}ratio": statistics.geometric_mean(ratios), f"{prefix}low": low, f"{prefix}high": high}
    return found


def _costs(watches: Sequence[Watch]) -> dict[str, float]:
    costs_ms = [reading.cost_ns / 1e6 for watch in watches for reading in watch.readings[1:]]
    spans_ns = sum(watch.readings[-1].at_ns - watch.readings[0].at_ns for watch in watches if watch.readings)
    return {
        "median_ms": statistics.median(costs_ms),
        "worst_ms": max(costs_ms),
        "core_share": sum(costs_ms) * 1e6 / spans_ns,
    }


def _status(found: dict[str, dict[str, float]], costs: dict[str, float]) -> int:
    lows = [one[name] for one in found.values() for name in ("low", "mean_low")]
    highs = [one[name] for one in found.values() for name in ("high", "mean_high")]
    if max(lows) > MOST_RATIO or costs["worst_ms"] > MOST_READING_MS:
        return EXIT_BROKEN
    return EXIT_UNDECIDED if max(highs) > MOST_RATIO else 0


if __name__ == "__main__":
    sys.exit(main())
