"""The cases of the transport corpus, by families. What is true of each follows from how it is made."""

from __future__ import annotations

from benchmarks import (
    _corpus_devices,
    _corpus_found_cases,
    _corpus_memory_cases,
    _corpus_programs,
    _corpus_way_cases,
    _corpus_wire_cases,
)
from benchmarks._corpus_mpi_cases import fallbacks, honest, one_host, same_memory, wrong_interface
from benchmarks._corpus_nouns import Case
from benchmarks._corpus_other_cases import beside, plain, shapes, split, tiny

FAMILIES = (
    *(honest, fallbacks, one_host, same_memory, wrong_interface, split, beside, tiny, plain, shapes),
    *_corpus_devices.FAMILIES,
    *_corpus_way_cases.FAMILIES,
    *_corpus_wire_cases.FAMILIES,
    *_corpus_memory_cases.FAMILIES,
    *_corpus_programs.FAMILIES,
    *_corpus_found_cases.FAMILIES,
)


def cases() -> list[Case]:
    """Return all cases; their names are unique."""
    found = [case for family in FAMILIES for case in family()]
    names = [case.name for case in found]
    twice = {name for name in names if names.count(name) > 1}
    if twice:
        raise ValueError(f"two cases have one name: {', '.join(sorted(twice))}")
    return found
