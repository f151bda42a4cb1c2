"""How a plan says on which processors ranks run."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BeforeValidator, WithJsonSchema

from fabriscope.model.errors import shown
from fabriscope.model.processors import NONE, WORDS, numbers


def _bind(value: Any) -> Any:
    if value is False or value is None:
        return NONE  # what YAML makes of `off` and of nothing
    if value in WORDS:
        return value
    items = value if isinstance(value, list | tuple) else [value]
    if not items or any(isinstance(item, bool) or not isinstance(item, int | str) for item in items):
        raise ValueError(f"{shown(value)} is neither {', '.join(WORDS)} nor a list of processors, one for each rank")
    lists = tuple(str(item).replace(" ", "") for item in items)
    for one in lists:
        try:
            numbers(one)
        except ValueError as error:
            raise ValueError(f"{error}: write {', '.join(WORDS)}, or a list such as [0, 1] or [0-3, 4-7]") from error
    return lists


RankBinding = Annotated[
    str | tuple[str, ...] | None,
    BeforeValidator(_bind),
    WithJsonSchema(
        {
            "anyOf": [
                {"enum": list(WORDS)},
                {"type": "array", "items": {"anyOf": [{"type": "integer"}, {"type": "string"}]}, "minItems": 1},
            ]
        }
    ),
]
"""One of WORDS, or the processors of the first, second ... rank on every machine; absent: nothing is said."""
