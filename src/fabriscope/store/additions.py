"""Launches that a run added after it had looked: lines of the journal that go beyond what the manifest plans.

The manifest is written once; a line of the journal, sealed and chained as every other, says which cases and launches
were added, in which round, and near what. A reader sees them as if they had been planned.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from fabriscope.model.measurement import Launch
from fabriscope.model.run_data import ADDED
from fabriscope.store.manifest import describe

SINCE_VERSION = 2


def line(
    number: int, launches: Sequence[Launch], near: Sequence[Mapping[str, Any]], known: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the line of the journal that adds these launches; `known` are the ids of cases that are there already."""
    parts = describe((), launches)
    cases = {case_id: fields for case_id, fields in parts["cases"].items() if case_id not in known}
    return {ADDED: number, "near": list(near), "cases": cases, "schedule": parts["schedule"]}


def merged(contents: dict[str, Any], lines: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the manifest with what lines of the journal added.

    A scheduled launch that was added has its `round`. `additions` has for each round `round`, `near`, the `case_ids`
    that are new in it, and `after_lines`, how many lines of the journal stood there when it was decided.
    """
    found = [(number, one) for number, one in enumerate(lines) if ADDED in one]
    if not found:
        return contents
    cases, schedule = dict(contents["cases"]), list(contents["schedule"])
    additions = []
    for number, one in found:
        cases |= one["cases"]
        schedule += [{**launch, "round": one[ADDED]} for launch in one["schedule"]]
        about = {"round": one[ADDED], "near": one["near"], "case_ids": list(one["cases"]), "after_lines": number}
        additions.append(about)
    return {**contents, "cases": cases, "schedule": schedule, "additions": additions}


def planned(contents: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the scheduled launches that the plan asked for."""
    return [launch for launch in contents["schedule"] if not launch.get("round")]
