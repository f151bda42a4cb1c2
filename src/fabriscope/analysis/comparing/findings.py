"""Verdicts in words: who leads, at which sizes, by how much, and what is undecided."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict
from typing import Any

import polars as pl

from fabriscope.analysis.comparing.comparisons import KINDS
from fabriscope.analysis.comparing.control import CONTROL
from fabriscope.analysis.comparing.crossovers import crossover_text, crossovers
from fabriscope.analysis.comparing.ranges import PAIR
from fabriscope.analysis.frames import IDENTITY
from fabriscope.analysis.words import (
    TOO_WIDE,
    advantage_range_text,
    advantage_text,
    interval_text,
    ratio_text,
    size_text,
)  # fmt: skip
from fabriscope.model.benchmarks import BENCHMARKS
from fabriscope.model.layers import layer_of
from fabriscope.model.ranks import layout_from

BENCHMARK_NAMES = {name: kind.title for name, kind in BENCHMARKS.items()}
MOST_RANGES = 3
"""A sentence about more ranges than this counts sizes instead; the table of ranges has them all."""
PLACEMENT_NAMES = {"inter": "between hosts", "intra": "inside one host"}


def findings(all_ranges: pl.DataFrame) -> list[dict[str, Any]]:
    """Return one finding for each pair of curves: `kind`, `where` it holds, the sentence `text`, whether
    one of them leads anywhere, and where the lead changes."""
    return [
        {
            "kind": rows[0]["kind"],
            "benchmark": rows[0]["left_benchmark"],
            "placement": rows[0]["left_placement"],
            "layer": rows[0]["left_layer"],
            "where": where_text(rows[0]),
            "text": pair_text(rows),
            "has_lead": any(row["verdict"] in ("faster", "slower") for row in rows),
            "crossovers": [asdict(one) for one in crossovers(rows)],
        }
        for rows in (part.to_dicts() for part in all_ranges.partition_by(PAIR, maintain_order=True))
    ]


def where_text(row: dict[str, Any]) -> str:
    """Return the circumstances that both sides share: `ping-pong, TCP, between hosts`."""
    parts = [BENCHMARK_NAMES.get(row["left_benchmark"], row["left_benchmark"])]
    if row["kind"] not in KINDS or row["kind"] == CONTROL:
        return ", ".join([*parts, *_shared(row)])
    if row["kind"] in ("fabric", "placement", "series", "mpi", "ranks"):
        stack = f" ({row['left_mpi']})" if row["left_mpi"] and row["kind"] != "mpi" else ""
        parts.append(layer_of(row["left_layer"] or "").label + stack)
    if row["kind"] in ("layer", "transport", "series", "mpi", "instrument", "ranks") and row["left_fabric"]:
        parts.append(str(row["left_fabric"]))
    if row["kind"] != "placement":
        parts.append(PLACEMENT_NAMES[row["left_placement"]])
    if row["left_ranks"]:
        layout = layout_from(row["left_ranks"])
        only_count = row["kind"] in ("ranks", "placement")
        parts.append(f"{layout.rank_count} ranks" if only_count else layout.text())
    if row["kind"] != "series" and row["left_series"]:
        parts.append(str(row["left_series"]))
    return ", ".join(part for part in parts if part)


def _shared(row: dict[str, Any]) -> list[str]:
    """Return what both sides have in common, where any attribute may differ."""
    same = {name: row[f"left_{name}"] for name in IDENTITY if row[f"left_{name}"] == row[f"right_{name}"]}
    parts = [str(same.get("fabric") or "")]
    if "layer" in same:
        parts.append(layer_of(same["layer"]).label + (f" ({same['mpi']})" if same.get("mpi") else ""))
    if same.get("instrument", "engine") != "engine":
        parts.append(f"by {same['instrument']}")
    parts += [PLACEMENT_NAMES.get(same.get("placement", ""), ""), str(same.get("series") or "")]
    if same.get("ranks"):
        parts.append(layout_from(same["ranks"]).text())
    return [part for part in parts if part]


def pair_text(rows: Iterable[dict[str, Any]]) -> str:
    """Return the sentence about one pair of curves from its ranges, smallest sizes first."""
    rows = list(rows)
    changes = crossover_text(crossovers(rows))
    return _ranges_text(rows) + (f"; {changes}" if changes else "")


def _ranges_text(rows: list[dict[str, Any]]) -> str:
    if len(rows) > MOST_RANGES:
        return _counted_text(rows)
    return "; ".join(_range_text(row, range_place(rows, index)) for index, row in enumerate(rows))


def range_place(rows: Sequence[dict[str, Any]], index: int) -> str:
    """Return at which sizes a range of a pair lies: `at every size`, `up to 1 KiB`, `from 2 KiB on`, `at 1 MiB`."""
    row = rows[index]
    first, last = size_text(row["first_size_bytes"]), size_text(row["last_size_bytes"])
    if len(rows) == 1:
        return "at every size"
    if row["size_count"] == 1:
        return f"at {first}"
    if index == 0:
        return f"up to {last}"
    return f"from {first} on" if index == len(rows) - 1 else f"from {first} to {last}"


def _counted_text(rows: list[dict[str, Any]]) -> str:
    """Return how many sizes have each verdict: what is left to say where verdicts change from size to size."""
    total = sum(row["size_count"] for row in rows)
    parts = []
    for name in ("faster", "slower", "equivalent", "undecided"):
        some = [row for row in rows if row["verdict"] == name]
        count = sum(row["size_count"] for row in some)
        if not some:
            continue
        where = f"at {count} of {total} sizes between {size_text(some[0]['first_size_bytes'])}"
        where += f" and {size_text(some[-1]['last_size_bytes'])}"
        left, right = some[0]["left"], some[0]["right"]
        least = min(row["least_ratio"] for row in some)
        most = max(row["most_ratio"] for row in some)
        if name == "faster":
            parts.append(f"{left} leads {right} {where}, {advantage_range_text(least, most)}")
        elif name == "slower":
            parts.append(f"{right} leads {left} {where}, {advantage_range_text(1 / most, 1 / least)}")
        elif name == "equivalent":
            parts.append(f"{left} and {right} are equivalent {where}")
        else:
            needs = [row["blocks_to_decide"] for row in some if row["blocks_to_decide"]]
            advice = f" (about {max(needs)} blocks would decide)" if needs else ""
            parts.append(f"{left} against {right} is undecided {where}{advice}")
    return "; ".join(parts)


def _range_text(row: dict[str, Any], where: str) -> str:
    left, right, verdict = row["left"], row["right"], row["verdict"]
    said = _interval_text(row["low"], row["high"], row["block_count"])
    if verdict == "undecided":
        return f"{left} against {right} is undecided {where}: {said}{_advice(row)}"
    if verdict == "equivalent":
        return f"{left} and {right} are equivalent {where} ({said})"
    least, most = row["least_ratio"], row["most_ratio"]
    at_last, low, high = row["ratio_at_last"], row["low_at_last"], row["high_at_last"]
    if verdict == "slower":
        left, right = right, left
        least, most, at_last = 1 / most, 1 / least, 1 / at_last
        low, high = 1 / high, 1 / low
    last = size_text(row["last_size_bytes"])
    around = f"({ratio_text(low)} to {ratio_text(high)})"
    if row["size_count"] == 1:
        return f"{left} leads {right} {where}, {advantage_text(at_last)} {around}"
    return (
        f"{left} leads {right} {where}, {advantage_range_text(least, most)}; "
        f"at {last} {advantage_text(at_last)} {around}"
    )


def _interval_text(low: float | None, high: float | None, block_count: int) -> str:
    if low is None or high is None:
        return "one block gives no interval" if block_count == 1 else f"{block_count} blocks give no interval yet"
    text = interval_text(low, high, ratio_text)
    return "the launches differ too much" if text == TOO_WIDE else f"the interval of the ratio is {text}"


def _advice(row: dict[str, Any]) -> str:
    needed = row["blocks_to_decide"]
    return f"; about {needed} blocks would decide" if needed else ""
