"""A run in memory, of a few cases with values given by the test."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import polars as pl

from fabriscope import store
from fabriscope.model.case import Case, Entry
from fabriscope.model.fabric import Fabric
from fabriscope.model.limits import CaseStatus
from fabriscope.model.measurement import Launch
from fabriscope.model.record import LaunchRecord, Result
from fabriscope.model.run_data import RunData

HOSTS = ("a", "b")
GIGE = Fabric("gige", {"a": "eth0", "b": "eth0"}, "tcp", 10**9, 1500)
FAST = Fabric("ethernet-100", {"a": "eth1", "b": "eth1"}, "tcp", 10**8, 1500)
TCP = Entry("tcp", "gige", "inter", HOSTS)
LOCAL = Entry("tcp", None, "intra", ("a", "a"))
Bursts = Sequence[Sequence[float]]


def run_of(
    measured: Mapping[Case, Sequence[Bursts]],
    *,
    warmup: float | None = None,
    statuses: Mapping[tuple[int, str], CaseStatus] | None = None,
    operations_per_sample: int = 1,
    quantity: str = "operation_ns",
    fabrics: Sequence[Fabric] = (FAST, GIGE),
) -> RunData:
    """Return a run from case to launches to bursts to samples; launch n of every case is in block n."""
    samples: list[dict[str, Any]] = []
    journal: dict[int, LaunchRecord] = {}
    visited: dict[int, list[Case]] = {}
    entries = list(dict.fromkeys(case.entry for case in measured))
    for case, launches in measured.items():
        for block, bursts in enumerate(launches, start=1):
            launch_id = (block - 1) * len(entries) + entries.index(case.entry) + 1
            visited.setdefault(launch_id, []).append(case)
            status = (statuses or {}).get((block, case.case_id), "ok")
            record = journal.get(launch_id) or LaunchRecord(launch_id, block, case.entry.entry_id, elapsed_ns=10**9)
            result = Result(status, None if status == "ok" else "it hung")
            journal[launch_id] = replace(record, results={**record.results, case.case_id: result})
            groups = [("measure", values) for values in bursts]
            groups = groups if warmup is None else [("warmup", [warmup]), *groups]
            for burst, (phase, values) in enumerate(groups):
                common = {
                    "launch_id": launch_id, "block": block, "case_id": case.case_id, "phase": phase, "burst": burst,
                    "quantity": quantity, "round": 0, "start_ns": 0, "operations_per_sample": operations_per_sample,
                }  # fmt: skip
                samples += [{**common, "value": float(value)} for value in values]
    schema = {
        "launch_id": pl.Int32, "block": pl.Int32, "case_id": pl.String, "quantity": pl.String, "phase": pl.String,
        "round": pl.Int32, "burst": pl.Int32, "start_ns": pl.Int64, "operations_per_sample": pl.Int32,
        "value": pl.Float64,
    }  # fmt: skip
    planned = [
        Launch(launch_id, journal[launch_id].block, cases[0].entry, tuple(cases), 7, 10**9)
        for launch_id, cases in sorted(visited.items())
    ]
    about = store.describe(measured, planned, fabrics, name="small", created_unix_ns=0)
    manifest = store.manifest_of(about)
    records = tuple(journal[launch_id] for launch_id in sorted(journal))
    return RunData("/nowhere", manifest, records, pl.LazyFrame(samples, schema=schema))
