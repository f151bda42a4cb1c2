"""The cases of the transport corpus, by families. What is true of each follows from how it is made."""

from __future__ import annotations

from campaigns.corpus import (
    devices,
    found_cases,
    loss_cases,
    memory_cases,
    programs,
    small_cases,
    way_cases,
    wire_cases,
)
from campaigns.corpus.mpi_cases import fallbacks, honest, one_host, same_memory, wrong_interface
from campaigns.corpus.nouns import Case
from campaigns.corpus.other_cases import beside, plain, shapes, split, tiny

FAMILIES = (
    *(honest, fallbacks, one_host, same_memory, wrong_interface, split, beside, tiny, plain, shapes),
    *devices.FAMILIES,
    *way_cases.FAMILIES,
    *wire_cases.FAMILIES,
    *memory_cases.FAMILIES,
    *programs.FAMILIES,
    *found_cases.FAMILIES,
    *loss_cases.FAMILIES,
    *small_cases.FAMILIES,
)


def cases() -> list[Case]:
    """Return all cases; their names are unique."""
    found = [case for family in FAMILIES for case in family()]
    names = [case.name for case in found]
    twice = {name for name in names if names.count(name) > 1}
    if twice:
        raise ValueError(f"two cases have one name: {', '.join(sorted(twice))}")
    return found
