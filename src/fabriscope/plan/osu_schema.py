"""What a plan tells the OSU micro-benchmarks beside its benchmarks."""

from __future__ import annotations

from typing import Annotated

from pydantic import AfterValidator, BeforeValidator, Field, WithJsonSchema

from fabriscope.model.osu import PERCENTILES, OsuOptions
from fabriscope.plan.section import Section
from fabriscope.plan.strict import Truth
from fabriscope.plan.values import unique

LEAST_ITERATIONS, MOST_ITERATIONS = 10, 10_000_000


def _known(value: int) -> int:
    if value not in PERCENTILES:
        raise ValueError(f"{value} is none of the percentiles that are kept: choose {', '.join(map(str, PERCENTILES))}")
    return value


class OsuOptionsSection(Section):
    """Options of the suite's own."""

    iterations: int | None = Field(
        None, description="of every size (-i); absent: as many as fit the budget", ge=LEAST_ITERATIONS,
        le=MOST_ITERATIONS,
    )  # fmt: skip
    validation: Truth = Field(
        False, description="start each program once more with -c: a case whose data do not arrive whole has failed"
    )
    percentiles: Annotated[
        tuple[Annotated[int, AfterValidator(_known)], ...],
        BeforeValidator(unique),
        WithJsonSchema({"type": "array", "items": {"enum": list(PERCENTILES)}}),
    ] = Field((), description="of the iterations' times (-z), beside their mean: 50, 90, 99")

    def options(self) -> OsuOptions:
        """Return them as the suite is told."""
        return OsuOptions(self.iterations, self.validation, tuple(sorted(self.percentiles)))
