"""Lists of priorities, and maps of DSCPs to them, as facts have them: written and read here alone."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from fabriscope.model.foreign import is_digits

NONE = "none"
DSCP_NAMES = {"ef": 46, "default": 0} | {f"cs{at}": 8 * at for at in range(8)}
DSCP_NAMES |= {f"af{high}{low}": 8 * high + 2 * low for high in range(1, 5) for low in range(1, 4)}
"""What names of RFC 2474, 2597 and 3246 stand for."""


def listed(numbers: Iterable[int]) -> str:
    """Return `3,4` of priorities or queues, in order; `none` of none."""
    return ",".join(map(str, sorted(numbers))) or NONE


def priorities(text: str) -> set[int]:
    """Return the priorities of a list: of `3,4`, or `none`."""
    return {int(one) for one in text.split(",") if is_digits(one)}


def paired(pairs: Mapping[int, int]) -> str:
    """Return `0:0 26:3` of a map, in order."""
    return " ".join(f"{key}:{value}" for key, value in sorted(pairs.items()))


def pairs(text: str) -> dict[int, int]:
    """Return the map of `0:0 26:3`."""
    split = (one.partition(":") for one in text.split())
    return {int(key): int(value) for key, _, value in split if is_digits(key) and is_digits(value)}
