"""Paired comparisons: which of two is faster at each size, as log ratios inside blocks."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
import polars as pl

from fabriscope.analysis.frames import series_label
from fabriscope.analysis.intervals import CONFIDENCE, MARGIN, LogRatio, blocks_to_decide, holm, log_ratio
from fabriscope.model.benchmarks import BENCHMARKS
from fabriscope.model.metrics import METRICS
from fabriscope.model.ranks import layout_from

VERDICTS = ("faster", "slower", "equivalent", "undecided")
IDENTITY = ("placement", "fabric", "layer", "mpi", "instrument", "benchmark", "ranks", "series")
"""What tells one curve from another; sizes and metrics are points of a curve."""

COMPARISON_SCHEMA = {
    "kind": pl.String,
    "left": pl.String,
    "right": pl.String,
    **{f"{side}_{name}": pl.String for side in ("left", "right") for name in IDENTITY},
    "metric_id": pl.String,
    "message_size_bytes": pl.Int64,
    "left_value": pl.Float64,
    "right_value": pl.Float64,
    "ratio": pl.Float64,
    "low": pl.Float64,
    "high": pl.Float64,
    "block_count": pl.Int64,
    "p_different": pl.Float64,
    "p_equivalent": pl.Float64,
    "verdict": pl.String,
    "blocks_to_decide": pl.Int64,
}
Curve = dict[str, Any]


def _rank_count(curve: Curve) -> int:
    return layout_from(curve["ranks"]).rank_count


@dataclass(frozen=True)
class Kind:
    """One question: two curves are compared when `varies` alone tells them apart and `is_pair` says so."""

    name: str
    title: str
    varies: tuple[str, ...]
    is_pair: Callable[[Curve, Curve], bool]
    """Left and right in the order in which a report names them."""


KINDS = {
    kind.name: kind
    for kind in (
        Kind("fabric", "Fabric against fabric", ("fabric",), lambda a, b: bool(a["fabric"] and b["fabric"])),
        Kind("layer", "MPI against TCP", ("layer", "mpi"), lambda a, b: (a["layer"], b["layer"]) == ("mpi", "tcp")),
        Kind(
            "transport", "Other layers against TCP", ("layer",),
            lambda a, b: a["layer"] not in ("mpi", "tcp") and b["layer"] == "tcp",
        ),
        Kind("mpi", "MPI library against MPI library", ("mpi",), lambda a, b: bool(a["mpi"] and b["mpi"])),
        Kind(
            "placement", "Inside one host against between hosts", ("placement", "fabric", "ranks"),
            lambda a, b: (a["placement"], b["placement"]) == ("intra", "inter")
            and a["fabric"] in (None, b["fabric"]) and _rank_count(a) == _rank_count(b),
        ),
        Kind(
            "ranks", "Arrangement against arrangement of the ranks", ("ranks",),
            lambda a, b: a["ranks"] != b["ranks"] and _rank_count(a) == _rank_count(b),
        ),
        Kind("series", "Setting against setting", ("series",), lambda a, b: a["series"] != b["series"]),
        Kind("instrument", "Instrument against instrument", ("instrument",), lambda a, b: True),  # noqa: ARG005
    )
}  # fmt: skip


def compare_all(values: pl.DataFrame, margin: float = MARGIN) -> pl.DataFrame:
    """Return the comparisons of every kind, COMPARISON_SCHEMA; see `compare`."""
    return pl.concat([compare(values, kind, margin) for kind in KINDS.values()])


def compare(values: pl.DataFrame, kind: Kind, margin: float = MARGIN) -> pl.DataFrame:
    """Return one row for each pair of curves and each size that both have.

    `values` are launch values; impossible ones do not count. `ratio` says how many times as fast the left one is
    (its rate over the right one's, or the right one's time over its own), the interval is Student's t over the log
    ratios of the blocks. Verdicts hold family-wise over the sizes of a pair (Holm), at 5 %.
    """
    curves = _curves(values)
    rows: list[dict[str, Any]] = []
    for left, right in _pairs(list(curves), kind):
        rows += _compare_curves(kind, left, right, curves[left], curves[right], margin)
    return pl.DataFrame(rows, schema=COMPARISON_SCHEMA)


Points = dict[int, dict[int, float]]
"""Message size to block to value."""
Key = tuple[Any, ...]


def _curves(values: pl.DataFrame) -> dict[Key, Points]:
    """Return curve key (IDENTITY and metric) to its points; one metric for each benchmark, the first it defines."""
    derived = {name for kind in BENCHMARKS.values() for name in kind.metrics[1:]}
    sound = values.filter(
        ~pl.col("metric_id").is_in(list(derived)),
        ~pl.col("metric_id").str.starts_with("overlap"),  # a share, not a speed
        ~pl.col("impossible"),
        pl.col("value") > 0,
        pl.col("layer") != "null",
    )
    inside_blocks = sound.group_by(*IDENTITY, "metric_id", "message_size_bytes", "block", maintain_order=True).agg(
        pl.col("value").log().mean().exp()
    )
    curves: dict[Key, Points] = {}
    for *key, size, block, value in inside_blocks.iter_rows():
        curves.setdefault(tuple(key), {}).setdefault(size, {})[block] = value
    return curves


def _pairs(keys: list[Key], kind: Kind) -> Iterator[tuple[Key, Key]]:
    held = [index for index, name in enumerate((*IDENTITY, "metric_id")) if name not in kind.varies]
    for first, second in combinations(keys, 2):
        if any(first[index] != second[index] for index in held):
            continue
        for left, right in ((first, second), (second, first)):
            if kind.is_pair(_named(left), _named(right)):
                yield left, right
                break


def _named(key: Key) -> Curve:
    return dict(zip((*IDENTITY, "metric_id"), key, strict=True))


def _compare_curves(
    kind: Kind, left: Key, right: Key, left_points: Points, right_points: Points, margin: float
) -> list[dict[str, Any]]:
    sign = 1 if _larger_is_better(left[-1]) else -1
    sizes, results, absolutes = [], [], []
    for size in sorted(left_points.keys() & right_points.keys()):
        blocks = sorted(left_points[size].keys() & right_points[size].keys())
        if not blocks:
            continue
        logs = [np.log([points[size][block] for block in blocks]) for points in (left_points, right_points)]
        sizes.append(size)
        results.append(log_ratio(sign * (logs[0] - logs[1]), margin))
        absolutes.append([float(np.exp(log.mean())) for log in logs])
    p_different = holm([result.p_different for result in results])
    p_equivalent = holm([result.p_equivalent for result in results])
    names = [_named(left), _named(right)]
    labels = [_label(kind, name, other) for name, other in (names, names[::-1])]
    head = {"kind": kind.name, "left": labels[0], "right": labels[1], "metric_id": left[-1]}
    for side, name in zip(("left", "right"), names, strict=True):
        head |= {f"{side}_{field}": name[field] for field in IDENTITY}
    rows = []
    for index, result in enumerate(results):
        answer = verdict(result.centre, float(p_different[index]), float(p_equivalent[index]))
        rows.append(
            {
                **head,
                "message_size_bytes": sizes[index],
                "left_value": absolutes[index][0],
                "right_value": absolutes[index][1],
                **_ratio_columns(result),
                "p_different": _known(float(p_different[index])),
                "p_equivalent": _known(float(p_equivalent[index])),
                "verdict": answer,
                "blocks_to_decide": blocks_to_decide(result, margin, len(results)) if answer == "undecided" else None,
            }
        )
    return rows


def verdict(centre: float, p_different: float, p_equivalent: float) -> str:
    """Return the verdict for the left one from Holm-adjusted p-values; `undecided` where they are NaN (one block)."""
    if p_equivalent < 1 - CONFIDENCE:
        return "equivalent"
    if p_different < 1 - CONFIDENCE:
        return "faster" if centre > 0 else "slower"
    return "undecided"


def _ratio_columns(result: LogRatio) -> dict[str, Any]:
    return {
        "ratio": math.exp(result.centre),
        "low": _known(math.exp(result.low)),
        "high": _known(math.exp(result.high)),
        "block_count": result.block_count,
    }


def _known(value: float) -> float | None:
    return None if math.isnan(value) else value


def _larger_is_better(metric_id: str) -> bool:
    return METRICS[metric_id].larger_is_better if metric_id in METRICS else True


def _label(kind: Kind, name: Mapping[str, Any], other: Mapping[str, Any]) -> str:
    """Return what tells this side from the other, in words."""
    if kind.name == "fabric":
        return str(name["fabric"])
    if kind.name in ("layer", "transport"):
        return series_label({**name, "series": "", "ranks": ""}, fabric=False)
    if kind.name == "mpi":
        return str(name["mpi"])
    if kind.name == "placement":
        return "inside one host" if name["placement"] == "intra" else f"over {name['fabric']}"
    if kind.name == "ranks":
        return layout_from(name["ranks"]).spread_text()
    if kind.name == "instrument":
        return str(name["instrument"])
    return str(name["series"] or ("default" if other["series"] else "")) or "default"
