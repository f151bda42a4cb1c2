"""`fabriscope read`: tables, JSON and CSV, exit codes, and text that means harm."""

from __future__ import annotations

import csv
import io
import json
import re
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from fabriscope.cli.read import COMMAND
from fabriscope.readers.base import LONGEST_LINE
from fabriscope.registry import discover

DATA = Path(__file__).parent / "data"
TEXTS = Path(__file__).parents[1] / "adapters" / "data"
GOOD = {
    "dfsio": DATA / "dfsio/two.txt",
    "fabtests": DATA / "fabtests/benchmark.txt",
    "gpcnet": DATA / "gpcnet/load.txt",
    "hpcc": DATA / "hpcc/run.txt",
    "hpcg": DATA / "hpcg/reference.txt",
    "hpl": DATA / "hpl/several.txt",
    "imb": TEXTS / "imb/windows.txt",
    "iperf2": DATA / "iperf2/client.txt",
    "iperf3": TEXTS / "iperf3/tcp.txt",
    "linktest": DATA / "linktest/result.txt",
    "nccl": DATA / "nccl/all_reduce.txt",
    "netperf": DATA / "netperf/stream.txt",
    "netpipe": TEXTS / "netpipe/nptcp.txt",
    "npb": DATA / "npb/cg.txt",
    "osu": DATA / "osu/latency_and_bw.txt",
    "perftest": TEXTS / "perftest/write_bw.txt",
    "qperf": TEXTS / "qperf/latency_and_bandwidth.txt",
    "rping": DATA / "rping/one.txt",
    "sockperf": TEXTS / "sockperf/ping_pong.txt",
    "ucx_perftest": DATA / "ucx_perftest/stages.txt",
    "ycsb": DATA / "ycsb/mix.txt",
}


def read(*words: object, stdin: bytes | None = None) -> Result:
    return CliRunner().invoke(COMMAND, [str(word) for word in words], input=stdin)


def refusal(*words: object) -> str:
    """Return the one sentence that a log is answered by."""
    done = read(*words)
    assert done.exit_code == 2, done.output
    (sentence,) = done.stderr.splitlines()
    return sentence


def test_every_reader_has_a_log_here() -> None:
    assert set(discover("readers", "READER").plugins) == set(GOOD)


@pytest.mark.parametrize("program", GOOD)
def test_a_log_is_known_and_read(program: str) -> None:
    done = read(GOOD[program])
    assert done.exit_code == 0, done.stderr
    assert done.stdout.startswith(f"{GOOD[program]}: {program}")
    assert not re.search("line (?!.*is none of them)", done.stdout)
    said = json.loads(read(GOOD[program], "--json").stdout)
    (document,) = said["documents"]
    assert document["program"] == program
    for table in document["tables"]:
        assert all(column["definition"] for column in table["columns"])
        with_values = {name for row in table["rows"] for name in row["values"]}
        assert all(column["definition"] in done.stdout for column in table["columns"] if column["name"] in with_values)


def test_numbers_are_shown_in_one_unit() -> None:
    lines = [line.split() for line in read(GOOD["netpipe"]).stdout.splitlines()]
    assert ["size", "round", "trips", "bandwidth", "latency"] in lines
    assert ["B", "MB/s", "µs"] in lines
    assert ["1", "21503", "0.1876173", "5.33"] in lines
    gigabits = read(TEXTS / "perftest/mlx5_gigabits.txt")
    assert "59.98894" in gigabits.stdout


def test_json_and_csv_say_the_digits_that_were_printed() -> None:
    document = json.loads(read(DATA / "hpl/decimal_commas.txt", "--json").stdout)["documents"][0]
    (row,) = document["tables"][0]["rows"]
    assert row["values"]["rate_flop_per_s"] == 16_176_000_000
    (line,) = csv.DictReader(io.StringIO(read(DATA / "hpl/decimal_commas.txt", "--csv").stdout))
    assert line["rate_flop_per_s"] == "16176000000.0"
    assert (line["program"], line["version"], line["check"]) == ("hpl", "2.3", "PASSED")


def test_a_table_of_several_logs_has_the_columns_of_all() -> None:
    done = read(GOOD["hpl"], GOOD["imb"], "--csv")
    rows = list(csv.DictReader(io.StringIO(done.stdout)))
    assert {row["program"] for row in rows} == {"hpl", "imb"}
    assert all((row["matrix_order"] == "") == (row["program"] == "imb") for row in rows)
    assert done.exit_code == 0


def test_a_log_from_standard_input() -> None:
    done = read("-", stdin=GOOD["hpl"].read_bytes())
    assert done.stdout.startswith("standard input: hpl 2.3")
    assert done.exit_code == 0


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16"])
def test_a_log_that_windows_wrote(tmp_path: Path, encoding: str) -> None:
    path = tmp_path / "log.txt"
    path.write_bytes(GOOD["hpl"].read_text().replace("\n", "\r\n").encode(encoding))
    assert "WR11C2R4  4000" in read(path).stdout


def test_an_unknown_program_is_answered_by_the_known_ones(tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_text("3 GB/s, and a pony\n")
    sentence = refusal(path)
    assert sentence.startswith(f"fabriscope: {path}: no known program wrote this -- known: dfsio (")
    assert all(f"{name} (" in sentence for name in GOOD)
    assert json.loads(read(path, "--json").stdout)["errors"] == [
        {"file": str(path), "text": "no known program wrote this"}
    ]
    path.write_text("")
    assert refusal(path).endswith(": it is empty")


def test_each_program_of_a_log_says_its_own(tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_text(GOOD["hpl"].read_text() + GOOD["imb"].read_text())
    documents = json.loads(read(path, "--json").stdout)["documents"]
    assert [(one["file"], one["program"]) for one in documents] == [(str(path), "hpl"), (str(path), "imb")]
    assert read(path, "--program", "hpl").stdout.count("WR11C2R4") == 2


def test_a_log_that_cannot_be_read_stops_no_other(tmp_path: Path) -> None:
    (tmp_path / "log").write_text("nothing\n")
    done = read(tmp_path / "log", GOOD["hpl"])
    assert done.exit_code == 2
    assert "WR11C2R4" in done.stdout
    (tmp_path / "gone").symlink_to(tmp_path / "nowhere")
    done = read(tmp_path / "gone", GOOD["hpl"])
    assert "gone: it cannot be read: No such file or directory" in done.stderr
    assert "WR11C2R4" in done.stdout


def test_the_program_may_be_named_but_must_be_known() -> None:
    done = read(GOOD["hpl"], "--program", "linpack")
    assert done.exit_code == 2
    assert "there is no reader 'linpack' -- known: dfsio, fabtests" in done.stderr
    assert "no result of rping stands in this" in refusal(GOOD["hpl"], "--program", "rping")


@pytest.mark.parametrize(
    ("path", "code", "says"),
    [
        (DATA / "hpl/failed.txt", 10, "line 53: the residual check of N = 6000 failed"),
        (DATA / "hpl/truncated.txt", 2, "the log ends before the tests do"),
        (
            DATA / "hpl/too_few_processes.txt",
            2,
            "line 2: HPL says: '>>> Need at least 4 processes for these tests <<<'",
        ),
        (DATA / "hpl/garbled.txt", 2, "line 47: Gflops should be a number of at least 0 and is '1.6l76e+01'"),
        (DATA / "hpl/another_unit.txt", 2, "line 47: WR11C2R4 of N = 6000 in 8.91 s is not 16176.0 Gflop/s"),
        (TEXTS / "imb/time_out.txt", 2, "line 42: a row of PingPong is not whole: '64 time-out."),
        (TEXTS / "iperf3/refused.txt", 10, "iperf3 says: unable to connect to server: Connection refused"),
        (TEXTS / "sockperf/dropped.txt", 10, "3 messages were lost and 0 repeated"),
    ],
)
def test_what_is_wrong_is_said_with_its_line(path: Path, code: int, says: str) -> None:
    done = read(path)
    assert done.exit_code == code
    assert says in done.stdout


OPTIONS = [(), ("--json",), ("--csv",)]
HOSTILE = {
    "title": "\x1b]0;owned\x07\x1b[2J",
    "direction": "\u202eabc",
    "markup": "[bold red]x[/]",
    "formula": "=cmd|' /C calc'!A0",
    "long": "x" * (LONGEST_LINE * 50),
    "nul": "\0" * 50,
    "newlines": "a\u2028b\x85c\x0bd",
}


@pytest.mark.parametrize("program", GOOD)
@pytest.mark.parametrize("harm", HOSTILE)
@pytest.mark.parametrize("option", OPTIONS)
def test_text_that_means_harm_reaches_no_terminal(
    tmp_path: Path, program: str, harm: str, option: tuple[str, ...]
) -> None:
    path = tmp_path / "log"
    text = GOOD[program].read_text()
    words = re.findall(r"[^\s,:;=]+", text)
    places = list(dict.fromkeys(words[:: max(1, len(words) // 6)]))
    for word in places[OPTIONS.index(option) :: len(OPTIONS)]:  # read alike, whatever is shown
        path.write_text(text.replace(word, word + HOSTILE[harm], 1), errors="replace")
        done = read(path, *option)
        assert done.exit_code in (0, 2, 10), done.output
        assert not isinstance(done.exception, Exception) or isinstance(done.exception, SystemExit)
        for character in done.output:
            assert character.isprintable() or character in "\n "
        if option == ("--json",):
            json.loads(done.stdout)


def test_a_log_of_a_strange_name(tmp_path: Path) -> None:
    path = tmp_path / "a\x1b[31m\u202eb"
    path.write_text("x\n")
    for option in ([], ["--json"], ["--csv"]):
        assert "\x1b" not in read(path, *option).output
    path.write_bytes(GOOD["hpl"].read_bytes())
    for option in ([], ["--json"], ["--csv"]):
        assert "\x1b" not in read(path, *option).output


def test_a_log_that_is_too_long_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fabriscope.readers.log.MOST_BYTES", 1 << 20)
    path = tmp_path / "log"
    path.write_bytes(GOOD["hpl"].read_bytes() + b"\n" * (1 << 20))
    assert "it is longer than 1 MiB" in refusal(path)


def test_what_is_no_number_is_none(tmp_path: Path) -> None:
    path = TEXTS / "perftest/no_clock_lat.txt"
    (row,) = json.loads(read(path, "--json").stdout)["documents"][0]["tables"][0]["rows"]
    assert row["values"]["latency_ns"] is None
    assert row["values"]["message_size_bytes"] == 8
    assert next(csv.DictReader(io.StringIO(read(path, "--csv").stdout)))["latency_ns"] == ""
    assert read(GOOD["hpl"], "--json", "--csv").exit_code == 2
    (tmp_path / "folder").mkdir()
    assert read(tmp_path / "folder").exit_code == 2


PLUGIN = '''
"""A reader of a program that only this site has."""
import re

from fabriscope.readers.base import Column, Reader, printed_row

COLUMNS = (
    Column("size", "message_size_bytes", "size", "bytes", "of a message", kind="whole"),
    Column("us", "latency_ns", "latency", "ns", "half of a round trip", 1e3),
)


def fill(draft):
    draft.table("site", COLUMNS)
    for line in draft.lines():
        if line[:1].isdigit():
            draft.row(printed_row(COLUMNS, line.split()))


READER = Reader("site_bench", "the site's own", re.compile("^site_bench 1", re.MULTILINE), fill)
'''


def test_a_reader_from_a_folder_of_plug_ins(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "readers").mkdir()
    (tmp_path / "readers" / "site_bench.py").write_text(PLUGIN)
    (tmp_path / "log").write_text("site_bench 1\n64 2.5\n")
    assert "site_bench" not in read(tmp_path / "log").stdout
    monkeypatch.setenv("FABRISCOPE_PLUGINS", str(tmp_path))
    done = read(tmp_path / "log", "--csv")
    assert done.exit_code == 0, done.stderr
    assert done.stdout.splitlines() == [
        "file,program,version,table,line,message_size_bytes,latency_ns",
        f"{tmp_path / 'log'},site_bench,,site,2,64,2500.0",
    ]


@pytest.mark.parametrize("open_one", ["", "readers", "readers/site_bench.py"])
def test_plug_ins_that_others_could_have_written_are_not_executed(
    open_one: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "readers").mkdir()
    plugin = tmp_path / "readers" / "site_bench.py"
    plugin.write_text(f"open({str(tmp_path / 'mark')!r}, 'w')\n{PLUGIN}")
    (tmp_path / "log").write_text("site_bench 1\n64 2.5\n")
    (tmp_path / open_one).chmod(0o777)
    monkeypatch.setenv("FABRISCOPE_PLUGINS", str(tmp_path))
    said = str(read(tmp_path / "log").exception)
    assert said.startswith(f"the plug-ins that FABRISCOPE_PLUGINS names are not executed: {tmp_path / open_one} can be")
    assert said.endswith(" -- mend that, or name a folder that only you can write")
    assert not (tmp_path / "mark").exists()


def test_a_reader_from_an_entry_point(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "their_reader.py").write_text(PLUGIN)
    info = tmp_path / "theirs-1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: theirs\nVersion: 1\n")
    (info / "entry_points.txt").write_text("[fabriscope.readers]\nsite_bench = their_reader:READER\n")
    (tmp_path / "log").write_text("site_bench 1\n64 2.5\n8x 1\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    done = read(tmp_path / "log")
    assert done.exit_code == 2
    assert "64" in done.stdout
    assert "line 3: size should be a whole number of 0 to 9223372036854775807 and is '8x'" in done.stdout
