"""Outputs of another test than was asked for, and of more time than their program ran."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from tests.adapters.test_engine import DATA as ENGINE
from tests.adapters.test_engine import GROUP, parse
from tests.adapters.test_foreign import ADAPTERS, DATA, launch

from fabriscope.adapters._foreign import asked
from fabriscope.adapters.engine import LISTENING_PATTERN
from fabriscope.model.command import Command, Outcome
from fabriscope.model.errors import ParseError
from fabriscope.model.measurement import ParsedLaunch

IPERF3 = ("iperf3", "-c", "10.77.0.1", "-t", "2", "-O", "0")
QPERF = ("qperf", "x", "--time", "1")


def said(
    name: str, *changes: tuple[str, str], argv: tuple[str, ...] = ("x",), elapsed_s: float = 0, **more: Any
) -> ParsedLaunch:
    """Return what is made of a golden text with changes, of a program that was told this and ran for so long."""
    instrument = name.split("/")[0]
    text = (DATA / f"{name}.txt").read_text()
    spec = json.loads((DATA / f"{name}.json").read_text())
    for old, new in changes:
        assert old in text
        text = text.replace(old, new, 1)
    one = launch(
        instrument, spec["layer"], *({**case, **more} for case in spec["cases"]), hosts=tuple(spec.get("hosts", "ab"))
    )
    how = {"stdout": b"", "stderr": b"", spec["outcome"]["channel"]: text.encode()}
    outcome = Outcome(Command(argv, "a"), 0, how["stdout"], how["stderr"], 0, int(elapsed_s * 1e9))
    server = Outcome(Command(("x",), "b", is_server=True), None, b"", b"", 0, 0)
    parsed: ParsedLaunch = ADAPTERS.get(instrument).parse(
        one, [server, outcome] if spec["outcome"]["server_first"] else [outcome]
    )
    return parsed


@pytest.mark.parametrize(
    ("name", "argv", "least_s"),
    [
        ("iperf3/tcp", IPERF3, 2.0),
        ("sockperf/ping_pong", ("x",), 1.5),
        ("sockperf/throughput", ("x",), 2.0),
        ("qperf/latency_and_bandwidth", QPERF, 4.0),
        ("perftest/send_lat", ("x", "-n", "1000"), 2.5),
        ("perftest/write_bw", ("x", "-n", "500"), 1.7),
        ("netpipe/nptcp", ("x",), 28.0),
        ("imb/time_out", ("x",), 2.0),
    ],
)
def test_no_output_lasts_longer_than_its_program_ran(name: str, argv: tuple[str, ...], least_s: float) -> None:
    with pytest.raises(ParseError, match=r"its operations come to [\d.e+]+ s, and it ran for [\d.]+ s"):
        said(name, argv=argv, elapsed_s=least_s / 2)
    known = said(name, argv=argv, elapsed_s=2 * least_s)
    assert known.blocks
    assert [block.values for block in said(name, argv=argv).blocks] == [block.values for block in known.blocks]


@pytest.mark.parametrize(
    ("option", "value", "says"),
    [
        ("reverse", 1, "its reverse is 1, and 0 was asked for"),
        ("omit", 1, "its omitted_s is 1, and 0 was asked for"),
        ("duration", 20, "its asked_duration_s is 20, and 2 was asked for"),
        ("blksize", 1, "its block_size_bytes is 1, and 131072 was asked for"),
        ("protocol", '"UDP"', "its protocol is 'UDP', and TCP was asked for"),
    ],
)
def test_an_iperf3_report_of_another_test_is_refused(option: str, value: object, says: str) -> None:
    text = (DATA / "iperf3/tcp.txt").read_text()
    (line,) = [line for line in text.splitlines() if f'"{option}":' in line]
    with pytest.raises(ParseError, match=says):
        said("iperf3/tcp", (line, f'"{option}": {value}{"," * line.endswith(",")}'), argv=IPERF3)


@pytest.mark.parametrize(
    ("asked_for", "named", "remote", "says"),
    [
        ("10.77.0.1", "10.77.0.1", "10.77.0.1", None),
        ("10.77.0.1", "10.77.0.1", "::ffff:10.77.0.1", None),
        ("fe80::1%eth0", "fe80::1%eth0", "fe80:0::1", None),
        ("node2", "node2", "10.99.0.1", None),
        ("10.77.0.1", "10.99.0.1", "10.77.0.1", "its connecting_to is '10.99.0.1', and 10.77.0.1 was asked for"),
        ("10.77.0.1", "10.77.0.1", "10.99.0.1", "its remote_host is '10.99.0.1', and 10.77.0.1 was asked for"),
        ("10.77.0.1", "10.77.0.1", "fd00::1", "its remote_host is 'fd00::1', and 10.77.0.1 was asked for"),
        ("node2", "node3", "10.77.0.1", "its connecting_to is 'node3', and node2 was asked for"),
    ],
)
def test_an_iperf3_report_of_another_host_is_refused(asked_for: str, named: str, remote: str, says: str | None) -> None:
    text = (DATA / "iperf3/tcp.txt").read_text()
    lines = [line for line in text.splitlines() if '"10.77.0.1"' in line]
    changes = [
        (line, line.replace("10.77.0.1", remote if "remote_host" in line else named))
        for line in lines
        if "remote_host" in line or '"host"' in line
    ]
    assert len(changes) == 2
    argv = ("iperf3", "-c", asked_for, *IPERF3[3:])
    if says is None:
        assert said("iperf3/tcp", *changes, argv=argv).blocks
        return
    with pytest.raises(ParseError) as caught:
        said("iperf3/tcp", *changes, argv=argv)
    assert str(caught.value) == f"iperf3: {says}"


def test_an_iperf3_report_of_both_directions_is_refused() -> None:
    with pytest.raises(ParseError, match="its bidirectional is 1, and 0 was asked for"):
        said("iperf3/tcp", ('"sum_sent":', '"sum_sent_bidir_reverse": {}, "sum_sent":'), argv=IPERF3)


def test_an_iperf3_stream_that_ended_early_is_refused() -> None:
    with pytest.raises(ParseError, match=r"its stream lasted 2\.00557 s, and 10 s were asked for"):
        said("iperf3/tcp", ('"duration":\t2', '"duration":\t10'), argv=("iperf3", "-t", "10", "-O", "0"))


@pytest.mark.parametrize(
    ("socket", "says"),
    [
        ({"congestion_control": "reno"}, "its congestion_control is 'bbr', and reno"),
        ({"send_buffer_bytes": 65536, "receive_buffer_bytes": 65536}, "its asked_buffer_bytes is 0, and 65536"),
    ],
)
def test_an_iperf3_report_with_other_socket_options_is_refused(socket: dict[str, Any], says: str) -> None:
    with pytest.raises(ParseError, match=says):
        said("iperf3/tcp", argv=IPERF3, socket=socket)


@pytest.mark.parametrize("mean", ["115.830", "1.158"])
def test_round_trips_of_sockperf_that_do_not_come_to_its_duration_are_refused(mean: str) -> None:
    changes = [("avg-latency=11.583", f"avg-latency={mean}"), ("is 11.583", f"is {mean}")]
    least = [(f"=    {word}", f"=    {float(word) - 3:.3f}") for word in ("3.704", "4.262", "4.072")]
    with pytest.raises(ParseError, match=r"66651 round trips of twice .* usec come to .*, and the valid duration"):
        said("sockperf/ping_pong", *changes, *least)


def test_tests_of_qperf_last_as_long_as_was_asked_for() -> None:
    assert said("qperf/latency_and_bandwidth", argv=QPERF).blocks
    with pytest.raises(ParseError, match="line 1: the test's time is 1 s, and 3 s were asked for"):
        said("qperf/latency_and_bandwidth", argv=("qperf", "--time", "3"))


@pytest.mark.parametrize(
    ("name", "change", "more", "says"),
    [
        ("write_bw", ("", ""), {"argv": ("x", "-n", "882")}, "500 iterations were made, and 882 asked for"),
        ("write_bw", ("", ""), {"parameters": (("queue_depth", "32"),)}, "queue depth is 128, and 32 was"),
        ("send_lat", ("Send Lat", "RDMA_Write Lat"), {}, "is of 'RDMA_Write Latency Test', and ib_send_lat was"),
        ("write_bw", ("Write BW", "Read BW"), {}, "is of 'RDMA_Read BW Test', and ib_write_bw was"),
    ],
)
def test_a_perftest_of_another_test_is_refused(
    name: str, change: tuple[str, str], more: dict[str, Any], says: str
) -> None:
    with pytest.raises(ParseError, match=says):
        said(f"perftest/{name}", change, **more)


def test_a_queue_of_perftest_is_no_deeper_than_its_iterations() -> None:
    shallow = ("TX depth        : 128", "TX depth        : 500")
    assert said("perftest/write_bw", shallow, parameters=(("queue_depth", "512"),)).blocks


def test_a_collective_of_other_ranks_is_refused() -> None:
    spec = json.loads((DATA / "imb/allreduce.json").read_text())
    count = len(spec.get("hosts", "ab"))
    with pytest.raises(ParseError, match=f"had {count + 1} processes, and {count} were asked for"):
        said("imb/allreduce", (f"#processes = {count}", f"#processes = {count + 1}"))


def test_what_a_program_was_asked_for_is_read_of_its_command() -> None:
    outcome = Outcome(Command(("x", "-t", "2", "-b", "fast", "-n"), "a"), 0, b"", b"", 0, 0)
    assert [asked(outcome, option) for option in ("-t", "-b", "-n", "-z")] == [2, None, None, None]


TCP, MANY = ((ENGINE / f"{name}.stdout").read_text() for name in ("tcp", "group"))
BLOCK = next(line for line in TCP.splitlines(keepends=True) if '"measured"' in line)
SHARE = next(line for line in MANY.splitlines(keepends=True) if '"rank_block"' in line)
HEADER = next(line for line in TCP.splitlines(keepends=True) if '"header"' in line)


@pytest.mark.parametrize("port", ["0", "65536", "70000", "-1", '"22"', "1.5", "null", "9" * 400])
def test_an_engine_that_listens_on_no_port_is_refused(port: str) -> None:
    with pytest.raises(ParseError, match="line 1: tcp_port should be a whole number of 1 to 65535"):
        parse(TCP.replace('"tcp_port":42551', f'"tcp_port":{port}'))


@pytest.mark.parametrize(
    ("port", "word"), [("1", "1"), ("65535", "65535"), ("-1", ""), ('"22"', ""), ("٣", ""), ("9" * 9, "")]
)
def test_the_other_ranks_are_told_a_port_in_digits_or_nothing(port: str, word: str) -> None:
    match = re.search(LISTENING_PATTERN, f'{{"type":"listening","tcp_port":{port}}}')
    assert match is not None
    assert match.groupdict() == {"tcp_port": word}


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (TCP + BLOCK.replace('"burst":1', '"burst":99'), "line 17: a record of the type block stands after the footer"),
        (TCP + HEADER, "line 17: a record of the type header stands after"),
        (TCP.replace(HEADER, HEADER * 2), "line 3: a second header"),
        (
            TCP.replace("[4614,4530,5724]", "[" + "9" * 5000 + "]"),
            "line 8: it is no JSON: a number in it has",
        ),
        (TCP.replace("[4614,4530,5724]", '[4614],"round":0'), "line 8: it is no JSON: the key 'round' stands twice"),
    ],
)
def test_an_engine_s_stream_that_contradicts_itself_is_refused(text: str, says: str) -> None:
    with pytest.raises(ParseError, match=says):
        parse(text)


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ('"slowest_ranks":[2,2,1]', '"slowest_ranks":[2,2]', "2 slowest ranks are named of 3 samples"),
        ('"durations_ns":[30000,31000,32000]', '"durations_ns":[30000]', "rank 0 has 1 samples of a burst of 3"),
        ('"start_offsets_ns":[0,3,0]', '"start_offsets_ns":[0,3,0,1]', "rank 0 has 4 samples of a burst of 3"),
        (SHARE, SHARE.replace('"burst":0', '"burst":5'), "share of burst 5 stands after a block of burst 0"),
        (SHARE, SHARE.replace("case0", "case1"), "or is of another case, round or phase"),
        (SHARE, SHARE.replace('"rank":0', '"rank":9'), "a share is of rank 9, and the launch has"),
        (SHARE, SHARE * 2, "the share of rank 0 in burst 0 stands twice"),
    ],
)
def test_shares_of_ranks_belong_to_the_block_before(old: str, new: str, says: str) -> None:
    assert old in MANY
    with pytest.raises(ParseError, match=says):
        parse(MANY.replace(old, new, 1), **GROUP)


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ('"transport":"tcp"', '"transport":"mpi"', "the engine measures over 'mpi', and tcp was asked for"),
        ('"rank_count":2', '"rank_count":3', "the engine has 3 ranks, and 2 were asked for"),
        ('"ranks":[', '"ranks":[{"rank":2,"host":"z"},', "the engine has 3 ranks, and 2 were asked for"),
    ],
)
def test_an_engine_with_another_transport_or_other_ranks_counts_for_nothing(old: str, new: str, says: str) -> None:
    parsed = parse(TCP.replace(old, new, 1))
    assert parsed.blocks == ()
    assert {(result.status, result.reason) for result in parsed.results} == {("failed", says)}
    assert parse(TCP.replace('"rank_count":2', '"rank_count":null')).blocks


@pytest.mark.parametrize(
    ("durations", "elapsed_ns", "says"),
    [
        ("[4614,4530,900000000]", 500_000_000, "its operations come to 0.9 s, and it ran for 0.5 s"),
        ("[4614," + "100000000," * 9 + "1]", 500_000_000, "its operations come to 0.9 s, and it ran for 0.5 s"),
    ],
)
def test_samples_of_the_engine_are_no_longer_than_it_ran(durations: str, elapsed_ns: int, says: str) -> None:
    text = TCP.replace("[4614,4530,5724]", durations)
    with pytest.raises(ParseError, match=says):
        parse(text, elapsed_ns=elapsed_ns)
    assert parse(text, elapsed_ns=2 * elapsed_ns).blocks
    with pytest.raises(ParseError, match="its operations come to 22 s"):
        parse(TCP.replace('"start_ns":21977953', '"start_ns":21977953000'), elapsed_ns=elapsed_ns)


def test_of_noise_between_the_lines_a_little_is_kept() -> None:
    parsed = parse("".join("noise of a library\n" + line for line in TCP.splitlines(keepends=True)) + "noise\n" * 10000)
    assert [block.values for block in parsed.blocks] == [block.values for block in parse(TCP).blocks]
    assert parsed.details["notes"] == ["noise of a library"] * 16 + ["noise"] * 4
