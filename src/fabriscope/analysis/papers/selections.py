"""Picking curves out of a run by what their cases are, for claims and tables that name them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields
from types import MappingProxyType

import polars as pl

from fabriscope.analysis.numbers.evidence import FIXED
from fabriscope.model.benchmark_kind import OF_STREAMS
from fabriscope.model.benchmarks import kind_of
from fabriscope.model.case import Case
from fabriscope.model.fabric import Fabric
from fabriscope.model.paper import Attribute, Meant, Picked, Select

SIZE = "message_size_bytes"
METRIC = "metric"
"""In a selection: a curve is of this metric, whatever the claim's; then two definitions are set against each other."""
DEFAULTS: dict[str, Attribute] = {
    "send_buffer_bytes": None,
    "receive_buffer_bytes": None,
    "tcp_nodelay": True,
    "busy_poll_us": None,
    "congestion_control": None,
    "twin": False,
}
"""Settings that a selection means when it does not name them."""
Blocks = dict[int, float]
"""Block to value."""


@dataclass(frozen=True)
class Range:
    """Part of an axis; an open end is None. Ends belong to it."""

    low: float | None = None
    high: float | None = None

    def holds(self, value: float) -> bool:
        """Return whether the value lies inside."""
        return (self.low is None or value >= self.low) and (self.high is None or value <= self.high)


EVERYTHING = Range()


@dataclass(frozen=True)
class Curve:
    """The points of one selection: axis value to block to value."""

    points: dict[float, Blocks] = field(default_factory=dict)
    cases: dict[float, str] = field(default_factory=dict)
    """Axis value to the case that its value is of, where it is of one alone."""
    sizes: dict[float, int] = field(default_factory=dict)
    """Axis value to that case's message size."""
    case_ids: frozenset[str] = frozenset()
    missing: frozenset[float] = frozenset()
    """Axis values that were planned and have no result."""
    problem: str | None = None
    """Why there is no curve."""
    metric_id: str = ""
    """Of its values."""


@dataclass(frozen=True)
class State:
    """What is told of one curve of many to one: whether the fabric holds."""

    name: str
    """`holds`, `paused`, `dropped`, `collapses`, `unfair` or `undecided`."""
    sentence: str
    may_collapse: bool = False
    """Its aggregate falls, and the launches do not tell whether it did."""


NO_STATES: Mapping[str, State] = MappingProxyType({})


class Pool:
    """The launch values of a run, to pick from."""

    def __init__(
        self,
        values: pl.DataFrame,
        cases: Mapping[str, Case],
        fabrics: Mapping[str, Fabric],
        method: str = FIXED,
        states: Mapping[str, State] = NO_STATES,
    ) -> None:
        self.method = method
        self._states = states
        self._cases = {case_id: attributes(case) for case_id, case in cases.items()}
        self._values: dict[tuple[str, str], Blocks] = {}
        sound = values.filter(~pl.col("impossible"), pl.col("value") > 0)
        merged = sound.group_by("case_id", "metric_id", "block", maintain_order=True).agg(
            pl.col("value").log().mean().exp()
        )
        for case_id, metric_id, block, value in merged.iter_rows():
            self._values.setdefault((case_id, metric_id), {})[block] = value
        self._line_rates = {name: fabric.line_rate_bits_per_s for name, fabric in fabrics.items()}
        self.taken: dict[str, Select] = {}
        """Names of the paper for which another choice than their first stands, to it."""

    def of(self, select: Select) -> list[str]:
        """Return the cases, by their ids, that a selection names by itself, whatever else they are."""
        wanted = {name: value for name, value in select.items() if name != METRIC}
        return [
            case_id
            for case_id, one in self._cases.items()
            if all(_same(one.named.get(name, DEFAULTS.get(name)), value) for name, value in wanted.items())
        ]

    def has_value(self, select: Select) -> bool:
        """Return whether anything of a selection was measured."""
        metric_id, ids = select.get(METRIC), set(self.of(select))
        return any(case_id in ids and metric_id in (None, metric) for case_id, metric in self._values)

    def pick(self, meant: Meant, how: Picked) -> Curve:
        """Return the curve that is meant, as `how` says: metric and axis."""
        selected = meant.selected(self.taken)
        if selected is None:
            return Curve(problem=f"nothing here stands for {meant.missing or meant.label}")
        at, sizes = (Range(*ends) if ends else EVERYTHING for ends in (how.at, how.sizes))
        select = {name: value for name, value in selected.items() if name != METRIC}
        metric_id = str(selected.get(METRIC, how.metric))
        return self.curve(select, metric_id, how.along or SIZE, at, sizes, how.take)

    def curve(
        self,
        select: Select,
        metric_id: str,
        along: str = SIZE,
        at: Range = EVERYTHING,
        sizes: Range = EVERYTHING,
        take: str | None = None,
    ) -> Curve:
        """Return the curve of what `select` says, along one attribute of the cases.

        `take` says how the message sizes become one value: `largest` or `least` (that of the size where the estimate
        over launches is largest or least), or `mean` (their geometric mean in each block).
        """
        found: dict[float, dict[int, list[str]]] = {}
        missing = set()
        for case_id, one in self._cases.items():
            place = _number(one.named.get(along)) if along != SIZE or not take else 0.0
            if place is None or not matches(one.named, select, along) or not sizes.holds(one.message_size_bytes):
                continue
            if not at.holds(place):
                continue
            if (case_id, metric_id) not in self._values:
                missing.add(place)
                continue
            found.setdefault(place, {}).setdefault(one.message_size_bytes, []).append(case_id)
        case_ids = frozenset(case_id for by_size in found.values() for ids in by_size.values() for case_id in ids)
        if any(len(ids) > 1 for by_size in found.values() for ids in by_size.values()):
            return Curve(problem=f"several measurements fit: {self._difference(case_ids)}", case_ids=case_ids)
        points, picked = {}, {}
        for place in sorted(found):
            by_size = {size: self._values[(ids[0], metric_id)] for size, ids in found[place].items()}
            if take is None and len(by_size) > 1:
                return Curve(problem="several message sizes fit, and nothing says which to take", case_ids=case_ids)
            points[place], picked[place] = _taken(by_size, take)
        known = {place: size for place, size in picked.items() if size is not None}
        cases = {place: found[place][size][0] for place, size in known.items()}
        lost = frozenset(missing - points.keys())
        return Curve(points, cases, known, case_ids, lost, None if points else "not measured here", metric_id)

    def states_of(self, curve: Curve) -> set[State]:
        """Return the states of the curves of many to one that its cases belong to."""
        return {self._states[case_id] for case_id in curve.case_ids if case_id in self._states}

    def line_rate_of(self, curve: Curve) -> float | None:
        """Return the line rate in bits per second of the one fabric that a curve runs over; None if unknown."""
        names = {self._cases[case_id].fabric for case_id in curve.case_ids}
        return self._line_rates.get(names.pop() or "") if len(names) == 1 else None

    def _difference(self, case_ids: Iterable[str]) -> str:
        """Return by what the cases differ, in words."""
        some = [self._cases[case_id].named for case_id in sorted(case_ids)]
        telling = [name for name in some[0] if name not in (SIZE, "window_size", "series")]
        names = [name for name in telling if len({str(one.get(name)) for one in some}) > 1]
        parts = [f"{name} {', '.join(dict.fromkeys(str(one.get(name)) for one in some))}" for name in names]
        return "; ".join(parts) or "cases with the same attributes"


@dataclass(frozen=True)
class Attributes:
    """Everything that a case can be selected by."""

    message_size_bytes: int
    fabric: str | None
    named: Mapping[str, Attribute]
    """All of it, by its name in the manifest: of the entry (layer, fabric, placement, mpi, instrument), the case, its
    socket options and its parameters; `rank_count`, `host_count`, `pair_count` and, of many to one, `stream_count` are
    counted."""


def attributes(case: Case) -> Attributes:
    """Return what a case can be selected by."""
    hosts = case.entry.hosts
    flat: dict[str, Attribute] = {}
    for noun in (case, case.entry, case.socket):
        flat |= {field.name: getattr(noun, field.name) for field in fields(noun)}
    for name in ("entry", "socket", "parameters", "hosts"):
        del flat[name]
    flat |= case.parameter_map
    flat |= {"rank_count": len(hosts), "host_count": len(set(hosts)), "pair_count": len(hosts) // 2}
    if kind_of(case.benchmark).pattern in OF_STREAMS:
        flat["stream_count"] = len(hosts) - case.entry.receivers
    return Attributes(case.message_size_bytes, case.entry.fabric, flat)


def matches(one: Mapping[str, Attribute], select: Select, along: str) -> bool:
    """Return whether a case's attributes are what `select` says; unnamed settings must be the system's own."""
    wanted = {**{name: value for name, value in DEFAULTS.items() if name != along}, **select}
    return all(name == along or _same(one.get(name, DEFAULTS.get(name)), value) for name, value in wanted.items())


def _same(found: Attribute, wanted: Attribute | tuple[Attribute, ...]) -> bool:
    if isinstance(wanted, tuple):
        return any(_same(found, one) for one in wanted)
    if found is None or wanted is None:
        return found is wanted
    return str(found) == str(wanted)


def _number(value: Attribute) -> float | None:
    try:
        return None if value is None or isinstance(value, bool) else float(value)
    except ValueError:
        return None


def _taken(by_size: Mapping[int, Blocks], take: str | None) -> tuple[Blocks, int | None]:
    if take in (None, "largest", "least") or len(by_size) == 1:  # of one size the mean is that size's
        centres = {size: geometric_mean(blocks.values()) for size, blocks in by_size.items()}
        pick = min if take == "least" else max
        size = pick(centres, key=lambda one: centres[one])
        return by_size[size], size
    shared = set.intersection(*(set(blocks) for blocks in by_size.values()))
    return {block: geometric_mean([blocks[block] for blocks in by_size.values()]) for block in sorted(shared)}, None


def geometric_mean(values: Iterable[float]) -> float:
    """Return the geometric mean of positive values; NaN of none."""
    logs = [math.log(value) for value in values]
    return math.exp(math.fsum(logs) / len(logs)) if logs else math.nan
