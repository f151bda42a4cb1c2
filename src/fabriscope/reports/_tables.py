"""Rows of the result tables as text, shared by the page and the Markdown file."""

from __future__ import annotations

from typing import Any

import polars as pl

from fabriscope.analysis.comparing.comparisons import KINDS
from fabriscope.analysis.comparing.findings import BENCHMARK_NAMES, PLACEMENT_NAMES, where_text
from fabriscope.analysis.frames import series_label
from fabriscope.analysis.group_words import name_of, ranks_text
from fabriscope.analysis.proof.transport import BADGES, entry_verdicts
from fabriscope.analysis.results import Results
from fabriscope.analysis.values.groups import CURVE as GROUP_CURVE
from fabriscope.analysis.values.summary import CURVE as SUMMARY_CURVE
from fabriscope.analysis.values.summary import RATE, SMALL_MESSAGE_BYTES
from fabriscope.analysis.values.trust import trust_rows
from fabriscope.analysis.words import (
    UNKNOWN,
    advantage_range_text,
    interval_text,
    rate_text,
    ratio_text,
    share_text,
    significant,
    size_text,
    time_text,
    value_text,
)
from fabriscope.model.benchmarks import kind_of
from fabriscope.model.metrics import metric_of
from fabriscope.reports._style import layer_of
from fabriscope.reports._verdicts import verdict_rows

MOST_SENTENCES = 12
"""Of more pairs than this a table of verdicts is read faster than sentences."""


def summary_rows(results: Results) -> list[dict[str, str]]:
    """Return the summary table: placement, network, layer, largest bandwidth, where, latency, launches."""
    rows = []
    for row in results.summary.iter_rows(named=True):
        size = row["bandwidth_message_size_bytes"]
        layer = layer_of(row)
        rows.append(
            {
                "placement": PLACEMENT_NAMES[row["placement"]],
                "network": row["fabric"] or UNKNOWN,
                "layer": f"{layer}, {row['series']}" if row["series"] else layer,
                "bandwidth": _number(row["bandwidth_bytes_per_s"], 8e-6),
                "bandwidth_interval": _interval(row, "bandwidth_bytes_per_s", 8e-6),
                "share": f"{row['share_of_limit']:.0%}" if row["share_of_limit"] else UNKNOWN,
                "size": size_text(size),
                "bits": UNKNOWN if size is None else f"{size * 8:,}".replace(",", "\N{THIN SPACE}"),
                "latency": _number(row["latency_ns"], 1e-3),
                "latency_interval": _interval(row, "latency_ns", 1e-3),
                "launches": str(row["launch_count"] or 0),
                "transport": _badge(results, row, SUMMARY_CURVE),
                "trust": _summary_grades(results, row),
            }
        )
    return rows


def _summary_grades(results: Results, row: dict[str, Any]) -> str:
    """Return the grades of the two numbers of a row of the summary: of the bandwidth, and the worst of the latency."""
    of_curve = results.estimates.filter(
        pl.col("benchmark") == "ping_pong", *(pl.col(name).eq_missing(pl.lit(row[name])) for name in SUMMARY_CURVE)
    )
    size = pl.col("message_size_bytes")
    rate = of_curve.filter(pl.col("metric_id") == RATE, size == row["bandwidth_message_size_bytes"])
    small = of_curve.filter(pl.col("metric_id") == "latency_ns", size.is_between(1, SMALL_MESSAGE_BYTES - 1))
    grades = [part["grade"].drop_nulls().max() for part in (rate, small)]
    return ", ".join(str(grade) if grade else UNKNOWN for grade in grades)


def _badge(results: Results, row: dict[str, Any], names: tuple[str, ...]) -> str:
    """Return the worst verdict on what carried the bytes of a curve; nothing where nobody watched."""
    of_curve = results.estimates.filter(*(pl.col(name).eq_missing(pl.lit(row[name])) for name in names))
    found = set(of_curve["transport"].drop_nulls())
    return next((badge for verdict, badge in reversed(BADGES.items()) if verdict in found), "")


def transport_table(results: Results) -> list[dict[str, str]]:
    """Return what carried the bytes of each entry that was watched: what was asked for, what was found, the verdict."""
    rows = []
    for row in entry_verdicts(results.run):
        some = [f"{count} {name}" for name, count in row.counts.items() if count]
        rows.append(
            {
                "what": row.entry.label(),
                "placement": PLACEMENT_NAMES[row.entry.placement],
                "asked": row.asked,
                "carried": row.carried_by or UNKNOWN,
                "found": UNKNOWN if row.payload_share is None else share_text(row.payload_share),
                "error": UNKNOWN if row.closure_error is None else share_text(row.closure_error),
                "verdict": row.verdict,
                "badge": BADGES[row.verdict],
                "launches": ", ".join(some) if len(some) > 1 else f"{row.launch_count} of {row.launch_count}",
                "because": row.because,
            }
        )
    return rows


def trust_table(results: Results) -> list[dict[str, str]]:
    """Return how far the numbers of each curve can be trusted, and what speaks most against them."""
    return [
        {
            "what": series_label(row),
            "placement": PLACEMENT_NAMES[row["placement"]],
            "metric": metric_of(row["metric_id"]).title,
            "grades": ", ".join(f"{count} {grade}" for grade, count in row["counts"].items() if count),
            "worst": f"{row['grade']} at {size_text(row['message_size_bytes'])}",
            "reasons": row["reasons"],
        }
        for row in trust_rows(results.estimates)
    ]


def fit_rows(results: Results) -> list[dict[str, str]]:
    """Return the pieces of the models of time over size."""
    rows = []
    for row in results.fits.iter_rows(named=True):
        is_first, slope = row["piece"] == 1, row["ns_per_byte"]
        errors = (row["held_out_error"], row["noise_floor"]) if is_first else (None, None)
        rows.append(
            {
                "what": series_label(row),
                "placement": PLACEMENT_NAMES[row["placement"]],
                "sizes": f"{size_text(row['first_size_bytes'])} to {size_text(row['last_size_bytes'])}",
                "latency": time_text(row["latency_ns"]),
                "bandwidth": rate_text(1e9 / slope) if slope > 0 else UNKNOWN,
                "gap": significant(slope) if slope > 0 else UNKNOWN,
                "message_gap": time_text(row["message_gap_ns"]) if is_first else "",
                "error": "" if errors[0] is None else f"{errors[0]:.1%}",
                "floor": "" if errors[1] is None else f"{errors[1]:.1%}",
            }
        )
    return rows


def _number(value: float | None, factor: float) -> str:
    return UNKNOWN if value is None else significant(value * factor)


def _interval(row: dict[str, Any], name: str, factor: float) -> str:
    low, high = row[f"{name}_low"], row[f"{name}_high"]
    return interval_text(low, high, lambda value: significant(value * factor))


def range_groups(results: Results) -> list[dict[str, Any]]:
    """Return for each kind of comparison its title, its sentences, its ranges, and of many pairs the verdicts."""
    groups = []
    for kind in KINDS.values():
        rows = results.ranges.filter(pl.col("kind") == kind.name)
        if rows.height:
            found = [one for one in results.findings if one["kind"] == kind.name]
            groups.append(
                {
                    "kind": kind.name,
                    "title": kind.title,
                    "findings": [one for one in found if one["benchmark"] == found[0]["benchmark"]],
                    "more_findings": [one for one in found if one["benchmark"] != found[0]["benchmark"]],
                    "rows": [_range_row(row) for row in rows.iter_rows(named=True)],
                    "verdicts": verdict_rows(rows) if len(found) > MOST_SENTENCES else [],
                }
            )
    return groups


def _range_row(row: dict[str, Any]) -> dict[str, str]:
    first, last = size_text(row["first_size_bytes"]), size_text(row["last_size_bytes"])
    least, most, leader = row["least_ratio"], row["most_ratio"], "undecided"
    by = f"ratio {ratio_text(least)} to {ratio_text(most)}"
    if row["verdict"] == "faster":
        leader, by = row["left"], advantage_range_text(least, most)
    elif row["verdict"] == "slower":
        leader, by = row["right"], advantage_range_text(1 / most, 1 / least)
    elif row["verdict"] == "equivalent":
        leader = "equivalent"
    interval = interval_text(row["low"], row["high"], ratio_text) or UNKNOWN
    needed = row["blocks_to_decide"]
    return {
        "where": where_text(row),
        "pair": f"{row['left']} / {row['right']}",
        "sizes": first if first == last else f"{first} to {last}",
        "leader": leader,
        "verdict": row["verdict"],
        "by": by,
        "interval": interval,
        "needed": str(needed) if needed else "",
    }


def failure_rows(results: Results) -> list[dict[str, str]]:
    """Return every measurement that did not succeed, with what it was and why; equal reasons are one row."""
    keys = ["launch_id", "block", "placement", "fabric", "layer", "mpi", "instrument", "ranks", "series", "benchmark"]
    merged = results.failures.group_by(*keys, "status", "reason", maintain_order=True).agg(pl.col("message_size_bytes"))
    rows = []
    for row in merged.iter_rows(named=True):
        known = row["layer"] is not None
        sizes = sorted(size for size in row["message_size_bytes"] if size is not None)
        rows.append(
            {
                "launch": f"{row['launch_id']} (block {row['block']})",
                "what": series_label(row) if known else "a case that the plan does not know",
                "placement": PLACEMENT_NAMES.get(row["placement"], ""),
                "benchmark": BENCHMARK_NAMES.get(row["benchmark"], row["benchmark"] or ""),
                "sizes": _sizes(sizes),
                "status": row["status"],
                "reason": row["reason"] or "no reason was recorded",
            }
        )
    return rows


def _sizes(sizes: list[int]) -> str:
    if len(sizes) > 3:
        return f"{size_text(sizes[0])} to {size_text(sizes[-1])} ({len(sizes)} sizes)"
    return ", ".join(size_text(size) for size in sizes)


def group_rows(results: Results) -> list[dict[str, str]]:
    """Return the table of what many ranks do at once: one row for each curve."""
    rows = []
    for row in results.groups.iter_rows(named=True):
        metric_id = row["metric_id"]
        layer = layer_of(row)
        rows.append(
            {
                "what": name_of(row["benchmark"], metric_id),
                "placement": PLACEMENT_NAMES[row["placement"]],
                "ranks": ranks_text(row["benchmark"], row["ranks"]),
                "network": row["fabric"] or UNKNOWN,
                "layer": f"{layer}, {row['series']}" if row["series"] else layer,
                **_end(row, "first", metric_id),
                **(_end(row, "last", metric_id) if row["size_count"] > 1 else dict.fromkeys(_END_NAMES, "")),
                "slowest": _slowest(row),
                "late": _late(row),
                "clock_error": time_text(row["clock_error_ns"]),
                "launches": str(row["launch_count"]),
                "transport": _badge(results, row, GROUP_CURVE),
            }
        )
    return rows


_END_NAMES = ("last_size", "last", "last_interval")


def _end(row: dict[str, Any], end: str, metric_id: str) -> dict[str, str]:
    size = size_text(row[f"{end}_size_bytes"]) if kind_of(row["benchmark"]).has_size else UNKNOWN
    interval = interval_text(row[f"{end}_low"], row[f"{end}_high"], lambda value: value_text(value, metric_id))
    return {f"{end}_size": size, end: value_text(row[f"{end}_value"], metric_id), f"{end}_interval": interval}


def _slowest(row: dict[str, Any]) -> str:
    """Return which rank finished last most often, and in which share of the operations."""
    if row["slowest_rank"] is None:
        return UNKNOWN
    return f"rank {row['slowest_rank']} ({row['slowest_host'] or 'host unknown'}), {row['slowest_share']:.0%}"


def _late(row: dict[str, Any]) -> str:
    """Return the share of the rounds that were left out; where every rank times itself there is no late."""
    total = row["late_operation_count"] + row["operation_count"]
    return f"{row['late_operation_count'] / total:.1%}" if row["clock_error_ns"] is not None and total else UNKNOWN
