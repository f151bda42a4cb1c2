"""Logs of the OSU micro-benchmarks as they are found: what a plain look at their tables says, and nothing else."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from campaigns.fuzz.targets import SAMPLES

from fabriscope.readers.osu import READER

DATA = Path(__file__).parent / "data" / "osu"
LOGS = [*sorted((SAMPLES / "logs" / "osu").glob("*")), *sorted((SAMPLES / "omb74").glob("*"))]
_ROW = re.compile(r"[ \t]*(\d+)((?:[ \t]+\d+\.\d\d)+)(?:[ \t]+\d+)?[ \t]*\r?")


def text_of(name: str) -> str:
    return (DATA / f"{name}.txt").read_text()


@pytest.mark.skipif(not LOGS, reason="the logs of others are not at hand")
def test_every_row_of_the_logs_of_others_is_read_as_it_stands() -> None:
    count = 0
    for path in LOGS:
        text = path.read_text(encoding="utf-8-sig")
        rows = {row.line: row for row in READER.read(text).rows() if "message_size_bytes" in row.values}
        printed = {line: hit for line, raw in enumerate(text.splitlines(), 1) if (hit := _ROW.fullmatch(raw))}
        assert set(printed) == set(rows), path.name
        for line, hit in printed.items():
            size, values = hit[1], hit[2].split()
            seen = [value for value in rows[line].values.values() if isinstance(value, int | float)]
            assert seen[0] == int(size)
            for word, value in zip(values, seen[1:], strict=False):
                assert any(value == pytest.approx(float(word) * factor, rel=1e-12) for factor in (1, 1e3, 1e6)), (
                    f"{path.name}, line {line}"
                )
            count += 1
    assert count > 1800


def test_a_last_line_that_has_all_its_decimals_counts() -> None:
    text = text_of("congestion").rstrip()
    assert len(READER.read(text).rows()) == 2
    assert READER.read(text).problems == ()
    cut = READER.read(text[:-1])
    assert len(cut.rows()) == 1
    assert cut.problem("cut") is not None


def test_the_command_line_tells_congestion_from_bandwidth() -> None:
    text = text_of("congestion")
    assert [table.name for table in READER.read(text).tables] == ["osu_bw_fan_in"]
    assert [table.name for table in READER.read(text.split("\n", 1)[1]).tables] == ["osu_bw"]


def test_a_table_that_ends_before_its_neighbour_is_reported() -> None:
    whole = text_of("latency_and_bw")
    short = "\n".join(whole.splitlines()[1:7]).replace("[node1:01234] a warning in between\n", "")
    document = READER.read(f"{whole}{short}\n")
    problem = document.problem("cut")
    assert problem is not None
    assert "osu_latency ends at 2 B, and in the table of line 3 at 4 B" in problem.text


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("4                       2.30", "4                       230", "other decimals"),
        ("4                       2.30", "4", "a row of osu_latency is not whole"),
        ("4                       2.30", "1                       2.30", "stands after 2 B"),
        ("# Size          Latency (us)", "# Size          Latency (us)      Extra", "a column that is not known"),
        ("# Size          Latency (us)\n", "", "numbers before any heading"),
    ],
)
def test_what_contradicts_itself_is_named_by_its_line(old: str, new: str, says: str) -> None:
    text = text_of("latency_and_bw")
    assert old in text
    problems = READER.read(text.replace(old, new, 1)).problems
    assert any(says in problem.text and problem.line for problem in problems), problems
