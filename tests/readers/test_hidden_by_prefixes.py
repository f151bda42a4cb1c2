"""What a program printed and a prefix, or a string of JSON, hides from its reader is told, whoever the program is."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.readers.test_golden import DATA, INSTRUMENTS

from fabriscope.model.errors import ParseError
from fabriscope.readers import log
from fabriscope.registry import discover

READERS = discover("readers", "READER").plugins
PREFIXES = ("[app-7] ", "0: ", "web-1 ", "I0101 12:00:00.123 77 x.cc:12] ", "node1 app[33]: ")
CHOICES: dict[str, Callable[[int, int], bool]] = {
    "half": lambda place, _: place % 2 == 1,
    "the end": lambda place, count: place >= count // 2,
}
TEXTS = [
    ("ycsb", DATA / "ycsb" / "histogram.txt"),
    ("hpcc", DATA / "hpcc" / "run.txt"),
    ("gpcnet", DATA / "gpcnet" / "load.txt"),
    ("gpcnet", DATA / "gpcnet" / "network_test.txt"),
    ("linktest", DATA / "linktest" / "result.txt"),
    ("qperf", INSTRUMENTS / "qperf" / "latency_and_bandwidth.txt"),
    ("iperf2", DATA / "iperf2" / "client.txt"),
    ("ucx_perftest", DATA / "ucx_perftest" / "stages.txt"),
]
IPERF3 = """Connecting to host 10.0.0.2, port 5201
[ ID] Interval           Transfer     Bitrate         Retr
- - - - - - - - - - - - - - - - - - - - - - - - -
[ ID] Interval           Transfer     Bitrate         Retr
[  5]   0.00-10.00  sec  29.1 GBytes  25.0 Gbits/sec    0             sender
[  5]   0.00-10.05  sec  29.1 GBytes  24.9 Gbits/sec                  receiver
"""


def numbers(text: str, program: str) -> int:
    return sum(len(row.values) for row in READERS[program].read(text).rows())


@pytest.mark.parametrize("choice", CHOICES)
@pytest.mark.parametrize("prefix", PREFIXES)
@pytest.mark.parametrize(("program", "path"), TEXTS)
def test_no_number_is_lost_in_silence(program: str, path: Path, prefix: str, choice: str) -> None:
    text = path.read_text()
    lines = text.splitlines(keepends=True)
    chosen = CHOICES[choice]
    mixed = "".join(prefix + line if chosen(at, len(lines)) and line.strip() else line for at, line in enumerate(lines))
    if not READERS[program].recognises(mixed):
        return  # it is refused: no known program wrote it
    document = READERS[program].read(mixed)
    assert document.problems or numbers(mixed, program) >= numbers(text, program)


def test_percentiles_of_ycsb_behind_a_prefix_are_told() -> None:
    text = (
        "[OVERALL], RunTime(ms), 1000\n[OVERALL], Throughput(ops/sec), 100\n[READ], Operations, 100\n"
        "[READ], AverageLatency(us), 20\n[READ], MinLatency(us), 10\n[READ], MaxLatency(us), 40\n"
        "[app-7] [READ], 95thPercentileLatency(us), 30\n[app-7] [READ], 99thPercentileLatency(us), 35\n"
        "[READ], Return=OK, 100\n"
    )
    (problem,) = READERS["ycsb"].read(text).problems
    assert problem.text.startswith("what stands behind '[app-7]' is not read: ")
    assert problem.text.endswith(" (and 1 line more)")
    assert (problem.kind, problem.line) == ("cut", 7)


def test_the_name_of_a_test_of_ucx_behind_a_prefix_is_told() -> None:
    title = "| Test:         tag match latency                                     |\n"
    text = (DATA / "ucx_perftest" / "stages.txt").read_text()
    named = READERS["ucx_perftest"].read(title + text)
    assert (named.tables[0].name, named.problems) == ("tag match latency", ())
    (problem,) = READERS["ucx_perftest"].read(f"[app-7] {title}{text}").problems
    assert (problem.kind, problem.line) == ("cut", 1)
    assert problem.text.startswith("what stands behind '[app-7]' is not read: ")


def test_texts_without_a_prefix_hide_nothing() -> None:
    paths = [path for folder in (DATA, INSTRUMENTS) for path in sorted(folder.glob("*/*.txt"))]
    found = {
        str(path): problem.text
        for path in paths
        if path.parent.name in READERS
        for problem in READERS[path.parent.name].read(path.read_text(errors="replace")).problems
        if problem.text.startswith("what stands behind")
    }
    assert not found


@pytest.mark.parametrize(
    "text",
    [
        json.dumps({"rc": 0, "stdout": IPERF3}, indent=1),
        "".join(json.dumps({"log": f"{line}\n", "stream": "stdout"}) + "\n" for line in IPERF3.splitlines()),
    ],
)
def test_a_log_in_strings_of_json_is_named(text: str) -> None:
    with pytest.raises(ParseError) as refused:
        log.documents(text, READERS, "job.log")
    assert refused.value.what == "what iperf3 printed stands in strings of JSON here"


def test_a_log_in_a_string_of_another_programs_json_is_told() -> None:
    ycsb = next(one for one in (DATA / "ycsb").glob("*") if '"metric"' in one.read_text()).read_text()
    both = ycsb + json.dumps({"stdout": IPERF3}) + "\n"
    read = {one.program: one for one in log.documents(both, READERS, "job.log")}
    assert len(read["ycsb"].rows()) == len(READERS["ycsb"].read(ycsb).rows())
    (problem,) = read["iperf3"].problems
    assert problem.text.startswith("what iperf3 printed stands in a string of JSON, and is not read: ")
    assert problem.line == both[: both.index("stdout")].count("\n") + 1


def test_a_report_of_json_behind_iperf3s_text_is_told() -> None:
    (problem,) = READERS["iperf3"].read(IPERF3 + '{\n "end": {\n  "sum_received": {}\n }\n}\n').problems
    assert (problem.kind, problem.line) == ("cut", IPERF3.count("\n") + 3)
