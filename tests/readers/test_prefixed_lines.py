"""Lines as launchers, loggers, terminals and editors leave them: the same numbers, or a word that they are not read."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.readers.test_golden import DATA, INSTRUMENTS, read

from fabriscope.readers._streams import streams
from fabriscope.readers.base import Document

BANDWIDTH = "# OSU MPI Bandwidth Test v5.9\n# Size      Bandwidth (MB/s)\n" + "".join(
    f"{1 << power:<10}{(1 << power) * 0.731:>20.2f}\n" for power in range(12)
)
STAMPS = [
    "Nov 26 17:30:02 ",
    "Nov  6 17:30:02.123456 ",
    "Thu Nov 26 17:30:02 2026 ",
    "Nov 26 17:30:02 node1 bench[4242]: ",
    "2026-11-26T17:30:02+00:00 ",
    "2026-11-26T17:30:02.123456789+00:00 stdout F ",
    "17:30:02 ",
    "[17:30:02] ",
    "00:00:02.125 ",
    "1764178202.123456 ",
    "26.11.2026 17:30:02 ",
    "11/26/2026 05:30:02 PM ",
]
HOSTS = ["node1: ", "n017: ", "INFO-x: ", "osu.example.org: ", "mpi-1  | ", "localhost: "]


def values(document: Document) -> list[str]:
    """Return the numbers of all rows, as words: NaN is not like itself."""
    return [repr(dict(row.values)) for row in document.rows()]


def before_each(prefix: str, text: str) -> str:
    return "".join(f"{prefix}{line}\n" for line in text.splitlines())


@pytest.mark.parametrize("prefix", [*STAMPS, *HOSTS, "17:30:02 0: ", "[1,0]<stdout>:Nov 26 17:30:02 "])
def test_what_stands_before_each_line_is_passed_by(prefix: str) -> None:
    document = read("osu", before_each(prefix, BANDWIDTH))
    assert not document.problems
    assert values(document) == values(read("osu", BANDWIDTH))


@pytest.mark.parametrize("form", ["{}: ", "{}  | "])
def test_hosts_are_told_apart(form: str) -> None:
    other = BANDWIDTH.replace(".73", ".79")
    pairs = zip(before_each(form.format("node1"), BANDWIDTH).splitlines(), other.splitlines(), strict=True)
    mixed = "".join(f"{one}\n{form.format('node2')}{two}\n" for one, two in pairs)
    document = read("osu", mixed)
    assert not document.problems
    assert [[one.value for one in table.parameters if one.name == "printed_by"] for table in document.tables] == [
        ["node1"],
        ["node2"],
    ]
    assert values(document) == values(read("osu", BANDWIDTH)) + values(read("osu", other))
    assert document.rows()[0].line == 5


@pytest.mark.parametrize("program", ["linktest", "sockperf", "qperf", "rping", "dfsio", "ycsb", "perftest"])
def test_a_word_and_a_colon_of_the_program_are_no_host(program: str) -> None:
    texts = [one for folder in (DATA, INSTRUMENTS) for one in sorted((folder / program).glob("*.txt"))]
    assert texts
    for text in texts:
        assert {part.rank for part in streams(text.read_text())} <= {"", "0", "1"}, text


def test_a_size_behind_a_time_is_no_year() -> None:
    text = BANDWIDTH.replace("2048 ", "2024 ")
    document = read("osu", before_each("Thu Nov 26 17:30:02 2026 ", text))
    assert values(document) == values(read("osu", text))


def test_a_line_that_a_terminal_wrote_over_itself_stands_once() -> None:
    text = (INSTRUMENTS / "perftest" / "send_lat.txt").read_text()
    again = "".join(f"{line}\r{line}\n" for line in text.splitlines())
    assert values(read("perftest", again)) == values(read("perftest", text))
    assert not read("perftest", again).problems


def test_a_bar_of_progress_before_a_line_takes_no_row() -> None:
    with_bar = "".join(f"\rprogress {place}%\r{line}\n" for place, line in enumerate(BANDWIDTH.splitlines()))
    assert values(read("osu", with_bar)) == values(read("osu", BANDWIDTH))


def test_files_with_a_mark_of_their_own_that_were_joined_are_read() -> None:
    joined = f"\ufeff{BANDWIDTH}\ufeff{BANDWIDTH.replace('.73', '.79')}"
    assert len(read("osu", joined).rows()) == 2 * len(read("osu", BANDWIDTH).rows())


@pytest.mark.parametrize("indent", ["    ", "\t", "\u00a0"])
@pytest.mark.parametrize(("program", "path"), [("hpl", DATA / "hpl"), ("imb", INSTRUMENTS / "imb")])
def test_an_indented_log_is_read_as_it_is_without(indent: str, program: str, path: Path) -> None:
    texts = sorted(path.glob("*.txt"))
    assert texts
    for one in texts:
        text = one.read_text()
        assert values(read(program, before_each(indent, text))) == values(read(program, text)), one


def test_what_gnu_time_says_behind_a_table_is_no_row() -> None:
    document = read("osu", BANDWIDTH + "1.23user 0.45system 0:12.34elapsed 13%CPU\n0inputs+0outputs (0major+12minor)\n")
    assert not document.problems


def test_blanks_before_what_nearly_matches_take_no_time() -> None:
    # a thousand such lines took seconds
    blanks = (" " * 900 + "b\n") * 300
    for program, head in (("hpcg", "HPCG-Benchmark\n"), ("ucx_perftest", "| # iterations | typical |\n")):
        assert not read(program, head + blanks).rows()


SERVER = """Client connecting to node2, UDP port 5001
[  3] local 10.0.0.1 port 40000 connected with 10.0.0.2 port 5001
[ ID] Interval       Transfer     Bandwidth
[  3]  0.0-10.0 sec  1.25 MBytes  1.05 Mbits/sec
[  3] Sent 893 datagrams
[  3] Server Report:
[  3]  0.0-10.3 sec  1.25 MBytes  1.02 Mbits/sec   0.010 ms    0/  893 (0%)
"""


def test_a_report_of_iperf2s_server_without_its_title_is_told() -> None:
    whole = read("iperf2", SERVER)
    assert not whole.problems
    broken = read("iperf2", SERVER.replace("[  3] Server Report:\n", ""))
    assert [one.text for one in broken.problems] == ["stream 3 has a row of the server's under no 'Server Report:'"]
    assert values(broken) == values(whole)


def test_a_head_of_perftest_into_which_a_row_ran_is_told() -> None:
    text = (INSTRUMENTS / "perftest" / "send_lat.txt").read_text()
    lines = text.splitlines()
    head = next(place for place, line in enumerate(lines) if "#bytes" in line)
    joined = "\n".join([*lines[:head], lines[head] + lines[head + 1], *lines[head + 2 :]]) + "\n"
    assert "behind a head stands what is none" in read("perftest", joined).problems[0].text


def test_a_second_run_of_perftest_without_its_title_is_told() -> None:
    text = (INSTRUMENTS / "perftest" / "send_lat.txt").read_text()
    without = "".join(line for line in text.splitlines(keepends=True) if " Latency Test" not in line)
    for broken in (without, text + without):
        document = read("perftest", broken)
        assert "a table stands under no title" in document.problems[0].text
        assert document.tables[-1].name == "results"


def test_places_of_nccl_that_were_swapped_are_refused() -> None:
    text = next(one for one in sorted((DATA / "nccl").glob("*.txt")) if "out-of-place" in one.read_text()).read_text()
    swapped = text.replace("out-of-place", "x").replace("in-place", "out-of-place").replace("x ", "in-place ", 1)
    document = read("nccl", swapped)
    assert document.problem("refused")
    assert not document.rows()


def test_columns_of_hpl_in_another_order_are_refused() -> None:
    text = (DATA / "hpl" / "several.txt").read_text()
    assert read("hpl", text.replace("P     Q  ", "Q     P  ")).problem("refused")
