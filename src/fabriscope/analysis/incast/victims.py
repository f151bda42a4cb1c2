"""What many to one does to a bystander: each launch measures it with and without the incast, in turns.

The two values of a launch are a pair; its slowdown is their ratio, and the interval goes over launches. That is the
congestion impact of GPCNeT (Chunduri and others, SC 2019), which sets one run beside another.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import polars as pl

from fabriscope.analysis.curve import Curve
from fabriscope.analysis.frames import PlannedCase
from fabriscope.analysis.incast.evidence import Evidence, evidence_by_entry
from fabriscope.analysis.numbers.medians import median_with_interval
from fabriscope.analysis.rows import rows_of
from fabriscope.analysis.values.estimates import Centre
from fabriscope.analysis.values.stopping import Rules
from fabriscope.analysis.values.tails import LaunchTail
from fabriscope.model.benchmark_kind import BESIDE
from fabriscope.model.benchmarks import DEFAULTS, kind_of
from fabriscope.model.host_lists import unfolded
from fabriscope.model.metrics import metric_of
from fabriscope.model.run_data import RunData
from fabriscope.model.stream_benchmarks import CONGESTION, UNCONGESTED, UNDER_INCAST

SLOWED, SPARED, UNDECIDED = "slowed", "spared", "undecided"
LEAST_PAIRS = 2
"""Launches without which there is no interval."""
VICTIM_SCHEMA: Mapping[str, type[pl.DataType]] = {
    "fabric": pl.String, "layer": pl.String, "mpi": pl.String, "series": pl.String, "metric_id": pl.String,
    "message_size_bytes": pl.Int64, "streams": pl.Int32, "shares": pl.String,
    **{f"{what}{end}": pl.Float64 for what in ("alone", "beside", "slowdown", "p99_slowdown")
       for end in ("", "_low", "_high")},
    "pair_count": pl.Int64, "state": pl.String, "dropped_frames": pl.Int64, "pauses": pl.Int64,
    "victim_pauses": pl.Int64,
}  # fmt: skip


@dataclass(frozen=True)
class _Value(PlannedCase):
    """A launch value, as far as a pair needs it."""

    launch_id: int
    metric_id: str
    value: float
    impossible: bool


@dataclass(frozen=True)
class Victim:
    """One flow at one message size beside one number of streams."""

    curve: Curve
    """Without what tells the incast's absence from its presence."""
    metric_id: str
    message_size_bytes: int
    stream_count: int
    shares: str
    """Which hosts the flow and the incast have in common, and which switches of a lab, in words."""
    alone: Centre
    beside: Centre
    slowdown: Centre
    """How many times as slow it is beside the incast: a time over the time alone, or the rate alone over the rate."""
    p99_slowdown: Centre
    """The same of the time that one operation in a hundred exceeds; without a value where too few were timed."""
    pair_count: int
    """Launches that have both."""
    state: str
    """SLOWED, SPARED (by no more than the plan's margin) or UNDECIDED."""
    evidence: Evidence
    """Of the incast, over all of these launches."""
    to_idle_port: bool = False
    """Whether a lab's switch sends nothing else to the host that answers."""

    @property
    def name(self) -> str:
        """Return how a sentence calls it."""
        what = "latency" if metric_of(self.metric_id).sign < 0 else "bandwidth"
        flow = "a flow to an idle port" if self.to_idle_port else "a flow"
        beside = f"{flow} that shares {self.shares} with {self.stream_count} to one"
        return f"{self.curve.label(ranks=False)}: {what} of {beside}"

    def sentence(self) -> str:
        """Return the verdict with its interval."""
        if self.slowdown.value is None:
            return f"{self.name}: no launch measured it both with and without the incast."
        words = f"{self.slowdown.value:.3g} times as slow beside it"
        if self.slowdown.low is not None and self.slowdown.high is not None:
            words += f" ({self.slowdown.low:.3g} to {self.slowdown.high:.3g})"
        verdict = {SLOWED: "it is slowed", SPARED: "it is spared", UNDECIDED: "undecided"}[self.state]
        return f"{self.name}: {words}: {verdict}."


def victims_of(run: RunData, values: pl.DataFrame, tails: Sequence[LaunchTail], rules: Rules) -> list[Victim]:
    """Return every flow that was measured with and without an incast, in the plan's order.

    `values` are launch values.
    """
    sides: dict[tuple[Curve, str, int], dict[str, dict[int, _Value]]] = defaultdict(lambda: defaultdict(dict))
    for row in rows_of(values.filter(pl.col("twin") == ""), _Value):
        if kind_of(row.benchmark).pattern != BESIDE or row.impossible:
            continue
        side = run.manifest.cases[row.case_id].parameter_map.get(CONGESTION, DEFAULTS[CONGESTION])
        sides[_without_side(row.curve), row.metric_id, row.message_size_bytes][side][row.launch_id] = row
    p99 = {(one.launch_id, one.case_id): one.p99 for one in tails if one.p99 is not None}
    evidence = run.once(evidence_by_entry)
    return [
        _victim(run, key, both[UNCONGESTED], both[UNDER_INCAST], p99, evidence, rules) for key, both in sides.items()
    ]


def _without_side(curve: Curve) -> Curve:
    kept = [part for part in curve.series.split(", ") if not part.startswith(f"{CONGESTION} ")]
    return replace(curve, series=", ".join(kept))


def _victim(
    run: RunData, key: tuple[Curve, str, int], alone: Mapping[int, _Value], beside: Mapping[int, _Value],
    p99: Mapping[tuple[int, str], float], evidence: Mapping[str, Evidence], rules: Rules,
) -> Victim:  # fmt: skip
    curve, metric_id, size = key
    any_row = next(iter((*beside.values(), *alone.values())))
    both = sorted(alone.keys() & beside.keys())
    sign = metric_of(metric_id).sign
    slowdowns = [(beside[launch].value / alone[launch].value) ** -sign for launch in both]
    tails = [(p99.get((launch, beside[launch].case_id)), p99.get((launch, alone[launch].case_id))) for launch in both]
    slow_tails = [slow / fast for slow, fast in tails if slow and fast and sign < 0]
    slowdown = _centre(slowdowns, rules)
    entry = run.manifest.cases[any_row.case_id].entry
    switch = run.manifest.switches.get(entry.fabric or "")
    shares = shared_words(entry.hosts, None if switch is None else switch.queues.second_switch)
    return Victim(
        curve, metric_id, size, len(entry.hosts) - 3, shares,
        _centre([alone[launch].value for launch in both], rules),
        _centre([beside[launch].value for launch in both], rules),
        slowdown, _centre(slow_tails, rules), len(both), _state(slowdown, rules.margin),
        evidence.get(entry.entry_id, Evidence()), switch is not None and entry.hosts[1] not in entry.hosts[3:],
    )  # fmt: skip


def shared_words(rank_hosts: Sequence[str], second_switch: str | None = None) -> str:
    """Return what a flow between the first two ranks has in common with many to one of the others.

    `second_switch` are the hosts behind the second switch of a lab; None where nobody knows the switches.
    """
    source, target, receiver, *senders = rank_hosts
    words = ["a sender's host"] if source in senders else []
    words += ["the host of another end that sends"] if target in senders else []
    if second_switch is not None:
        behind = unfolded(second_switch) if second_switch else ()
        words.append(
            _shared_switch(
                (source in behind, target in behind), receiver in behind, {host in behind for host in senders}
            )
        )
    return " and ".join(word for word in words if word) or ("no host" if second_switch is None else "nothing")


def _shared_switch(flow: tuple[bool, bool], receiver: bool, senders: Collection[bool]) -> str:
    """Return which switch, or which way of the cable between two, both use; True is behind the second one."""
    crosses = flow[0] != flow[1] and flow[1] == receiver and flow[0] in senders
    if crosses:
        return "the cable between the switches"
    return "a switch" if {*flow} & {receiver, *senders} else ""


def _centre(values: Sequence[float], rules: Rules) -> Centre:
    """Return the median and its interval, of logarithms: a ratio and its inverse are alike."""
    if not values or min(values) <= 0:
        return Centre(None, None, None)
    middle, low, high = median_with_interval([math.log(value) for value in values], rules.method)
    ends = (math.exp(low), math.exp(high)) if len(values) >= LEAST_PAIRS and math.isfinite(low + high) else (None, None)
    return Centre(math.exp(middle), *ends)


def _state(slowdown: Centre, margin: float) -> str:
    if slowdown.low is not None and slowdown.low > 1 + margin:
        return SLOWED
    return SPARED if slowdown.high is not None and slowdown.high < 1 + margin else UNDECIDED


def victims_frame(victims: Iterable[Victim]) -> pl.DataFrame:
    """Return one row for each, VICTIM_SCHEMA."""
    rows = [
        (
            one.curve.fabric, one.curve.layer, one.curve.mpi, one.curve.series, one.metric_id, one.message_size_bytes,
            one.stream_count, one.shares,
            *(end for centre in (one.alone, one.beside, one.slowdown, one.p99_slowdown)
              for end in (centre.value, centre.low, centre.high)),
            one.pair_count, one.state, one.evidence.dropped_frames, one.evidence.pauses, one.evidence.victim_pauses,
        )
        for one in victims
    ]  # fmt: skip
    return pl.DataFrame(rows, schema=dict(VICTIM_SCHEMA), orient="row")
