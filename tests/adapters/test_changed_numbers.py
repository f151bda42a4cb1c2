"""Numbers and units of other programs that were changed in one place: none is believed, and the line is named."""

from __future__ import annotations

import re

import pytest
from tests.adapters.test_contradictions import said
from tests.adapters.test_foreign import DATA

from fabriscope.model.errors import ParseError
from fabriscope.readers import _netpipe_sizes
from fabriscope.registry import discover

READERS = discover("readers", "READER")
LATENCY = "perftest/send_lat"
NETPIPE = "netpipe/nptcp"


def text_of(name: str) -> str:
    return (DATA / f"{name}.txt").read_text()


def row_of(name: str, pattern: str) -> tuple[int, str]:
    """Return the number and the text of the only line that begins so."""
    ((number, line),) = [
        (number, line) for number, line in enumerate(text_of(name).splitlines(), 1) if re.match(pattern, line)
    ]
    return number, line


def read(name: str, old: str, new: str) -> list[str]:
    """Return what the reader says of a text in which something stands once otherwise."""
    reader = READERS.get(name.partition("/")[0])
    return [problem.text for problem in reader.read(text_of(name).replace(old, new, 1)).problems]


def test_a_latency_in_cycles_is_refused_by_the_reader_and_the_adapter() -> None:
    _, head = row_of(LATENCY, " #bytes")
    in_cycles = head.replace("[usec]", "[cycles]")
    assert read(LATENCY, head, in_cycles) == ["t_min is in cycles, which is not known"]
    with pytest.raises(ParseError, match="perftest, line 22: t_min is in cycles, which is not known"):
        said(LATENCY, (head, in_cycles))


def test_a_latency_in_nanoseconds_is_read_as_such() -> None:
    _, head = row_of(LATENCY, " #bytes")
    in_us = [block.values[0] for block in said(LATENCY).blocks]
    in_ns = [block.values[0] for block in said(LATENCY, (head, head.replace("[usec]", "[nsec]"))).blocks]
    assert in_ns == pytest.approx([value / 1e3 for value in in_us])
    rows = READERS.get("perftest").read(text_of(LATENCY).replace("[usec]", "[nsec]")).rows()
    assert [row.number("latency_ns") for row in rows] == [in_ns[0]]


def test_one_column_in_another_unit_is_read_in_its_own_unit_or_refused() -> None:
    _, head = row_of(LATENCY, " #bytes")
    with pytest.raises(ParseError, match=r"perftest, line \d+: "):
        said(LATENCY, (head, head.replace("t_typical[usec]", "t_typical[nsec]")))


@pytest.mark.parametrize("size", [1025, 1014, 1021, 1029, 2024, 1524, 1924, 24, 104])
def test_a_changed_digit_of_a_size_of_netpipe_is_refused_with_its_line(size: int) -> None:
    number, line = row_of(NETPIPE, r" *\d+: +1024 bytes")
    changed = line.replace("1024 bytes", f"{size} bytes")
    with pytest.raises(ParseError, match=rf"NetPIPE, line {number}: .*\b{size} B"):
        said(NETPIPE, (line, changed))
    assert any(f"{size} B" in problem for problem in read(NETPIPE, line, changed))


def test_the_sizes_of_a_sweep_are_those_that_netpipe_visits() -> None:
    for name in (NETPIPE, "netpipe/npopenmpi"):
        sizes = [int(size) for size in re.findall(r"^ *\d+: +(\d+) bytes", text_of(name), re.MULTILINE)]
        assert list(_netpipe_sizes.sweep(1, sizes[-1], 3))[: len(sizes)] == sizes
        assert _netpipe_sizes.stranger(sizes) is None
    for first, last, sizes in (
        (64, 1024, [64, 96, 128, 192, 256, 384, 512, 768, 1024]),
        (7, 49, [7, 10, 13, 19, 25, 37, 49]),
    ):
        assert list(_netpipe_sizes.sweep(first, last, 0)) == sizes
        assert _netpipe_sizes.stranger(sizes) is None


def test_a_sweep_of_an_unknown_kind_is_let_through() -> None:
    assert _netpipe_sizes.stranger([10, 20, 30, 40, 50, 60, 70]) is None
    assert _netpipe_sizes.stranger([1, 2, 5]) is None


@pytest.mark.parametrize(
    ("name", "old", "new", "reason"),
    [
        ("sockperf/throughput", "in 2.003 sec", "in 0.000 sec", "777021 messages in 0.000 s are not 387845 a second"),
        ("sockperf/ping_pong", "RunTime=1.548 sec", "RunTime=0.000 sec", "its messages were sent in 0.0 s"),
        ("sockperf/ping_pong", "RunTime=2.000 sec", "RunTime=0.000 sec", "the whole run 0.000 s"),
    ],
)
def test_no_time_at_all_is_refused(name: str, old: str, new: str, reason: str) -> None:
    with pytest.raises(ParseError, match=rf"sockperf, line \d+: .*{re.escape(reason)}"):
        said(name, (old, new))
    assert any(reason in problem for problem in read(name, old, new))


@pytest.mark.parametrize("word", ["inf", "-inf", "nan", "-nan", "1e999"])
@pytest.mark.parametrize(("column", "place"), [("t[usec]", 2), ("Mbytes/sec", 3)])
def test_what_is_no_number_in_imb_is_refused_with_its_column_and_line(column: str, place: int, word: str) -> None:
    number, line = row_of("imb/ping_pong", r" +4 +30 ")
    words = line.split()
    words[place] = word
    changed = "".join(f"{one:>13}" for one in words)
    reason = f"{column} should be a number of at least 0 and is {word!r}"
    with pytest.raises(ParseError, match=rf"IMB-MPI1, line {number}: {re.escape(reason)}"):
        said("imb/ping_pong", (line, changed))
    assert read("imb/ping_pong", line, changed) == [reason]
