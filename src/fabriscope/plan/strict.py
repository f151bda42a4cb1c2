"""Values of a plan that pydantic would read more freely than a plan means them, or refuse in words of its own."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator, StrictBool

from fabriscope.model.errors import shown
from fabriscope.model.units import duration_words
from fabriscope.plan.values import DurationNs

LEAST_TIMEOUT_NS = 10**6
"""Of a case: less than any message needs."""
LEAST_JOB_NS = 10**9
LEAST_BUDGET_NS = 3 * 10**6
"""What one burst of one case takes (model/turns.py)."""


def _within(least_ns: int, most_ns: int | None = None, why: str = "") -> AfterValidator:
    """Return the check of a duration that must be neither shorter nor longer; `why` is that of the least."""
    least, most = duration_words(least_ns), duration_words(most_ns or least_ns)

    def check(value: int) -> int:
        if value < least_ns:
            raise ValueError(f"{duration_words(value)} is less than {least}{why}: write {least} or more")
        if most_ns is not None and value > most_ns:
            raise ValueError(f"{duration_words(value)} is more than {most}: write {most} or less")
        return value

    return AfterValidator(check)


def _truth_or_name(value: Any) -> Any:
    if not isinstance(value, bool | str):
        raise ValueError(
            f"{shown(value)} is neither true, false nor the name of a fabric or an entry: write one of them"
        )
    return value


Truth = StrictBool
"""Neither 1 nor `"true"`."""
TruthOrName = Annotated[bool | str, BeforeValidator(_truth_or_name)]
Timeout = Annotated[DurationNs, _within(LEAST_TIMEOUT_NS)]
JobDuration = Annotated[DurationNs, _within(LEAST_JOB_NS)]
Budget = Annotated[DurationNs, _within(LEAST_BUDGET_NS, why=", which one burst of messages takes")]
StreamDuration = Annotated[DurationNs, _within(10**6, 600 * 10**9)]
ProgramLimit = Annotated[DurationNs, _within(10**9, 7 * 24 * 3600 * 10**9)]
"""Of one start of an application or a service."""
