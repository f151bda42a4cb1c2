"""One curve: what tells it from others, and how a report calls it."""

from __future__ import annotations

from dataclasses import dataclass, fields

from fabriscope.analysis.words import series_text
from fabriscope.model.benchmark_kind import SERVICE
from fabriscope.model.benchmarks import kind_of
from fabriscope.model.layers import layer_of
from fabriscope.model.ranks import layout_from

AGAIN = "again"
"""Marks what is entered a second time, as the A/A control."""
IN_TRUTH = " (in truth "
"""Stands behind the name of a layer, and before what carried its bytes, where that is not what was asked for."""


@dataclass(frozen=True)
class Curve:
    """What tells one curve from another; sizes and metrics are points of a curve."""

    placement: str
    fabric: str | None
    layer: str
    mpi: str | None
    instrument: str
    benchmark: str
    ranks: str
    twin: str
    series: str

    @property
    def curve(self) -> Curve:
        """Return the curve alone, of what is more than that."""
        return Curve(
            self.placement, self.fabric, self.layer, self.mpi, self.instrument, self.benchmark, self.ranks, self.twin,
            self.series,
        )  # fmt: skip

    @property
    def layer_label(self) -> str:
        """Return how legends call the layer: `TCP`, `MPI (mpich) by osu`, `MPI (mpich) (in truth shared memory)`."""
        layer, *truth = self.layer.partition(IN_TRUTH)
        name = layer_of(layer).label
        name = f"{name} ({self.mpi})" if self.mpi else name
        name = name if self.instrument == "engine" else f"{name} by {self.instrument}"
        return "".join((name, *truth))

    @property
    def layout(self) -> str:
        """Return its ranks in words, of a service its hosts; raises ValueError where nothing is to be said."""
        layout = layout_from(self.ranks)
        return f"{layout.rank_count} hosts" if kind_of(self.benchmark).pattern == SERVICE else layout.text()

    def label(self, *, fabric: bool = True, ranks: bool = True, series: bool = True) -> str:
        """Return how a report calls the curve: `gige · MPI (mpich), send buffer 16 KiB`, or less where it is told."""
        name = f"{self.fabric} · {self.layer_label}" if fabric and self.fabric else self.layer_label
        layout = self.layout if ranks and self.ranks else ""
        return ", ".join(part for part in (name, layout, series_text(self.series) if series else "", self.twin) if part)


IDENTITY = tuple(field.name for field in fields(Curve))
"""The columns that a frame has of a curve."""
