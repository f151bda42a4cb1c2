"""The A/A control: what was entered twice must not differ from itself."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from fabriscope.analysis.comparing.compared import EQUIVALENT, LEADS, Compared
from fabriscope.analysis.words import advantage_text, size_text

CONTROL = "control"
MOST_SIZES = 3


@dataclass(frozen=True)
class Control:
    """What came of it."""

    label: str
    """What was entered twice."""
    size_count: int
    equivalent_count: int
    differing: tuple[str, ...]
    """Where it differs from itself, and by how much."""

    @property
    def is_failed(self) -> bool:
        """Return whether no verdict of the run can be trusted."""
        return bool(self.differing)

    def sentence(self) -> str:
        """Return what a reader must know."""
        if self.is_failed:
            some = ", ".join(self.differing[:MOST_SIZES]) + (" ..." if len(self.differing) > MOST_SIZES else "")
            return (
                f"The A/A control failed: {self.label}, entered twice, differs from itself at {len(self.differing)} of "
                f"{self.size_count} points ({some}), so no verdict of this run can be trusted."
            )
        if not self.equivalent_count:
            return (
                f"The A/A control could tell nothing: {self.label}, entered twice, is shown neither equivalent to "
                f"itself nor different at any of {self.size_count} points; more launches would tell."
            )
        undecided = self.size_count - self.equivalent_count
        return (
            f"The A/A control raises no alarm: {self.label}, entered twice, is shown equivalent to itself at "
            f"{self.equivalent_count} of {self.size_count} points and undecided at {undecided}."
        )


def control_of(rows: Sequence[Compared]) -> Control | None:
    """Return what came of the control, from the comparisons of a run; None without one."""
    rows = [row for row in rows if row.pair.kind == CONTROL]
    if not rows:
        return None
    differing = tuple(
        f"{row.pair.left_curve.benchmark} {size_text(row.message_size_bytes)} "
        + advantage_text(max(row.ratio, 1 / row.ratio))
        for row in rows
        if row.verdict in LEADS
    )
    equivalent = sum(row.verdict == EQUIVALENT for row in rows)
    return Control(rows[0].pair.left, len(rows), equivalent, differing)
