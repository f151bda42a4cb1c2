"""What a stored number is of: its unit.

The unit is the end of a metric's name, so that a number of a program that fabriscope does not know has one too.
"""

from __future__ import annotations

from dataclasses import dataclass

from fabriscope.model.errors import FabriscopeError, shown

TIME, RATE, SHARE, AMOUNT = "time", "rate", "share", "amount"
"""Kinds of units: of rates the mean over operations is harmonic; shares and amounts may be 0."""


@dataclass(frozen=True)
class Unit:
    """One unit in which numbers are stored."""

    name: str
    """As names end in it: `ns`, `bytes_per_s`."""
    symbol: str
    """As tables name it: `B/s`."""
    kind: str
    scales: tuple[tuple[float, str], ...]
    """How many of what is printed have a unit of their own, largest first, and how that follows the number."""
    axis_factor: float
    """What turns a stored value into the unit of an axis."""
    axis_title: str
    printed_per_stored: float = 1.0
    """Bits are printed of bytes."""
    larger_is_better: bool = True
    """Unless a metric says otherwise."""
    most: int | None = None
    """The largest value that there can be."""

    @property
    def is_rate(self) -> bool:
        """Return whether values are amounts over time."""
        return self.kind == RATE

    @property
    def can_be_zero(self) -> bool:
        """Return whether 0 is a value that was measured, and not one that is missing."""
        return self.kind in (SHARE, AMOUNT)


_UNITS = (
    Unit("ns", "ns", TIME, ((1e9, " s"), (1e6, " ms"), (1e3, " µs"), (1.0, " ns")), 1e-3, "µs", larger_is_better=False),
    Unit(
        "bytes_per_s", "B/s", RATE, ((1e9, " Gb/s"), (1e6, " Mb/s"), (1e3, " kb/s"), (1.0, " b/s")), 8e-6, "Mb/s", 8.0
    ),
    Unit("flop_per_s", "flop/s", RATE, ((1e12, " Tflop/s"), (1e9, " Gflop/s"), (1.0, " flop/s")), 1e-9, "Gflop/s"),
    Unit("op_per_s", "op/s", RATE, ((1e6, " Mop/s"), (1e3, " kop/s"), (1.0, " op/s")), 1e-3, "kop/s"),
    Unit("per_s", "1/s", RATE, ((1e6, " million/s"), (1e3, " thousand/s"), (1.0, "/s")), 1e-3, "thousand/s"),
    Unit("percent", "%", SHARE, ((1.0, " %"),), 1.0, "%", most=100),
    Unit("ratio", "", SHARE, ((1.0, ""),), 1.0, "ratio"),
    Unit("joules", "J", AMOUNT, ((1e3, " kJ"), (1.0, " J")), 1.0, "J", larger_is_better=False),
    Unit("count", "", AMOUNT, ((1.0, ""),), 1.0, "count"),
)  # fmt: skip
UNITS = {unit.name: unit for unit in _UNITS}
"""By the ends of names; one that ends another (`per_s`) stands behind it."""


def unit_at_end(name: str) -> Unit:
    """Return the unit that a name ends in; raises FabriscopeError for none that is known."""
    for unit in _UNITS:
        if name == unit.name or name.endswith(f"_{unit.name}"):
            return unit
    ends = ", ".join(f"_{unit}" for unit in UNITS)
    raise FabriscopeError(
        f"the metric {shown(name)} names no unit that is known", fix=f"end its name with one of {ends}"
    )
