"""What a plan says of a tuning: which settings are tried at which values, for what, and for how long."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BeforeValidator, Field, StrictBool, WithJsonSchema

from fabriscope.model.errors import shown
from fabriscope.plan.names import Label
from fabriscope.plan.section import Section
from fabriscope.plan.strict import Budget
from fabriscope.plan.values import SizeBytes, as_list, one_setting

MOST_KNOBS = 16
"""Of a tuning: their two-level design of resolution IV has 32 configurations."""
MOST_VALUES = 9
"""Of one of them."""


_VALUE_SCHEMA = {"type": ["boolean", "integer", "string"]}
_VALUES_SCHEMA = {
    "anyOf": [_VALUE_SCHEMA, {"type": "array", "items": _VALUE_SCHEMA, "minItems": 1, "maxItems": MOST_VALUES}]
}


def _values(value: Any) -> list[object]:
    values = [one_setting(one) for one in as_list(value)]
    if len(values) > MOST_VALUES:
        raise ValueError(f"{len(values)} values of one setting are more than the {MOST_VALUES} that a tuning tries")
    twice = next((one for place, one in enumerate(values) if one in values[:place]), None)
    if twice is not None:
        raise ValueError(f"the value {shown(twice)} stands here twice")
    return values


class ObjectiveSection(Section):
    """The measurement that is to become faster."""

    benchmark: str = Field(description="a benchmark of the plan, or a run of its applications (nas_cg_s)")
    size: SizeBytes | None = Field(None, description="its message size; absent: the only one")
    layer: str | None = Field(None, description="the layer; absent: the only one")
    mpi: str | None = Field(None, description="the MPI library; absent: the only one")


class TuneSection(Section):
    """Settings that are tried, the fabric that they are tried on, and what for."""

    fabric: Label | None = Field(None, description="the fabric that is tuned; absent: the plan's only one")
    knobs: dict[
        Label,
        Annotated[
            tuple[StrictBool | int | str, ...],
            BeforeValidator(_values),
            Field(min_length=1),
            WithJsonSchema(_VALUES_SCHEMA),
        ],
    ] = Field(
        description="setting to the values that are tried: a list, or of numbers a range, from which each is twice the"
        " one before (64KiB..1MiB); docs/settings.md",
        min_length=1,
        max_length=MOST_KNOBS,
    )
    objective: ObjectiveSection = Field(description="what is to become faster")
    budget: Budget = Field(5 * 60 * 10**9, description="time of the tuning's launches, on top of the plan's budget")
