"""Paired comparisons: which of two is faster at each size, as log ratios inside blocks."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
import polars as pl

from fabriscope.analysis.comparing.control import CONTROL
from fabriscope.analysis.frames import AGAIN, IDENTITY, series_label
from fabriscope.analysis.numbers.evidence import Evidence, Mean
from fabriscope.analysis.numbers.intervals import LogRatio, blocks_to_decide, false_discovery, judge
from fabriscope.analysis.values.stopping import ERROR_RATE, Rules
from fabriscope.model.benchmarks import BENCHMARKS
from fabriscope.model.metrics import metric_of
from fabriscope.model.ranks import layout_from

VERDICTS = ("faster", "slower", "equivalent", "undecided")

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
    "method": pl.String,
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
        Kind(CONTROL, "A/A control", ("twin",), lambda a, b: (a["twin"], b["twin"]) == ("", AGAIN)),
    )
}  # fmt: skip


USUAL = Rules()


def compare_all(values: pl.DataFrame, rules: Rules = USUAL) -> pl.DataFrame:
    """Return the comparisons of every kind, COMPARISON_SCHEMA; see `compare`."""
    return pl.concat([compare(values, kind, rules) for kind in KINDS.values()])


def compare(values: pl.DataFrame, kind: Kind, rules: Rules = USUAL) -> pl.DataFrame:
    """Return one row for each pair of curves and each size that both have.

    `values` are launch values; impossible ones do not count. `ratio` says how many times as fast the left one is
    (its rate over the right one's, or the right one's time over its own), the interval is over the log ratios of the
    blocks, by the method of the rules. Of the verdicts on the sizes of a pair at most 5 % are false (false discovery
    rate).
    """
    rows = [row for one in families(values, kind, rules) for row in one.rows(rules)]
    return pl.DataFrame(rows, schema=COMPARISON_SCHEMA)


def families(values: pl.DataFrame, kind: Kind, rules: Rules = USUAL) -> list[Family]:
    """Return every pair of curves that a kind compares, with what each of their sizes says."""
    curves, rounds = curves_of(values), rounds_of(values)
    found = []
    for left, right in _pairs(list(curves), kind):
        labels = _label(kind, _named(left), _named(right)), _label(kind, _named(right), _named(left))
        spots = paired(left[-1], curves[left], curves[right], rules, rounds.get(left))
        if spots:
            found.append(Family(kind.name, (left, right), labels, tuple(spots)))
    return found


Points = dict[int, dict[int, float]]
"""Message size to block to value."""
Key = tuple[Any, ...]
"""IDENTITY and the metric's id."""
Curves = dict[Key, Points]
Rounds = Mapping[int, int]
"""Message size to the round in which it was added to what was planned."""


def curves_of(values: pl.DataFrame) -> Curves:
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
    curves: Curves = {}
    for *key, size, block, value in inside_blocks.iter_rows():
        curves.setdefault(tuple(key), {}).setdefault(size, {})[block] = value
    return curves


def rounds_of(values: pl.DataFrame) -> dict[Key, Rounds]:
    """Return curve key to the sizes that were added after looking; without them, or not knowing, nothing."""
    found: dict[Key, dict[int, int]] = {}
    if "round" in values.columns:
        added = values.filter(pl.col("round") > 0)
        for *key, size, number in added.select(*IDENTITY, "metric_id", "message_size_bytes", "round").iter_rows():
            found.setdefault(tuple(key), {})[size] = number
    return dict(found)


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


@dataclass(frozen=True)
class Spot:
    """One size of a pair of curves: what is known of the log ratio, and the two absolutes behind it."""

    size_bytes: int
    evidence: Evidence
    """Of the logarithm of how many times as fast the left one is."""
    left_value: float
    right_value: float
    round: int = 0
    """The round in which the size was added, 0 for one that was planned."""


def paired(metric_id: str, left: Points, right: Points, rules: Rules, rounds: Rounds | None = None) -> list[Spot]:
    """Return what every size that two curves share says, from the blocks that they share."""
    sign = sign_of(metric_id)
    spots = []
    for size in sorted(left.keys() & right.keys()):
        blocks = sorted(left[size].keys() & right[size].keys())
        if blocks:
            logs = [np.log([points[size][block] for block in blocks]) for points in (left, right)]
            evidence = Mean(sign * (logs[0] - logs[1]), rules.method)
            left_value, right_value = (float(np.exp(log.mean())) for log in logs)
            spots.append(Spot(size, evidence, left_value, right_value, (rounds or {}).get(size, 0)))
    return spots


@dataclass(frozen=True)
class Family:
    """A pair of curves: the sizes that were planned are tested together, and those of each round of sharpening.

    What was added later, where the earlier data said so, thus changes no verdict that was there before.
    """

    kind: str
    keys: tuple[Key, Key]
    labels: tuple[str, str]
    spots: tuple[Spot, ...]

    def rows(self, rules: Rules) -> list[dict[str, Any]]:
        """Return one row for each size, COMPARISON_SCHEMA."""
        results = [judge(spot.evidence, rules.margin) for spot in self.spots]
        p_different = self._adjusted([one.p_different for one in results])
        p_equivalent = self._adjusted([one.p_equivalent for one in results])
        tests = zip((one.centre for one in results), p_different, p_equivalent, strict=True)
        answers = [verdict(*test, rules.error_rate) for test in tests]
        head = {"kind": self.kind, "left": self.labels[0], "right": self.labels[1], "metric_id": self.keys[0][-1]}
        for side, key in zip(("left", "right"), self.keys, strict=True):
            head |= {f"{side}_{name}": value for name, value in zip(IDENTITY, key, strict=False)}
        rows = []
        for index, (spot, result, answer) in enumerate(zip(self.spots, results, answers, strict=True)):
            # One more decision beside those that are made: so much harder is it than a decision on one size alone.
            beside = [other for other, one in zip(answers, self.spots, strict=True) if one.round == spot.round]
            share = (sum(other != "undecided" for other in beside) + 1) / len(beside)
            needed = blocks_to_decide(result, rules.margin, rules.error_rate * share)
            rows.append(
                {
                    **head,
                    "message_size_bytes": spot.size_bytes,
                    "left_value": spot.left_value,
                    "right_value": spot.right_value,
                    **_ratio_columns(result),
                    "p_different": _known(p_different[index]),
                    "p_equivalent": _known(p_equivalent[index]),
                    "verdict": answer,
                    "blocks_to_decide": needed if answer == "undecided" else None,
                    "method": result.method,
                }
            )
        return rows

    def _adjusted(self, p_values: list[float]) -> list[float]:
        """Return the p-values, adjusted for the false discovery rate among the sizes of one round."""
        adjusted = [math.nan] * len(p_values)
        for number in {spot.round for spot in self.spots}:
            places = [place for place, spot in enumerate(self.spots) if spot.round == number]
            for place, p_value in zip(places, false_discovery([p_values[one] for one in places]), strict=True):
                adjusted[place] = float(p_value)
        return adjusted


def verdict(centre: float, p_different: float, p_equivalent: float, error_rate: float = ERROR_RATE) -> str:
    """Return the verdict for the left one from adjusted p-values; `undecided` where they are NaN (one block)."""
    if p_equivalent < error_rate:
        return "equivalent"
    if p_different < error_rate:
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


def sign_of(metric_id: str) -> int:
    """Return 1 where more is faster, -1 where less is."""
    return metric_of(metric_id).sign


def _label(kind: Kind, name: Mapping[str, Any], other: Mapping[str, Any]) -> str:
    """Return what tells this side from the other, in words."""
    if kind.name == CONTROL:
        return series_label(name)
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
