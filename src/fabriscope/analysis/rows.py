"""Between frames, in which numbers are computed, and nouns, of which everything else is made."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import Field, fields
from typing import Any, ClassVar, Protocol, TypeVar

import polars as pl


class Noun(Protocol):
    """A dataclass."""

    __dataclass_fields__: ClassVar[dict[str, Field[Any]]]


T = TypeVar("T")
Row = TypeVar("Row", bound=Noun)


def rows_of(frame: pl.DataFrame, shape: type[Row]) -> list[Row]:
    """Return the rows of a frame as nouns: each field of `shape` is a column; other columns are left out."""
    make: Callable[..., Row] = shape
    return [make(*row) for row in frame.select(field.name for field in fields(shape)).iter_rows()]


def frame_of(rows: Iterable[object], schema: Mapping[str, type[pl.DataType]]) -> pl.DataFrame:
    """Return nouns as a frame; the columns of the schema are fields of theirs."""
    return pl.DataFrame([vars(row) for row in rows], schema=dict(schema))


def parts(rows: Iterable[T], key: Callable[[T], Hashable]) -> list[list[T]]:
    """Return the rows of each key together, keys in the order in which they come first."""
    found: dict[Hashable, list[T]] = {}
    for row in rows:
        found.setdefault(key(row), []).append(row)
    return list(found.values())
