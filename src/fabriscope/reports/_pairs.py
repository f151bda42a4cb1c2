"""Every host against every other, as a picture, and the slowest pairs."""

from __future__ import annotations

import numpy as np
import polars as pl
from markupsafe import Markup

from fabriscope.analysis.results import Results
from fabriscope.analysis.values.pairs import PairMatrix
from fabriscope.reports._cells import cells

CELL = 8
STEPS = ((1.05, "#e8eef4"), (1.25, "#b7cfe3"), (1.5, "#7fa9cc"), (2.0, "#d98b4a"), (np.inf, "#b34700"))
"""Up to this many times the median of all pairs: its colour."""


def worst_pairs(results: Results) -> pl.DataFrame:
    """Return the slowest pairs of each case, in stored units."""
    rows = [
        {"case_id": one.case.case_id, "message_size_bytes": one.case.message_size_bytes, "host": left,
         "peer_host": right, "latency_ns": value, "between_launch_spread": spread}
        for one in results.pairs
        for left, right, value, spread in one.worst
    ]  # fmt: skip
    kinds = {"case_id": pl.String, "message_size_bytes": pl.Int64, "host": pl.String, "peer_host": pl.String,
             "latency_ns": pl.Float64, "between_launch_spread": pl.Float64}  # fmt: skip
    return pl.DataFrame(rows, schema=kinds)


def picture(one: PairMatrix) -> Markup:
    """Return the matrix as SVG: nothing of a run's text is in it."""
    return cells([[_colour(value) for value in values] for values in one.picture], CELL)


def _colour(value: float) -> str | None:
    return next(colour for most, colour in STEPS if value <= most) if np.isfinite(value) else None
