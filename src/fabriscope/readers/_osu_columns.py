"""The columns of the OSU micro-benchmarks' tables, by their heads: options add some, so that no place tells them.

Heads may be in capitals or not, their units may not: a Mb is no MB.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from fabriscope.model.errors import ParseError
from fabriscope.model.foreign import shown
from fabriscope.readers._osu_tests import Test
from fabriscope.readers.base import Column, Unit

SIZE, LATENCY, BANDWIDTH, RATE = "size", "latency", "bandwidth", "rate"
LEAST, MOST, VALIDATION, OPERATION = "least", "most", "validation", "operation"
OVERALL, COMPUTE, PURE, OVERLAP = "overall", "compute", "pure", "overlap"
LEAST_PURE, MOST_PURE = "least pure", "most pure"
WINDOW = "window size"

_Of = Callable[[Test], str]


@dataclass(frozen=True)
class _Kind:
    """A column as every test may have it."""

    key: str
    head: str
    name: str
    title: str
    unit: Unit
    of: str | _Of
    factor: float = 1.0
    kind: Literal["number", "whole", "word"] = "number"

    def column(self, test: Test, head: str) -> Column:
        """Return the column of a test under the head that it prints."""
        name = f"time_ns_mean{self.name.removeprefix('latency_ns')}" if _is_of_ranks(test, self.key) else self.name
        of = self.of if isinstance(self.of, str) else self.of(test)
        return Column(head, name, self.title, self.unit, of, self.factor, self.kind)


def _is_of_ranks(test: Test, key: str) -> bool:
    return key == LATENCY and test.kind == "collective"


def _time(test: Test) -> str:
    return test.time or "as this test prints it: nothing here knows what it times"


def _rate(test: Test) -> str:
    return test.rate or "as this test prints it: nothing here knows over which time"


def _whose(test: Test) -> str:
    return "of the ranks' means over the iterations" if test.kind == "collective" else "of the pairs' means"


_KINDS = (
    _Kind(SIZE, r"(?:Message )?Size(?: ?\((?:B|bytes)\))?", "message_size_bytes", "size", "bytes",
          "of a message, or of a rank's share", kind="whole"),
    _Kind(OPERATION, "Operation", "operation", "operation", "", "what was done", kind="word"),
    _Kind(LATENCY, r"(?:(?:Avg\.?|Average) )?Latency ?\((?-i:us)\)", "latency_ns", "latency", "ns", _time, 1e3),
    _Kind(LEAST, r"Min(?:imum)? Latency ?\((?-i:us)\)", "time_ns_least_rank_mean", "least time", "ns",
          lambda test: f"the least {_whose(test)}", 1e3),
    _Kind(MOST, r"Max(?:imum)? Latency ?\((?-i:us)\)", "time_ns_most_rank_mean", "most time", "ns",
          lambda test: f"the most {_whose(test)}", 1e3),
    _Kind("iterations", "Iterations", "repetition_count", "iterations", "", "operations that were timed", kind="whole"),
    _Kind(BANDWIDTH, r"(?:(?:Bi-)?Bandwidth ?\((?-i:MB/s(?:ec)?)\)|(?-i:MB/s))", "bandwidth_bytes_per_s", "bandwidth",
          "bytes_per_s", _rate, 1e6),
    _Kind(RATE, "Messages/s", "message_rate_per_s", "message rate", "per_s", "bandwidth over the size of a message"),
    _Kind("operations", "Million ops/s", "operation_rate_per_s", "operation rate", "per_s", "operations a second", 1e6),
    _Kind(VALIDATION, "Validation", "validation", "validation", "", "whether the data arrived whole", kind="word"),
    _Kind("transmitted", "Transmit Size", "transmitted_bytes", "transmitted", "bytes",
          "what of a derived datatype's message is sent", kind="whole"),
    _Kind(OVERALL, r"Overall ?\((?-i:us)\)", "time_ns_overlapped", "overall", "ns",
          "start, computing, tests and wait, the mean over the iterations and then over the ranks", 1e3),
    _Kind(COMPUTE, r"Compute ?\((?-i:us)\)", "compute_ns", "computing", "ns", "the computation without the tests", 1e3),
    _Kind("start", r"(?:Coll\. Init|Init avg) ?\((?-i:us)\)", "start_ns", "start", "ns",
          "the call that starts it", 1e3),
    _Kind("test", r"MPI_Test ?\((?-i:us)\)", "test_ns", "tests", "ns", "the calls that test while computing", 1e3),
    _Kind("wait", r"(?:MPI_Wait|Wait avg) ?\((?-i:us)\)", "wait_ns", "wait", "ns",
          "the call that waits at the end", 1e3),
    _Kind(PURE, r"Pure Comm\. ?\((?-i:us)\)", "time_ns_pure", "alone", "ns",
          "the operation alone, the mean over the iterations and then over the ranks", 1e3),
    _Kind(LEAST_PURE, r"Min Comm\. ?\((?-i:us)\)", "time_ns_pure_least_rank_mean", "least alone", "ns",
          "alone, the least of the ranks' means", 1e3),
    _Kind(MOST_PURE, r"Max Comm\. ?\((?-i:us)\)", "time_ns_pure_most_rank_mean", "most alone", "ns",
          "alone, the most of the ranks' means", 1e3),
    _Kind(OVERLAP, r"Overlap ?\(%\)", "overlap_percent", "overlap", "percent",
          "share of the operation alone that computing hides, at least 0"),
)  # fmt: skip
_HEADS = tuple((re.compile(rf"{kind.head}(?=\s|$)", re.IGNORECASE), kind) for kind in _KINDS)
_PERCENTILE = re.compile(r"P(?P<share>\d{1,2}(?:\.\d{1,3})?) Tail (?P<what>Lat ?\(us\)|BW ?\(MB/s\))(?=\s|$)")
START_UP = (
    Column("nprocs", "process_count", "processes", "", "of the job", kind="whole"),
    Column("min", "init_ns_least_rank", "least", "ns", "MPI_Init, the least of the ranks", 1e6),
    Column("max", "init_ns_most_rank", "most", "ns", "MPI_Init, the most of the ranks", 1e6),
    Column("avg", "init_ns_mean", "mean", "ns", "MPI_Init, the mean over the ranks", 1e6),
)
"""Of osu_init; osu_hello has the first alone."""
_RATES = (BANDWIDTH, RATE)
_TIMES = (LATENCY, LEAST, MOST, OVERALL, PURE)


@dataclass(frozen=True)
class Head:
    """A column of a table, and what it is whatever the test."""

    key: str
    column: Column
    percent: float = 0.0
    """Of a percentile, 0 for what is none."""


def heads(line: str, test: Test) -> tuple[Head, ...]:
    """Return the columns of a line of heads; raises ParseError for what is no column of such a test."""
    found: list[Head] = []
    rest = " ".join(line.split())
    while rest:
        percentile = _PERCENTILE.match(rest)
        hit = None if percentile else next(((hit, kind) for head, kind in _HEADS if (hit := head.match(rest))), None)
        if percentile:
            found.append(_percentile(percentile, test))
            rest = rest[percentile.end() :].lstrip()
        elif hit:
            found.append(Head(hit[1].key, hit[1].column(test, hit[0][0])))
            rest = rest[hit[0].end() :].lstrip()
        else:
            raise ParseError(f"{test.name} has a column that is not known: {shown(rest)}")
    _check(found, test)
    return tuple(found)


def is_heads(line: str, test: Test) -> bool:
    """Return whether a line has nothing but known heads."""
    try:
        return bool(heads(line, test))
    except ParseError:
        return False


def _percentile(hit: re.Match[str], test: Test) -> Head:
    percent = float(hit["share"])
    name = hit["share"].replace(".", "_")
    if hit["what"].startswith("BW"):
        of = f"the bandwidth that {percent:g} % of the iterations' do not exceed: a high one is near the best"
        column = Column(hit[0], f"bandwidth_bytes_per_s_p{name}", f"p{percent:g}", "bytes_per_s", of, 1e6)
        return Head("rate percentile", column, percent)
    whose = "of the mean over the ranks" if test.kind in ("collective", "non_blocking") else "of the latency"
    of = f"the {percent:g}th percentile over the iterations {whose}"
    base = "time_ns_rank_mean" if test.kind in ("collective", "non_blocking") else "latency_ns"
    return Head("time percentile", Column(hit[0], f"{base}_p{name}", f"p{percent:g}", "ns", of, 1e3), percent)


def _check(found: list[Head], test: Test) -> None:
    keys = [head.key for head in found]
    names = [head.column.name for head in found]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise ParseError(f"{test.name} has a column twice: {' '.join(head.column.head for head in found)}")
    if SIZE in keys[1:]:
        raise ParseError(f"{test.name} has its sizes in column {keys.index(SIZE) + 1}")
    wrong: tuple[str, ...] = ()
    if test.rate and not test.time:
        wrong = (*_TIMES, COMPUTE)
    elif test.kind in ("ping_pong", "collective", "non_blocking"):
        wrong = _RATES
    is_mixed = test.kind == "one_sided" and (LATENCY in keys) == test.name.endswith("bw")
    if is_mixed or set(keys) & set(wrong):
        raise ParseError(f"{test.name} has columns of another test: {' '.join(head.column.head for head in found)}")


def varied(test: Test, word: str) -> tuple[Head, ...]:
    """Return the columns of a table over sizes and window sizes, one of which a line has for each window."""
    window = Column(WINDOW, "window_size", "window", "", "messages under way", kind="whole")
    rate = next(kind for kind in _KINDS if kind.key == word)
    size = _KINDS[0].column(test, "Size")
    return (
        Head(SIZE, size),
        Head(WINDOW, window),
        Head(word, rate.column(test, "MB/s" if word == BANDWIDTH else "Messages/s")),
    )
