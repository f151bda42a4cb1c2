"""The manifest: what a run is, written once before the first launch."""

from __future__ import annotations

import dataclasses
import time
import uuid
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from fabriscope.model.case import Case, Entry
from fabriscope.model.errors import StoreError
from fabriscope.model.fabric import Fabric
from fabriscope.model.foreign import JsonObject, shown
from fabriscope.model.host import Fact
from fabriscope.model.manifest import Manifest, ScheduledLaunch
from fabriscope.model.measurement import Launch
from fabriscope.model.mpi import MpiStack
from fabriscope.store import inside, shapes
from fabriscope.store.files import plain, plain_object

FORMAT = "fabriscope-run"
VERSION = 2
"""The newest that we read. Runs that may add launches are written as 2, all others as PLAIN_VERSION."""
PLAIN_VERSION = 1
MANIFEST_NAME = "manifest.json"
Contents = Mapping[str, object]
"""What a manifest says, of any version, before it is decoded."""
PARTS = {
    "plan": dict, "cases": dict, "entries": dict, "fabrics": dict, "mpi": dict, "schedule": list, "hosts": dict,
    "versions": dict,
}  # fmt: skip


@dataclasses.dataclass(frozen=True)
class _Versioned:
    """Of a manifest, what says how the rest is to be read."""

    version: int


def describe(
    cases: Iterable[Case],
    launches: Iterable[Launch],
    fabrics: Iterable[Fabric] = (),
    mpi: Iterable[MpiStack] = (),
    *,
    entries: Iterable[Entry] = (),
    hosts: Mapping[str, Iterable[Fact]] | None = None,
    **about: object,
) -> dict[str, object]:
    """Return the contents of a manifest from the nouns themselves: the one place that knows how they are written.

    Cases and entries of launches are among them in any case; those that are named stand first, in their order. `about`
    are the parts that are no nouns (`name`, `seed`, `plan` ...).
    """
    launches = tuple(launches)
    all_cases = {case.case_id: case for case in cases}
    for visited in {id(launch.cases): launch.cases for launch in launches}.values():
        all_cases.update({case.case_id: case for case in visited})
    all_entries = {entry.entry_id: entry for entry in entries}
    all_entries |= {case.entry.entry_id: case.entry for case in all_cases.values()}
    all_entries |= {launch.entry.entry_id: launch.entry for launch in launches}
    return {
        **about,
        "cases": {case_id: plain(case) for case_id, case in all_cases.items()},
        "entries": {
            name: {**plain_object(dataclasses.asdict(entry)), "label": entry.label()}
            for name, entry in all_entries.items()
        },
        "fabrics": {fabric.name: plain(fabric) for fabric in fabrics},
        "mpi": {stack.name: plain(stack) for stack in mpi},
        "schedule": [line_of(launch) for launch in scheduled(launches)],
        "hosts": {name: {"facts": plain(list(facts))} for name, facts in (hosts or {}).items()},
    }


def scheduled(launches: Iterable[Launch]) -> tuple[ScheduledLaunch, ...]:
    """Return launches by the ids of what they visit."""
    return tuple(
        ScheduledLaunch(
            launch.launch_id,
            launch.block,
            launch.entry.entry_id,
            tuple(case.case_id for case in launch.cases),
            launch.seed,
            launch.budget_ns,
        )
        for launch in launches
    )


def line_of(launch: ScheduledLaunch) -> JsonObject:
    """Return a launch of the schedule as it is written."""
    about = plain_object(dataclasses.asdict(launch))
    return {name: value for name, value in about.items() if name != "round"}  # the journal says who added it


def complete(contents: Mapping[str, object]) -> dict[str, object]:
    """Return the contents of a manifest with the format, the version, and whatever part was not given, filled in."""
    filled: dict[str, object] = {
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
    filled.update(contents)
    return filled


def load(folder: Path) -> Manifest:
    """Return the manifest of a run folder; raises StoreError for anything that we cannot rely on."""
    path = folder / MANIFEST_NAME
    try:
        content = inside.read_bytes(folder, MANIFEST_NAME)
        contents = inside.whole_characters(content, inside.parse(content))
    except inside.MissingFile:
        raise StoreError("this is not a run folder: it has no manifest.json", where=str(folder)) from None
    except ValueError as error:
        raise StoreError(f"the manifest is damaged: {error}", where=str(path)) from error
    if not isinstance(contents, dict) or contents.get("format") != FORMAT:
        raise StoreError("this manifest was not written by fabriscope", where=str(path))
    version = contents.get("version")
    if not isinstance(version, int) or isinstance(version, bool) or version < 1:
        raise StoreError(f"the manifest is damaged: its version is {version!r}", where=str(path))
    if version > VERSION:
        raise StoreError(
            f"the run has format version {version}, this fabriscope reads up to {VERSION}",
            where=str(folder),
            fix="read it with a newer fabriscope",
        )
    try:
        return decode(contents)
    except ValueError as error:
        raise StoreError(f"the manifest is damaged: {error}", where=str(path)) from error


def decode(contents: Contents) -> Manifest:
    """Return the contents of a manifest of any version that we know as what they stand for.

    Raises ValueError with the place of what has another shape, or of a name that stands for nothing.
    """
    about = shapes.decode(dict(contents), _Versioned)
    for version in range(about.version, VERSION + 1):
        contents = UPCASTERS[version](contents)
    manifest = shapes.decode(dict(contents), Manifest)
    known = {entry: entry for entry in manifest.entries.values()}
    cases = {
        case_id: dataclasses.replace(case, entry=known.get(case.entry, case.entry))
        for case_id, case in manifest.cases.items()
    }
    manifest = dataclasses.replace(manifest, cases=cases)
    _check_names(manifest)
    _check_paper(manifest)
    return manifest


def manifest_of(contents: Contents) -> Manifest:
    """Return what the contents of a manifest that is not written yet stand for; raises as `decode` does."""
    return decode(plain_object(complete(contents)))


def launches_of(manifest: Manifest) -> tuple[Launch, ...]:
    """Return the schedule as launches, in order: what a resumed run goes on with."""
    return manifest.launches


def _with_all_parts(contents: Contents) -> Contents:
    return {**contents, **{part: kind() for part, kind in PARTS.items() if part not in contents}}


UPCASTERS: Mapping[int, Callable[[Contents], Contents]] = {
    1: _with_all_parts,
    2: _with_all_parts,
}
"""What makes the contents of a manifest of each version such as the newest are; the number of its version stays.

What came within a version needs none: a field of a noun (model/manifest.py) that has a default may be missing.
"""


def _check_paper(manifest: Manifest) -> None:
    """Raise ValueError where a table of the paper has a row that is longer or shorter than its head."""
    for index, table in enumerate(manifest.paper.tables if manifest.paper else ()):
        wrong = next((n for n, row in enumerate(table.rows) if len(row.cells) != len(table.columns)), None)
        if wrong is not None:
            raise ValueError(f"paper.tables[{index}].rows[{wrong}] has not a cell for each column")


def _check_names(manifest: Manifest) -> None:
    """Raise ValueError where an entry goes under another's name, or the schedule names what is not there."""
    for name, entry in manifest.entries.items():
        if entry.entry_id != name:
            raise ValueError(f"entries.{name[:80]} has the fields of {shown(entry.entry_id)}")
    for place, parts in (("fabrics", manifest.fabrics), ("mpi", manifest.mpi)):
        for name, part in parts.items():
            if part.name != name:
                raise ValueError(f"{place}.{name[:80]} has the name {shown(part.name)}")
    numbers = set()
    for index, launch in enumerate(manifest.schedule):
        if launch.entry_id not in manifest.entries:
            raise ValueError(f"schedule[{index}].entry_id is {shown(launch.entry_id)}, and there is no such entry")
        missing = next((case_id for case_id in launch.case_ids if case_id not in manifest.cases), None)
        if missing is not None:
            raise ValueError(f"schedule[{index}].case_ids has {shown(missing)}, and there is no such case")
        other = next((name for name in launch.case_ids if manifest.cases[name].entry.entry_id != launch.entry_id), None)
        if other is not None:
            raise ValueError(f"schedule[{index}].case_ids has {shown(other)}, which is a case of another entry")
        if launch.launch_id in numbers:
            raise ValueError(f"schedule[{index}].launch_id is {launch.launch_id}, as of another launch")
        numbers.add(launch.launch_id)


def _our_version() -> str:
    from fabriscope import __version__

    return __version__
