"""What in a run contradicts something else in it: what can be told even where no digest was kept."""

from __future__ import annotations

from collections.abc import Iterator

import polars as pl

from fabriscope.model.finding import Finding
from fabriscope.model.manifest import Manifest
from fabriscope.model.measurement import PHASES
from fabriscope.model.record import LaunchRecord
from fabriscope.model.run_data import RunData

MANIFEST, JOURNAL = "manifest.json", "journal.jsonl"
STATUSES = ("ok", "failed", "skipped")


def contradictions(run: RunData) -> Iterator[Finding]:
    """Yield every contradiction between manifest, journal and samples; the samples' files must be readable."""
    yield from _in_cases(run.manifest)
    yield from _in_schedule(run.manifest)
    yield from _in_journal(run)
    yield from _in_samples(run)


def _in_cases(manifest: Manifest) -> Iterator[Finding]:
    """Yield cases whose id is not the hash of what they are, and entries that go by a wrong name."""
    for entry_id, entry in manifest.entries.items():
        if entry.entry_id != entry_id:
            yield Finding(MANIFEST, f"entries.{entry_id}", f"what it says is the entry {entry.entry_id}")
    for case_id, case in manifest.cases.items():
        if case.case_id != case_id:
            yield Finding(MANIFEST, f"cases.{case_id}", f"what it says is the case {case.case_id}")
        elif case.entry.entry_id not in manifest.entries:
            yield Finding(MANIFEST, f"cases.{case_id}.entry", f"the entry {case.entry.entry_id} is not in the manifest")


def _in_schedule(manifest: Manifest) -> Iterator[Finding]:
    seen: set[int] = set()
    for place, line in enumerate(manifest.schedule):
        where = f"schedule[{place}]"
        if line.launch_id in seen:
            yield Finding(MANIFEST, f"{where}.launch_id", f"launch {line.launch_id} is scheduled twice")
        seen.add(line.launch_id)
        if line.entry_id not in manifest.entries:
            yield Finding(MANIFEST, f"{where}.entry_id", f"there is no entry {line.entry_id}")
        for case_id in line.case_ids:
            if case_id not in manifest.cases:
                yield Finding(MANIFEST, f"{where}.case_ids", f"there is no case {case_id}")


def _in_journal(run: RunData) -> Iterator[Finding]:
    planned = {line.launch_id: line for line in run.manifest.schedule}
    seen: dict[str, int] = {}
    for number, record in enumerate(run.lines, start=1):
        if not isinstance(record, LaunchRecord):
            continue
        launch_id, where, name = record.launch_id, f"line {number}", record.name
        if name in seen:
            yield Finding(JOURNAL, f"{where}, launch_id", f"line {seen[name]} is of launch {launch_id} too")
        seen[name] = number
        plan = planned.get(launch_id)
        if plan is None:
            if planned:
                yield Finding(JOURNAL, f"{where}, launch_id", f"launch {launch_id} is not in the manifest's schedule")
            continue
        for name, stated, meant in (
            ("block", record.block, plan.block),
            ("entry_id", record.entry_id, plan.entry_id),
        ):
            if stated not in ("", meant):
                yield Finding(JOURNAL, f"{where}, {name}", f"it is {stated}, and the manifest says {meant}")
        for case_id, result in record.results.items():
            if case_id not in plan.case_ids:
                yield Finding(JOURNAL, f"{where}, results.{case_id}", "the launch had no such case")
            elif result.status not in STATUSES:
                yield Finding(JOURNAL, f"{where}, results.{case_id}.status", f"{result.status!r} is no status")
        samples = record.samples
        if samples not in (None, f"samples/{record.name}.parquet"):
            yield Finding(JOURNAL, f"{where}, samples", f"{samples} is not where the samples of launch {launch_id} lie")


def _in_samples(run: RunData) -> Iterator[Finding]:
    """Yield samples of a launch, a block or a case that they cannot be of."""
    blocks = {record.launch_id: record.block for record in run.journal if record.samples}
    files = {record.launch_id: f"samples/{record.name}.parquet" for record in run.journal}
    cases = {line.launch_id: set(line.case_ids) for line in run.manifest.schedule}
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
