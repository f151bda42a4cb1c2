"""Marks: small sums by which the place of a change in many items is found again.

Items (rows, lines, fields) are laid out row by row in a square; the mark keeps the sum of the items' hashes along every
line and every column of it, 16 bits each. One changed item changes one line and one column, and stands where they
cross: 2 sqrt(n) sums name one of n. Whether anything was changed at all is for a cryptographic digest to say.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    import polars as pl
    from numpy.typing import NDArray

    Hashes = NDArray[np.uint64]

HEX_DIGITS = 4
_ODD = 0x9E3779B97F4A7C15
_NULL = -(2**62)
_FEW_ROWS = 10_000


def hashes_of(texts: Iterable[bytes]) -> Hashes:
    """Return a 64-bit hash of each text."""
    import numpy as np

    joined = b"".join(hashlib.blake2b(text, digest_size=8).digest() for text in texts)
    return np.frombuffer(joined, dtype="<u8")


def mark(hashes: Hashes) -> str:
    """Return the marks of items by their hashes: `count:sums of lines:sums of columns`."""
    width = math.isqrt(max(0, len(hashes) - 1)) + 1
    return ":".join([str(len(hashes)), *_sums(hashes, width)])


def locate(marks: str, hashes: Hashes) -> tuple[int, int] | None:
    """Return the first and the last item that may have changed since; None where the marks agree.

    Both are the same where one item was changed. Where items were added or removed it is the line of the square in
    which that begins. Raises ValueError for marks that nobody wrote.
    """
    count_text, lines, columns = marks.split(":")
    count = int(count_text)
    width = math.isqrt(max(0, count - 1)) + 1
    now_lines, now_columns = _sums(hashes, width)
    if len(hashes) == count and (lines, columns) == (now_lines, now_columns):
        return None
    bad_lines = _different(lines, now_lines)
    if len(hashes) != count:
        first = (bad_lines[0] if bad_lines else 0) * width
        return first, min(first + width, max(count, len(hashes))) - 1
    bad_columns = _different(columns, now_columns)
    if not bad_lines or not bad_columns:
        raise ValueError("the marks themselves were changed")
    return bad_lines[0] * width + bad_columns[0], min(bad_lines[-1] * width + bad_columns[-1], count - 1)


def _sums(hashes: Hashes, width: int) -> tuple[str, str]:
    import numpy as np

    square = np.zeros((max(1, -(-len(hashes) // width)), width), dtype=np.uint64)
    # With its place in it, since two items that change places would leave the sums of a line as they are.
    square.reshape(-1)[: len(hashes)] = _mixed(hashes + _places(len(hashes)))
    return _hex(square.sum(axis=1, dtype=np.uint64)), _hex(square.sum(axis=0, dtype=np.uint64))


def _hex(sums: Hashes) -> str:
    return sums.astype(">u2").tobytes().hex()


def _different(before: str, now: str) -> list[int]:
    length = max(len(before), len(now))
    steps = range(0, length, HEX_DIGITS)
    return [at // HEX_DIGITS for at in steps if before[at : at + HEX_DIGITS] != now[at : at + HEX_DIGITS]]


def leaves(value: object, path: str = "") -> Iterator[tuple[str, bytes]]:
    """Yield every number, text and null of a JSON value: its path (`results.ab12.status`, `hosts[1]`) and its text."""
    if isinstance(value, dict) and value:
        for name, item in value.items():
            yield from leaves(item, f"{path}.{name}" if path else str(name))
    elif isinstance(value, list) and value:
        for index, item in enumerate(value):
            yield from leaves(item, f"{path}[{index}]")
    else:
        yield path, json.dumps(value).encode()


def mark_fields(value: object) -> str:
    """Return the marks of a JSON value's fields."""
    return mark(_field_hashes(value))


def locate_field(marks: str, value: object) -> str | None:
    """Return in words which field of a JSON value was changed; None where the marks agree. Raises ValueError."""
    place = locate(marks, _field_hashes(value))
    if place is None:
        return None
    paths = [path for path, _ in leaves(value)]
    first, last = (paths[min(at, len(paths) - 1)] for at in place)
    return first if first == last else f"between {first} and {last}"


def _field_hashes(value: object) -> Hashes:
    return hashes_of(path.encode() + b"\0" + text for path, text in leaves(value))


def mark_lines(content: bytes) -> str:
    """Return the marks of a text's lines."""
    return mark(hashes_of(content.split(b"\n")))


def locate_line(marks: str, content: bytes) -> str | None:
    """Return in words which line of a text was changed; None where the marks agree. Raises ValueError."""
    place = locate(marks, hashes_of(content.split(b"\n")))
    return None if place is None else _counted("line", place, 1)


def mark_rows(frame: pl.DataFrame) -> str:
    """Return the marks of a frame's rows, followed by the sum of each of its columns."""
    cells = _cells(frame)
    return f"{mark(_rows(cells, frame.height))}:{_columns(cells)}"


def locate_row(marks: str, frame: pl.DataFrame) -> str | None:
    """Return in words which row and column of a frame were changed; None where the marks agree. Raises ValueError."""
    rows, _, columns = marks.rpartition(":")
    cells = _cells(frame)
    place = locate(rows, _rows(cells, frame.height))
    if place is None:
        return None
    names = [list(cells)[at] for at in _different(columns, _columns(cells)) if at < len(cells)]
    return f"{_counted('row', place, 0)}{', ' if names else ''}{' and '.join(names)}"


def _counted(what: str, place: tuple[int, int], start: int) -> str:
    first, last = (at + start for at in place)
    return f"{what} {first}" if first == last else f"{what}s {first} to {last}"


def _cells(frame: pl.DataFrame) -> dict[str, Hashes]:
    """Return a hash of every cell, column by column; they are the same on every machine and in every version."""
    import numpy as np

    return {
        series.name: _mixed(_bits(series) + np.uint64((place + 1) * _ODD % 2**64)) for place, series in enumerate(frame)
    }


def _bits(series: pl.Series) -> Hashes:
    """Return 64 bits for every value: its own, or of text a hash."""
    import numpy as np
    import polars as pl

    if series.dtype == pl.String:
        return _text_hashes(series)
    if series.dtype.is_float():
        floats: NDArray[np.float64] = _filled(series.cast(pl.Float64), float("nan")).to_numpy().copy()
        return floats.view(np.uint64)
    return _filled(series.cast(pl.Int64), _NULL).to_numpy().astype(np.int64).view(np.uint64)


def _filled(series: pl.Series, value: float) -> pl.Series:
    """Return a series without nulls; where there are none, polars takes as long to find that out as to fill them."""
    return series.fill_null(value) if series.null_count() else series


def _text_hashes(series: pl.Series) -> Hashes:
    """Return a hash for every text: of few rows without polars, whose queries take half a millisecond each."""
    import numpy as np
    import polars as pl

    if len(series) <= _FEW_ROWS:
        texts = series.to_list()
        known = list(dict.fromkeys(texts))
        hash_of = dict(zip(known, hashes_of(repr(one).encode() for one in known).tolist(), strict=True))
        return np.fromiter((hash_of[one] for one in texts), dtype=np.uint64, count=len(texts))
    several = series.unique(maintain_order=True)
    hashes = pl.Series("hash", hashes_of(repr(one).encode() for one in several.to_list()))
    pairs = pl.DataFrame({"value": several, "hash": hashes})
    found = series.to_frame("value").join(pairs, on="value", how="left", nulls_equal=True, maintain_order="left")
    return found["hash"].to_numpy()


def _rows(cells: dict[str, Hashes], height: int) -> Hashes:
    import numpy as np

    total: Hashes = np.zeros(height, dtype=np.uint64)
    for column in cells.values():
        total += column
    return _mixed(total)


def _columns(cells: dict[str, Hashes]) -> str:
    import numpy as np

    sums = [_mixed(column + _places(len(column))).sum(dtype=np.uint64) for column in cells.values()]
    return _hex(np.array(sums, dtype=np.uint64))


def _places(count: int) -> Hashes:
    import numpy as np

    places: Hashes = np.arange(count, dtype=np.uint64)
    return places


def _mixed(numbers: Hashes) -> Hashes:
    """Return splitmix64 of each number (Steele, Lea and Flood, OOPSLA 2014)."""
    import numpy as np

    mixed = (numbers ^ (numbers >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return mixed ^ (mixed >> np.uint64(31))
