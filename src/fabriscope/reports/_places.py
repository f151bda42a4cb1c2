"""On which processors ranks ran, as the set-up of a report says it."""

from __future__ import annotations

from dataclasses import dataclass

from fabriscope.model.processors import NONE, Dealt, of_ranks
from fabriscope.model.run_data import RunData

_RULES = {"core": "a core for each rank", "list": "as the plan lists them", NONE: "nothing"}
_MOST_ENTRIES = 6


@dataclass(frozen=True)
class PlaceLine:
    """Where the ranks of some entries ran."""

    entries: str
    bound: str
    """To what we bound them, in words."""
    processors: str
    """On which they could run, rank by rank."""
    switch: str
    """Those of the lab's switch meanwhile; empty: all, or there was none."""


def place_table(run: RunData) -> list[PlaceLine]:
    """Return a line for all entries whose ranks ran alike; nothing where no rank said where it was."""
    alike: dict[tuple[Dealt, tuple[str, ...]], dict[str, None]] = {}
    for record in run.journal:
        entry = run.manifest.entries.get(record.entry_id)
        if entry is not None and record.details.processors:
            place = record.details.bound or Dealt(NONE), record.details.processors
            alike.setdefault(place, {})[entry.label()] = None
    return [
        PlaceLine(_some(list(labels)), _words(dealt, processors), of_ranks(processors), dealt.switch)
        for (dealt, processors), labels in alike.items()
    ]


def _some(labels: list[str]) -> str:
    more = len(labels) - _MOST_ENTRIES
    return "; ".join(labels[:_MOST_ENTRIES]) + (f"; and {more} more" if more > 0 else "")


def _words(dealt: Dealt, processors: tuple[str, ...]) -> str:
    because = dealt.because
    if dealt.is_optional and dealt.processors != processors:
        because = "where their launcher let them run there, which it did not for all"
    return _RULES.get(dealt.rule, dealt.rule) + (f" ({because})" if because else "")
