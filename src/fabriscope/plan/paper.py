"""A published evaluation as data: its figures, tables and claims, in the paper's own names.

The file of a paper knows nothing of a site; a plan's `paper:` section says what stands for its names. docs/papers.md
is the reference.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import BeforeValidator, ConfigDict, Field

from fabriscope.model.errors import shown
from fabriscope.model.quantity import Kind
from fabriscope.model.units import parse_duration_ns, parse_rate_bits_per_s, parse_size_bytes
from fabriscope.plan.place_schema import Selection
from fabriscope.plan.section import Section

SIZE = "message_size_bytes"
WORDS: dict[str, dict[str, Any]] = {
    "lower": {"kind": "direction", "sign": -1},
    "higher": {"kind": "direction", "sign": 1},
    "equal": {"kind": "equal"},
    "widens": {"kind": "widens"},
    "grows": {"kind": "monotonic", "sign": 1},
    "falls": {"kind": "monotonic", "sign": -1},
    "steady": {"kind": "steady"},
}
"""Expectations that are one word, as analysis/papers/claims.py reads them."""
_KEYS_OF_KINDS = {
    **dict.fromkeys(("direction", "monotonic"), ("sign",)),
    **dict.fromkeys(("equal", "widens", "steady"), ()),
    **dict.fromkeys(("ratio", "difference", "value", "share"), ("low", "high")),
    **dict.fromkeys(("dip", "best"), ("at",)),
}
KEYS = ("lower_by", "higher_by", "ratio", "value", "share", "dip", "best", "state")
STATES = ("holds", "paused", "dropped", "collapses", "unfair")
"""What a fabric may be said to do under many to one; `holds` with or without pauses and losses."""
ANYWHERE = "anywhere"
TAKES = ("largest", "least", "mean")


def _words(value: Any) -> tuple[str, ...]:
    items = value.split() if isinstance(value, str) else value
    if not isinstance(items, list | tuple) or not all(isinstance(item, str) for item in items):
        raise ValueError(f"{shown(value)} is not a curve such as `myrinet MPI`")
    return tuple(items)


def _word_lists(value: Any) -> list[tuple[str, ...]]:
    return [_words(item) for item in (value if isinstance(value, list | tuple) else [value])]


def parse_amount(value: Any) -> float:
    """Return a number, a time in ns (`10us`), a rate in bytes per second (`40Gb/s`), or a size in bytes (`64KiB`).

    Raises ValueError.
    """
    if isinstance(value, int | float) and not isinstance(value, bool):
        return float(value)
    text = str(value).strip()
    if re.fullmatch(r"-?[0-9]{1,24}(?:\.[0-9]{1,24})?", text):
        return float(text)
    if text.endswith(("b/s", "bit/s")):
        return parse_rate_bits_per_s(text) / 8
    if text[-1:] in ("B", "b"):
        return float(parse_size_bytes(text))
    if re.fullmatch(r"-?[0-9]{1,24}(?:\.[0-9]{1,24})? *%", text):
        return float(text[:-1]) / 100
    if span := re.fullmatch(r"([0-9.]+[A-Za-z%]*) ?(?:-|to) ?([0-9.]+[A-Za-z%]*)", text):
        raise ValueError(f"{shown(value)} is no range: write {span[1]}..{span[2]}")
    if times := re.fullmatch(r"([0-9]+(?:\.[0-9]+)?) ?(?:x|times)", text):
        raise ValueError(f"{shown(value)} has no unit that is known: write {times[1]} for a ratio")
    return float(parse_duration_ns(text))


def kind_of_amount(text: str) -> Kind | None:
    """Return whether an amount is written as a time or as a rate; None for what has another unit, or none."""
    text = text.strip()
    if text.endswith(("b/s", "bit/s")):
        return Kind.RATE
    return Kind.TIME if re.fullmatch(r"[0-9.]+ *(ns|us|ms|s|min|h)", text) else None


def _ends(value: Any) -> tuple[float | None, float | None] | None:
    """Return the ends of `1..2KiB`, `4KiB..`, `..8KiB` or of one value; None for all."""
    if value is None or value == "all":
        return None
    if isinstance(value, list | tuple) and len(value) == 2:
        low, high = value  # as a run folder has it
    elif isinstance(value, str) and ".." in value:
        low, high = (parse_amount(part) if part.strip() else None for part in value.split("..", 1))
    else:
        low = high = parse_amount(value)
    if isinstance(low, int | float) and isinstance(high, int | float) and low > high:
        raise ValueError(f"the range runs backwards: {shown(value)}")
    return low, high


def parse_expectation(value: Any) -> dict[str, Any]:
    """Return an expectation as analysis/papers/claims.py reads it: `kind` and its numbers, in stored units."""
    if isinstance(value, Mapping) and "kind" in value:
        return _stored(value)
    if isinstance(value, str) and value in WORDS:
        return dict(WORDS[value])
    if not isinstance(value, Mapping) or len(value) != 1 or next(iter(value)) not in KEYS:
        raise ValueError(
            f"{shown(value)} is no expectation; write {', '.join(WORDS)}, or one of {', '.join(KEYS)} with a value"
        )
    key, what = next(iter(value.items()))
    if key == "state":
        return _state(what)
    if key in ("lower_by", "higher_by"):
        return _by(str(what), -1 if key == "lower_by" else 1)
    if key == "dip" and what == ANYWHERE:
        return {"kind": "dip", "at": None}
    if key in ("dip", "best") and isinstance(what, bool):
        raise ValueError(f"{str(what).lower()} is no point of an axis: write a size such as 512, or `dip: {ANYWHERE}`")
    if key in ("dip", "best"):
        return {"kind": key, "at": parse_amount(what)}
    ends = _ends(what)
    if ends in (None, (None, None)):
        raise ValueError(f"{key} needs a range such as 9..11")
    if key == "ratio" and ends[0] == ends[1] and ".." not in str(what):
        around = f"{0.95 * float(ends[0] or 0):.3g}..{1.05 * float(ends[0] or 0):.3g}"
        raise ValueError(f"no interval lies in the one ratio {shown(what)}: write a range, such as {around}")
    return _positive({"kind": key, "low": ends[0], "high": ends[1]}, value)


def _positive(expectation: dict[str, Any], value: Any) -> dict[str, Any]:
    """Return an expectation whose ends values of measurements can reach, which are more than 0."""
    low, high = expectation["low"], expectation["high"]
    if expectation["kind"] != "difference" and ((low or 0) < 0 or (high is not None and high <= 0)):
        raise ValueError(f"{shown(value)} can never be, as nothing that is measured is 0 or less: write more than 0")
    return expectation


def _stored(value: Mapping[str, Any]) -> dict[str, Any]:
    """Return an expectation that is written as a run folder has it; raises ValueError for any other mapping."""
    kind = value["kind"]
    if kind == "state" and set(value) == {"kind", "state"}:
        return _state(value["state"])
    keys = _KEYS_OF_KINDS.get(kind) if isinstance(kind, str) else None
    if keys is None or set(value) != {"kind", *keys}:
        raise ValueError(f"{shown(dict(value))} is no expectation")
    for key in keys:
        number = value[key]
        is_number = isinstance(number, int | float) and not isinstance(number, bool)
        if (key == "sign" and number not in (-1, 1)) or not (is_number or (number is None and key != "sign")):
            raise ValueError(f"{shown(number)} is no {key} of an expectation")
    return _positive(dict(value), dict(value)) if "low" in keys else dict(value)


def _state(value: Any) -> dict[str, Any]:
    if value not in STATES:
        raise ValueError(f"{shown(value)} is no state of many to one; choose {', '.join(STATES)}")
    return {"kind": "state", "state": value}


def _by(text: str, sign: int) -> dict[str, Any]:
    """Return `at least X lower (or higher)`: a ratio for a percentage, else a difference."""
    amount = parse_amount(text)
    if amount < 0:
        raise ValueError(f"{shown(text)} is less than nothing; choose lower_by or higher_by")
    is_share = text.strip().endswith("%")
    if is_share and sign < 0 and amount >= 1:
        raise ValueError(f"nothing is lower by {text}, as 100% less is nothing: write less than 100%")
    edge = 1 + sign * amount if is_share else sign * amount
    ends = {"low": edge, "high": None} if sign > 0 else {"low": None, "high": edge}
    return {"kind": "ratio" if is_share else "difference", **ends}


def _margin(value: Any) -> float | None:
    margin = None if value is None else parse_amount(value)
    if margin is not None and not 0 <= margin < 1:
        raise ValueError(f"{shown(value)} is no margin such as 5% or 0.05, below 100%")
    return margin


def _take(value: Any) -> Any:
    if value not in (*TAKES, "none", None):
        raise ValueError(f"{shown(value)} is not possible; choose {', '.join(TAKES)}, or none")
    return None if value == "none" else value


Words = Annotated[tuple[str, ...], BeforeValidator(_words)]
WordLists = Annotated[tuple[tuple[str, ...], ...], BeforeValidator(_word_lists)]
Ends = Annotated[tuple[float | None, float | None] | None, BeforeValidator(_ends)]


class NameSection(Section):
    """One of the paper's names."""

    means: str = Field("", description="what it is in the paper")
    select: Selection | None = Field(None, description="cases that it always stands for; else the plan says it")


class Picked(Section):
    """Which numbers: a benchmark's metric, along an axis."""

    benchmark: str | None = None
    metric: str | None = None
    where: Words = Field((), description="names that belong to every curve")
    along: str = Field(SIZE, description="attribute of the cases that is the axis")
    at: Ends = Field(None, description="part of that axis, where it is not the message size")
    sizes: Ends = Field(None, description="part of the message sizes")
    take: Annotated[str | None, BeforeValidator(_take)] = Field(None, description="largest, least or mean over sizes")


class DrawSection(Picked):
    """What a figure draws."""

    curves: WordLists = Field(description="names that make up each curve")


class ClaimSection(Picked):
    """One thing that the paper says."""

    say: str
    of: WordLists
    than: WordLists = ()
    expect: Annotated[dict[str, Any], BeforeValidator(parse_expectation)]
    margin: Annotated[float | None, BeforeValidator(_margin)] = Field(None, description="how far apart is still equal")
    paper: str = Field("", description="the paper's own numbers")


class FigureSection(Section):
    """One figure, and what the paper says of it."""

    id: str
    caption: str
    draw: DrawSection | None = Field(None, description="absent where the paper's figure is of no measurement")
    claims: tuple[ClaimSection, ...] = ()
    note: str = ""


class ColumnSection(Picked):
    """One column of a table: the number of ours that stands beside the paper's."""

    title: str
    unit: str
    show: str = Field("value", description="value, or size: the message size where it is taken")


class TableSection(Section):
    """One table: the paper's rows, whose first cells are names."""

    id: str
    caption: str
    keys: tuple[str, ...]
    columns: dict[str, ColumnSection]
    rows: tuple[tuple[str | int | float | None, ...], ...]
    note: str = ""


class PaperSection(Section):
    """A paper."""

    model_config = ConfigDict(coerce_numbers_to_str=True)

    title: str
    citation: str = ""
    question: str = ""
    setup: dict[str, str] = Field({})
    names: dict[str, NameSection] = Field({})
    figures: tuple[FigureSection, ...] = ()
    tables: tuple[TableSection, ...] = ()
    claims: tuple[ClaimSection, ...] = Field((), description="what belongs to no figure")
