"""Scalars of a plan's YAML: text, numbers in decimal digits, true, false and null.

The loader resolves words as YAML 1.1 says. What YAML 1.2, and most people, read as another number (`010`, `1:30`), or
as none (`0b11`, `1__0`), is refused. `0x10`, `1_000` and `1.50` are numbers where a number is wanted, and where text is
wanted they stay as they are written.
"""

from __future__ import annotations

import math
import re
from typing import Any

import yaml

from fabriscope.model.errors import PlanError, shown
from fabriscope.plan.plan_file import ODD_CHARACTER

MAX_TEXT_CHARACTERS = 10_000
MAX_INTEGER = 2**63 - 1
_MAX_NUMBER_CHARACTERS = 100

TAG = "tag:yaml.org,2002:"
_TEXTS = frozenset(TAG + kind for kind in ("str", "timestamp", "value", "merge"))
_NUMBERS = frozenset((TAG + "int", TAG + "float"))
_WORDS = frozenset((TAG + "bool", TAG + "null"))
KEYS = _TEXTS | _NUMBERS | _WORDS
"""Tags of what can be a key, which is text whatever it looks like."""
_NULLS = ("", "~", "null", "Null", "NULL")
_OCTAL = re.compile(r"[-+]?0[0-7_]+")
_BINARY = re.compile(r"[-+]?0b[01_]+")
_STRAY_UNDERSCORE = re.compile(r"(?<![0-9a-fA-F])_|_(?![0-9a-fA-F])")
_DECIMAL = re.compile(r"-?[0-9]+(?:\.[0-9]+)?")


class _SpelledInt(int):
    """A whole number that was not written as Python writes it; as text it is what was written."""

    spelling = ""

    def __str__(self) -> str:
        return self.spelling

    __repr__ = __str__


class _SpelledFloat(float):
    """Likewise a number with a fraction."""

    spelling = ""

    def __str__(self) -> str:
        return self.spelling

    __repr__ = __str__


def scalar(node: yaml.ScalarNode, where: str) -> Any:
    """Return the value of a scalar that stands at `where`; raises PlanError for what no plan can have."""
    if node.tag in _TEXTS:
        return text(node, where)
    if node.tag in _NUMBERS:
        return _number(node, where)
    if node.tag not in _WORDS:
        raise impossible_tag(node, where)
    try:
        if node.tag == f"{TAG}null" and node.value not in _NULLS:
            raise ValueError
        return yaml.SafeLoader("").construct_object(node)
    except (yaml.YAMLError, ValueError, KeyError) as error:  # !!bool or !!null of another word
        raise PlanError(f"{shown(node.value)} is not what its tag says", where=where, fix="remove the tag") from error


def text(node: yaml.ScalarNode, where: str) -> str:
    """Return what is written; raises PlanError for what is too long, or has characters that no plan can have."""
    written: str = node.value
    if len(written) > MAX_TEXT_CHARACTERS:
        raise PlanError(
            f"a text of {len(written)} characters is longer than {MAX_TEXT_CHARACTERS}", where=where, fix="shorten it"
        )
    if (odd := ODD_CHARACTER.search(written)) is not None:  # by an escape, or the file would have been refused
        raise PlanError(
            f"the text has the character U+{ord(odd[0]):04X}, which no plan can have", where=where, fix="remove it"
        )
    return written


def impossible_tag(node: yaml.Node, where: str) -> PlanError:
    """Return the error of a tag that a plan cannot have."""
    tag = str(node.tag).replace(TAG, "!!")
    return PlanError(f"the tag {shown(tag)} has no meaning in a plan", where=where, fix="remove it")


def _number(node: yaml.ScalarNode, where: str) -> int | float:
    written: str = node.value
    try:
        number = yaml.SafeLoader("").construct_object(node) if len(written) <= _MAX_NUMBER_CHARACTERS else math.inf
    except (ValueError, OverflowError, IndexError) as error:  # `0x_`, or !!int of a word
        raise PlanError(f"{shown(written)} is no number", where=where, fix="put it in quotes if it is text") from error
    if not math.isfinite(number) or abs(number) > MAX_INTEGER:
        raise PlanError(
            f"{shown(written)} is a number that no plan can have",
            where=where,
            fix=f"write one from {-MAX_INTEGER} to {MAX_INTEGER}, or put it in quotes if it is text",
        )
    if base := _odd_base(written):
        raise PlanError(
            f"some readers of YAML take {shown(written)} for {number:g}, a number {base}, and others do not",
            where=where,
            fix="write a number in decimal digits, a time as 90s, and text in quotes",
        )
    if _STRAY_UNDERSCORE.search(written):
        what = f"{shown(written)} has an underscore that stands between no two digits"
        raise PlanError(what, where=where, fix=f"write {number:.15g}, or put it in quotes if it is text")
    return number if _DECIMAL.fullmatch(written) and str(number) == written else _spelled(number, written)


def _odd_base(written: str) -> str:
    """Return in which base YAML 1.1 alone reads a number; nothing where everybody reads the same."""
    if ":" in written:
        return "in base 60"
    return "in octal" if _OCTAL.fullmatch(written) else "in binary" if _BINARY.fullmatch(written) else ""


def _spelled(number: float, written: str) -> int | float:
    spelled = _SpelledInt(number) if isinstance(number, int) else _SpelledFloat(number)
    spelled.spelling = written
    return spelled
