"""What IMB's tests are called, and the tables that they print: rows of named numbers."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from fabriscope.adapters._foreign import number
from fabriscope.model.benchmarks import COLLECTIVES, REDUCTIONS, ROOTED
from fabriscope.model.case import Case
from fabriscope.model.errors import ParseError

PROGRAM = "IMB-MPI1"
SIZE, REPETITIONS, RATE = "#bytes", "#repetitions", "Mbytes/sec"
RANK_TIMES = {"t_avg[usec]": "mean", "t_min[usec]": "least_rank_mean", "t_max[usec]": "most_rank_mean"}
"""Column to the end of its metric's id: each rank's mean over its operations, then the mean, the least or the most of
the ranks."""
BYTES_PER_MBYTE = 10**6

_TIMES = ("t_min[usec]", "t_max[usec]", "t_avg[usec]")
_WINDOWS = (SIZE, REPETITIONS, RATE, "Msg/sec")
_HEAD = re.compile(r"# Benchmarking (?P<test>\w+)\s*")


@dataclass(frozen=True)
class Test:
    """One of IMB's tests."""

    name: str
    columns: tuple[str, ...]
    metric: str = ""
    """Beginning of the ids of the metrics that its times are kept under; empty for those of two ranks."""
    is_synchronised: bool = False
    """It waits for all ranks before each operation (unless `-sync off`); else operations follow each other at once."""
    has_size: bool = True
    has_window: bool = False
    rank_count: int | None = None
    """The only number of ranks for which its numbers have our definition."""
    is_reduction: bool = False
    has_root: bool = False
    is_share: bool = False
    """Its size is one rank's share of the vector, where ours is the vector."""


def _collective(name: str) -> Test:
    title = name.capitalize()
    columns = (SIZE, REPETITIONS, *_TIMES)
    return Test(
        title, columns, metric="collective_latency_ns", is_synchronised=True,
        is_reduction=name in REDUCTIONS, has_root=name in ROOTED, is_share=name == "reduce_scatter",
    )  # fmt: skip


TESTS = {
    "ping_pong": Test("PingPong", (SIZE, REPETITIONS, "t[usec]", RATE)),
    "bandwidth": Test("Uniband", _WINDOWS, has_window=True, rank_count=2),
    "bidirectional_bandwidth": Test("Biband", _WINDOWS, has_window=True, rank_count=2),
    "sendrecv": Test("Sendrecv", (SIZE, REPETITIONS, *_TIMES, RATE), metric="sendrecv_time_ns"),
    "exchange": Test("Exchange", (SIZE, REPETITIONS, *_TIMES, RATE), metric="exchange_time_ns"),
    "barrier": Test("Barrier", (REPETITIONS, *_TIMES), metric="collective_latency_ns", has_size=False),
    **{name: _collective(name) for name in COLLECTIVES if name != "barrier"},
}
_COLUMNS = {test.name: test.columns for test in TESTS.values()}


def size_of(case: Case) -> int:
    """Return the size in bytes that IMB has to be asked for, and prints in this case's row."""
    return case.message_size_bytes // (len(case.entry.hosts) if TESTS[case.benchmark].is_share else 1)


def rows(text: str) -> Iterator[tuple[str, dict[str, float]]]:
    """Yield the test and the named numbers of every row; raises ParseError for other columns."""
    test: str | None = None
    columns: tuple[str, ...] | None = None
    for line in text[: text.rfind("\n") + 1].splitlines():  # a last line without its end may lack digits too
        head = _HEAD.fullmatch(line)
        words = line.split()
        if head:
            test, columns = head["test"], None
        elif test in _COLUMNS and words[:1] in ([SIZE], [REPETITIONS]):
            columns = tuple(words)
            if columns != _COLUMNS[test]:
                raise ParseError(f"{test} has the columns {' '.join(words)}", where=PROGRAM)
        elif columns is not None and words:
            if len(words) != len(columns) or words[0].startswith("#"):
                columns = None  # "time-out", the end of the table, or a death in the middle of a row
                continue
            yield (
                str(test),
                {name: number(word, name, PROGRAM) for name, word in zip(columns, words, strict=True)},
            )
