"""The manifest: what a run is, written once before the first launch."""

from __future__ import annotations

import time
import uuid
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from fabriscope.model.case import Case, case_of, entry_of
from fabriscope.model.errors import StoreError
from fabriscope.model.fabric import Fabric
from fabriscope.model.measurement import Launch
from fabriscope.model.mpi import MpiStack
from fabriscope.store import inside, shapes
from fabriscope.store.files import plain

FORMAT = "fabriscope-run"
VERSION = 2
"""The newest that we read. Runs that may add launches are written as 2, all others as PLAIN_VERSION."""
PLAIN_VERSION = 1
MANIFEST_NAME = "manifest.json"
PARTS = {
    "plan": dict, "cases": dict, "entries": dict, "fabrics": dict, "mpi": dict, "schedule": list, "hosts": dict,
    "versions": dict,
}  # fmt: skip


def describe(
    cases: Iterable[Case], launches: Iterable[Launch], fabrics: Iterable[Fabric] = (), mpi: Iterable[MpiStack] = ()
) -> dict[str, Any]:
    """Return the manifest's parts `cases`, `entries`, `schedule`, `fabrics` and `mpi` from the nouns themselves."""
    launches = tuple(launches)
    all_cases = {case.case_id: case for case in cases}
    for launch in launches:
        all_cases.update({case.case_id: case for case in launch.cases})
    entries = {case.entry.entry_id: case.entry for case in all_cases.values()}
    entries.update({launch.entry.entry_id: launch.entry for launch in launches})
    return {
        "cases": {case_id: plain(case) for case_id, case in all_cases.items()},
        "entries": {entry_id: {**plain(entry), "label": entry.label()} for entry_id, entry in entries.items()},
        "fabrics": {fabric.name: plain(fabric) for fabric in fabrics},
        "mpi": {stack.name: plain(stack) for stack in mpi},
        "schedule": [
            {
                "launch_id": launch.launch_id,
                "block": launch.block,
                "entry_id": launch.entry.entry_id,
                "case_ids": [case.case_id for case in launch.cases],
                "seed": launch.seed,
                "budget_ns": launch.budget_ns,
            }
            for launch in launches
        ],
    }


def launches_of(manifest: Mapping[str, Any]) -> tuple[Launch, ...]:
    """Return the schedule as launches, in order: what a resumed run goes on with."""
    entries = {entry_id: entry_of(fields) for entry_id, fields in manifest["entries"].items()}
    cases = {case_id: case_of(fields) for case_id, fields in manifest["cases"].items()}
    return tuple(
        Launch(
            launch_id=line["launch_id"],
            block=line["block"],
            entry=entries[line["entry_id"]],
            cases=tuple(cases[case_id] for case_id in line["case_ids"]),
            seed=line["seed"],
            budget_ns=line["budget_ns"],
        )
        for line in manifest["schedule"]
    )


def complete(manifest: Mapping[str, Any]) -> dict[str, Any]:
    """Return the manifest with the format, the version, and whatever part was not given, filled in."""
    filled: dict[str, Any] = {
        "format": FORMAT,
        "version": PLAIN_VERSION,
        "run_id": uuid.uuid4().hex,
        "created_unix_ns": time.time_ns(),
        "fabriscope_version": _our_version(),
        "name": "run",
        "seed": None,
        "lab": None,
        "sealed": True,
    }
    filled.update({part: kind() for part, kind in PARTS.items()})
    filled.update(manifest)
    return filled


def load(folder: Path) -> dict[str, Any]:
    """Return the manifest of a run folder; raises StoreError for anything that we cannot rely on."""
    path = folder / MANIFEST_NAME
    try:
        content = inside.read_bytes(folder, MANIFEST_NAME)
        manifest = inside.whole_characters(content, inside.parse(content))
    except inside.MissingFile:
        raise StoreError("this is not a run folder: it has no manifest.json", where=str(folder)) from None
    except ValueError as error:
        raise StoreError(f"the manifest is damaged: {error}", where=str(path)) from error
    if not isinstance(manifest, dict) or manifest.get("format") != FORMAT:
        raise StoreError("this manifest was not written by fabriscope", where=str(path))
    version = manifest.get("version")
    if not isinstance(version, int) or isinstance(version, bool) or version < 1:
        raise StoreError(f"the manifest is damaged: its version is {version!r}", where=str(path))
    if version > VERSION:
        raise StoreError(
            f"the run has format version {version}, this fabriscope reads up to {VERSION}",
            where=str(folder),
            fix="read it with a newer fabriscope",
        )
    for part, kind in PARTS.items():
        manifest.setdefault(part, kind())
    try:
        shapes.check(manifest, shapes.Manifest)
        _check_names(manifest)
    except ValueError as error:
        raise StoreError(f"the manifest is damaged: {error}", where=str(path)) from error
    return manifest


def _check_names(manifest: Mapping[str, Any]) -> None:
    """Raise ValueError where an entry goes under another's name, or the schedule names what is not there."""
    for name, fields in manifest["entries"].items():
        if (own := entry_of(fields).entry_id) != name:
            raise ValueError(f"entries.{name} has the fields of {own!r}")
    numbers = set()
    for index, launch in enumerate(manifest["schedule"]):
        if launch["entry_id"] not in manifest["entries"]:
            raise ValueError(f"schedule[{index}].entry_id is {launch['entry_id']!r}, and there is no such entry")
        missing = next((case_id for case_id in launch["case_ids"] if case_id not in manifest["cases"]), None)
        if missing is not None:
            raise ValueError(f"schedule[{index}].case_ids has {missing!r}, and there is no such case")
        if launch["launch_id"] in numbers:
            raise ValueError(f"schedule[{index}].launch_id is {launch['launch_id']}, as of another launch")
        numbers.add(launch["launch_id"])


def _our_version() -> str:
    from fabriscope import __version__

    return __version__
