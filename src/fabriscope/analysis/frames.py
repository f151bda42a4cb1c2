"""The manifest and the journal of a run as frames."""

from __future__ import annotations

from dataclasses import dataclass, replace

import polars as pl

from fabriscope.analysis.curve import AGAIN, Curve
from fabriscope.analysis.rows import frame_of
from fabriscope.model.benchmarks import BENCHMARKS
from fabriscope.model.case import Case
from fabriscope.model.layers import LAYERS
from fabriscope.model.manifest import Manifest
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
SIZE, ROUND = "message_size_bytes", "round"
"""Columns of launch values that numbers are computed by."""
CASE_COLUMNS = tuple(CASE_SCHEMA)
OPEN = "open"
LAUNCH_SCHEMA = {
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
RESULT_SCHEMA = {
    "launch_id": pl.Int32,
    "block": pl.Int32,
    "entry_id": pl.String,
    "case_id": pl.String,
    "status": pl.String,
    "reason": pl.String,
}


@dataclass(frozen=True)
class PlannedCase(Curve):
    """One case of the plan: a row of `cases_frame`."""

    case_id: str
    entry_id: str
    """Empty where the plan has no such entry."""
    rank_count: int
    window_size: int
    socket: str
    message_size_bytes: int


def cases_frame(run: RunData) -> pl.DataFrame:
    """Return one row for each case of the plan, CASE_COLUMNS, in the order of `planned_cases`."""
    return frame_of(planned_cases(run), CASE_SCHEMA)


def planned_cases(run: RunData, *, tried: bool = False) -> list[PlannedCase]:
    """Return every case of the plan in the order in which reports show them; what a tuning `tried` only if asked for.

    That is: between hosts before inside one, fabrics as the plan lists them, TCP, MPI, shared memory, null.
    """
    rows = []
    left_out = set() if tried else {name for one in run.manifest.trials for name in one.configurations}
    for case_id, case in run.manifest.cases.items():
        entry = case.entry
        if entry.fabric in left_out:
            continue
        rows.append(
            PlannedCase(
                placement=entry.placement,
                fabric=entry.fabric,
                layer=entry.layer,
                mpi=entry.mpi,
                instrument=entry.instrument,
                benchmark=case.benchmark,
                ranks=entry.ranks,
                twin=AGAIN if entry.twin else "",
                series=_without_interface(case),
                case_id=case_id,
                entry_id=entry.entry_id if entry.entry_id in run.manifest.entries else "",
                rank_count=len(entry.hosts) or 2,
                window_size=case.window_size,
                # The interface follows from the fabric; with it no two fabrics would have comparable cases.
                socket=replace(case.socket, interface=None).label(),
                message_size_bytes=case.message_size_bytes,
            )
        )
    return sorted(rows, key=_Order(run.manifest).place)


class _Order:
    """Where a case stands in a report; what is not known stands last, in the manifest's order."""

    def __init__(self, manifest: Manifest) -> None:
        self._placements = _Places("inter", "intra")
        self._fabrics = _Places(None, *manifest.fabrics)
        self._layers = _Places(*LAYERS)
        self._stacks = _Places(None, *manifest.mpi)
        self._instruments = _Places("engine")
        self._benchmarks = _Places(*BENCHMARKS)
        self._ranks, self._twins, self._series = _Places(""), _Places(""), _Places("")

    def place(self, case: PlannedCase) -> tuple[int, ...]:
        return (
            self._placements.of(case.placement),
            self._fabrics.of(case.fabric),
            self._layers.of(case.layer),
            self._stacks.of(case.mpi),
            self._instruments.of(case.instrument),
            self._benchmarks.of(case.benchmark),
            case.rank_count,
            self._ranks.of(case.ranks),
            self._twins.of(case.twin),
            self._series.of(case.series),
            case.message_size_bytes,
        )


class _Places:
    """The places of names; one that is not known yet stands behind the others."""

    def __init__(self, *known: str | None) -> None:
        self._known = {name: place for place, name in enumerate(known)}

    def of(self, name: str | None) -> int:
        return self._known.setdefault(name, len(self._known))


@dataclass(frozen=True)
class LaunchState:
    """A launch of the schedule: what was planned, and how it ended."""

    launch_id: int
    block: int
    entry_id: str
    label: str
    status: str
    """OPEN where it has not ended."""
    reason: str | None
    case_count: int
    started_unix_ns: int | None
    elapsed_ns: int | None


def launches_of(run: RunData) -> list[LaunchState]:
    """Return every launch of the schedule, in order."""
    records = {record.launch_id: record for record in run.journal}
    labels = {entry_id: entry.label() for entry_id, entry in run.manifest.entries.items()}
    rows = []
    for line in run.manifest.schedule:
        record = records.get(line.launch_id)
        rows.append(
            LaunchState(
                line.launch_id,
                line.block,
                line.entry_id,
                labels.get(line.entry_id, line.entry_id),
                record.status if record else OPEN,
                record.reason if record else None,
                len(line.case_ids),
                record.started_unix_ns if record else None,
                record.elapsed_ns if record else None,
            )
        )
    return rows


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


@dataclass(frozen=True)
class Failure:
    """One case of one launch that failed or was skipped."""

    launch_id: int
    block: int
    case_id: str
    status: str
    reason: str | None
    case: PlannedCase | None
    """None for one that the plan does not know."""


def failures_of(run: RunData) -> list[Failure]:
    """Return each failed or skipped case of each launch, with what the case was."""
    bad = results_frame(run).filter(pl.col("status") != "ok").drop("entry_id")
    known = {case.case_id: case for case in planned_cases(run, tried=True)}
    return [
        Failure(launch_id, block, case_id, status, reason, known.get(case_id))
        for launch_id, block, case_id, status, reason in bad.iter_rows()
    ]


def failures_frame(run: RunData) -> pl.DataFrame:
    """Return one row for each failed or skipped case of each launch, with what the case was."""
    bad = results_frame(run).filter(pl.col("status") != "ok")
    cases = frame_of(planned_cases(run, tried=True), CASE_SCHEMA)
    return bad.join(cases.drop("entry_id"), on="case_id", how="left", maintain_order="left")


def _without_interface(case: Case) -> str:
    bound = f"bound to {case.socket.interface}"
    return ", ".join(part for part in case.series.split(", ") if part and part != bound)
