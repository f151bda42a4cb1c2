"""Reading quantities that people write: sizes, rates, durations.

Inside fabriscope sizes are bytes, times are integer nanoseconds, rates are bits or bytes per second; the name
of a variable says which. Text is turned into them here and in the adapters, and back only where a report formats.
Each has a largest value, beyond any that means something, so that it fits into 64 bits.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator
from contextvars import ContextVar
from decimal import Decimal
from typing import TypeVar

from fabriscope.model import unit_spellings
from fabriscope.model.errors import shown

NS_PER_S = 10**9
MAX_SIZE_BYTES = 2**50
MAX_RATE_BITS_PER_S = 10**18
MAX_DURATION_NS = 365 * 24 * 3600 * NS_PER_S

_SIZE_FACTORS = {
    "": 1, "b": 1,
    "kb": 10**3, "mb": 10**6, "gb": 10**9,
    "k": 2**10, "m": 2**20, "g": 2**30,
    "kib": 2**10, "mib": 2**20, "gib": 2**30,
}  # fmt: skip
_BITS = re.compile("[KMGkmg]?b")
_RATE_FACTORS = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12}
_DURATION_FACTORS = {
    "ns": 1, "us": 10**3, "µs": 10**3, "ms": 10**6, "s": 10**9, "min": 60 * 10**9, "m": 60 * 10**9,
    "h": 3600 * 10**9,
}  # fmt: skip
_OLD_SPELLINGS: ContextVar[bool] = ContextVar("old_spellings", default=False)
_NUMBER = r"\s*([0-9]{1,24}(?:\.[0-9]{1,24})?)\s*"


@contextlib.contextmanager
def old_spellings() -> Iterator[None]:
    """Inside, let through what older versions took and this one asks about: `64kb` as bytes, `010s` as 10 s.

    For the plan of a run that was begun so: what it means is compared with what the run's manifest says.
    """
    token = _OLD_SPELLINGS.set(True)
    try:
        yield
    finally:
        _OLD_SPELLINGS.reset(token)


def parse_size_bytes(text: str | int) -> int:
    """Return a size in bytes from `4096`, `64KiB`, `64K` (both 2^10) or `64KB` (10^3).

    Raises ValueError for anything else, fractions of a byte, negative and absurdly large numbers included.
    """
    if isinstance(text, bool):
        raise ValueError(f"{text!r} is not a size")
    if isinstance(text, int):
        if text < 0:
            raise ValueError(f"a size cannot be negative: {shown(text)}")
        return _at_most(MAX_SIZE_BYTES, text, text, "1 PiB")
    match = re.fullmatch(_NUMBER + r"([A-Za-z]*)\s*", _written(text))
    if match and _BITS.fullmatch(match[2]) and not _OLD_SPELLINGS.get(False):
        bytes_text = f"{match[1]}{match[2].upper()}"
        raise ValueError(f"{shown(text)} may be bits: write {bytes_text} for bytes, or KiB, MiB, GiB")
    if not match or match[2].lower() not in _SIZE_FACTORS:
        raise ValueError(f"{shown(text)} is not a size such as 4096, 64KiB or 1MiB{unit_spellings.size_meant(text)}")
    size = Decimal(_decimal(match[1], text)) * _SIZE_FACTORS[match[2].lower()]
    if size != int(size):
        raise ValueError(f"{shown(text)} is not a whole number of bytes")
    return _at_most(MAX_SIZE_BYTES, int(size), text, "1 PiB")


def parse_rate_bits_per_s(text: str | int) -> int:
    """Return a rate in bits per second from `1Gb/s`, `100 Mbit/s`, `1Gbps` or a plain number; 0 means unlimited."""
    if isinstance(text, bool) or (isinstance(text, int) and text < 0):
        raise ValueError(f"{shown(text)} is not a rate")
    if isinstance(text, int):
        return _at_most(MAX_RATE_BITS_PER_S, text, text, "10^18 b/s")
    match = re.fullmatch(_NUMBER + r"([KMGTkmgt]?)(?:b/s|bit/s|bps|bit|b)?\s*", _written(text))
    if not match:
        raise ValueError(
            f"{shown(text)} is not a rate in bits such as 1Gb/s or 100Mb/s{unit_spellings.rate_meant(text)}"
        )
    rate = Decimal(_decimal(match[1], text)) * _RATE_FACTORS[match[2].lower()]
    if rate != int(rate):
        raise ValueError(f"{shown(text)} is not a whole number of bits per second")
    return _at_most(MAX_RATE_BITS_PER_S, int(rate), text, "10^18 b/s")


def parse_duration_ns(text: str | float) -> int:
    """Return a duration in nanoseconds from `5us`, `200ms`, `2s`, `3min`, or a plain number of seconds."""
    if isinstance(text, bool):
        raise ValueError(f"{str(text).lower()} is not a duration: write it with its unit, such as 40s")
    if isinstance(text, int | float):
        if not text >= 0:
            raise ValueError(f"a duration cannot be negative: {shown(text)}; write for example 40s")
        return _not_nothing(round(_at_most(MAX_DURATION_NS / NS_PER_S, text, text, "a year") * NS_PER_S), text)
    match = re.fullmatch(_NUMBER + r"([A-Za-zµ]+)\s*", _written(text))
    if not match or match[2] not in _DURATION_FACTORS:
        small = "; units of time are in small letters" if match and match[2].lower() in _DURATION_FACTORS else ""
        meant = small or unit_spellings.duration_meant(text, _DURATION_FACTORS)
        raise ValueError(f"{shown(text)} is not a duration such as 5us, 200ms, 2s or 3min{meant}")
    exact = Decimal(_decimal(match[1], text)) * _DURATION_FACTORS[match[2]]
    return _at_most(MAX_DURATION_NS, _not_nothing(round(exact), exact), text, "a year")


def parse_share(text: str | float) -> float:
    """Return a share from 0 to 1 from `0.1%` or a plain number; raises ValueError for anything else."""
    match = None if isinstance(text, bool) else re.fullmatch(_NUMBER + r"(%?)\s*", _written(text))
    share = float(_decimal(match[1], text)) / (100 if match[2] else 1) if match else -1.0
    if not 0 <= share <= 1:
        most = ", and none is more than 100%" if share > 1 else ""
        meant = unit_spellings.share_meant(text)
        written = str(text).lower() if isinstance(text, bool) else shown(text)
        raise ValueError(f"{written} is not a share such as 0.1% or 0.001{most}{meant}")
    return share


def _written(value: object) -> str:
    """Return a number in plain digits where Python has some for it, however it was spelled; text as it is."""
    return float.__repr__(value) if isinstance(value, float) else str(value)


def _decimal(digits: str, text: object) -> str:
    """Return digits; raises ValueError where they begin with a zero that some readers take for octal's."""
    if len(digits) > 1 and digits[0] == "0" and digits[1] != "." and not _OLD_SPELLINGS.get(False):
        raise ValueError(
            f"{shown(text)} begins with a 0 that means nothing: leave it out, and commas within a number too (1048576)"
        )
    return digits


def duration_words(time_ns: int) -> str:
    """Return a duration as a plan writes it, in the largest unit of which it is a whole number: `1ms`."""
    if not time_ns:
        return "0s"
    units = ((name, _DURATION_FACTORS[name]) for name in ("h", "min", "s", "ms", "us", "ns"))
    name, factor = next((name, factor) for name, factor in units if time_ns % factor == 0)
    return f"{time_ns // factor}{name}"


def _not_nothing(rounded: int, exact: object) -> int:
    if exact and not rounded:
        raise ValueError(f"{exact} is less than a nanosecond")
    return rounded


_Number = TypeVar("_Number", int, float)


def _at_most(limit: float, number: _Number, text: object, words: str) -> _Number:
    if number > limit:
        raise ValueError(f"{shown(text)} is more than {words}")
    return number
