"""Models of time over size find the pieces that made-up curves were made of."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest
from tests.analysis.made_up import Shape, write_run

from fabriscope.analysis.rows import rows_of
from fabriscope.analysis.values.fits import FittedPiece, Floats, fit_words, fits, pieces_of, predicted
from fabriscope.analysis.values.launch_values import launch_values

SIZES: Floats = np.exp2(np.arange(21, dtype=np.float64))


def two_pieces(at: float) -> Floats:
    """Return times that are 10 us + size / 1 GB/s up to a size, and 25 us + size / 2 GB/s from there on."""
    times: Floats = np.where(at >= SIZES, 10_000 + SIZES, 25_000 + SIZES / 2)
    return times


def test_one_line_is_found_again() -> None:
    (piece,) = pieces_of(SIZES, 5_000 + 8 * SIZES, 1)
    assert piece.latency_ns == pytest.approx(5_000)
    assert piece.ns_per_byte == pytest.approx(8)


@pytest.mark.parametrize("power", [4, 10, 14])
def test_the_place_where_a_protocol_changes_is_found(power: int) -> None:
    times = two_pieces(2.0**power)
    first, second = pieces_of(SIZES, times, 2)
    assert (first.last, second.first) == (power, power + 1)
    assert second.latency_ns == pytest.approx(25_000, rel=1e-6)
    assert second.ns_per_byte == pytest.approx(0.5, rel=1e-6)
    assert predicted([first, second], SIZES) == pytest.approx(times, rel=1e-6)


def launch_frame(times: Floats, launches: int, level: float, spread: float) -> pl.DataFrame:
    """Return launch values of one curve, with a level for each launch and noise at each size."""
    noise = np.random.default_rng(3)  # of its own: tests are run in any order
    rows = []
    for launch_id in range(1, launches + 1):
        values = times * np.exp(noise.normal(0, level) + noise.normal(0, spread, len(times)))
        rows += [
            {
                "placement": "inter", "fabric": "gige", "layer": "tcp", "mpi": None, "instrument": "engine",
                "benchmark": "ping_pong", "ranks": "", "series": "", "twin": "", "metric_id": "latency_ns",
                "message_size_bytes": int(size), "launch_id": launch_id, "value": value, "impossible": False,
            }
            for size, value in zip(SIZES, values, strict=True)
        ]  # fmt: skip
    return pl.DataFrame(rows, schema_overrides={"mpi": pl.String})


def test_noise_makes_no_pieces_and_a_level_no_error() -> None:
    for _ in range(10):
        found = fits(launch_frame(5_000 + 8 * SIZES, 5, 0.3, 0.01))
        assert found["piece_count"].unique().to_list() == [1]
        assert found["noise_floor"][0] < 0.02
        assert found["held_out_error"][0] == pytest.approx(found["noise_floor"][0], rel=0.3)


def test_pieces_are_told_with_their_error() -> None:
    found = fits(launch_frame(two_pieces(1024), 5, 0.05, 0.005))
    assert found["piece_count"].to_list() == [2, 2]
    assert found["last_size_bytes"][0] == 1024
    words = fit_words(rows_of(found, FittedPiece))
    assert words.startswith("gige · TCP: ")
    assert "to 1 KiB" in words
    assert "launches miss each other by" in words


def test_one_launch_has_a_model_without_an_error() -> None:
    found = fits(launch_frame(two_pieces(1024), 1, 0, 0.001))
    assert found["piece_count"][0] >= 2  # without launches to tell noise by, it may see more pieces than there are
    assert found["held_out_error"].unique().to_list() == [None]
    assert "miss" not in fit_words(rows_of(found, FittedPiece))


def test_a_run_has_models_and_gaps(tmp_path: Path) -> None:
    shape = Shape(
        sizes=(1, 8, 64, 512, 4096, 32768, 262144), launch_count=3, samples_per_burst=3, stacks=(),
        benchmarks=("ping_pong", "bandwidth"), placements=("inter",),
    )  # fmt: skip
    found = fits(launch_values(write_run(tmp_path / "run", shape).read()))
    last = found.filter(pl.col("piece") == pl.col("piece_count"), pl.col("fabric") == "gige").row(0, named=True)
    assert 1e9 / last["ns_per_byte"] == pytest.approx(1e8, rel=0.25), "about the wire's 117 MB/s"
    assert found["message_gap_ns"].null_count() == 0
