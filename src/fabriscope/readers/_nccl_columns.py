"""The columns of nccl-tests: of the operation, and of both halves of a row."""

from __future__ import annotations

from fabriscope.readers.base import Column

SIZE = Column("size", "message_size_bytes", "size", "bytes", "of what each rank has or gets", kind="whole")
COUNT = Column("count", "element_count", "elements", "", "of that size", kind="whole")
WORDS = {
    "type": Column("type", "data_type", "type", "", "of the elements", kind="word"),
    "redop": Column("redop", "operation", "operation", "", "by which elements are reduced", kind="word"),
    "root": Column("root", "root", "root", "", "rank of the root; -1 where there is none", kind="word"),
}
PLACES = (
    ("out_of_place", "out of place", "with a buffer to send and one to receive"),
    ("in_place", "in place", "in one buffer"),
)
TIMES = {"time": "mean over the iterations, and over ranks", "cputime": "of the processor, the mean"}


def _numbers(place: str, title: str, how: str) -> dict[str, Column]:
    """Return the columns of one of the two halves by what heads call them."""
    times = {
        head: Column(
            f"{place} {head}",
            f"{place}_{'cpu_' * (head != 'time')}time_ns",
            f"{title}: time",
            "ns",
            f"{what}, {how}",
            1e3,
        )
        for head, what in TIMES.items()
    }
    return times | {
        "algbw": Column(
            f"{place} algbw", f"{place}_algorithm_bandwidth_bytes_per_s", f"{title}: algorithm", "bytes_per_s",
            f"size over that time, {how}", 1e9,
        ),
        "busbw": Column(
            f"{place} busbw", f"{place}_bus_bandwidth_bytes_per_s", f"{title}: bus", "bytes_per_s",
            "algorithm bandwidth times a factor of the collective: what each link carries", 1e9,
        ),
        "#wrong": Column(f"{place} #wrong", f"{place}_wrong_count", f"{title}: wrong", "", "elements that are wrong"),
        "error": Column(f"{place} error", f"{place}_largest_error", f"{title}: error", "", "the largest difference"),
        "i_cv%": Column(
            f"{place} i_cv%", f"{place}_iteration_variation_percent", f"{title}: variation", "percent",
            "standard deviation of the iterations over their mean",
        ),
        **{
            f"i_{key}": Column(
                f"{place} i_{key}", f"{place}_iteration_time_ns_{name}", f"{title}: {name}", "ns",
                f"{what} of the iterations, each the slowest process's", 1e3,
            )
            for key, name, what in (
                ("min", "least", "the least"), ("max", "most", "the most"), ("p99", "p99", "the 99th percentile"),
            )
        },
    }  # fmt: skip


HALVES = tuple(_numbers(*place) for place in PLACES)
