"""How many bytes IMB's Mbyte has, which its version tells, or else its rows; and of what its messages are."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice

from fabriscope.model.rounding import exactly, span

FIRST_DECIMAL = 2018
"""The version since which a Mbyte has 10^6 bytes; earlier ones, from 2.3 to 2017, print 2^20."""
DECIMAL, BINARY = 1e6, float(1 << 20)
MOST_ROWS = 2_000
"""That are looked at."""
_DATATYPES = (
    ("datatype", re.compile(r"^ {0,40}# MPI_Datatype +: +(MPI_\w{1,40}) *$", re.MULTILINE), {"MPI_BYTE", "MPI_CHAR"}),
    (
        "reduction_datatype",
        re.compile(r"^ {0,40}# MPI_Datatype for reductions +: +(MPI_\w{1,40}) *$", re.MULTILINE),
        {"MPI_FLOAT"},
    ),
)
_ROW = re.compile(r"^ {0,40}(\d{1,12}) +\d{1,9} +(\d{1,12}\.\d\d) +(\d{1,12}\.\d\d) *$", re.MULTILINE)
"""Of one message in a time, with its rate."""


def datatypes_of(text: str) -> Iterator[tuple[str, str]]:
    """Yield the datatypes that somebody chose, of messages and of reductions, where all heads of a text agree."""
    for name, pattern, usual in _DATATYPES:
        found = set(pattern.findall(text))
        if len(found) == 1 and not found & usual:
            yield name, found.pop()


def year_of(version: str | None) -> int | None:
    """Return the first number of a version, which is a year since 2017; None without one."""
    year = re.match(r"\d{1,9}", version or "")
    return int(year[0]) if year else None


def megabyte_of(text: str, version: str | None) -> float:
    """Return the bytes of a Mbyte; of a text without a version those with which alone some rows agree, else 10^6."""
    year = year_of(version)
    if year is not None:
        return BINARY if year < FIRST_DECIMAL else DECIMAL
    agree = {DECIMAL: 0, BINARY: 0}
    for row in islice(_ROW.finditer(text), MOST_ROWS):
        fitting = [one for one in agree if (exactly(int(row[1]) * 1e6 / one) / span(row[2])).meets(span(row[3]))]
        if len(fitting) == 1:
            agree[fitting[0]] += 1
    return BINARY if agree[BINARY] > agree[DECIMAL] else DECIMAL
