"""Verdicts in words: who leads, at which sizes, by how much, and what is undecided."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass

from fabriscope.analysis.comparing.compared import (
    EQUIVALENT,
    FASTER,
    LEADS,
    SLOWER,
    UNDECIDED,
    VERDICTS,
    CurvePair,
    by_pair,
    turned,
)
from fabriscope.analysis.comparing.comparisons import KINDS
from fabriscope.analysis.comparing.control import CONTROL
from fabriscope.analysis.comparing.crossovers import Crossover, crossover_text, crossovers
from fabriscope.analysis.comparing.ranges import Range
from fabriscope.analysis.curve import Curve
from fabriscope.analysis.numbers.forecasts import joined
from fabriscope.analysis.proof.transport import EntryVerdict, entry_verdicts
from fabriscope.analysis.words import (
    TOO_WIDE,
    advantage_interval_text,
    advantage_range_text,
    advantage_text,
    ratio_interval_text,
    size_text,
)
from fabriscope.model.benchmark_kind import APPLICATION
from fabriscope.model.benchmarks import BENCHMARKS, kind_of
from fabriscope.model.counters import REFUTED
from fabriscope.model.layers import layer_of
from fabriscope.model.ranks import layout_from
from fabriscope.model.run_data import RunData

BENCHMARK_NAMES = {name: kind.title for name, kind in BENCHMARKS.items()}
MOST_RANGES = 3
"""A sentence about more ranges than this counts sizes instead; the table of ranges has them all."""
PLACEMENT_NAMES = {"inter": "between hosts", "intra": "inside one host", "unstated": "on hosts that nobody states"}


@dataclass(frozen=True)
class Finding:
    """What there is to say of one pair of curves, or of an entry whose transport was refuted."""

    kind: str
    """Of the comparison, or `refuted`."""
    benchmark: str
    placement: str
    layer: str | None
    """None for what is refuted."""
    where: str
    """In which circumstances it holds."""
    text: str
    has_lead: bool
    """Whether one of them leads anywhere."""
    crossovers: tuple[Crossover, ...] = ()

    def columns(self) -> dict[str, object]:
        """Return it as `show --json` prints it."""
        columns = {**asdict(self), "crossovers": [asdict(one) for one in self.crossovers]}
        return {name: value for name, value in columns.items() if name != "layer" or value is not None}


def findings(all_ranges: Iterable[Range]) -> list[Finding]:
    """Return one finding for each pair of curves."""
    found = []
    for rows in by_pair(all_ranges):
        pair, curve = rows[0].pair, rows[0].pair.left_curve
        has_lead = any(row.verdict in LEADS for row in rows)
        about = (pair.kind, curve.benchmark, curve.placement, curve.layer, where_text(pair), pair_text(rows), has_lead)
        found.append(Finding(*about, tuple(crossovers(rows))))
    return found


def where_text(pair: CurvePair) -> str:
    """Return the circumstances that both sides share: `ping-pong, TCP, between hosts`."""
    kind, curve = pair.kind, pair.left_curve
    parts = [BENCHMARK_NAMES.get(curve.benchmark, curve.benchmark)]
    if kind not in KINDS or kind == CONTROL:
        return ", ".join([*parts, *_shared(curve, pair.right_curve)])
    if kind in ("fabric", "placement", "series", "mpi", "ranks"):
        stack = f" ({curve.mpi})" if curve.mpi and kind != "mpi" else ""
        parts.append(layer_of(curve.layer or "").label + stack)
    if kind in ("layer", "transport", "series", "mpi", "instrument", "ranks") and curve.fabric:
        parts.append(curve.fabric)
    if kind != "instrument" and curve.instrument != "engine":
        parts.append(f"by {curve.instrument}")
    if kind != "placement":
        parts.append(PLACEMENT_NAMES[curve.placement])
    if curve.ranks:
        count = layout_from(curve.ranks).rank_count
        parts.append(f"{count} ranks" if kind in ("ranks", "placement") else curve.layout)
    if kind != "series" and curve.series:
        parts.append(curve.series)
    return ", ".join(part for part in parts if part)


def _shared(one: Curve, other: Curve) -> list[str]:
    """Return what both sides have in common, where any attribute may differ."""
    parts = [one.fabric or "" if one.fabric == other.fabric else ""]
    if one.layer == other.layer:
        stack = f" ({one.mpi})" if one.mpi and one.mpi == other.mpi else ""
        parts.append(layer_of(one.layer).label + stack)
    if one.instrument == other.instrument != "engine":
        parts.append(f"by {one.instrument}")
    parts.append(PLACEMENT_NAMES.get(one.placement, "") if one.placement == other.placement else "")
    parts.append(one.series if one.series == other.series else "")
    if one.ranks and one.ranks == other.ranks:
        parts.append(one.layout)
    return [part for part in parts if part]


def pair_text(rows: Sequence[Range]) -> str:
    """Return the sentence about one pair of curves from its ranges, smallest sizes first."""
    changes = crossover_text(crossovers(rows))
    return _ranges_text(rows) + (f"; {changes}" if changes else "")


def _ranges_text(rows: Sequence[Range]) -> str:
    if len(rows) > MOST_RANGES:
        return _counted_text(rows)
    return "; ".join(_range_text(row, range_place(rows, index)) for index, row in enumerate(rows))


def range_place(rows: Sequence[Range], index: int) -> str:
    """Return at which sizes a range of a pair lies: `at every size`, `up to 1 KiB`, `from 2 KiB on`, `at 1 MiB`."""
    row = rows[index]
    if len(rows) == 1:
        is_application = kind_of(row.pair.left_curve.benchmark).pattern == APPLICATION
        return "on this problem" if is_application else "at every size"
    sizes = row.first_size_bytes, row.last_size_bytes
    return run_place(*sizes, is_first=index == 0, is_last=index == len(rows) - 1)


def run_place(first_bytes: int, last_bytes: int, *, is_first: bool, is_last: bool) -> str:
    """Return where neighbouring sizes lie, which may be the first or the last of a curve: `up to 1 KiB`, `at 1 MiB`."""
    first, last = size_text(first_bytes), size_text(last_bytes)
    if first_bytes == last_bytes:
        return f"at {first}"
    if is_first:
        return f"up to {last}"
    return f"from {first} on" if is_last else f"from {first} to {last}"


def _counted_text(rows: Sequence[Range]) -> str:
    """Return how many sizes have each verdict: what is left to say where verdicts change from size to size."""
    total = sum(row.size_count for row in rows)
    parts = []
    for name in VERDICTS:
        some = [row for row in rows if row.verdict == name]
        count = sum(row.size_count for row in some)
        if not some:
            continue
        where = f"at {count} of {total} sizes between {size_text(some[0].first_size_bytes)}"
        where += f" and {size_text(some[-1].last_size_bytes)}"
        left, right = some[0].pair.left, some[0].pair.right
        least = min(row.least_ratio for row in some)
        most = max(row.most_ratio for row in some)
        if name == FASTER:
            parts.append(f"{left} leads {right} {where}, {advantage_range_text(least, most)}")
        elif name == SLOWER:
            parts.append(f"{right} leads {left} {where}, {advantage_range_text(1 / most, 1 / least)}")
        elif name == EQUIVALENT:
            parts.append(f"{left} and {right} are equivalent {where}")
        else:
            needs = [row.blocks_to_decide for row in some if row.blocks_to_decide]
            advice = f" ({joined(needs)} blocks would decide)" if needs else ""
            parts.append(f"{left} against {right} is undecided {where}{advice}")
    return "; ".join(parts)


def _range_text(row: Range, where: str) -> str:
    left, right, verdict = row.pair.left, row.pair.right, row.verdict
    said = _interval_text(row.low, row.high, row.block_count)
    if verdict == UNDECIDED:
        return f"{left} against {right} is undecided {where}: {said}{_advice(row)}"
    if verdict == EQUIVALENT:
        return f"{left} and {right} are equivalent {where} ({said})"
    least, most = row.least_ratio, row.most_ratio
    at_last, ends = row.ratio_at_last, (row.low_at_last, row.high_at_last)
    if verdict == SLOWER:
        left, right = right, left
        least, most, at_last = 1 / most, 1 / least, 1 / at_last
        ends = turned(*ends)
    last = size_text(row.last_size_bytes)
    around = f"({advantage_interval_text(at_last, *ends)})"
    if row.size_count == 1:
        return f"{left} leads {right} {where}, {advantage_text(at_last)} {around}"
    return (
        f"{left} leads {right} {where}, {advantage_range_text(least, most)}; "
        f"at {last} {advantage_text(at_last)} {around}"
    )


def _interval_text(low: float | None, high: float | None, block_count: int) -> str:
    if low is None or high is None:
        both = "both sides have a value in one block" if block_count == 1 else f"{block_count} blocks have both sides"
        return f"{both}, which gives no interval"
    text = ratio_interval_text(low, high)
    return "the launches differ too much" if text == TOO_WIDE else f"the interval of the ratio is {text}"


def _advice(row: Range) -> str:
    needed = row.blocks_to_decide
    return f"; {needed} blocks would decide" if needed else ""


def refuted_findings(run: RunData) -> list[Finding]:
    """Return a finding for each entry with refuted launches; its kind is `refuted`."""
    return [
        Finding(
            kind=REFUTED,
            benchmark="",
            placement=of_entry.entry.placement,
            layer=None,
            where=of_entry.entry.label(),
            text=f"asked for {of_entry.asked}, {_in_truth(of_entry)} in {_count(of_entry)}: {of_entry.because}; "
            "left out of every comparison",
            has_lead=False,
        )
        for of_entry in entry_verdicts(run)
        if of_entry.verdict == REFUTED
    ]


def _in_truth(of_entry: EntryVerdict) -> str:
    return f"and in truth carried by {of_entry.carried_by}" if of_entry.carried_by else "which did not carry it"


def _count(of_entry: EntryVerdict) -> str:
    total, refuted = of_entry.launch_count, of_entry.counts[REFUTED]
    return "every launch" if refuted == total else f"{refuted} of {total} launches"


def refuted_sentences(run: RunData) -> list[str]:
    """Return the same as sentences."""
    return [f"Refuted: {one.where} was {one.text}." for one in refuted_findings(run)]
