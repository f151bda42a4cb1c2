"""Every host against every other, as text and as a picture."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl
from markupsafe import Markup

from fabriscope.analysis.results import Results
from fabriscope.analysis.values.pairs import PairMatrix
from fabriscope.analysis.words import UNKNOWN, size_text, time_text

CELL = 8
STEPS = ((1.05, "#e8eef4"), (1.25, "#b7cfe3"), (1.5, "#7fa9cc"), (2.0, "#d98b4a"), (np.inf, "#b34700"))
"""Up to this many times the median of all pairs: its colour."""


@dataclass(frozen=True)
class PairLine:
    """Every rank against every other in one case: quantiles over pairs, the slowest pairs and hosts, a picture."""

    what: str
    size: str
    pairs: str
    launches: str
    impossible: str
    least: str
    p1: str
    p25: str
    p50: str
    p75: str
    p99: str
    most: str
    noise: str
    worst: str
    hosts: str
    picture: Markup


def pair_lines(results: Results) -> list[PairLine]:
    """Return one line for each case."""
    return [_line(one) for one in results.pairs]


def _line(one: PairMatrix) -> PairLine:
    least, p1, p25, p50, p75, p99, most = (time_text(value) for value in one.quantiles_ns)  # at QUANTILES
    return PairLine(
        what=one.case.label(ranks=False),
        size=size_text(one.case.message_size_bytes),
        pairs=f"{one.pair_count:,}".replace(",", "\N{THIN SPACE}"),
        launches=str(one.launch_count),
        impossible=str(one.impossible_count or ""),
        least=least,
        p1=p1,
        p25=p25,
        p50=p50,
        p75=p75,
        p99=p99,
        most=most,
        noise=UNKNOWN if one.noise is None else f"{one.noise:.1%}",
        worst=", ".join(f"{left} - {right} {time_text(value)}" for left, right, value, _ in one.worst[:3]),
        hosts=", ".join(f"{host} {ratio:.2f}" for host, ratio in one.worst_hosts[:3]),
        picture=_picture(one),
    )


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


def _picture(one: PairMatrix) -> Markup:
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
