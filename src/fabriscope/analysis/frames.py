"""The manifest and the journal of a run as frames."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import polars as pl

from fabriscope.model.benchmarks import BENCHMARKS
from fabriscope.model.case import Case
from fabriscope.model.layers import LAYERS, layer_of
from fabriscope.model.manifest import Manifest
from fabriscope.model.ranks import layout_from
from fabriscope.model.record import GroupAccount, Result
from fabriscope.model.run_data import RunData

CASE_SCHEMA = {
    "case_id": pl.String,
    "entry_id": pl.String,
    "placement": pl.String,
    "fabric": pl.String,
    "layer": pl.String,
    "mpi": pl.String,
    "instrument": pl.String,
    "benchmark": pl.String,
    "ranks": pl.String,
    "rank_count": pl.Int32,
    "twin": pl.String,
    "series": pl.String,
    "window_size": pl.Int32,
    "socket": pl.String,
    "message_size_bytes": pl.Int64,
}
AGAIN = "again"
"""Marks what is entered a second time, as the A/A control."""
CASE_COLUMNS = tuple(CASE_SCHEMA)
IN_TRUTH = " (in truth "
"""Stands behind the name of a layer, and before what carried its bytes, where that is not what was asked for."""
RESULT_SCHEMA = {
    "launch_id": pl.Int32,
    "block": pl.Int32,
    "entry_id": pl.String,
    "case_id": pl.String,
    "status": pl.String,
    "reason": pl.String,
}
IDENTITY = ("placement", "fabric", "layer", "mpi", "instrument", "benchmark", "ranks", "twin", "series")
"""What tells one curve from another; sizes and metrics are points of a curve."""


def cases_frame(run: RunData) -> pl.DataFrame:
    """Return one row for each case of the plan, CASE_COLUMNS, in the order in which reports show them.

    That is: between hosts before inside one, fabrics as the plan lists them, TCP, MPI, shared memory, null.
    """
    rows = []
    for case_id, case in run.manifest.cases.items():
        entry = case.entry
        rows.append(
            {
                "case_id": case_id,
                "entry_id": entry.entry_id if entry.entry_id in run.manifest.entries else "",
                "placement": entry.placement,
                "fabric": entry.fabric,
                "layer": entry.layer,
                "mpi": entry.mpi,
                "instrument": entry.instrument,
                "benchmark": case.benchmark,
                "ranks": entry.ranks,
                "rank_count": len(entry.hosts) or 2,
                "twin": AGAIN if entry.twin else "",
                "series": _without_interface(case),
                "window_size": case.window_size,
                # The interface follows from the fabric; with it no two fabrics would have comparable cases.
                "socket": replace(case.socket, interface=None).label(),
                "message_size_bytes": case.message_size_bytes,
            }
        )
    order = _Order(run.manifest)
    return pl.DataFrame(sorted(rows, key=order.place), schema=CASE_SCHEMA)


class _Order:
    """Where a case stands in a report; what is not known stands last, in the manifest's order."""

    def __init__(self, manifest: Manifest) -> None:
        self._known: dict[str, list[str | None]] = {
            "placement": ["inter", "intra"],
            "fabric": [None, *manifest.fabrics],
            "layer": list(LAYERS),
            "mpi": [None, *manifest.mpi],
            "instrument": ["engine"],
            "benchmark": list(BENCHMARKS),
            "ranks": [""],
            "twin": [""],
            "series": [""],
        }

    def place(self, row: Mapping[str, Any]) -> tuple[int, ...]:
        places = []
        for name, known in self._known.items():
            if row[name] not in known:
                known.append(row[name])
            places += [row["rank_count"]] if name == "ranks" else []
            places.append(known.index(row[name]))
        return (*places, row["message_size_bytes"])


def launches_frame(run: RunData) -> pl.DataFrame:
    """Return one row for each launch of the schedule: what was planned, and how it ended (`open` if it has not)."""
    records = {record.launch_id: record for record in run.journal}
    labels = {entry_id: entry.label() for entry_id, entry in run.manifest.entries.items()}
    rows = []
    for line in run.manifest.schedule:
        record = records.get(line.launch_id)
        rows.append(
            {
                "launch_id": line.launch_id,
                "block": line.block,
                "entry_id": line.entry_id,
                "label": labels.get(line.entry_id, line.entry_id),
                "status": record.status if record else "open",
                "reason": record.reason if record else None,
                "case_count": len(line.case_ids),
                "started_unix_ns": record.started_unix_ns if record else None,
                "elapsed_ns": record.elapsed_ns if record else None,
            }
        )
    schema = {
        "launch_id": pl.Int32,
        "block": pl.Int32,
        "entry_id": pl.String,
        "label": pl.String,
        "status": pl.String,
        "reason": pl.String,
        "case_count": pl.Int32,
        "started_unix_ns": pl.Int64,
        "elapsed_ns": pl.Int64,
    }
    return pl.DataFrame(rows, schema=schema)


def results_frame(run: RunData) -> pl.DataFrame:
    """Return one row for each case of each finished launch, RESULT_SCHEMA: its status and the reason for it.

    A case of a failed launch that has no result of its own has the launch's.
    """
    planned = {line.launch_id: line.case_ids for line in run.manifest.schedule}
    rows = []
    for record in run.journal:
        of_launch = Result(record.status, record.reason)
        for case_id in dict.fromkeys([*planned.get(record.launch_id, ()), *record.results]):
            result = record.results.get(case_id, of_launch)
            reason = result.reason or (record.reason if result.status != "ok" else None)
            rows.append((record.launch_id, record.block, record.entry_id, case_id, result.status, reason))
    return pl.DataFrame(rows, schema=RESULT_SCHEMA, orient="row")


def group_accounts(run: RunData) -> dict[tuple[int, str], GroupAccount]:
    """Return what the engine told of operations of several ranks, beside their samples, by launch id and case id."""
    return {
        (record.launch_id, case_id): account
        for record in run.journal
        for case_id, account in record.details.groups.items()
    }


def failures_frame(run: RunData) -> pl.DataFrame:
    """Return one row for each failed or skipped case of each launch, with what the case was."""
    bad = results_frame(run).filter(pl.col("status") != "ok")
    return bad.join(cases_frame(run).drop("entry_id"), on="case_id", how="left", maintain_order="left")


def series_label(row: Mapping[str, Any], *, fabric: bool = True) -> str:
    """Return how a report calls the curve that a row belongs to: `gige · MPI (mpich), send buffer 16384 B`."""
    name = f"{row['fabric']} · {layer_label(row)}" if fabric and row["fabric"] else layer_label(row)
    parts = [name, layout_from(row["ranks"]).text() if row["ranks"] else "", row["series"], row.get("twin")]
    return ", ".join(part for part in parts if part)


def layer_label(row: Mapping[str, Any]) -> str:
    """Return how a report calls a row's layer: `TCP`, `MPI (mpich) by osu`, `MPI (mpich) (in truth shared memory)`."""
    layer, *truth = str(row["layer"]).partition(IN_TRUTH)
    name = layer_of(layer).label
    name = f"{name} ({row['mpi']})" if row["mpi"] else name
    name = name if row["instrument"] == "engine" else f"{name} by {row['instrument']}"
    return "".join((name, *truth))


def _without_interface(case: Case) -> str:
    bound = f"bound to {case.socket.interface}"
    return ", ".join(part for part in case.series.split(", ") if part and part != bound)
