"""Text that others wrote, a program, a kernel, a stranger: the border at which it becomes values of known types.

Nothing here trusts what it reads. A wrong type, a number out of its range, a key met twice, more levels or digits than
anybody writes: each is refused with the error of the border (ParseError for programs, StoreError for run folders), in
one sentence that names the place.

    reply = Foreign.json(stdout, where="iperf3")
    seconds = reply.at("end", "sum_received", "seconds").number(least=0)
"""

from __future__ import annotations

import json
import math
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from fabriscope.model.errors import FabriscopeError, ParseError

BEGIN = b"\x1e"
"""Stands before what our own programs on hosts say: a login shell may greet before them."""
MOST_INT = 2**63 - 1
"""What a column of 64-bit integers holds."""
MAX_LEVELS = 64
MAX_DIGITS = 40
"""Characters of a number; the longest that any of our programs prints has 24."""
_SHOWN_CHARACTERS = 60

_NUMBER = re.compile(r"[-+]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?")
_WHOLE = re.compile(r"[0-9]+")


def is_digits(text: str) -> bool:
    """Return whether a text is decimal digits alone; int() and isdecimal() take those of other scripts too."""
    return text.isascii() and text.isdecimal()


def number(
    text: str, what: str, where: str, *, least: float = -math.inf, error: type[FabriscopeError] = ParseError
) -> float:
    """Return a finite number that a program printed, in plain digits: no inf, no nan, no `1_000`, no other script's."""
    if len(text) <= MAX_DIGITS and _NUMBER.fullmatch(text):
        value = float(text)
        if math.isfinite(value) and value >= least:
            return value
    at_least = "" if least == -math.inf else f" of at least {least:g}"
    raise error(f"{what} should be a number{at_least} and is {shown(text)}", where=where)


def whole(
    text: str, what: str, where: str, *, least: int = 0, most: int = MOST_INT, error: type[FabriscopeError] = ParseError
) -> int:
    """Return a whole number that a program printed in plain digits, within a range."""
    if len(text) <= MAX_DIGITS and _WHOLE.fullmatch(text) and least <= (value := int(text)) <= most:
        return value
    raise error(f"{what} should be a whole number of {least} to {most} and is {shown(text)}", where=where)


def shown(value: object) -> str:
    """Return a value as a sentence shows it: short, and on one line."""
    text = value if isinstance(value, str) else _json_or_type(value)
    text = repr(text) if isinstance(value, str) else text
    return text if len(text) <= _SHOWN_CHARACTERS else f"{text[:_SHOWN_CHARACTERS]}..."


def _json_or_type(value: object) -> str:
    if isinstance(value, Mapping):
        return "an object"
    if isinstance(value, list):
        return "a list"
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) > MOST_INT:
        return "a number of more than 64 bits"
    return json.dumps(value) if value is None or isinstance(value, bool) else str(value)


Json = dict[str, "Json"] | list["Json"] | str | int | float | bool | None
"""A value as JSON has it."""
JsonObject = dict[str, Json]


def decode_json(
    text: str | bytes, where: str, *, error: type[FabriscopeError] = ParseError, may_repeat: bool = False
) -> Any:
    """Return what a JSON text says; raises `error` for what is no JSON, in RFC 8259's strict sense.

    NaN and infinity, a number too large to be one, a key met twice in one object and more than MAX_LEVELS levels are
    refused too: whoever reads them reads something else than what stands there. `may_repeat`: a key may be met twice
    with one and the same value.
    """
    try:
        if isinstance(text, bytes):
            text = text.decode("utf-8")
        value = (_REPEATING if may_repeat else _DECODER).decode(text)
    except RecursionError as problem:
        raise error(f"its JSON has more than {MAX_LEVELS} levels", where=where) from problem
    except ValueError as problem:
        raise error(f"it is no JSON: {_why(problem)}", where=where) from problem
    _refuse_levels(value, text, where, error)
    return value


class _NotStrictError(ValueError):
    """What RFC 8259 does not know, in our words."""


_OF_DECODER = {
    "Expecting value": "a value should stand",
    "Expecting property name": "a name in double quotes should stand",
    "Expecting ':'": "a colon should stand",
    "Expecting ','": "a comma should stand, or the end of the object or list",
    "Unterminated string": "a text begins that has no end",
    "Invalid control character": "a control character stands in a text",
    "Invalid": "an escape stands that JSON does not have",
    "Illegal trailing comma": "a comma stands before an end",
    "Extra data": "more stands behind its end",
    "Unexpected UTF-8 BOM": "a byte order mark stands",
}
"""How Python's decoder says what is wrong, and how we do."""


def _why(problem: ValueError) -> str:
    """Return in our words what Python's decoder says."""
    if isinstance(problem, UnicodeDecodeError):
        return f"byte {problem.start + 1} is no part of a text in UTF-8"
    if isinstance(problem, json.JSONDecodeError):
        what = next((ours for theirs, ours in _OF_DECODER.items() if problem.msg.startswith(theirs)), "it is not known")
        place = (
            f"line {problem.lineno}, character {problem.colno}" if "\n" in problem.doc else f"character {problem.colno}"
        )
        return f"at {place} {what}"
    if isinstance(problem, _NotStrictError):
        return str(problem)
    return f"a number in it has more than {sys.get_int_max_str_digits()} digits"  # int() has no error of its own for it


def _refuse_levels(value: Any, text: str, where: str, error: type[FabriscopeError]) -> None:
    if text.count("[") + text.count("{") <= MAX_LEVELS:
        return
    level = [value]
    for _ in range(MAX_LEVELS):
        parts = [part for one in level for part in (one.values() if isinstance(one, dict) else one)]
        level = [part for part in parts if isinstance(part, dict | list)]
        if not level:
            return
    raise error(f"its JSON has more than {MAX_LEVELS} levels", where=where)


def _refuse_constant(name: str) -> Any:
    raise _NotStrictError(f"{name} is no number of JSON")


def _float(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise _NotStrictError(f"{text[:MAX_DIGITS]} is too large a number")
    return value


def _twice(pairs: list[tuple[str, Any]]) -> str:
    """Return the first key that stood before."""
    names: set[str] = set()
    for name, _ in pairs:
        if name in names:
            return name
        names.add(name)
    return ""


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise _NotStrictError(f"the key {shown(_twice(pairs))} stands twice in one object")
    return found


def _repeating_object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) == len(pairs):
        return found
    for name, value in pairs:
        if (last := found[name]) is not value and (type(value) is not type(last) or value != last):
            raise _NotStrictError(f"the key {shown(name)} stands twice in one object")
    return found


_DECODER = json.JSONDecoder(parse_constant=_refuse_constant, parse_float=_float, object_pairs_hook=_object)
_REPEATING = json.JSONDecoder(parse_constant=_refuse_constant, parse_float=_float, object_pairs_hook=_repeating_object)


@dataclass(slots=True)
class Foreign:
    """A part of a decoded text, and where it stands; every step into it is checked."""

    value: Any
    where: str
    """The file, the program, or either with its line: the error's place."""
    path: str = ""
    """The part: `end.sum_received.bytes`, `ranks[2]`."""
    error: type[FabriscopeError] = ParseError

    @classmethod
    def json(cls, text: str | bytes, where: str, *, error: type[FabriscopeError] = ParseError) -> Foreign:
        """Return a JSON text; raises `error`."""
        return cls(decode_json(text, where, error=error), where, "", error)

    @classmethod
    def json_at(cls, text: str, start: int, where: str) -> tuple[Foreign, int] | None:
        """Return the JSON value that begins there, and where it ends; None where no whole one does."""
        try:
            value, end = _DECODER.raw_decode(text, start)
        except (json.JSONDecodeError, RecursionError):
            return None
        except ValueError as problem:
            raise ParseError(f"it is no JSON: {_why(problem)}", where=where) from None
        _refuse_levels(value, text, where, ParseError)
        return cls(value, where), end

    def refuse(self, wanted: str) -> FabriscopeError:
        """Return the error: this part should be something else."""
        return self.error(f"{self.path or 'it'} should be {wanted} and is {shown(self.value)}", where=self.where)

    # Steps.

    def at(self, *names: str) -> Foreign:
        """Return the member at a path of names; each must be there."""
        value, path = self.value, self.path
        for name in names:
            if not isinstance(value, dict):
                raise Foreign(value, self.where, path, self.error).refuse("an object")
            if name not in value:
                raise self.error(f"{path or 'it'} has no {name!r}", where=self.where)
            value, path = value[name], f"{path}.{name}" if path else name
        return Foreign(value, self.where, path, self.error)

    def get(self, *names: str) -> Foreign | None:
        """Return the member at a path of names; None where one is absent or null."""
        value, path = self.value, self.path
        for name in names:
            if not isinstance(value, dict):
                raise Foreign(value, self.where, path, self.error).refuse("an object")
            value = value.get(name)
            if value is None:
                return None
            path = f"{path}.{name}" if path else name
        return Foreign(value, self.where, path, self.error)

    def members(self) -> Iterator[tuple[str, Foreign]]:
        """Yield the members of an object."""
        for name, value in self.mapping().items():
            yield name, self._below(value, name)

    def items(self, *, most: int | None = None) -> list[Foreign]:
        """Return the items of a list."""
        if most is not None and len(self.sequence()) > most:
            raise self.error(
                f"{self.path or 'it'} has {len(self.value)} items, and {most} is the most", where=self.where
            )
        return [
            Foreign(one, self.where, f"{self.path}[{place}]", self.error) for place, one in enumerate(self.sequence())
        ]

    def _below(self, value: Any, name: str) -> Foreign:
        return Foreign(value, self.where, f"{self.path}.{name}" if self.path else name, self.error)

    # Values.

    def mapping(self) -> Mapping[str, Any]:
        """Return an object."""
        if not isinstance(self.value, dict):
            raise self.refuse("an object")
        return self.value

    def sequence(self) -> Sequence[Any]:
        """Return a list."""
        if not isinstance(self.value, list):
            raise self.refuse("a list")
        return self.value

    def text(self) -> str:
        """Return a text."""
        if not isinstance(self.value, str):
            raise self.refuse("a text")
        return self.value

    def texts(self) -> tuple[str, ...]:
        """Return a list of texts."""
        return tuple(one.text() for one in self.items())

    def flag(self) -> bool:
        """Return true or false."""
        if not isinstance(self.value, bool):
            raise self.refuse("true or false")
        return self.value

    def whole(self, least: int = 0, most: int = MOST_INT) -> int:
        """Return a whole number within a range; 1.0 and true are none."""
        if type(self.value) is not int or not least <= self.value <= most:
            raise self.refuse(f"a whole number of {least} to {most}")
        return self.value

    def wholes(self, least: int = 0, most: int = MOST_INT) -> tuple[int, ...]:
        """Return a list of whole numbers; as many as a burst has operations take no time."""
        values = self.sequence()
        if not all(type(one) is int for one in values) or (
            values and not (least <= min(values) and max(values) <= most)
        ):
            wrong = next(one for one in values if type(one) is not int or not least <= one <= most)
            raise self.error(
                f"{self.path} should hold whole numbers of {least} to {most} and holds {shown(wrong)}", where=self.where
            )
        return tuple(values)

    def number(self, least: float = -math.inf) -> float:
        """Return a finite number."""
        if isinstance(self.value, bool) or not isinstance(self.value, int | float):
            raise self.refuse("a number")
        try:
            value = float(self.value)
        except OverflowError:
            raise self.refuse("a number") from None
        if not math.isfinite(value) or value < least:
            raise self.refuse(f"a number of at least {least:g}" if least > -math.inf else "a number")
        return value
