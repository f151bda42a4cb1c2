"""What in a run contradicts something else in it: what can be told even where no digest was kept."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import polars as pl

from fabriscope.model.case import case_of, entry_of
from fabriscope.model.finding import Finding
from fabriscope.model.run_data import ADDED, RunData, launch_name

MANIFEST, JOURNAL = "manifest.json", "journal.jsonl"
PHASES = ("warmup", "measure")
STATUSES = ("ok", "failed", "skipped")


def contradictions(run: RunData) -> Iterator[Finding]:
    """Yield every contradiction between manifest, journal and samples; the samples' files must be readable."""
    yield from _in_cases(run.manifest)
    yield from _in_schedule(run.manifest)
    yield from _in_journal(run)
    yield from _in_samples(run)


def _in_cases(manifest: Mapping[str, Any]) -> Iterator[Finding]:
    """Yield cases whose id is not the hash of what they are, and entries that go by a wrong name."""
    for entry_id, fields in manifest["entries"].items():
        if (found := entry_of(fields).entry_id) != entry_id:
            yield Finding(MANIFEST, f"entries.{entry_id}", f"what it says is the entry {found}")
    for case_id, fields in manifest["cases"].items():
        case = case_of(fields)
        if case.case_id != case_id:
            yield Finding(MANIFEST, f"cases.{case_id}", f"what it says is the case {case.case_id}")
        elif case.entry.entry_id not in manifest["entries"]:
            yield Finding(MANIFEST, f"cases.{case_id}.entry", f"the entry {case.entry.entry_id} is not in the manifest")


def _in_schedule(manifest: Mapping[str, Any]) -> Iterator[Finding]:
    seen: set[int] = set()
    for place, line in enumerate(manifest["schedule"]):
        where = f"schedule[{place}]"
        if line["launch_id"] in seen:
            yield Finding(MANIFEST, f"{where}.launch_id", f"launch {line['launch_id']} is scheduled twice")
        seen.add(line["launch_id"])
        if line["entry_id"] not in manifest["entries"]:
            yield Finding(MANIFEST, f"{where}.entry_id", f"there is no entry {line['entry_id']}")
        for case_id in line["case_ids"]:
            if case_id not in manifest["cases"]:
                yield Finding(MANIFEST, f"{where}.case_ids", f"there is no case {case_id}")


def _in_journal(run: RunData) -> Iterator[Finding]:
    planned = {line["launch_id"]: line for line in run.manifest["schedule"]}
    seen: dict[str, int] = {}
    for number, record in enumerate(run.lines, start=1):
        if ADDED in record:
            continue
        launch_id, where, name = record["launch_id"], f"line {number}", launch_name(record)
        if name in seen:
            yield Finding(JOURNAL, f"{where}, launch_id", f"line {seen[name]} is of launch {launch_id} too")
        seen[name] = number
        plan = planned.get(launch_id)
        if plan is None:
            if planned:
                yield Finding(JOURNAL, f"{where}, launch_id", f"launch {launch_id} is not in the manifest's schedule")
            continue
        for name in ("block", "entry_id"):
            if record.get(name) is not None and record[name] != plan[name]:
                yield Finding(JOURNAL, f"{where}, {name}", f"it is {record[name]}, and the manifest says {plan[name]}")
        for case_id, result in (record.get("results") or {}).items():
            if case_id not in plan["case_ids"]:
                yield Finding(JOURNAL, f"{where}, results.{case_id}", "the launch had no such case")
            elif result.get("status") not in STATUSES:
                yield Finding(JOURNAL, f"{where}, results.{case_id}.status", f"{result.get('status')!r} is no status")
        samples = record.get("samples")
        if samples not in (None, f"samples/{launch_name(record)}.parquet"):
            yield Finding(JOURNAL, f"{where}, samples", f"{samples} is not where the samples of launch {launch_id} lie")


def _in_samples(run: RunData) -> Iterator[Finding]:
    """Yield samples of a launch, a block or a case that they cannot be of."""
    blocks = {record["launch_id"]: record["block"] for record in run.journal if record.get("samples")}
    files = {record["launch_id"]: f"samples/{launch_name(record)}.parquet" for record in run.journal}
    cases = {line["launch_id"]: set(line["case_ids"]) for line in run.manifest["schedule"]}
    keys = ("launch_id", "block", "case_id", "phase")
    counts = run.samples.group_by(keys).agg(
        (pl.col("operations_per_sample") < 1).any().alias("is_wrong"),
        (~(pl.col("value") >= 0)).any().alias("is_negative"),
    )
    seen: set[int] = set()
    for launch_id, block, case_id, phase, is_wrong, is_negative in counts.collect().iter_rows():
        file = files.get(launch_id, "samples")
        seen.add(launch_id)
        if launch_id not in blocks:
            yield Finding("samples", "launch_id", f"there are samples of launch {launch_id}, which has none")
        elif block != blocks[launch_id]:
            yield Finding(file, "block", f"it is {block}, and the journal says {blocks[launch_id]}")
        elif cases.get(launch_id) and case_id not in cases[launch_id]:
            yield Finding(file, "case_id", f"the launch had no case {case_id}")
        elif phase not in PHASES:
            yield Finding(file, f"phase, case {case_id}", f"{phase!r} is no phase")
        elif is_wrong:
            yield Finding(file, f"operations_per_sample, case {case_id}", "a sample covers less than one operation")
        elif is_negative:
            yield Finding(file, f"value, case {case_id}", "a value is negative, or no number")
    for launch_id in sorted(set(blocks) - seen):
        yield Finding(files[launch_id], "", "it holds no samples of its launch")
