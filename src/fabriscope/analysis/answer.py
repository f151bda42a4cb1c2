"""The answer in a few sentences: what a reader should take away."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import polars as pl

from fabriscope.analysis import group_words
from fabriscope.analysis.frames import series_label
from fabriscope.analysis.words import interval_text, rate_text, size_text, time_text
from fabriscope.model.benchmarks import BENCHMARKS

MOST_PAIRS = 3


def answer(
    table: pl.DataFrame,
    found: list[dict[str, Any]],
    failures: pl.DataFrame,
    estimates: pl.DataFrame,
    shared: pl.DataFrame,
) -> list[str]:
    """Return sentences, the most important first, from the summary, the findings, the failures, the estimates
    and the table of what many ranks did at once."""
    speaks_verbs = "verbs" in table["layer"].to_list()
    sentences = [
        *_best(table),
        *_verbs(found),
        *_fabrics(found, speaks_verbs),
        *_mpi_cost(found),
        *group_words.sentences(shared),
    ]
    sentences = sentences or [*_others(found, estimates)]
    if failures.height:
        cases = failures["case_id"].n_unique()
        sentences.append(f"{failures.height} measurements of {cases} cases did not succeed; each is listed below.")
    beyond = int(estimates["impossible_launch_count"].sum())
    if beyond:
        sentences.append(f"{beyond} launch values lie beyond what wire or memory allow; they are kept but not counted.")
    return sentences or ["Nothing has been measured yet."]


def _best(table: pl.DataFrame) -> Iterator[str]:
    for placement, words in (("inter", "Between hosts"), ("intra", "Inside one host")):
        part = table.filter(pl.col("placement") == placement)
        fast = part.drop_nulls("latency_ns").sort("latency_ns").to_dicts()
        wide = part.drop_nulls("bandwidth_bytes_per_s").sort("bandwidth_bytes_per_s", descending=True).to_dicts()
        if not fast or not wide:
            continue
        least, most = fast[0], wide[0]
        share = f", {most['share_of_limit']:.0%} of what the wire allows" if most["share_of_limit"] else ""
        yield (
            f"{words}, small messages take least time with {series_label(least)}: "
            f"{time_text(least['latency_ns'])}{_rivals(fast, 'latency_ns', time_text)}; "
            f"the largest ping-pong bandwidth is that of {series_label(most)}: "
            f"{rate_text(most['bandwidth_bytes_per_s'])} at {size_text(most['bandwidth_message_size_bytes'])}{share}"
            f"{_rivals(wide, 'bandwidth_bytes_per_s', rate_text)}."
        )


def _rivals(ranked: list[dict[str, Any]], name: str, text: Callable[[float], str]) -> str:
    """Return the best one's interval, and the others whose intervals overlap it: the order may be chance."""
    best = ranked[0]
    if best[f"{name}_low"] is None:
        return ", from one launch" if len(ranked) == 1 else ", from one launch, so the order may be chance"
    interval = f" ({interval_text(best[f'{name}_low'], best[f'{name}_high'], text)})"
    close = [series_label(row) for row in ranked[1:] if _overlap(best, row, name)]
    return interval + (f", where the interval of {_and(close)} overlaps" if close else "")


def _overlap(one: dict[str, Any], other: dict[str, Any], name: str) -> bool:
    if other[f"{name}_low"] is None:
        return True
    return bool(one[f"{name}_low"] <= other[f"{name}_high"] and other[f"{name}_low"] <= one[f"{name}_high"])


def _and(names: list[str]) -> str:
    if len(names) > MOST_PAIRS:
        return f"{len(names)} others"
    return " and ".join(([", ".join(names[:-1])] if len(names) > 1 else []) + names[-1:])


def _verbs(found: list[dict[str, Any]]) -> Iterator[str]:
    """Yield what RDMA does against TCP on the same wire."""
    pairs = [one for one in found if one["kind"] == "transport" and one["benchmark"] == "ping_pong"]
    for one in [one for one in pairs if one["placement"] == "inter"][:MOST_PAIRS]:
        yield _sentence(one)


def _fabrics(found: list[dict[str, Any]], speaks_verbs: bool) -> Iterator[str]:
    """Yield fabric against fabric at the layer that tells most: TCP, but where one speaks verbs what goes by them."""
    pairs = [one for one in found if one["kind"] == "fabric" and one["benchmark"] == "ping_pong"]
    telling = [one for one in pairs if one["layer"] == ("mpi" if speaks_verbs else "tcp")] or pairs
    for one in telling[:MOST_PAIRS]:
        yield _sentence(one)


def _others(found: list[dict[str, Any]], estimates: pl.DataFrame) -> Iterator[str]:
    """Yield what there is to say where neither a ping-pong nor what many ranks do was measured."""
    measured = estimates.filter(pl.col("layer") != "null")["benchmark"].unique(maintain_order=True).to_list()
    if not measured:
        return
    titles = [BENCHMARKS[name].title if name in BENCHMARKS else name for name in measured]
    listed = f"{', '.join(titles[:-1])} and {titles[-1]}" if len(titles) > 1 else titles[0]
    leads = [one for one in found if one["has_lead"]]
    yield f"Measured: {listed}{'' if leads else '; no comparison of them shows a lead'}."
    for one in leads[:MOST_PAIRS]:
        yield _sentence(one)


def _mpi_cost(found: list[dict[str, Any]]) -> Iterator[str]:
    pairs = [one for one in found if one["kind"] == "layer" and one["benchmark"] == "ping_pong"]
    for one in [one for one in pairs if one["placement"] == "inter"][: 2 * MOST_PAIRS]:
        yield _sentence(one)


def _sentence(one: dict[str, Any]) -> str:
    where = one["where"]
    return f"{where[0].upper()}{where[1:]}: {one['text']}."
