"""How long a turn is, where the launches of a block measure in turns."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BeforeValidator, WithJsonSchema

from fabriscope.model.errors import shown
from fabriscope.model.turns import TURN_NS
from fabriscope.model.units import duration_words, parse_duration_ns

OFF, AUTO = "off", "auto"
LEAST_TURN_NS, MOST_TURN_NS = 5 * 10**6, 10**9
"""A turn holds a burst or more, of 3 ms; and is to be shorter than what it shares with its neighbours lasts."""


def _turns(value: Any) -> str:
    if value is False:
        return OFF  # what YAML 1.1 makes of it
    if value in (OFF, AUTO):
        return str(value)
    if isinstance(value, bool):
        raise ValueError("true is no length of a turn: write auto, off, or a time such as 20ms")
    try:
        length_ns = parse_duration_ns(value)
    except ValueError as error:
        raise ValueError(f"{shown(value)} is neither auto, off nor a time such as 20ms") from error
    if not LEAST_TURN_NS <= length_ns <= MOST_TURN_NS:
        least, most = duration_words(LEAST_TURN_NS), duration_words(MOST_TURN_NS)
        raise ValueError(f"a turn of {duration_words(length_ns)}: write {least} to {most}")
    return value if isinstance(value, str) else f"{length_ns}ns"


Turns = Annotated[
    str,
    BeforeValidator(_turns),
    WithJsonSchema({"anyOf": [{"enum": [AUTO, OFF]}, {"type": "string"}, {"type": "number"}]}),
]


def turn_ns_of(turns: str) -> int | None:
    """Return the length of a turn, None where there are none."""
    if turns == OFF:
        return None
    return TURN_NS if turns == AUTO else parse_duration_ns(turns)
