"""What the columns of a table share: what a clock times, which buffers data come from, which bytes a rate counts."""

from __future__ import annotations

from dataclasses import dataclass

ONE_WAY, BOTH_WAYS = "once, in one direction", "the sum of both directions"
SAME_BUFFER, TWO_BUFFERS = "what arrived is sent back from the same buffer", "one to send and another one to receive"


@dataclass(frozen=True)
class Terms:
    """What a program does in a test; empty where it depends on what its text does not say."""

    timing: str = ""
    """Which operations a clock times, and whose clock it is."""
    buffers: str = ""
    """From where data are sent, and to where."""
    bytes_counted: str = ""
    """Which bytes a rate counts."""


UNSTATED = Terms()


def unstated(_table: str) -> Terms:
    """Return the terms of a table of which nothing is known."""
    return UNSTATED


_PRINTED_IN = {
    "ns": {1.0: "ns", 1e3: "usec", 1e6: "msec", 1e9: "s"},
    "s": {1.0: "s", 1e-3: "msec", 1e-6: "usec", 1e-9: "ns"},
    "per_s": {1.0: "1/s", 1e6: "10^6/s", 1e9: "10^9/s"},
    "flop_per_s": {1.0: "flop/s", 1e6: "Mflop/s", 1e9: "Gflop/s", 1e12: "Tflop/s"},
    "percent": {1.0: "%"},
}
_PREFIXES = ("", "k", "M", "G", "T")


def printed_unit(unit: str, factor: float) -> str:
    """Return the unit in which a program prints what a document holds in `unit` after multiplying by `factor`.

    Prefixes of bytes and bits are decimal or binary, and it says which; empty for a factor that no unit has.
    """
    if unit not in ("bytes", "bytes_per_s"):
        return _PRINTED_IN.get(unit, {}).get(factor, "")
    per, divisors = ("", {"B": 1.0}) if unit == "bytes" else ("/s", {"B": 1.0, "bit": 8.0})
    for word, divisor in divisors.items():
        for power, prefix in enumerate(_PREFIXES):
            for base, shown in ((1000.0**power, f"10^{3 * power}"), (1024.0**power, f"2^{10 * power}")):
                if factor * divisor == base:
                    return f"{prefix}{word}{per}" + (f", a {prefix}{word} of {shown} {word}" if power else "")
    return ""
