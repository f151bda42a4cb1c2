"""Launches that a run added after it had looked: lines of the journal that go beyond what the manifest plans.

The manifest is written once; a line of the journal, sealed and chained as every other, says which cases and launches
were added, in which round, and near what. A reader sees them as if they had been planned.
"""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass

from fabriscope.model.manifest import Manifest, Near
from fabriscope.model.measurement import Launch
from fabriscope.model.record import AddedLaunches, Line
from fabriscope.store import manifest, shapes
from fabriscope.store.files import plain

ADDED = "added"
"""The field of a journal line that adds cases and launches to those of the manifest: the number of the round."""
SINCE_VERSION = 2


@dataclass(frozen=True)
class _Planned:
    """Of a manifest as it was written, what is added to."""

    cases: Mapping[str, object]
    schedule: tuple[Mapping[str, object], ...]


@dataclass(frozen=True)
class _Added(_Planned):
    """What a line adds, as it was written."""

    near: object


def line(number: int, launches: Sequence[Launch], near: Sequence[Near], known: Container[str]) -> dict[str, object]:
    """Return the line of the journal that adds these launches; `known` are the ids of cases that are there already."""
    cases = {case.case_id: case for launch in launches for case in launch.cases if case.case_id not in known}
    return {
        ADDED: number,
        "near": plain(near),
        "cases": {case_id: plain(case) for case_id, case in cases.items()},
        "schedule": [manifest.line_of(launch) for launch in manifest.scheduled(launches)],
    }


def of(lines: Sequence[Line]) -> list[AddedLaunches]:
    """Return those of the journal's lines that add launches."""
    return [line for line in lines if isinstance(line, AddedLaunches)]


def merged(planned: Manifest, lines: Sequence[Line]) -> Manifest:
    """Return the manifest with what lines of the journal added; raises ValueError where a line cannot stand in it."""
    added = [(number, line) for number, line in enumerate(lines) if isinstance(line, AddedLaunches)]
    if not added:
        return planned
    contents = shapes.decode(dict(planned.document), _Planned)
    cases, schedule, rounds = dict(contents.cases), list(contents.schedule), []
    for number, line in added:
        about = shapes.decode(dict(line.document), _Added)
        cases |= about.cases
        schedule += [{**launch, "round": line.added} for launch in about.schedule]
        rounds.append({"round": line.added, "near": about.near, "case_ids": list(about.cases), "after_lines": number})
    return manifest.decode({**planned.document, "cases": cases, "schedule": schedule, "additions": rounds})
