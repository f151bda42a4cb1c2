"""Quantities as people read them."""

from __future__ import annotations

import math

import polars as pl
import pytest

from fabriscope.analysis import words
from fabriscope.analysis.answer import answer
from fabriscope.analysis.curve import Curve
from fabriscope.analysis.rows import rows_of
from fabriscope.analysis.values.trust import GradedEstimate


@pytest.mark.parametrize(
    ("size", "text"),
    [
        (0, "0 B"),
        (1, "1 B"),
        (1023, "1023 B"),
        (1024, "1 KiB"),
        (1027, "1027 B"),
        (1514, "1514 B"),
        (1_051_904, "1051904 B"),
        (1536, "1.5 KiB"),
        (9000, "9000 B"),
        (24_000, "24 kB"),
        (96_000, "96 kB"),
        (128_000, "125 KiB"),
        (1_500_000, "1.5 MB"),
        (4_000_000, "4 MB"),
        (24_001, "24001 B"),
        (25_194_598_400, "25194598400 B"),
        (1 << 20, "1 MiB"),
        (None, "–"),
    ],
)
def test_sizes(size: int | None, text: str) -> None:
    assert words.size_text(size) == text


def test_what_a_curve_was_told_has_sizes_as_they_are_read() -> None:
    assert words.series_text("send buffer 16384 B, Nagle on") == "send buffer 16 KiB, Nagle on"
    assert words.series_text("send buffer 1000 B, window 64") == "send buffer 1000 B, window 64"
    assert words.series_text("") == ""


def test_times_and_rates() -> None:
    assert words.time_text(12_345) == "12.3 µs"
    assert words.time_text(0.4) == "0.400 ns"
    assert words.time_text(2e9) == "2.00 s"
    assert words.time_text(None) == words.time_text(math.nan) == "–"
    assert words.rate_text(117.5e6) == "940 Mb/s"
    assert words.rate_text(0.0) == "0 b/s"
    assert words.value_text(1e6, "latency_ns") == "1.00 ms"


@pytest.mark.parametrize(
    ("ratio", "text"), [(1.08, "by 8.0 %"), (1.5, "by 50 %"), (1.9999, "2.00 times"), (123.4, "123 times")]
)
def test_advantages(ratio: float, text: str) -> None:
    assert words.advantage_text(ratio) == text


def test_ranges_of_advantages() -> None:
    assert words.advantage_range_text(1.08, 1.15) == "by 8.0 to 15 %"
    assert words.advantage_range_text(1.5, 9.8) == "1.50 to 9.80 times"
    assert words.advantage_range_text(2, 2) == "2.00 times"


@pytest.mark.parametrize(
    ("low", "high", "text"),
    [(93.7, 95.1, "93.7 to 95.1"), (93.71, 93.74, "93.71 to 93.74"), (93.7001, 93.7004, "93.7001 to 93.7004"),
     (93.7, 93.7, "93.7"), (93.7, 93.7 + 1e-9, "93.7")],
)  # fmt: skip
def test_the_ends_of_an_interval_are_two_numbers(low: float, high: float, text: str) -> None:
    assert words.interval_text(low, high, words.significant) == text


def test_every_text_of_a_number_takes_the_digits_of_narrow_intervals() -> None:
    assert words.interval_text(12_341, 12_344, words.time_text) == "12.341 µs to 12.344 µs"
    assert words.ratio_interval_text(1.0012, 1.0031) == "1.001 to 1.003"
    assert words.interval_text(117.51e6, 117.52e6, words.rate_text) == "940.1 Mb/s to 940.2 Mb/s"


@pytest.mark.parametrize(
    ("low", "high", "text"),
    [(1.02, 1.08, "1.02 to 1.08"), (1.0, 14.5, "above 1, at most 14.5"), (1.004, 1.2, "above 1, at most 1.20"),
     (1.0, 1.002, "above 1, at most 1.002"), (1.0, 300.0, "above 1"), (1.5, 300.0, "above 1.50"), (None, None, "")],
)  # fmt: skip
def test_a_lead_that_was_barely_shown_says_so(low: float | None, high: float | None, text: str) -> None:
    assert words.lead_interval_text(low, high) == text


@pytest.mark.parametrize(
    ("ratio", "low", "high", "text"),
    [(1.68, 1.52, 1.86, "52 to 86 %"), (1.08, 1.05, 1.12, "5.0 to 12 %"), (1.68, 1.2, 2.5, "20 to 150 %"),
     (1.04, 1.0, 1.08, "above 0 %, at most 8.0 %"), (1.5, 1.001, 300.0, "above 0 %"), (1.5, 1.2, 300.0, "above 20 %"),
     (1.1234, 1.1231, 1.1238, "12.3 to 12.4 %"), (2.1, 1.9, 2.3, "1.90 to 2.30"), (1.5, None, None, "")],
)  # fmt: skip
def test_the_interval_of_a_lead_has_the_unit_of_the_lead(
    ratio: float, low: float | None, high: float | None, text: str
) -> None:
    assert words.advantage_interval_text(ratio, low, high) == text


MEASURED = (("mpi", "put_latency"), ("mpi", "get_latency"), ("null", "empty"))


def estimate(layer: str, benchmark: str) -> GradedEstimate:
    curve = Curve("inter", None, layer, None, "engine", benchmark, "", "", "")
    case = {**vars(curve), "case_id": "", "entry_id": "", "rank_count": 2, "window_size": 1, "socket": ""}
    number = {"message_size_bytes": 8, "metric_id": "latency_ns", "value": 1.0, "limit": None, "impossible": False}
    interval = {"low": None, "high": None, "between_launch_spread": None, "launch_min": 1.0, "launch_max": 1.0}
    counts = {"launch_count": 1, "sample_count": 1, "impossible_launch_count": 0}
    row = {**case, **number, **interval, **counts, "grade": None, "reasons": None, "transport": None}
    (found,) = rows_of(pl.DataFrame([row]), GradedEstimate)
    return found


def test_a_run_of_neither_ping_pongs_nor_groups_says_what_it_measured() -> None:
    measured = [estimate(layer, name) for layer, name in MEASURED]
    assert answer([], [], [], measured, []) == ["Measured, with the numbers in their tables: put and get."]
    assert answer([], [], [], [], []) == ["Nothing has been measured yet."]


def test_amounts_and_shares() -> None:
    assert [words.bytes_text(size) for size in (0, 999, 1500, 104_857_600)] == ["0 B", "999 B", "1.50 kB", "105 MB"]
    shares = {0.0: "0 %", 1e-7: "under 0.001 %", 0.0002: "0.02 %", 0.985: "98.5 %", 0.9997: "100 %"}
    assert {share: words.share_text(share) for share in shares} == shares


def test_memory_reads_in_binary_units_and_what_is_small_stays_exact() -> None:
    sizes = (1500, 32 << 10, 2 << 20, 1_046_466_560, 67_430_000_000, 64 << 30)
    read = ["1500 B", "32 KiB", "2 MiB", "998 MiB", "62.8 GiB", "64 GiB"]
    assert [words.memory_text(size) for size in sizes] == read
