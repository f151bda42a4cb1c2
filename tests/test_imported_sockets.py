"""Logs of iperf3 and sockperf: what a log says of its messages is read, what it cannot say a label says."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from fabriscope import store
from fabriscope.analysis.results import results_of
from fabriscope.cli import fabriscope
from fabriscope.model.case import Case, Entry, SocketOptions
from fabriscope.model.errors import PlanError
from fabriscope.model.measurement import Launch, SampleBlock
from fabriscope.registry import discover
from fabriscope.running import importing

DATA = Path(__file__).parent / "adapters" / "data"
PING_PONG = (DATA / "sockperf" / "ping_pong.txt").read_text()
THROUGHPUT = (DATA / "sockperf" / "throughput.txt").read_text()
REPORT = (DATA / "iperf3" / "tcp.txt").read_text()
VERBOSE = """iperf 3.12
Connecting to host 10.0.0.1, port 5201
Starting Test: protocol: TCP, 1 streams, 65536 byte blocks, omitting 0 seconds, 10 second test, tos 0
[ ID] Interval           Transfer     Bitrate         Retr  Cwnd
[  5]   0.00-1.00   sec   112 MBytes   940 Mbits/sec    0   1.12 MBytes
- - - - - - - - - - - - - - - - - - - - - - - - -
Test Complete. Summary Results:
[ ID] Interval           Transfer     Bitrate         Retr
[  5]   0.00-10.00  sec  1.10 GBytes   941 Mbits/sec    0             sender
[  5]   0.00-10.05  sec  1.09 GBytes   934 Mbits/sec                  receiver

iperf Done.
"""
WHERE = {"fabric": "gige", "placement": "inter", "hosts": "a+b"}
SIZE_UNSAID = "the log does not say how long a message was: the label `size` does"
NAGLE_UNSAID = "the log does not say whether Nagle's algorithm was on: the label `nagle` does"


def imported(folder: Path, text: str, **labels: str) -> tuple[dict[str, tuple[str, int, str, str]], dict[str, str]]:
    """Return metric id to layer, size, socket and series of what is read, and why numbers are none of ours."""
    folder.mkdir(exist_ok=True)
    (folder / "a.log").write_text(text)
    importing.run([folder / "a.log"], folder / "run", {**WHERE, **labels})
    run = store.open_run(folder / "run").read()
    columns = ("metric_id", "layer", "message_size_bytes", "socket", "series")
    found = results_of(run).values.select(columns).iter_rows()
    unlike = {metric: why for one in run.journal if (of := one.details.read_from) for metric, why in of.unlike.items()}
    return {metric: (layer, size, socket, series) for metric, layer, size, socket, series in found}, unlike


def test_a_ping_pong_of_sockperf_is_ours_where_labels_say_size_and_nagle(tmp_path: Path) -> None:
    found, unlike = imported(tmp_path / "a", PING_PONG, size="64", nagle="off")
    assert found == {"latency_ns": ("tcp", 64, "", ""), "latency_ns_mean": ("tcp", 64, "", "")}
    assert unlike == {}
    found, unlike = imported(tmp_path / "b", PING_PONG)
    assert all(metric.startswith("sockperf_ping_pong_") and layer == "tcp" for metric, (layer, *_) in found.items())
    assert set(unlike.values()) == {f"{SIZE_UNSAID}; {NAGLE_UNSAID}"}


def test_a_throughput_of_sockperf_says_its_size_itself(tmp_path: Path) -> None:
    found, _ = imported(tmp_path / "a", THROUGHPUT, nagle="on")
    assert found == {"sent_bandwidth_bytes_per_s": ("tcp", 1400, "Nagle on", "")}
    _, unlike = imported(tmp_path / "b", THROUGHPUT, nagle="on", size="64KiB")
    assert set(unlike.values()) == {"the label `size` says 65536 B, and the log 1400 B"}
    _, unlike = imported(tmp_path / "c", THROUGHPUT)
    assert set(unlike.values()) == {NAGLE_UNSAID}


def test_without_a_note_a_throughput_of_sockperf_has_its_usual_size_if_its_rates_do(tmp_path: Path) -> None:
    lines = [line for line in THROUGHPUT.splitlines(keepends=True) if "NOTE" not in line]
    found, unlike = imported(tmp_path / "a", "".join(lines), nagle="off")
    assert SIZE_UNSAID in unlike.values(), "its rates are those of 1400 B"
    usual = "".join(lines).replace("517.829 MBps (4142.632 Mbps)", "544.461 MBps (4355.688 Mbps)")
    found, _ = imported(tmp_path / "b", usual, nagle="off")
    assert found == {"sent_bandwidth_bytes_per_s": ("tcp", 1472, "", "")}


def test_a_note_of_another_size_than_the_rates_is_refused() -> None:
    reader = discover("readers", "READER").get("sockperf")
    problem = reader.read(THROUGHPUT.replace("msg-size=1400", "msg-size=140")).problem("refused")
    assert problem is not None
    assert problem.text == "its messages of 140 B do not come to 517.829 MBps at their rate"


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("# TCP", "# UDP", "it went over UDP, and ours over TCP"),
        ("# TCP\n", "# TCP\n[ 1] IP = 10.77.0.1       PORT = 11112 # TCP\n", "2 connections were used at once"),
        ("msg-size=1400.", "msg-size=1400, mps=387845.", "it was held to a rate"),
        ("[ 0] IP = 10.77.0.1       PORT = 11111 # TCP\n", "", "the log does not say that it was TCP"),
    ],
)
def test_what_sockperf_did_otherwise_is_no_stream_of_ours(tmp_path: Path, old: str, new: str, says: str) -> None:
    assert old in THROUGHPUT
    found, unlike = imported(tmp_path / "a", THROUGHPUT.replace(old, new), nagle="on")
    assert "sent_bandwidth_bytes_per_s" not in found
    assert says in unlike["sockperf_throughput_sent_bandwidth_bytes_per_s"]


def test_a_report_of_iperf3_is_ours_where_a_label_says_nagle(tmp_path: Path) -> None:
    found, _ = imported(tmp_path / "a", REPORT, nagle="on")
    assert found == {"stream_bandwidth_bytes_per_s": ("tcp", 131072, "Nagle on", "")}
    _, unlike = imported(tmp_path / "b", REPORT)
    assert set(unlike.values()) == {NAGLE_UNSAID}
    buffers = REPORT.replace('"sock_bufsize":\t0', '"sock_bufsize":\t65536')
    found, _ = imported(tmp_path / "c", buffers, nagle="off")
    assert found["stream_bandwidth_bytes_per_s"][2] == "send buffer 65536 B, receive buffer 65536 B"
    held = REPORT.replace('"target_bitrate":\t0', '"target_bitrate":\t1000000000')
    _, unlike = imported(tmp_path / "d", held, nagle="off")
    assert set(unlike.values()) == {"it was held to a rate"}
    _, unlike = imported(tmp_path / "e", REPORT.replace('"reverse":\t0', '"reverse":\t1'), nagle="off")
    assert "-R" in next(iter(unlike.values()))


def test_text_of_iperf3_has_a_metric_for_each_end(tmp_path: Path) -> None:
    found, _ = imported(tmp_path / "a", VERBOSE, nagle="off")
    assert found == {
        "stream_bandwidth_bytes_per_s": ("tcp", 65536, "", ""), "sent_bandwidth_bytes_per_s": ("tcp", 65536, "", ""),
    }  # fmt: skip
    plain = "".join(line for line in VERBOSE.splitlines(keepends=True) if "Starting Test" not in line)
    _, unlike = imported(tmp_path / "b", plain, nagle="off")
    assert set(unlike.values()) == {SIZE_UNSAID}
    found, _ = imported(tmp_path / "c", plain, nagle="off", size="64KiB")
    assert set(found) == {"stream_bandwidth_bytes_per_s", "sent_bandwidth_bytes_per_s"}


@pytest.mark.parametrize("labels", [{"nagle": "yes"}, {"size": "0"}, {"size": "64Kb"}, {"size": "large"}])
def test_labels_that_say_nothing_are_refused(tmp_path: Path, labels: dict[str, str]) -> None:
    (tmp_path / "a.log").write_text(PING_PONG)
    with pytest.raises(PlanError, match=next(iter(labels))):
        importing.run([tmp_path / "a.log"], tmp_path / "run", labels)


ENTRY = Entry("tcp", "gige", "inter", ("a", "b"), instrument="sockperf")


def measured(folder: Path, window: int, metric_id: str, value: float, *, nodelay: bool = True) -> Path:
    """Write a run of three launches of sockperf's throughput with messages of 1,400 B, a per cent apart."""
    case = Case(ENTRY, "bandwidth", 1400, window, socket=SocketOptions(tcp_nodelay=nodelay))
    launches = [Launch(number, number, ENTRY, (case,), 0, 0) for number in (1, 2, 3)]
    made = store.create(folder, store.describe((), launches, name="measured", plan={"description": "made up"}), "{}\n")
    with made.lock():
        for launch in launches:
            block = SampleBlock(case.case_id, (value * (1 + 0.01 * launch.block),), quantity=metric_id)
            record = {
                "launch_id": launch.launch_id, "block": launch.block, "entry_id": ENTRY.entry_id, "status": "ok",
                "results": {case.case_id: {"status": "ok", "reason": None}},
                "commands": [], "started_unix_ns": 0, "elapsed_ns": 0, "details": {},
            }  # fmt: skip
            made.append(record, [block], [])
        made.end()
    return folder


def test_an_imported_stream_is_compared_with_a_run_whatever_its_window(tmp_path: Path) -> None:
    (tmp_path / "logs").mkdir()
    for number, rate in enumerate((387845, 387846, 387850)):
        text = THROUGHPUT.replace("777021", f"{777021 + number}").replace("387845", f"{rate}")
        (tmp_path / "logs" / f"{number}.log").write_text(text)
    importing.run([tmp_path / "logs"], tmp_path / "old", {**WHERE, "nagle": "off"})
    metric_id = "sent_bandwidth_bytes_per_s"
    notes = {}
    for nodelay in (True, False):
        ours = measured(tmp_path / f"new-{nodelay}", 64, metric_id, 3e8, nodelay=nodelay)
        words = ["compare", str(tmp_path / "old"), str(ours), "--json"]
        done = json.loads(CliRunner().invoke(fabriscope, words, catch_exceptions=False).stdout)
        notes[nodelay] = " ".join(done["notes"])
        assert len(done["pairs"]) == nodelay, notes
    assert "Nagle on" in notes[False]
