"""What watching costs: an 8 B ping-pong with and without the collector on both hosts, paired.

    python -m benchmarks.prove_overhead -o out                  # from the checkout's root, over TCP
    python -m benchmarks.prove_overhead --mpi openmpi -o out    # over MPI as well

Promises: the median latency grows by less than 1 %, and a reading takes less than 50 ms. Each round launches both in
random order; the interval is taken over the rounds' ratios. The exit status is 0 if both promises hold, 1 if one is
broken, and 10 if the interval is too wide to tell.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import random
import secrets
import statistics
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from benchmarks._peers_link import Link, link
from benchmarks._peers_report import cpu, load
from benchmarks._peers_values import OURS, ratio_interval

from fabriscope.hosts import counters
from fabriscope.launch import processes
from fabriscope.model.counters import Watch
from fabriscope.model.errors import FabriscopeError

SIZE_BYTES = 8
MOST_RATIO = 1.01
MOST_READING_MS = 50.0
EXIT_BROKEN, EXIT_UNDECIDED = 1, 10


@dataclass(frozen=True)
class Round:
    """One pair of launches."""

    layer: str
    with_ns: float
    without_ns: float

    @property
    def ratio(self) -> float:
        """Return how much longer it took with the watch."""
        return self.with_ns / self.without_ns


def main(argv: Sequence[str] | None = None) -> int:
    """Measure, print, and return the exit status."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--link", default="lab:local", help="loopback, or lab:PRESET")
    parser.add_argument("--mpi", help="an MPI library, for MPI's ping-pong beside TCP's")
    parser.add_argument("--rounds", type=int, default=40)
    parser.add_argument("--seconds", type=float, default=3.0, help="measuring time of a launch")
    parser.add_argument("--interval", type=float, default=1.0, help="seconds from reading to reading")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("-o", "--output", help="write OUTPUT.json")
    wanted = parser.parse_args(argv)
    load_before, chance = load(), random.Random(wanted.seed)  # noqa: S311 - an order, no secret
    rounds: list[Round] = []
    watches: list[Watch] = []
    try:
        with link(wanted.link, wanted.mpi) as place:
            for number in range(1, wanted.rounds + 1):
                for layer in ("tcp", "mpi") if wanted.mpi else ("tcp",):
                    one, seen = _round(place, layer, number, wanted, chance)
                    rounds.append(one)
                    watches += seen
                    print(f"round {number}, {layer}: {one.ratio:.4f}", file=sys.stderr)
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
        interval = f"{one['low']:.4f} to {one['high']:.4f}"
        yield f"{layer}: {one['without_ns'] / 1e3:.2f} us without, ratio {one['ratio']:.4f} ({interval})"
    least, most = costs["median_ms"], costs["worst_ms"]
    yield f"between readings: median {least:.2f} ms, worst {most:.2f} ms of a core, {costs['core_share']:.3%} in all"


def _round(
    place: Link, layer: str, number: int, wanted: argparse.Namespace, chance: random.Random
) -> tuple[Round, list[Watch]]:
    """Launch both once, in random order; raises FabriscopeError where one gives no value."""
    found: dict[bool, float] = {}
    seen: list[Watch] = []
    for is_watched in chance.sample((True, False), 2):
        with _watched(place, wanted.interval, seen) if is_watched else contextlib.nullcontext():
            point = (layer, "ping_pong", SIZE_BYTES, 1)
            reading = place.measure(number, point, OURS, round(wanted.seconds * 1e9))
        if "latency_ns" not in reading.values:
            raise FabriscopeError(f"the ping-pong gave no value: {reading.reason}")
        found[is_watched] = reading.values["latency_ns"]
    return Round(layer, found[True], found[False]), seen


@contextlib.contextmanager
def _watched(place: Link, interval_s: float, seen: list[Watch]) -> Iterator[None]:
    hosts = place.hosts if place.lab is not None else dict(list(place.hosts.items())[:1])
    watchers = counters.commands(hosts.values(), interval_s, secrets.token_hex(16))
    with processes.watching(watchers, hosts) as end:
        yield
        seen += [counters.parse(outcome) for outcome in end()]


def _summary(rounds: Sequence[Round]) -> dict[str, float]:
    ratios = [one.ratio for one in rounds]
    low, high = ratio_interval(ratios)
    return {
        "with_ns": statistics.median(one.with_ns for one in rounds),
        "without_ns": statistics.median(one.without_ns for one in rounds),
        "ratio": statistics.geometric_mean(ratios),
        "low": low,
        "high": high,
    }


def _costs(watches: Sequence[Watch]) -> dict[str, float]:
    """Return what readings cost, and the share of a core that the collector took in all."""
    costs_ms = [reading.cost_ns / 1e6 for watch in watches for reading in watch.readings[1:]]
    spans_ns = sum(watch.readings[-1].at_ns - watch.readings[0].at_ns for watch in watches if watch.readings)
    return {
        "median_ms": statistics.median(costs_ms),
        "worst_ms": max(costs_ms),
        "core_share": sum(costs_ms) * 1e6 / spans_ns,
    }


def _status(found: dict[str, dict[str, float]], costs: dict[str, float]) -> int:
    if any(one["low"] > MOST_RATIO for one in found.values()) or costs["worst_ms"] > MOST_READING_MS:
        return EXIT_BROKEN
    return EXIT_UNDECIDED if any(one["high"] > MOST_RATIO for one in found.values()) else 0


if __name__ == "__main__":
    sys.exit(main())
