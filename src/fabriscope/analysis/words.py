"""Quantities as people read them."""

from __future__ import annotations

import math
import re
from typing import Protocol

from fabriscope.model.benchmarks import BENCHMARKS
from fabriscope.model.metrics import unit_of
from fabriscope.model.quantity import UNITS, Unit

_SIZES = ((1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB"))
_DECIMAL_SIZES = ((10**9, "GB"), (10**6, "MB"), (10**3, "kB"))
LEAST_DECIMAL = 10_000
"""Thousands of bytes below this are read as they are: an MTU of 9000 B."""
UNKNOWN = "–"
MOST_OF_A_UNIT = 10_000
A_LOT = 1.995
"""From this ratio on, `2.5 times` reads better than `by 150 %`."""
LEAST_PERCENT = 0.001
"""A share below this has no digits worth reading."""
USELESS_INTERVAL_RATIO = 100
"""An interval whose ends differ by this factor says only that the launches differ too much."""
TOO_WIDE = "launches differ too much"
DIGITS, MOST_DIGITS = 3, 6
"""Significant digits of a number, and at most of an interval's ends, that they be two numbers."""


def size_text(size_bytes: int | None) -> str:
    """Return `1 B`, `1 KiB`, `1 MiB`, `96 kB`, in at most four digits, or else the plain number: `1027 B`."""
    if size_bytes is None:
        return UNKNOWN
    is_decimal = size_bytes >= LEAST_DECIMAL and not size_bytes % 1000 and size_bytes % 1024
    for factor, unit in _DECIMAL_SIZES if is_decimal else _SIZES:
        is_round = size_bytes * 4 % factor == 0 and f"{size_bytes / factor:g}" == f"{size_bytes / factor:.4g}"
        if factor <= size_bytes < factor * MOST_OF_A_UNIT and is_round:
            return f"{size_bytes / factor:g} {unit}"
    return f"{size_bytes} B"


def tells_size(benchmark: str, size_bytes: int) -> bool:
    """Return whether a message size says something: not of a barrier, nor the 0 B of a log that states none.

    Of our own benchmarks 0 B is a message without payload; a benchmark of another program's has no size then.
    """
    kind = BENCHMARKS.get(benchmark)
    return kind.has_size if kind is not None else size_bytes > 0


def message_text(benchmark: str, size_bytes: int) -> str:
    """Return the message size of a case, of one that tells none `–`."""
    return size_text(size_bytes) if tells_size(benchmark, size_bytes) else UNKNOWN


def sizes_text(first_bytes: int, last_bytes: int) -> str:
    """Return `1 B to 1 KiB`, or the only size."""
    first, last = size_text(first_bytes), size_text(last_bytes)
    return first if first == last else f"{first} to {last}"


def series_text(series: str) -> str:
    """Return what a curve was told, with sizes as they are read: `send buffer 16 KiB, Nagle on`."""
    return re.sub(r"\b([0-9]{4,15}) B\b", lambda match: size_text(int(match[1])), series)


def series_name(series: str) -> str:
    """Return the same, and words for a curve that was told nothing, beside others that were."""
    return series_text(series) or "the default setting"


def memory_text(size_bytes: int) -> str:
    """Return `32 KiB`, `1500 B`, and from 1 MiB on what is not round in three digits: `998 MiB`, `62.8 GiB`."""
    for factor, unit in _SIZES[:2]:
        if size_bytes >= factor and size_bytes * 4 % factor:
            return f"{significant(size_bytes / factor)} {unit}"
        if size_bytes >= factor:
            return f"{size_bytes / factor:g} {unit}"
    return size_text(size_bytes)


def bytes_text(size_bytes: float) -> str:
    """Return an amount of bytes as it was counted: `12 B`, `1.23 kB`, `105 MB`."""
    for factor, unit in ((1e9, "GB"), (1e6, "MB"), (1e3, "kB")):
        if abs(size_bytes) >= factor:
            return f"{significant(size_bytes / factor)} {unit}"
    return f"{size_bytes:.0f} B"


def share_text(share: float) -> str:
    """Return a share in percent, a small one with its digits: `100 %`, `1.3 %`, `0.02 %`."""
    percents = share * 100
    if percents >= 99.95:
        return "100 %"
    if 0 < percents < LEAST_PERCENT:
        return f"under {LEAST_PERCENT} %"
    return f"{percents:.1f} %" if percents >= 1 else f"{percents:.2g} %"


def significant(value: float, digits: int = DIGITS) -> str:
    """Return the number with a few significant digits and no exponent: `0.0123`, `9.80`, `1230`."""
    if value == 0 or not math.isfinite(value):
        return "0" if value == 0 else UNKNOWN
    decimals = max(0, digits - 1 - math.floor(math.log10(abs(value))))
    return f"{value:,.{decimals}f}".replace(",", "\N{THIN SPACE}")


def time_text(value_ns: float | None, digits: int = DIGITS) -> str:
    """Return `12.3 µs`."""
    return unit_text(value_ns, UNITS["ns"], digits)


def rate_text(bytes_per_s: float | None, digits: int = DIGITS) -> str:
    """Return a rate in bits, as networks are named: `941 Mb/s`."""
    return unit_text(bytes_per_s, UNITS["bytes_per_s"], digits)


def value_text(value: float | None, metric_id: str, digits: int = DIGITS) -> str:
    """Return a metric's value with its unit."""
    return unit_text(value, unit_of(metric_id), digits)


def unit_text(value: float | None, unit: Unit, digits: int = DIGITS) -> str:
    """Return a stored value as people read it: `1.23 million/s`, `87.5 %`."""
    if value is None or not math.isfinite(value):
        return UNKNOWN
    printed = value * unit.printed_per_stored
    factor, text = next((scale for scale in unit.scales if abs(printed) >= scale[0]), unit.scales[-1])
    return f"{significant(printed / factor, digits)}{text}"


def ratio_text(ratio: float, digits: int = DIGITS) -> str:
    """Return a ratio with as many digits as it is worth: `1.03`, `9.80`, `123`."""
    return f"{ratio:.{digits - 1}f}" if ratio < A_LOT else significant(ratio, digits)


def advantage_text(ratio: float) -> str:
    """Return by how much a ratio of at least 1 is faster: `by 8 %` or `9.8 times`."""
    return f"{ratio_text(ratio)} times" if ratio >= A_LOT else f"by {percent(ratio)} %"


def advantage_range_text(least: float, most: float) -> str:
    """Return `by 8 to 15 %`, `2.1 to 9.8 times`, `1.50 to 9.8 times`."""
    if least >= A_LOT:
        low, high = ratio_text(least), ratio_text(most)
        return f"{low} times" if low == high else f"{low} to {high} times"
    if most >= A_LOT:
        return f"{ratio_text(least)} to {ratio_text(most)} times"
    low, high = percent(least), percent(most)
    return f"by {low} %" if low == high else f"by {low} to {high} %"


class NumberText(Protocol):
    """What makes text of a number, with the usual digits or with more."""

    def __call__(self, value: float, /, *, digits: int = DIGITS) -> str: ...


def interval_text(low: float | None, high: float | None, text: NumberText) -> str:
    """Return `low to high`, nothing without an interval, and words for one that is too wide to say anything.

    Ends that read alike have more digits, and where those do not tell them apart there is one number.
    """
    if low is None or high is None:
        return ""
    if low <= 0 or high / low > USELESS_INTERVAL_RATIO:
        return TOO_WIDE
    return " to ".join(dict.fromkeys(_told_apart(low, high, text)))


def _told_apart(low: float, high: float, text: NumberText) -> tuple[str, str]:
    """Return both numbers with as few digits as tell them apart, with the usual ones where none do."""
    pairs = ((text(low, digits=digits), text(high, digits=digits)) for digits in range(DIGITS, MOST_DIGITS + 1))
    return next((pair for pair in pairs if pair[0] != pair[1]), (text(low), text(high)))


def ratio_interval_text(low: float | None, high: float | None) -> str:
    """Return the interval of a ratio; one that is very wide, and on one side of 1, is told by its nearer end."""
    text = interval_text(low, high, ratio_text)
    if text != TOO_WIDE or low is None or high is None:
        return text
    if low > 1:
        return f"above {ratio_text(low)}"
    return f"below {ratio_text(high)}" if high < 1 else text


def lead_interval_text(low: float | None, high: float | None) -> str:
    """Return the interval of how many times as fast a leader is: `1.02 to 1.08`.

    Where it reaches down to 1 the lead was barely shown: `above 1, at most 1.08`, for it never says that nobody leads.
    """
    if low is None or high is None or low < 1 or ratio_text(low) != ratio_text(1):
        return ratio_interval_text(low, high)
    most = "" if high / low > USELESS_INTERVAL_RATIO else f", at most {_told_apart(1.0, high, ratio_text)[1]}"
    return f"above 1{most}"


def advantage_interval_text(ratio: float, low: float | None, high: float | None) -> str:
    """Return the interval of a lead in the unit of `advantage_text(ratio)`: `52 to 86 %`, `1.98 to 2.31`."""
    if ratio >= A_LOT or low is None or high is None or low < 1:
        return lead_interval_text(low, high)
    is_wide, is_barely = high / low > USELESS_INTERVAL_RATIO, ratio_text(low) == ratio_text(1)
    if is_barely or is_wide:
        most = "" if is_wide else f", at most {percent(high)} %"
        return f"above {'0' if is_barely else percent(low)} %{most}"
    return f"{' to '.join(dict.fromkeys(_told_apart(low, high, percent)))} %"


def percent(ratio: float, digits: int = DIGITS) -> str:
    """Return how many percent a ratio lies above 1."""
    share = (ratio - 1) * 100
    decimals = max(0, digits - DIGITS) + (share < 10)
    return f"{share:.{decimals}f}"
