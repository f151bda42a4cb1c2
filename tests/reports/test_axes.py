"""The axis of sizes: both ends are labelled, one size is no line across the figure, and an index ends where it can."""

from __future__ import annotations

import json
from collections.abc import Sequence

import pytest

from fabriscope.analysis.words import significant, sizes_text
from fabriscope.hosts.access.reading import Reading
from fabriscope.model.metrics import metric_of
from fabriscope.reports._axes import ends_of, size_axis
from fabriscope.reports._style import config, style_of
from fabriscope.reports._tail_picture import WIDTH, Line, tail_picture


@pytest.mark.parametrize(
    ("sizes", "ticks"),
    [
        ([1], [1]),
        ([65536], [65536]),
        ([64, 1460, 65536], [64, 1460, 65536]),
        ([2**power for power in range(21)], [1, 32, 1024, 32768, 1 << 20]),
        ([2**power for power in range(6, 19)], [64, 512, 4096, 32768, 262144]),
        ([3 * 2**power for power in range(8)], [3, 8, 32, 128, 384]),
    ],
)
def test_the_first_and_the_last_size_have_a_tick(sizes: Sequence[int], ticks: list[int]) -> None:
    assert size_axis(sizes)["axis"]["values"] == ticks


def test_ticks_are_called_as_in_tables() -> None:
    words = size_axis([1, 1460, 1 << 20])["axis"]["labelExpr"]
    texts, _, rest = words.rpartition("[")
    assert (json.loads(texts), rest) == ({"1": "1 B", "1460": "1460 B", "1048576": "1 MiB"}, "datum.value]")


def test_numbers_on_axes_have_the_thousands_of_tables() -> None:
    number = config(style_of((), for_page=True))["locale"]["number"]
    assert significant(1234567.0) == number["thousands"].join(("1", "234", "567"))


def test_a_range_of_one_size_is_that_size() -> None:
    assert (sizes_text(8, 8), sizes_text(8, 2048)) == ("8 B", "8 B to 2 KiB")


def test_a_fact_without_a_file_is_told_in_words() -> None:
    path = "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"
    reading = Reading(problems={path: "No such file or directory"})
    assert reading.fact("cpu.governor", path).unknown_because == f"this host has no {path}"


@pytest.mark.parametrize("size", [1, 65536])
def test_a_size_alone_stands_at_the_end_where_its_names_begin(size: int) -> None:
    low, high = ends_of([size])
    assert (low < size, high) == (True, size)


def test_an_index_ends_where_it_can() -> None:
    assert (metric_of("fairness_ratio").most, metric_of("their_ratio").most) == (1, None)


@pytest.mark.parametrize("most_ns", [36_000.0, 60_000.0, 21_500.0])
def test_a_short_distribution_has_several_ticks_inside_its_picture(most_ns: float) -> None:
    picture = str(tail_picture([Line("a", "red", (1, 0), [(20_000.0, 1.0), (most_ns, 0.2)])]))
    ends = [part.split('"')[0] for part in picture.split('<text x="')[1:] if "µs<" in part]
    assert len(ends) >= 3
    assert all(float(end) <= WIDTH for end in ends)
    assert 'text-anchor="end">40.0 µs' in picture or most_ns > 40_000
