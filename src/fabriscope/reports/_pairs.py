"""Every host against every other, as a picture, and the slowest pairs."""

from __future__ import annotations

import numpy as np
import polars as pl
from markupsafe import Markup

from fabriscope.analysis.results import Results
from fabriscope.analysis.values.pairs import PairMatrix

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
    """Return the matrix as SVG paths, one for each colour: nothing of a run's text is in it."""
    paths: dict[str, list[str]] = {colour: [] for _, colour in STEPS}
    for row, values in enumerate(one.picture):
        for column, value in enumerate(values):
            if np.isfinite(value):
                colour = next(colour for most, colour in STEPS if value <= most)
                paths[colour].append(f"M{column * CELL} {row * CELL}h{CELL}v{CELL}h-{CELL}z")
    side = len(one.picture) * CELL
    drawn = "".join(f'<path fill="{colour}" d="{"".join(some)}"/>' for colour, some in paths.items() if some)
    svg = f'<svg viewBox="0 0 {side} {side}" width="{side}" height="{side}" role="img">{drawn}</svg>'
    return Markup(svg)  # noqa: S704 - numbers and colours alone
