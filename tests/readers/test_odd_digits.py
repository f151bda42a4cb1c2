"""Digits of other scripts, which no program prints: they are no numbers, and no row of them is lost without a word."""

from __future__ import annotations

from pathlib import Path

import pytest
from campaigns.fuzz.disturbed import texts_of

from fabriscope.readers.base import Problem
from fabriscope.registry import discover

READERS = discover("readers", "READER").plugins
FULL_WIDTH = str.maketrans("0123456789", "\uff10\uff11\uff12\uff13\uff14\uff15\uff16\uff17\uff18\uff19")
FABTESTS = """bytes   #sent   #ack     total       time     MB/sec    usec/xfer   Mxfers/sec
64      10      =10      1.2k        0.00s      1.77      36.25       0.03
256     10      =10      5k          0.00s      7.08      36.15       0.03
1k      10      =10      20k         0.00s     57.21      17.90       0.06
"""


def _odd(problems: tuple[Problem, ...]) -> list[tuple[int, str]]:
    return [(one.line, one.kind) for one in problems if "digits that are not ASCII's" in one.text]


@pytest.mark.parametrize("place", [1, 2, 3])
@pytest.mark.parametrize("rank", ["", "[1,0]<stdout>:", "0: "])
def test_a_row_of_fabtests_is_told(rank: str, place: int) -> None:
    lines = FABTESTS.splitlines()
    lines[place] = lines[place].translate(FULL_WIDTH)
    document = READERS["fabtests"].read("".join(f"{rank}{line}\n" for line in lines))
    assert _odd(document.problems) == [(place + 1, "cut")]
    assert len(document.rows()) == 2


def test_each_rank_tells_of_its_own() -> None:
    lines = FABTESTS.splitlines()
    two = [f"[1,{rank}]<stdout>:{line}" for line in lines for rank in (0, 1)]
    two[5] = f"[1,1]<stdout>:{lines[2].translate(FULL_WIDTH)}"
    document = READERS["fabtests"].read("\n".join(two) + "\n")
    assert _odd(document.problems) == [(6, "cut")]
    assert [len(table.rows) for table in document.tables] == [3, 2]


def test_before_any_table_they_are_no_rows() -> None:
    document = READERS["fabtests"].read("\u0665\u0666 \u0645\n" + FABTESTS)
    assert _odd(document.problems) == [(1, "noted")]
    assert len(document.rows()) == 3


@pytest.mark.parametrize("name", sorted(READERS))
def test_no_reader_takes_them_or_drops_them_without_a_word(name: str) -> None:
    reader = READERS[name]
    for file, text in texts_of(name, with_samples=False):
        whole = reader.read(text)
        rows = sorted({row.line - 1 for row in whole.rows() if row.line})
        lines = text.split("\n")
        for at in rows[:1] + rows[-1:] if not whole.problem("refused") else []:
            odd = lines[at].translate(FULL_WIDTH)
            for rank in ("", "[1,0]<stdout>:"):
                of_rank = "\n".join(f"{rank}{line}" for line in [*lines[:at], odd, *lines[at + 1 :]])
                document = reader.read(of_rank)
                is_refused = not reader.recognises(of_rank)
                assert odd == lines[at] or is_refused or _odd(document.problems), (file, at, rank)


@pytest.mark.parametrize("blank", ["\u00a0", "\u202f", "\u3000"])
def test_blanks_of_a_web_page_are_blanks(blank: str) -> None:
    text = (Path(__file__).parent / "data/iperf2/client.txt").read_text()
    assert READERS["iperf2"].read(text.replace("  ", f"{blank} ")) == READERS["iperf2"].read(text)
