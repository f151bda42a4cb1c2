"""Time over size in pieces: where a protocol changes, and latency and bandwidth on either side of it.

Each piece is Hockney's model, t = latency + size / bandwidth (R. W. Hockney, Parallel Computing 20, 1994), fitted by
least squares of relative errors; where the pieces meet is found by dynamic programming (R. Bellman, CACM 4, 1961). The
slope is the gap per byte G of LogGP, the intercept of the first piece its L + 2 o, and the time per message of a window
its g (A. Alexandrov et al., SPAA 1995); o alone is not measured by a ping-pong.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import polars as pl
from numpy.typing import NDArray

from fabriscope.analysis.curve import IDENTITY, Curve
from fabriscope.analysis.frames import ROUND, SIZE
from fabriscope.analysis.rows import frame_of
from fabriscope.analysis.values.definitions import one_definition
from fabriscope.analysis.words import rate_text, size_text, time_text

TIME = "latency_ns"
RATE = "bandwidth_bytes_per_s"
WINDOWS = "bandwidth"
"""The benchmark whose windows tell the time per message."""
LEAST_POINTS = 3
"""Sizes in a piece: two make any line."""
MOST_PIECES = 5
GAIN = 0.1
"""The share of the error above the noise that one more piece must take away, or 0.1 % of the time."""
FIT_SCHEMA = {
    **dict.fromkeys(IDENTITY, pl.String),
    "piece": pl.Int32,
    "piece_count": pl.Int32,
    "first_size_bytes": pl.Int64,
    "last_size_bytes": pl.Int64,
    "latency_ns": pl.Float64,
    "ns_per_byte": pl.Float64,
    "held_out_error": pl.Float64,
    "noise_floor": pl.Float64,
    "message_gap_ns": pl.Float64,
    "launch_count": pl.Int32,
}
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class FittedPiece(Curve):
    """One piece of the model of one curve: a row of `fits`, which says what the fields are."""

    piece: int
    """Counts from 1."""
    piece_count: int
    first_size_bytes: int
    last_size_bytes: int
    latency_ns: float
    ns_per_byte: float
    held_out_error: float | None
    noise_floor: float | None
    message_gap_ns: float | None
    launch_count: int


@dataclass(frozen=True)
class Piece:
    """One piece: sizes `first` to `last` (places in the sizes, both included), and its line."""

    first: int
    last: int
    latency_ns: float
    ns_per_byte: float


def fits(values: pl.DataFrame) -> pl.DataFrame:
    """Return one row for each piece of each curve of ping-pong times, FIT_SCHEMA.

    `values` are launch values with their anchors: without those, sizes that were added later have no common level
    with the others, and are left out.

    `held_out_error` is what the model, fitted to all other launches, misses a launch by: the root mean square of the
    relative errors over sizes, the launch's own level taken out; `noise_floor` is by what the other launches' own mean
    misses it, which no model can beat for long. Both are null for one launch. Curves of fewer than 6 sizes have no fit.
    """
    return frame_of(fitted(values), FIT_SCHEMA)


def fitted(values: pl.DataFrame) -> list[FittedPiece]:
    """Return the pieces of each curve of ping-pong times, smallest sizes first; see `fits`."""
    sound = values.filter(
        pl.col("benchmark") == "ping_pong", ~pl.col("impossible"), pl.col("value") > 0,
        pl.col("layer") != "null", pl.col("message_size_bytes") > 0,
    )  # fmt: skip
    sound = one_definition(sound, TIME, IDENTITY)
    gaps = _gaps(values)
    rows = []
    for part in sound.partition_by(IDENTITY, maintain_order=True):
        curve = Curve(*part.select(IDENTITY).row(0))
        sizes, logs = _logs(part)
        if len(sizes) < 2 * LEAST_POINTS:
            continue
        pieces, error = _chosen(sizes, logs)
        floor, gap = _noise_floor(logs), gaps.get(replace(curve, benchmark=WINDOWS))
        for number, piece in enumerate(pieces, start=1):
            rows.append(
                FittedPiece(
                    **vars(curve),
                    piece=number,
                    piece_count=len(pieces),
                    first_size_bytes=int(sizes[piece.first]),
                    last_size_bytes=int(sizes[piece.last]),
                    latency_ns=piece.latency_ns,
                    ns_per_byte=piece.ns_per_byte,
                    held_out_error=error,
                    noise_floor=floor,
                    message_gap_ns=gap,
                    launch_count=len(logs),
                )
            )
    return rows


def _logs(part: pl.DataFrame) -> tuple[Floats, Floats]:
    """Return the sizes of a curve, and the log of the time of each launch (rows) at each of them.

    Launches that were added later measured few sizes, at levels of their own. The anchors, sizes that had been
    measured before, say by how much they lie apart; the n-th of them then continues the n-th launch.
    """
    numbers = part[ROUND].unique().to_list() if ROUND in part.columns else [0]
    planned = part.filter(pl.col("round") == 0) if len(numbers) > 1 else part
    sizes, logs = _table(planned)
    for number in sorted(one for one in numbers if one > 0):
        more_sizes, more = _table(part.filter(pl.col("round") == number))
        known, is_new = np.isin(more_sizes, sizes), ~np.isin(more_sizes, sizes)
        count = min(len(logs), len(more))
        if not known.any() or not is_new.any() or 2 * count < len(logs):
            continue
        centre = logs.mean(axis=0)
        levels = (more[:, known] - centre[np.isin(sizes, more_sizes)]).mean(axis=1)
        own = (logs - centre).mean(axis=1)
        added = more[:count][:, is_new] - levels[:count, None] + own[:count, None]
        sizes = np.concatenate([sizes, more_sizes[is_new]])
        logs = np.concatenate([logs[:count], added], axis=1)[:, np.argsort(sizes)]
        sizes = np.sort(sizes)
    return sizes, logs


def _table(part: pl.DataFrame) -> tuple[Floats, Floats]:
    """Return the sizes that all of these launches measured, and the logs of their times."""
    table = (
        part.group_by("launch_id", "message_size_bytes").agg(pl.col("value").log().mean())
        .sort("launch_id", "message_size_bytes")  # the order of sums decides their last digits
        .pivot("launch_id", index="message_size_bytes", values="value").sort("message_size_bytes").drop_nulls()
    )  # fmt: skip
    return table[SIZE].to_numpy().astype(np.float64), table.drop(SIZE).to_numpy().T


def pieces_of(sizes: Floats, times_ns: Floats, count: int) -> list[Piece]:
    """Return the best `count` pieces: those with the least sum of squared relative errors."""
    costs, lines = _costs(sizes, times_ns)
    best = [costs[0].copy()]
    starts: list[list[int]] = []
    for _ in range(1, count):
        before = best[-1]
        totals = [[before[start - 1] + costs[start][end] if start else np.inf for start in range(end + 1)]
                  for end in range(len(sizes))]  # fmt: skip
        starts.append([int(np.argmin(row)) for row in totals])
        best.append(np.array([min(row) for row in totals]))
    pieces: list[Piece] = []
    end = len(sizes) - 1
    for level in range(count - 1, -1, -1):
        start = starts[level - 1][end] if level else 0
        pieces.append(Piece(start, end, *lines[start][end]))
        end = start - 1
    return pieces[::-1]


def predicted(pieces: list[Piece], sizes: Floats) -> Floats:
    """Return the times that the pieces give, ns."""
    times = np.empty(len(sizes))
    for piece in pieces:
        part = slice(piece.first, piece.last + 1)
        times[part] = piece.latency_ns + piece.ns_per_byte * sizes[part]
    return times


def _costs(sizes: Floats, times_ns: Floats) -> tuple[list[Floats], list[list[tuple[float, float]]]]:
    """Return of every stretch of sizes the squared relative error of its line, and the line."""
    count = len(sizes)
    costs = [np.full(count, np.inf) for _ in range(count)]
    lines = [[(math.nan, math.nan)] * count for _ in range(count)]
    for first in range(count):
        for last in range(first + LEAST_POINTS - 1, count):
            x, y = sizes[first : last + 1], times_ns[first : last + 1]
            line = _line(x, y)
            lines[first][last] = line
            costs[first][last] = float((((line[0] + line[1] * x) / y - 1) ** 2).sum())
    return costs, lines


def _line(x: Floats, y: Floats) -> tuple[float, float]:
    """Return intercept and slope with the least squared relative errors; neither is negative."""
    a, b = 1 / y, x / y
    aa, ab, bb, sa, sb = (float(one.sum()) for one in (a * a, a * b, b * b, a, b))
    determinant = aa * bb - ab * ab
    if determinant > 1e-12 * aa * bb:
        intercept, slope = (sa * bb - sb * ab) / determinant, (sb * aa - sa * ab) / determinant
        if intercept >= 0 and slope >= 0:
            return intercept, slope
    flat, steep = (sa / aa, 0.0), (0.0, sb / bb)
    errors = [float(((line[0] * a + line[1] * b - 1) ** 2).sum()) for line in (flat, steep)]
    return flat if errors[0] <= errors[1] else steep


def _chosen(sizes: Floats, logs: Floats) -> tuple[list[Piece], float | None]:
    """Return as many pieces as the launches justify, and their held-out error."""
    most = min(MOST_PIECES, len(sizes) // LEAST_POINTS)
    centre = np.exp(logs.mean(axis=0))
    if len(logs) < 2:
        bics = []
        for count in range(1, most + 1):
            errors = predicted(pieces_of(sizes, centre, count), sizes) / centre - 1
            bics.append(len(sizes) * math.log(float((errors**2).mean()) + 1e-12) + 3 * count * math.log(len(sizes)))
        return pieces_of(sizes, centre, int(np.argmin(bics)) + 1), None
    floor = _noise_floor(logs) or 0.0
    chosen, error = 1, _held_out(sizes, logs, 1)
    for count in range(2, most + 1):
        other = _held_out(sizes, logs, count)
        gained = math.sqrt(max(0.0, error**2 - floor**2)) - math.sqrt(max(0.0, other**2 - floor**2))
        if gained > max(1e-3, GAIN * math.sqrt(max(0.0, error**2 - floor**2))):
            chosen, error = count, other
    return pieces_of(sizes, centre, chosen), error


def _held_out(sizes: Floats, logs: Floats, count: int) -> float:
    squares = []
    for out in range(len(logs)):
        others = np.delete(logs, out, axis=0).mean(axis=0)
        model = np.log(predicted(pieces_of(sizes, np.exp(others), count), sizes))
        squares.append(_shape_error(logs[out], model))
    return math.sqrt(float(np.mean(squares)))


def _noise_floor(logs: Floats) -> float | None:
    if len(logs) < 2:
        return None
    squares = [_shape_error(logs[out], np.delete(logs, out, axis=0).mean(axis=0)) for out in range(len(logs))]
    return math.sqrt(float(np.mean(squares)))


def _shape_error(one: Floats, model: Floats) -> float:
    difference = one - model
    return float(((difference - difference.mean()) ** 2).mean())


def _gaps(values: pl.DataFrame) -> dict[Curve, float]:
    """Return the time per message of a window at the smallest size, ns, by curve."""
    rates = values.filter(
        pl.col("benchmark") == WINDOWS, pl.col("metric_id") == RATE, ~pl.col("impossible"), pl.col("value") > 0,
        pl.col("message_size_bytes") > 0,
    )  # fmt: skip
    found = {}
    for part in rates.partition_by(IDENTITY, maintain_order=True):
        least = part.filter(pl.col("message_size_bytes") == pl.col("message_size_bytes").min())
        sizes, speeds = least.select("message_size_bytes", "value").get_columns()
        centre = math.exp(float(np.log(speeds.to_numpy()).mean()))
        found[Curve(*part.select(IDENTITY).row(0))] = sizes[0] * 1e9 / centre
    return found


def fit_words(rows: Sequence[FittedPiece]) -> str:
    """Return the model of one curve in a sentence, from its pieces."""
    parts = []
    for row in rows:
        where = "at every size" if row.piece_count == 1 else f"to {size_text(row.last_size_bytes)}"
        if row.piece == row.piece_count > 1:
            where = f"from {size_text(row.first_size_bytes)} on"
        terms = [time_text(row.latency_ns)] if row.latency_ns > 0 or not row.ns_per_byte else []
        terms += [f"size / {rate_text(1e9 / row.ns_per_byte)}"] if row.ns_per_byte > 0 else []
        parts.append(f"{' + '.join(terms)} {where}")
    last = rows[-1]
    error = ""
    if last.held_out_error is not None:
        missed, floor = last.held_out_error, last.noise_floor
        error = f"; misses a launch by {missed:.1%}, launches miss each other by {floor:.1%}"
    return f"{last.label()}: {', '.join(parts)}{error}"
