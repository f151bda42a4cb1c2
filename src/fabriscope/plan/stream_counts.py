"""How many streams many_to_one has: a count, a list of counts, or all of a range."""

from __future__ import annotations

import re
from typing import Annotated, Any

from pydantic import BeforeValidator, WithJsonSchema

from fabriscope.model.errors import shown
from fabriscope.plan.values import as_list

MAX_STREAMS = 1024
_STREAM_RANGE = re.compile(r"(?P<first>[0-9]{1,5})\.\.(?P<last>[0-9]{1,5})")


def _stream_counts(value: Any) -> tuple[int, ...]:
    """Return every count of `1..10`, of a list, or one alone, each once."""
    counts: list[int] = []
    for item in as_list(value):
        match = _STREAM_RANGE.fullmatch(item) if isinstance(item, str) else None
        if match is not None and 1 <= int(match["first"]) <= int(match["last"]) <= MAX_STREAMS:
            counts += range(int(match["first"]), int(match["last"]) + 1)
        elif match is not None and int(match["first"]) > int(match["last"]):
            raise ValueError(f"{shown(item)} goes down: write {match['last']}..{match['first']}")
        elif isinstance(item, int) and not isinstance(item, bool) and 1 <= item <= MAX_STREAMS:
            counts.append(item)
        else:
            raise ValueError(f"{shown(item)} is neither a count from 1 to {MAX_STREAMS} nor a range such as 1..10")
    if not counts:
        raise ValueError("the list is empty")
    return tuple(dict.fromkeys(counts))


_COUNT_OR_RANGE = {
    "anyOf": [{"type": "integer", "minimum": 1, "maximum": MAX_STREAMS}, {"type": "string", "examples": ["1..10"]}]
}
StreamCounts = Annotated[
    tuple[int, ...],
    BeforeValidator(_stream_counts),
    WithJsonSchema({"anyOf": [*_COUNT_OR_RANGE["anyOf"], {"type": "array", "items": _COUNT_OR_RANGE, "minItems": 1}]}),
]
