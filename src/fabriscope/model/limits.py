"""What numbers of a run can be, as types: whoever decodes a noun finds here which values were never measured.

The limits are generous. They stand between what a cluster of the next decades may say and what only somebody who makes
up, or damages, a folder says; within them sums over a whole run fit into 63 bits, and products into a double.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal


@dataclass(frozen=True)
class Within:
    """The least and the most that a number may be."""

    least: float
    most: float

    def words(self) -> str:
        """Return it as an error says it: `0 to 255`, `at least 0`."""
        if self.most >= 2**62:
            return f"at least {self.least}"
        return f"{self.least} to {self.most}"


@dataclass(frozen=True)
class Items:
    """How many items a list may have."""

    most: int


MOST_VALUE = 1e24
"""Of what is measured, in any unit that is stored: a quintillion operations a second are 1e18."""
Count = Annotated[int, Within(0, 10**16)]
"""Of what one launch did, in operations, messages or bytes."""
Seed = Annotated[int, Within(0, 2**63 - 1)]
UnixNs = Annotated[int, Within(0, 2**63 - 1)]
Ordinal = Annotated[int, Within(1, 2**31 - 1)]
"""Counts from 1, in a column of 32 bits: launches, blocks, attempts, rounds."""
Whole32 = Annotated[int, Within(0, 2**31 - 1)]
Counted64 = Annotated[int, Within(0, 2**64 - 1)]
"""What the kernel counts without a sign."""
DurationNs = Annotated[int, Within(0, 10**17)]
"""Three years."""
SizeBytes = Annotated[int, Within(0, 2**50)]
"""Of a message or a buffer."""
Amount = Annotated[float, Within(0, MOST_VALUE)]
LogWidth = Annotated[float, Within(0, 700)]
"""Of logarithms of ratios: what is larger is no double."""
Share = Annotated[float, Within(0, 1)]
Sentences = Annotated[tuple[str, ...], Items(1000)]
"""What befell something, for people."""
CaseStatus = Literal["ok", "failed", "skipped"]
LaunchStatus = Literal["ok", "failed"]
