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


def _at_least(least_ns: int) -> AfterValidator:
    """Return the check of a duration that must not be shorter."""

    def check(value: int) -> int:
        if value < least_ns:
            least = duration_words(least_ns)
            raise ValueError(f"{duration_words(value)} is less than {least}: write {least} or more")
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
Timeout = Annotated[DurationNs, _at_least(LEAST_TIMEOUT_NS)]
JobDuration = Annotated[DurationNs, _at_least(LEAST_JOB_NS)]
