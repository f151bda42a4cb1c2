"""A made-up run, written by the store while a call of it fails, and what must be there afterwards.

Everything that the run is made of is given, its id and times too: so the folder that a resume ends with must be the one
that an undisturbed run ends with, byte for byte.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from pathlib import Path

from fabriscope import store
from fabriscope.model.case import Case, Entry
from fabriscope.model.command import Command, Outcome
from fabriscope.model.errors import FabriscopeError
from fabriscope.model.fabric import Fabric
from fabriscope.model.manifest import Near
from fabriscope.model.measurement import Launch, SampleBlock
from fabriscope.store.checks import check_folder

ENTRY = Entry("tcp", "gige", "inter", ("n0", "n1"))
CASE = Case(ENTRY, "ping_pong", 8)
ADDED_CASE = Case(ENTRY, "ping_pong", 64)
PLANNED = tuple(Launch(number, number, ENTRY, (CASE,), seed=7, budget_ns=10**9) for number in (1, 2))
ADDED = Launch(3, 3, ENTRY, (ADDED_CASE,), seed=7, budget_ns=10**9)
SAMPLE_COUNT = 40


def measure(path: Path, acknowledged: int) -> None:
    """Create the folder, append two launches, add and append a third, end; a byte for each launch goes to a pipe."""
    fabric = Fabric("gige", {"n0": "eth0", "n1": "eth0"}, line_rate_bits_per_s=10**9, mtu_bytes=1500)
    contents = {
        **store.describe((CASE,), PLANNED, (fabric,)),
        "version": store.SINCE_VERSION,
        "run_id": "0" * 32,
        "created_unix_ns": 1,
        "name": "made-up",
        "seed": 7,
    }
    store.create(path, contents, "name: made-up\n", {"beside.txt": "named by the plan\n"})
    go_on(path, acknowledged)


def go_on(path: Path, acknowledged: int) -> None:
    """Make the launches that the folder lacks, as a resumed run does."""
    folder = store.open_run(path)
    with folder.lock():
        for launch in PLANNED:
            _make(folder, launch, acknowledged)
        if ADDED.launch_id not in {launch.launch_id for launch in folder.manifest.schedule}:
            folder.add(1, (ADDED,), (Near("made up", 8, 512, (64,)),))
        _make(folder, ADDED, acknowledged)
        folder.end()


def _make(folder: store.RunFolder, launch: Launch, acknowledged: int) -> None:
    if launch.launch_id in folder.done():
        return
    number, case = launch.launch_id, launch.cases[0]
    record = {
        "launch_id": number,
        "block": launch.block,
        "entry_id": ENTRY.entry_id,
        "status": "ok",
        "reason": None,
        "results": {case.case_id: {"status": "ok", "reason": None}},
        "started_unix_ns": number,
        "elapsed_ns": 2,
        "details": {},
        "fabric_counters": {},
    }
    values = [number * 1000.0 + at / 7 for at in range(SAMPLE_COUNT)]
    said = Outcome(Command(("engine",), "n0"), 0, f"launch {number}\n".encode(), b"", 1, 2)
    folder.append(record, [SampleBlock(case.case_id, values)], [said], again=True)
    os.write(acknowledged, bytes([number]))


def contents_of(path: Path) -> dict[str, str]:
    """Return name to digest of everything in a folder; folders have none."""
    return {
        str(file.relative_to(path)): hashlib.sha256(file.read_bytes()).hexdigest() if file.is_file() else ""
        for file in sorted(path.rglob("*"))
    }


def problems_after_fault(path: Path, acknowledged: bytes, undisturbed: Path) -> Iterator[str]:
    """Yield what is wrong with the folder that a fault left."""
    if not (path / "manifest.json").exists():
        if acknowledged:
            yield "launches were stored, and there is no manifest"
        return
    expected = (undisturbed / "journal.jsonl").read_bytes().splitlines(keepends=True)
    journal = path / "journal.jsonl"
    lines = journal.read_bytes().splitlines(keepends=True) if journal.exists() else []
    whole = [line for line in lines if line.endswith(b"\n")]
    if whole != expected[: len(whole)]:
        yield "a line of the journal is not what was to be stored"
    try:
        folder = store.open_run(path)
        missing = set(acknowledged) - set(folder.done())
        if missing:
            yield f"launches {sorted(missing)} were stored, and the journal lacks them"
        frame = folder.read().samples.collect()
        if frame.height != SAMPLE_COUNT * len(folder.done()):
            yield f"{frame.height} samples of {len(folder.done())} launches can be read"
    except FabriscopeError as error:
        yield f"the folder cannot be read: {error}"
    yield from (f"verify says {finding.sentence()}" for finding in check_folder(path).findings)


def problems_after_resume(path: Path, undisturbed: Path) -> Iterator[str]:
    """Yield what differs from the folder of an undisturbed run."""
    has, expected = contents_of(path), contents_of(undisturbed)
    for name in sorted(has.keys() | expected.keys()):
        if has.get(name) != expected.get(name):
            kind = "left behind" if name not in expected else "missing" if name not in has else "different"
            yield f"after the resume {name} is {kind}"
    yield from (f"after the resume verify says {finding.sentence()}" for finding in check_folder(path).findings)
