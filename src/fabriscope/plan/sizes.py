"""Sweeps over message sizes."""

from __future__ import annotations

import re
from typing import Any

from fabriscope.model.errors import shown
from fabriscope.model.units import parse_size_bytes

MAX_MESSAGE_SIZE_BYTES = 1 << 30
MAX_PERTURBATION_BYTES = 1 << 20
_SIZE = r"\s*([0-9.]+ ?[A-Za-z]*)\s*"
_OTHER_RANGE = re.compile(rf"{_SIZE}(?:-|:|to|…|–){_SIZE}")
_ONE_SIZE = re.compile(r"[0-9.]+[A-Za-z]*")
_MOST_CHARACTERS = 200
"""Of a sweep in another spelling, which a remedy repeats."""


def parse_sizes(value: Any) -> tuple[int, ...]:
    """Return ascending, distinct sizes in bytes from `1..1MiB`, a list of sizes, or {from, to, perturbation}.

    A range holds its first size, every power of two above it, and its last size. A perturbation of p adds p bytes
    less and p bytes more around each of them, as NetPIPE does, so that drop-outs between powers of two are seen.
    Raises ValueError.
    """
    if isinstance(value, dict):
        return _range(value)
    if isinstance(value, str) and ".." in value:
        first, _, last = value.partition("..")
        if last.startswith("."):
            raise ValueError(f"{shown(value)} is not a sweep such as 1..1MiB: two dots stand between its ends")
        if not first.strip() or not last.strip():
            raise ValueError(f"{shown(value)} is not a sweep such as 1..1MiB: it needs both of its ends")
        return _range({"from": first.strip(), "to": last.strip()})
    if isinstance(value, str | int) and not isinstance(value, bool):
        if meant := _meant(str(value)):
            raise ValueError(f"{shown(value)} is not a sweep such as 1..1MiB or [64, 1KiB]: write {meant}")
        value = [value]
    if not isinstance(value, list | tuple) or not value:
        raise ValueError(f"{shown(value)} is not a sweep such as 1..1MiB or [64, 1KiB]")
    if swept := next((item for item in value if isinstance(item, str) and ".." in item), None):
        fix = f"write {swept}, without brackets" if len(value) == 1 else "a range stands alone, without brackets"
        raise ValueError(f"{shown(swept)} is no size of a list: {fix}")
    return tuple(sorted({_checked(item) for item in value}))


def _meant(text: str) -> str:
    """Return how a plan writes what other programs, and people, write as a range or a list of sizes."""
    if len(text) > _MOST_CHARACTERS:
        return ""
    if match := _OTHER_RANGE.fullmatch(text):
        return f"{match[1].strip()}..{match[2].strip()}"
    if text.startswith("[") and text.endswith("]"):
        return f"{text}, without quotes"
    parts = re.split(r"[,;\s]+", text.strip())
    return f"[{', '.join(parts)}]" if len(parts) > 1 and all(map(_ONE_SIZE.fullmatch, parts)) else ""


def _range(value: dict[str, Any]) -> tuple[int, ...]:
    unknown = set(value) - {"from", "to", "perturbation"}
    if unknown or not {"from", "to"} <= set(value):
        raise ValueError("a sweep as a mapping has the keys from, to and, if wanted, perturbation")
    first, last = _checked(value["from"]), _checked(value["to"])
    if first > last:
        there, back = shown(value["from"]), shown(value["to"])
        raise ValueError(f"the sweep runs backwards, from {there} to {back}: write it from {back} to {there}")
    sizes = {first, last}
    power = 1
    while power <= last:
        if power >= first:
            sizes.add(power)
        power *= 2
    perturbation = _checked(value.get("perturbation", 0))
    if perturbation > MAX_PERTURBATION_BYTES:
        raise ValueError(f"a perturbation of {perturbation} bytes is more than 1MiB")
    around = {size + step for size in sizes for step in (-perturbation, perturbation)}
    lowest = min(first, 1)
    return tuple(sorted(size for size in sizes | around if size >= lowest))


def _checked(value: Any) -> int:
    size = parse_size_bytes(value)
    if size > MAX_MESSAGE_SIZE_BYTES:
        raise ValueError(f"{shown(value)} is larger than the largest message, 1GiB")
    return size
