"""Quantities in other people's spelling: how a plan writes what was probably meant.

Each function returns the end of a sentence, `: write 40s`, or nothing where nothing is known.
"""

from __future__ import annotations

import re
from collections.abc import Container
from decimal import Decimal

_UNITS_OF_TIME = {
    "ns": ("nsec", "nanosecond"),
    "us": ("usec", "microsecond"),
    "ms": ("msec", "millisecond"),
    "s": ("", "sec", "second"),
    "min": ("minute",),
    "h": ("hr", "hour"),
}
_TIME_MEANT = {f"{word}{end}": unit for unit, words in _UNITS_OF_TIME.items() for word in words for end in ("", "s")}
_HOURS = {**dict.fromkeys(("d", "day", "days"), 24), **dict.fromkeys(("w", "week", "weeks"), 168)}
_AMOUNT = r"\s*-?\s*([0-9]{1,15}(?:\.[0-9]{1,15})?)\s*"
_RATE_IN_BYTES = re.compile(_AMOUNT + r"([KMGTkmgt]?)(?:B|[Bb]ytes?)(?:/s(?:ec)?|ps)?\s*")
_RATE_IN_BITS = re.compile(_AMOUNT + r"([kmgt]?)bits?(?:/s(?:ec)?|ps)?\s*", re.IGNORECASE)
_SIZE = re.compile(_AMOUNT + r"([kmg]?)(i?)b(?:yte)?s?\s*", re.IGNORECASE)
_PERCENT = re.compile(_AMOUNT + r"(?:percent)?\s*", re.IGNORECASE)
PERCENT_UP_TO = 100
DIGITS_OF_THOUSANDS = 3


def _plain(number: Decimal) -> str:
    return f"{number.normalize():f}"


def duration_meant(text: object, units: Container[str]) -> str:
    """Return what to write for `40 seconds`, `-5s`, `300d` or `40`; where nothing is known, which units there are."""
    if meant := _with_point(text):
        return meant
    match = re.fullmatch(_AMOUNT + r"([A-Za-zµ]*)\s*", str(text))
    unit = match[2] if match else ""
    number = Decimal(match[1]) if match else Decimal(0)
    if hours := _HOURS.get(unit.lower()):
        return f": write {_plain(number * hours)}h"
    unit = unit if unit in units else _TIME_MEANT.get(unit.lower(), "")
    negative = "; none is negative" if match and "-" in str(text) else ""
    return f"{negative}: write {_plain(number)}{unit}" if match and unit else "; units are ns, us, ms, s, min and h"


def rate_meant(text: object) -> str:
    """Return what to write for `100MB/s` or `1 Gbits/sec`."""
    if match := _RATE_IN_BYTES.fullmatch(_short(str(text))):
        return f": write {_plain(Decimal(match[1]) * 8)}{match[2].upper()}b/s"
    if match := _RATE_IN_BITS.fullmatch(_short(str(text))):
        return f": write {_plain(Decimal(match[1]))}{match[2].upper()}b/s"
    return "; units are b/s, Kb/s, Mb/s, Gb/s and Tb/s"


def size_meant(text: object) -> str:
    """Return what to write for `64 bytes` or `64 kilobytes`."""
    match = _SIZE.fullmatch(_short(str(text)))
    if match is None or str(text).lstrip().startswith("-"):
        return "; units are B, KiB, MiB, GiB (of 1024), KB, MB and GB (of 1000)"
    return f": write {_plain(Decimal(match[1]))}{match[2].upper()}{'i' if match[3] else ''}B"


def share_meant(text: object) -> str:
    """Return what to write for `3`, or `3 percent`, of which a plan wants a share."""
    if meant := _with_point(text):
        return meant
    match = _PERCENT.fullmatch(str(text)) if not isinstance(text, bool) else None
    is_one = match is not None and 0 < Decimal(match[1]) <= PERCENT_UP_TO and "-" not in str(text)
    return f": write {_plain(Decimal(match[1]))}%" if match and is_one else ""


def _with_point(text: object) -> str:
    """Return what to write for a fraction behind a comma; empty without one, or where it may part thousands."""
    match = re.fullmatch(r"\s*([0-9]{1,9}),([0-9]{1,9}) ?([A-Za-z%]{0,3})\s*", str(text))
    return f": write {match[1]}.{match[2]}{match[3]}" if match and len(match[2]) != DIGITS_OF_THOUSANDS else ""


_PREFIXES = {"kilo": "K", "mega": "M", "giga": "G", "tera": "T", "kibi": "Ki", "mebi": "Mi", "gibi": "Gi"}


def _short(text: str) -> str:
    """Return a text whose prefixes are single letters: `64 kilobytes` as `64 Kbytes`."""
    for word, letter in _PREFIXES.items():
        text = re.sub(word, letter, text, flags=re.IGNORECASE)
    return text
