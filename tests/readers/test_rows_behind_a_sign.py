"""A row with a sign or an unknown prefix before it is told, even where the program's own notes begin like that."""

from __future__ import annotations

import pytest

from fabriscope.readers import imb, osu
from fabriscope.readers.base import Document

SIZES = (0, 1, 2, 4, 8, 16)
OSU = "# OSU MPI Latency Test v7.4\n# Size       Avg Latency(us)\n"
IMB = """#    Intel(R) MPI Benchmarks 2021.11, MPI-1 part
# Minimum message length in bytes:   0
# Maximum message length in bytes:   16
# Benchmarking Alltoall
# #processes = 4
       #bytes #repetitions  t_min[usec]  t_max[usec]  t_avg[usec]
"""
END = "# All processes entering MPI_Finalize\n"
MARKS = ("#", "# ", "[app-7] ", "#12 0.500 ", "= ", "> ")


def rows(program: str) -> list[str]:
    if program == "osu":
        return [f"{size:<10}{1.25 + size / 8:17.2f}" for size in SIZES[1:]]
    return [f"{size:13}          100         0.46         7.28         5.54" for size in SIZES]


def read(program: str, lines: list[str]) -> Document:
    text = "".join(f"{line}\n" for line in lines)
    return osu.READER.read(OSU + text) if program == "osu" else imb.READER.read(IMB + text + END)


@pytest.mark.parametrize("program", ["osu", "imb"])
def test_whole_tables_have_no_problem(program: str) -> None:
    assert not read(program, rows(program)).problems


@pytest.mark.parametrize("mark", MARKS)
@pytest.mark.parametrize("places", [(0,), (2,), (-1,), (0, 1), (-2, -1)])
@pytest.mark.parametrize("program", ["osu", "imb"])
def test_a_row_behind_a_sign_is_told(program: str, places: tuple[int, ...], mark: str) -> None:
    lines = rows(program)
    for place in places:
        lines[place] = mark + lines[place]
    document = read(program, lines)
    assert "cut" in {problem.kind for problem in document.problems}


def test_a_lost_first_row_of_imb_is_told() -> None:
    (problem,) = read("imb", rows("imb")[1:]).problems
    assert (problem.kind, problem.text) == ("cut", "Alltoall begins at 1 B, and the shortest message has 0 B")


@pytest.mark.parametrize("note", ["# 8 pairs were idle", "# switch 12 is at 40.5 C", "[rank 3] 0.1 of 5.00 done"])
def test_a_note_with_numbers_is_no_row(note: str) -> None:
    for program in ("osu", "imb"):
        lines = rows(program)
        lines.insert(2, note)
        assert "is not whole" not in " ".join(one.text for one in read(program, lines).problems if note[0] == "#")
