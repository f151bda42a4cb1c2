"""One figure, before it is drawn."""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from fabriscope.analysis.papers.selections import SIZE


@dataclass(frozen=True)
class Figure:
    """One figure: what it shows and of which rows it is drawn."""

    figure_id: str
    title: str
    kind: str
    """`curves`, or the kind of the comparison."""
    metric_id: str
    rows: pl.DataFrame
    """Estimates, or comparisons."""
    values: pl.DataFrame | None = None
    """Launch values, for curves."""
    by_series: bool = False
    """Colours tell settings apart, not fabrics."""
    axis: str = SIZE
    """What the column of the message size holds, where a figure has another axis."""
