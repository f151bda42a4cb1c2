"""Logs as large as are accepted: what is beyond is refused in a sentence, and work grows with the rows alone."""

from __future__ import annotations

import json
import re
import signal
import sys
import tracemalloc
from pathlib import Path
from types import FrameType
from typing import Any

import pytest
from campaigns.fuzz import __main__ as fuzzing
from campaigns.fuzz import large
from campaigns.fuzz.large_rows import ROWS
from campaigns.fuzz.large_texts import harmful, random_texts, well_formed
from campaigns.fuzz.targets import Target
from click.testing import CliRunner

from fabriscope.cli import fabriscope
from fabriscope.model.errors import FabriscopeError
from fabriscope.readers import _iperf, _json_text, _streams, log, work
from fabriscope.registry import discover
from fabriscope.running import importing

READERS = discover("readers", "READER")
OSU = "# OSU MPI Latency Test v5.8\n# Size          Latency (us)\n"


def text_of(name: str, rows: int) -> str:
    return well_formed(name, most_rows=rows).decode()


def calls_of(text: str) -> int:
    """Return how many calls of functions, ours and Python's, reading a log takes."""
    count = 0

    def counted(_frame: FrameType, event: str, _argument: Any) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    _streams.streams.cache_clear()
    sys.setprofile(counted)
    try:
        log.documents(text, READERS.plugins, "x")
    finally:
        sys.setprofile(None)
    return count


@pytest.mark.parametrize("name", sorted(ROWS))
def test_four_times_the_rows_are_four_times_the_work(name: str) -> None:
    log.documents(text_of(name, 50), READERS.plugins, "x")  # what is loaded and kept once
    few, many = calls_of(text_of(name, 200)), calls_of(text_of(name, 800))
    assert many < 4.5 * few


@pytest.mark.parametrize("name", sorted(ROWS))
def test_rows_take_little_memory(name: str) -> None:
    text = text_of(name, 500)
    _streams.streams.cache_clear()
    tracemalloc.start()
    try:
        kept = log.documents(text, READERS.plugins, "x")
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert kept
    assert peak < 6_000_000  # of 500 rows; 300,000 numbers are 80 times as much


@pytest.mark.parametrize("sign", ["\U0001f600", "\u2502", "\u00e9", "\ud83d"])
def test_signs_outside_of_ascii_hide_no_program(sign: str) -> None:
    text = f"{sign * 3000}\n{OSU}{sign}\n1   1.17\n2   1.18\n"
    assert READERS.plugins["osu"].recognises(text)
    assert [row.line for row in READERS.plugins["osu"].read(text).rows()] == [5, 6]


@pytest.mark.parametrize("digit", ["\u0663", "\uff11", "\U0001d7d8"])
def test_digits_of_other_scripts_are_none_however_many_signs_stand_beside_them(digit: str) -> None:
    (stream,) = _streams.streams(f"\u00e91{digit}2\u2502{digit}\n")
    assert stream.text == "\u00e91\ufffd2\u2502\ufffd\n"


def one_sentence(text: str | bytes, place: Path, *words: str) -> str:
    path = place / "large.log"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    done = CliRunner().invoke(fabriscope, ["read", str(path), *words])
    assert done.exit_code == 2
    (sentence,) = done.stderr.splitlines()
    return sentence.replace(str(path), "LOG")


def test_a_log_of_too_many_lines_is_refused_by_its_line_and_the_limit(tmp_path: Path) -> None:
    said = one_sentence(OSU + "x\n" * work.MOST_LINES, tmp_path)
    assert said.startswith(f"fabriscope: LOG, line {work.MOST_LINES + 1}: more than 120,000 lines")
    assert "cut out what is to be read" in said


def test_lines_end_in_many_ways() -> None:
    for text in ("a\nb\r\nc\x0bd\x85e\u2028f", "", "a", "a\n", "\r\r\n\n"):
        assert work.line_count(text) - len(text.splitlines()) in (0, 1)


def test_each_program_that_reads_a_log_counts_its_lines() -> None:
    half = OSU + "x\n" * (work.MOST_LINES * 2 // 3)
    assert not any(one.problem("refused") for one in log.documents(half, READERS.plugins, "x"))
    both = log.documents("#bytes #repetitions t[usec]\n" + half, READERS.plugins, "x")
    (refused,) = [one.problem("refused") for one in both if one.problem("refused")]
    assert refused is not None
    assert "more than 120,000 lines" in refused.text


def test_an_hour_of_iperf_in_tenths_of_a_second_is_read() -> None:
    whole = f"[  3]  0.0-3600.0 sec  {240e6 / 8 * 3600 / 2**20:.0f} MBytes  240 Mbits/sec\n"
    (document,) = log.documents(text_of("iperf2", 36_000) + whole, READERS.plugins, "x")
    assert document.problem("refused") is None
    assert len(document.rows("intervals")) == 36_000


def test_no_more_intervals_are_looked_into_than_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[int] = []
    moved = _iperf.moved

    def noted(hit: re.Match[str], line: int) -> _iperf.Moved:
        seen.append(line)
        return moved(hit, line)

    monkeypatch.setattr(_iperf, "moved", noted)
    (document,) = log.documents(text_of("iperf2", 100_000), READERS.plugins, "x")
    problem = document.problem("refused")
    assert problem is not None
    assert "more than 40,000 rows" in problem.text
    assert problem.line == seen[-1] + 1
    assert len(seen) == 40_000


@pytest.mark.parametrize(
    ("name", "rows", "says"),
    [
        ("osu", 40_001, "more than 40,000 rows"),
        ("perftest-latency", 20_600, "more than 185,000 numbers in tables"),
        ("osu-tests", 4_001, "more than 4,000 tables"),
        ("ycsb-percentiles", 110_000, "different columns"),
    ],
)
def test_tables_have_limits(name: str, rows: int, says: str) -> None:
    text = text_of(name, rows)
    if name == "ycsb-percentiles":
        lines = "".join(f"[R], {n / 1e4:.4f}PercentileLatency(us), 5\n" for n in range(500))
        text = (
            "[OVERALL], RunTime(ms), 1.0\n[OVERALL], Throughput(ops/sec), 1.0\n[R], Operations, 1\n"
            f"[R], AverageLatency(us), 5\n[R], MinLatency(us), 5\n[R], MaxLatency(us), 5\n{lines}"
        )
    (document,) = log.documents(text, READERS.plugins, "x")
    problem = document.problem("refused")
    assert problem is not None
    assert says in problem.text
    assert problem.line > 0


def test_complaints_and_settings_have_limits() -> None:
    for text, says in (
        (OSU + "1 1.00\n" + "CANCELLED AT 12:00\n" * 3_000, "places in which something is wrong"),
        ("HPLinpack 2.3  --  x\n" + "".join(f"N : {n}\nPMAP : {n}\n" for n in range(21_000)), "settings"),
    ):
        (document,) = log.documents(text, READERS.plugins, "x")
        problem = document.problem("refused")
        assert problem is not None
        assert says in problem.text


@pytest.mark.parametrize("inside", ["[]", "{}", '{"a":1}', "1.5"])
def test_a_report_of_too_many_parts_is_refused_unread(inside: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_json_text, "decode_json", lambda *_words, **_named: pytest.fail("it was read"))
    count = _json_text.MOST_COMMAS if inside == "1.5" else _json_text.MOST_PARTS
    text = f'{{"sum_received":1,"x":[{",".join([inside] * (count + 2))}]}}\n'
    (problem,) = READERS.get("iperf3").read(text).problems
    assert (problem.kind, problem.line) == ("refused", 1)
    assert f"more than {count:,}" in problem.text


def test_ranks_share_lines_up_to_a_limit() -> None:
    ranks = "".join(f"[rank {rank}] x\n" for rank in range(64))
    assert len(_streams.streams(ranks + "shared\n")) == 64
    assert len(_streams.streams(ranks + "shared\n" * 20_000)) == 1
    second = _streams.streams(ranks + "shared\n" + "[rank 1] y\n")[1]
    assert (second.text, list(second.numbers)) == ("x\nshared\ny\n", [2, 65, 66])


def test_a_problem_of_one_rank_stands_in_its_line_of_the_file() -> None:
    rows = "".join(f"[rank {rank}] {line}\n" for line in (*OSU.splitlines(), "1 1.00", "1 2.00") for rank in (0, 1))
    (document,) = log.documents(rows, READERS.plugins, "x")
    assert [(one.line, one.text) for one in document.problems] == [
        (7, "osu_latency of 1 B stands twice, in line 5 too"), (8, "osu_latency of 1 B stands twice, in line 6 too"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    "text",
    [
        " " * (1 << 20),
        "\n" * (1 << 20),
        "HPCG-Benchmark\n" + ("a: " + " " * 900 + "b\n") * 1000,
        "HPLinpack 2.3\n" + ("PMAP : x" + " " * 900 + "y,\n") * 1000,
        "tcp_lat:\n" + (" latency = 1 n" + " " * 900 + "s\n") * 1000,
        '{"sum_received":1,' + ",".join(f'"a{n}":1' for n in range(100_000)) + ',"a1":2}\n',
    ],
    ids=["blanks", "line ends", "hpcg", "hpl", "qperf", "keys"],
)
def test_what_nearly_matches_is_passed_by_in_one_go(text: str) -> None:
    # each took minutes, or would have with 16 MiB, as a pattern tried every way to divide it
    def check(data: bytes) -> bool:
        return bool(log.documents(data.decode(), READERS.plugins, "x"))

    signal.signal(signal.SIGVTALRM, lambda *_: (_ for _ in ()).throw(fuzzing.TooLong()))
    problem, _ = fuzzing.attempt(Target("all", list, check), text.encode())
    assert problem == ""


@pytest.mark.parametrize(
    "name", ["JSON of small objects", "one sign outside of ASCII", "64 ranks and long lines of none"]
)
def test_harm_stays_below_the_limit_of_memory(name: str, tmp_path: Path) -> None:
    how = large.ended(["read", *_written(harmful()[name](), tmp_path)], tmp_path)
    assert how.status == 2
    assert 0 < how.mib < large.LIMIT_MIB


def _written(text: bytes, place: Path) -> list[str]:
    (place / "large.log").write_bytes(text)
    return [str(place / "large.log")]


def test_an_import_takes_so_many_numbers_of_a_log(tmp_path: Path) -> None:
    path = tmp_path / "large.log"
    path.write_text(text_of("osu", importing.MOST_NUMBERS + 1))
    done = CliRunner().invoke(fabriscope, ["import", str(path), "-o", str(tmp_path / "run")])
    assert isinstance(done.exception, FabriscopeError)
    assert str(done.exception) == f"no log could be read: {path}: it has 2,501 numbers, and 2,500 is the most of a log"


def test_made_up_large_texts_are_answered_in_sentences(tmp_path: Path) -> None:
    for name, text in random_texts(6, seed=20261126):
        path = tmp_path / "large.log"
        path.write_bytes(text[: 1 << 18])
        done = CliRunner().invoke(fabriscope, ["read", "--json", str(path)])
        assert done.exit_code in (0, 2, 10), name
        assert json.loads(done.stdout).keys() == {"documents", "errors"}
