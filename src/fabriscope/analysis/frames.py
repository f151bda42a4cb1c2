"""The manifest and the journal of a run as frames."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import polars as pl

from fabriscope.model.benchmarks import BENCHMARKS
from fabriscope.model.case import SocketOptions, ranks_label
from fabriscope.model.layers import LAYERS, layer_of
from fabriscope.model.ranks import layout_from
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


def cases_frame(run: RunData) -> pl.DataFrame:
    """Return one row for each case of the plan, CASE_COLUMNS, in the order in which reports show them.

    That is: between hosts before inside one, fabrics as the plan lists them, TCP, MPI, shared memory, null.
    """
    entry_ids = {_entry_key(entry): entry_id for entry_id, entry in run.manifest["entries"].items()}
    rows = []
    for case_id, case in run.manifest["cases"].items():
        entry = case["entry"]
        rows.append(
            {
                "case_id": case_id,
                "entry_id": entry_ids.get(_entry_key(entry), ""),
                "placement": entry["placement"],
                "fabric": entry.get("fabric"),
                "layer": entry["layer"],
                "mpi": entry.get("mpi"),
                "instrument": entry.get("instrument", "engine"),
                "benchmark": case["benchmark"],
                "ranks": ranks_label(tuple(entry.get("hosts", ()))),
                "rank_count": len(entry.get("hosts", ())) or 2,
                "twin": AGAIN if entry.get("twin") else "",
                "series": _without_interface(case.get("series", ""), case.get("socket", {})),
                "window_size": case.get("window_size", 1),
                "socket": _socket_label(case.get("socket", {})),
                "message_size_bytes": case["message_size_bytes"],
            }
        )
    order = _Order(run.manifest)
    return pl.DataFrame(sorted(rows, key=order.place), schema=CASE_SCHEMA)


class _Order:
    """Where a case stands in a report; what is not known stands last, in the manifest's order."""

    def __init__(self, manifest: Mapping[str, Any]) -> None:
        self._known = {
            "placement": ["inter", "intra"],
            "fabric": [None, *manifest["fabrics"]],
            "layer": list(LAYERS),
            "mpi": [None, *manifest["mpi"]],
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
    records = {record["launch_id"]: record for record in run.journal}
    entries = run.manifest["entries"]
    rows = []
    for line in run.manifest["schedule"]:
        record = records.get(line["launch_id"], {})
        rows.append(
            {
                "launch_id": line["launch_id"],
                "block": line["block"],
                "entry_id": line["entry_id"],
                "label": entries.get(line["entry_id"], {}).get("label", line["entry_id"]),
                "status": record.get("status", "open"),
                "reason": record.get("reason"),
                "case_count": len(line["case_ids"]),
                "started_unix_ns": record.get("started_unix_ns"),
                "elapsed_ns": record.get("elapsed_ns"),
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
    planned = {line["launch_id"]: line["case_ids"] for line in run.manifest["schedule"]}
    rows = []
    for record in run.journal:
        results = record.get("results") or {}
        for case_id in dict.fromkeys([*planned.get(record["launch_id"], ()), *results]):
            result = results.get(case_id) or {"status": record["status"], "reason": record.get("reason")}
            rows.append(
                {
                    "launch_id": record["launch_id"],
                    "block": record["block"],
                    "entry_id": record.get("entry_id"),
                    "case_id": case_id,
                    "status": result["status"],
                    "reason": result.get("reason") or (record.get("reason") if result["status"] != "ok" else None),
                }
            )
    return pl.DataFrame(rows, schema=RESULT_SCHEMA)


def group_accounts(run: RunData) -> dict[tuple[int, str], dict[str, Any]]:
    """Return what the engine told of operations of several ranks, beside their samples, by launch id and case id."""
    found = {}
    for record in run.journal:
        groups = (record.get("details") or {}).get("groups") or {}
        found.update({(record["launch_id"], case_id): dict(account) for case_id, account in groups.items()})
    return found


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


def _entry_key(entry: Mapping[str, Any]) -> tuple[Any, ...]:
    names = ("layer", "fabric", "placement", "mpi", "instrument")
    return (*(entry.get(name) for name in names), bool(entry.get("twin")), tuple(entry.get("hosts", ())))


def _socket_label(fields: Mapping[str, Any]) -> str:
    known = {name: value for name, value in fields.items() if name in SocketOptions.__dataclass_fields__}
    # The interface follows from the fabric; with it in the label no two fabrics would have comparable cases.
    return replace(SocketOptions(**known), interface=None).label()


def _without_interface(series: str, socket: Mapping[str, Any]) -> str:
    bound = f"bound to {socket.get('interface')}"
    return ", ".join(part for part in series.split(", ") if part and part != bound)
