"""Launches that a run added after it had looked: lines of the journal that go beyond what the manifest plans.

The manifest is written once; a line of the journal, sealed and chained as every other, says which cases and launches
were added, in which round, and near what. A reader sees them as if they had been planned.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field

from fabriscope.model.fabric import Fabric
from fabriscope.model.manifest import BlockChoice, Manifest, Near
from fabriscope.model.measurement import Launch
from fabriscope.model.record import AddedLaunches, Line
from fabriscope.model.tuning import Trials
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
    entries: Mapping[str, object] = field(default_factory=dict)
    fabrics: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True)
class _Added(_Planned):
    """What a line adds, as it was written."""

    near: object = ()
    trials: object = None
    choice: object = None


def line(
    number: int,
    launches: Sequence[Launch],
    near: Sequence[Near],
    known: Manifest,
    fabrics: Iterable[Fabric] = (),
    trials: Trials | None = None,
    choice: BlockChoice | None = None,
) -> dict[str, object]:
    """Return the line of the journal that adds these launches, and of a tuning the fabrics that are tried.

    A `choice` makes them blocks that the plan asked for.

    What is `known` already is not told again.
    """
    cases = {case.case_id: case for launch in launches for case in launch.cases if case.case_id not in known.cases}
    entries = {launch.entry.entry_id: launch.entry for launch in launches}
    tuning: dict[str, object] = {
        "entries": {name: plain(asdict(one)) for name, one in entries.items() if name not in known.entries},
        "fabrics": {one.name: plain(one) for one in fabrics},
        "trials": plain(trials),
    }
    return {
        ADDED: number,
        "near": plain(near),
        "cases": {case_id: plain(case) for case_id, case in cases.items()},
        "schedule": [manifest.line_of(launch) for launch in manifest.scheduled(launches)],
        **(tuning if trials is not None else {}),
        **({"choice": plain(choice)} if choice is not None else {}),
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
    entries, fabrics = dict(contents.entries), dict(contents.fabrics)
    choice: object = None
    for number, line in added:
        about = shapes.decode(dict(line.document), _Added)
        cases |= about.cases
        entries |= about.entries
        fabrics |= about.fabrics
        schedule += [{**launch, "round": 0 if about.choice else line.added} for launch in about.schedule]
        if about.choice:
            choice = about.choice
            continue
        what = {"near": about.near, "case_ids": list(about.cases), "after_lines": number, "trials": about.trials}
        rounds.append({"round": line.added, **what})
    later = {"additions": rounds, "choice": choice}
    parts = {"cases": cases, "schedule": schedule, "entries": entries, "fabrics": fabrics, **later}
    return manifest.decode({**planned.document, **parts})
