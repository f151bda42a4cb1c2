"""How often a plan launches every entry: a number, or a word by which the run chooses it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import Field, PlainSerializer, WithJsonSchema, WrapValidator

from fabriscope.model.blocks import AUTO
from fabriscope.model.errors import shown

MOST = 1000


def _or_auto(value: Any, of_number: Callable[[Any], int]) -> int | str:
    if value == AUTO:
        return AUTO
    if isinstance(value, str) and value.strip().lower() in (AUTO, "automatic", "automatically", "planner"):
        raise ValueError(f"{shown(value)} is no number: write auto for one that the run chooses")
    return of_number(value)


if TYPE_CHECKING:
    Launches = int | Literal["auto"]
else:
    Launches = Annotated[
        int,
        Field(ge=1, le=MOST),
        WrapValidator(_or_auto),
        PlainSerializer(lambda value: value, return_type=Any),
        WithJsonSchema({"anyOf": [{"const": AUTO}, {"type": "integer", "minimum": 1, "maximum": MOST}]}),
    ]
