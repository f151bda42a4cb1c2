"""Real small runs, one call of which fails: the process that it fails in, and the checks of what is left."""

from __future__ import annotations

import hashlib
import importlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from fabriscope import store
from fabriscope.cli import main
from fabriscope.model.errors import FabriscopeError
from fabriscope.registry import discover
from fabriscope.running.verify import verify

LOCAL_PLAN = """
name: injected
hosts: localhost
layers: [tcp]
placements: [intra]
benchmarks: {ping_pong: {sizes: [1]}}
launches: 2
budget: 40ms
case_timeout: 1s
floor: false
counters: false
"""
LAB_PLAN = LOCAL_PLAN.replace("localhost", "node[1-2]\nfabrics: {wire: {lab: gige}}").replace("intra", "inter")
_ON_FILES = ("open", "write", "close", "rename", "mkdir", "unlink", "link", "truncate", "chmod")


@dataclass(frozen=True)
class Part:
    """One program of a run, and the calls of it that fail one after the other."""

    name: str
    title: str
    plan: str
    program: str = ""
    """Pattern of the command lines of the processes; empty for fabriscope itself."""
    places: tuple[str, ...] = ()
    """How paths begin that count: RUN and TMP stand for the run's folders."""
    calls: tuple[str, ...] = ()
    """Kinds that count; empty for all."""


PARTS = {
    part.name: part
    for part in (
        Part("store", "the store", ""),
        Part("run-store", "the store, in a real run", LOCAL_PLAN, "", ("RUN",), (*_ON_FILES, "fsync", "lock")),
        Part("launcher", "the launcher", LOCAL_PLAN, "", ("TMP", "pipe:"), (*_ON_FILES, "fork", "pipe")),
        Part("guard", "the guard", LOCAL_PLAN, "sh -c *fabriscope-guard*", calls=("fork", "read", "open", "write")),
        Part("lab", "the lab's builder", LAB_PLAN, "", ("/run/fabriscope",), (*_ON_FILES, "lock", "fork", "pipe")),
        Part("unshare", "what makes the keeper", LAB_PLAN, "unshare *fabriscope-init --owner-pipe*"),
        Part("keeper", "the lab's keeper", LAB_PLAN, "fabriscope-init --owner-pipe*"),
        Part("furnish", "what furnishes hosts", LAB_PLAN, "sh -c*hostname*", calls=("fork", "open", "write", "wait")),
        Part("hosts", "the lab's hosts", LAB_PLAN, "fabriscope-init "),
    )
}


def import_all() -> None:
    """Import what runs import when they need it, so that a forked run need not."""
    for name in (
        "running.run",
        "running.verify",
        "running.real_site",
        "lab",
        "progress",
        "hosts.facts",
        "hosts.counters",
        "plan",
        "reports",
    ):
        importlib.import_module(f"fabriscope.{name}")
    for folder, constant in (("adapters", "ADAPTER"), ("launch", "LAUNCHER"), ("cli", "COMMAND")):
        discover(folder, constant)


def command(*words: str) -> int:
    """Run the command line in this process; return its status."""
    try:
        main(words)
    except SystemExit as ended:
        return ended.code if isinstance(ended.code, int) else 1 if ended.code else 0
    return 0


def whole_lines(path: Path) -> list[bytes]:
    """Return the journal's lines that end."""
    journal = path / "journal.jsonl"
    lines = journal.read_bytes().splitlines(keepends=True) if journal.exists() else []
    return [line for line in lines if line.endswith(b"\n")]


def digests(path: Path, lines: Sequence[bytes]) -> dict[str, str]:
    """Return the digests of the samples that lines of the journal name."""
    names = [json.loads(line).get("samples") for line in lines]
    return {name: _digest(path / name) for name in names if name}


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest() if path.exists() else "missing"


def problems_of_folder(path: Path) -> Iterator[str]:
    """Yield what is wrong with a run folder, if there is one."""
    if not (path / "manifest.json").exists():
        return
    try:
        read = store.open_run(path).read()
        read.samples.collect()
        for record in read.journal:
            for result in record.results.values():
                if result.status != "ok" and not result.reason:
                    yield "a measurement failed without a reason"
                if "an error in fabriscope itself" in (result.reason or ""):
                    yield f"a launch failed, and nobody foresaw how: {result.reason}"
        yield from (f"verify says {finding.sentence()}" for finding in verify(path).findings)
    except FabriscopeError as error:
        yield f"the folder cannot be read: {error}"


def problems_after_resume(path: Path, kept: Sequence[bytes], kept_digests: Mapping[str, str]) -> Iterator[str]:
    """Yield what is wrong with a folder that was resumed, given what stood in its journal before."""
    lines = whole_lines(path)
    if lines[: len(kept)] != list(kept):
        yield "lines of the journal changed in the resume"
    changed = [name for name, digest in digests(path, kept).items() if kept_digests[name] != digest]
    if changed:
        yield f"samples changed in the resume: {changed}"
    yield from (f"after the resume {words}" for words in problems_of_folder(path))
    yield from (f"left in the folder: {name}" for name in _unfinished(path))


def problems_of_end(path: Path) -> Iterator[str]:
    """Yield what a resume that says it is complete did not do."""
    folder = store.open_run(path)
    planned = {launch.launch_id for launch in folder.manifest.schedule}
    if set(folder.done()) != planned:
        yield f"the resume ended well with launches {sorted(folder.done())} of {sorted(planned)}"
    if not folder.has_ended:
        yield "the resume ended well, and the seal does not say so"


def _unfinished(path: Path) -> list[str]:
    return [str(file.relative_to(path)) for file in path.rglob("*.part")]
