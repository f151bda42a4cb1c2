"""The answer in a few sentences: what a reader should take away."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import polars as pl

from fabriscope.analysis.frames import series_label
from fabriscope.analysis.words import rate_text, size_text, time_text

MOST_PAIRS = 3


def answer(
    table: pl.DataFrame, found: list[dict[str, Any]], failures: pl.DataFrame, estimates: pl.DataFrame
) -> list[str]:
    """Return sentences, the most important first, from the summary, the findings, the failures and the estimates."""
    sentences = [*_best(table), *_fabrics(found), *_mpi_cost(found)]
    if failures.height:
        cases = failures["case_id"].n_unique()
        sentences.append(f"{failures.height} measurements of {cases} cases did not succeed; each is listed below.")
    beyond = int(estimates["impossible_launch_count"].sum())
    if beyond:
        sentences.append(f"{beyond} launch values lie beyond what the wire allows; they are kept but not counted.")
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
            f"{words}, small messages take least time with {series_label(least)}: {time_text(least['latency_ns'])}; "
            f"the largest ping-pong bandwidth is that of {series_label(most)}: "
            f"{rate_text(most['bandwidth_bytes_per_s'])} at {size_text(most['bandwidth_message_size_bytes'])}{share}."
        )


def _fabrics(found: list[dict[str, Any]]) -> Iterator[str]:
    pairs = [one for one in found if one["kind"] == "fabric" and one["benchmark"] == "ping_pong"]
    tcp = [one for one in pairs if "TCP" in one["where"]] or pairs
    for one in tcp[:MOST_PAIRS]:
        yield _sentence(one)


def _mpi_cost(found: list[dict[str, Any]]) -> Iterator[str]:
    pairs = [one for one in found if one["kind"] == "layer" and one["benchmark"] == "ping_pong"]
    for one in [one for one in pairs if one["placement"] == "inter"][: 2 * MOST_PAIRS]:
        yield _sentence(one)


def _sentence(one: dict[str, Any]) -> str:
    where = one["where"]
    return f"{where[0].upper()}{where[1:]}: {one['text']}."
