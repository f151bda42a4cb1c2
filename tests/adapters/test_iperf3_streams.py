"""Many to one by iperf3: which commands it takes, and what arrived when of what its two ends say."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.adapters.test_foreign import CONTEXT, launch

from fabriscope.adapters._iperf3_streams import in_bins
from fabriscope.adapters.iperf3 import ADAPTER
from fabriscope.model.command import Outcome
from fabriscope.model.errors import ParseError
from fabriscope.model.measurement import ARRIVED, RANK_START, Launch, ParsedLaunch
from fabriscope.readers.iperf3 import Interval, intervals

REPORT = json.loads((Path(__file__).parent / "data/iperf3/tcp.txt").read_text())
STREAM_BYTES = 3_000_000
S = 10**9


def two_to_one(**parameters: str) -> Launch:
    case = {"benchmark": "many_to_one", "message_size_bytes": 65536, "parameters": tuple(parameters.items())}
    return launch("iperf3", "tcp", case, hosts=("a", "b", "b"))


def report(address: str = "10.0.0.1", sent: int = STREAM_BYTES, **end: float) -> bytes:
    received = {"start": 0, "end": 3.0, "seconds": 3.0, "bytes": sent, "bits_per_second": sent * 8 / 3, **end}
    start = {**REPORT["start"], "connecting_to": {"host": address, "port": 1}, "connected": []}
    asked = {"protocol": "TCP", "num_streams": 1, "blksize": 65536, "omit": 0, "duration": 3, "reverse": 0}
    return json.dumps(
        {
            "start": {**start, "test_start": asked},
            "intervals": [],
            "end": {"streams": [], "sum_sent": received, "sum_received": received},
        }
    ).encode()


def server_text(rate_kbit: int, until_s: float = 3.0) -> bytes:
    count = round(until_s * 10)
    rows = [
        f"[  5]   {at / 10:.2f}-{(at + 1) / 10:.2f}   sec  {rate_kbit / 80 / 1.024:.1f} KBytes  {rate_kbit} Kbits/sec"
        for at in range(count)
    ]
    return "\n".join([*rows, "- - - - - - - - - -", "[  5]   0.00-3.00   sec  1 Bytes  1 Kbits/sec  receiver"]).encode()


def parsed(delays_ns: tuple[int, int], lasted_ns: int = 3 * S, text: bytes = b"") -> ParsedLaunch:
    asked = two_to_one(duration_ms="300")
    commands = ADAPTER.commands(asked, CONTEXT)
    began = [0, 0, *(10 * S + delay for delay in delays_ns)]
    said = [*[text or server_text(8000)] * 2, *[report()] * 2]
    ends = [
        Outcome(replace(command, is_server=False), 0, words, b"", start, lasted_ns)
        for command, words, start in zip(commands, said, began, strict=True)
    ]
    return ADAPTER.parse(asked, ends)


def account_of(told: ParsedLaunch) -> dict[str, int]:
    groups: Any = told.details["groups"]
    (account,) = groups.values()
    return dict(account)


def test_servers_are_ready_before_any_client_and_clients_do_not_wait_for_each_other() -> None:
    commands = ADAPTER.commands(two_to_one(), CONTEXT)
    assert [(one.host, one.is_server, one.ready_pattern is not None) for one in commands] == [
        ("a", True, True), ("a", True, True), ("b", False, False), ("b", False, True),
    ]  # fmt: skip
    server, other, client, last = (one.argv for one in commands)
    port = int(server[server.index("-p") + 1])
    assert server == ("/x/iperf3", "-s", "-1", "-p", str(port), "-i", "0.1", "-f", "k", "--forceflush")
    assert client == ("/x/iperf3", "-c", "10.0.0.1", "-p", str(port), "-J", "-l", "65536", "-t", "3", "-N")
    assert str(port + 1) in other
    assert str(port + 1) in last


def test_each_stream_has_its_start_and_what_arrived_of_it_when() -> None:
    told = parsed((0, 50_000_000))
    assert [result.status for result in told.results] == ["ok"]
    starts = {block.rank: block.values for block in told.blocks if block.quantity == RANK_START}
    assert starts == {0: (0,), 1: (0,), 2: (50_000_000,)}
    first, second = (block.values for block in told.blocks if block.quantity == ARRIVED)
    assert first == (*(100_000,) * 30, 0)
    assert second == (50_000, *(100_000,) * 29, 50_000)
    assert account_of(told) == {
        "duration_ns": 3 * S, "interval_ns": 100_000_000, "start_error_ns": 0, "start_unix_ns": 10 * S,
    }  # fmt: skip


def test_what_is_not_known_of_the_starts_is_their_error() -> None:
    assert account_of(parsed((0, 0), lasted_ns=3 * S + 200_000_000))["start_error_ns"] == 200_000_000


def test_intervals_that_are_not_the_bytes_of_the_whole_are_refused() -> None:
    with pytest.raises(ParseError, match="the server's intervals have 1500000 B, and 3000000 B arrived"):
        parsed((0, 0), text=server_text(8000, until_s=1.5))
    with pytest.raises(ParseError, match=r"begins at 0\.3 s, and the one before ended at 0.2"):
        intervals(server_text(8000).decode().replace("0.20-0.30", "0.20-0.20"))


def test_an_interval_may_begin_a_rounding_beside_the_end_of_the_one_before() -> None:
    text = (
        "[  5]   2.41-2.90   sec  16.0 KBytes   267 Kbits/sec\n[  5]   2.91-3.03   sec   544 KBytes  38230 Kbits/sec\n"
    )
    first, second = intervals(text)
    assert (first.end_s, second.start_s, second.end_s) == (2.9, 2.9, 3.03)
    assert second.size_bytes == pytest.approx(0.12 * 38_230_000 / 8)


def test_the_last_interval_may_be_shorter_than_its_digits_show() -> None:
    text = (
        server_text(8000, until_s=0.2)
        .decode()
        .replace("- - -", "[  5]   0.20-0.20   sec  9 Bytes  9 Kbits/sec\n- - -", 1)
    )
    assert intervals(text) == [Interval(0.0, 0.1, 100_000.0), Interval(0.1, 0.2, 100_000.0)]


def test_bins_come_to_the_whole() -> None:
    counts = in_bins([Interval(0, 0.13, 1000.0), Interval(0.13, 3.5, 30_000.0)], 31_007, 0.02, 3)
    assert sum(counts) == 31_007
    assert len(counts) == 31


def test_a_client_that_failed_is_named_with_its_host() -> None:
    asked = two_to_one()
    commands = ADAPTER.commands(asked, CONTEXT)
    refused = b'{"start": {}, "intervals": [], "end": {}, "error": "unable to connect to server"}'
    said = [b"", b"", report(), refused]
    told = ADAPTER.parse(
        asked, [Outcome(one, 0, text, b"", 0, 3 * S) for one, text in zip(commands, said, strict=True)]
    )
    assert [(result.status, result.reason) for result in told.results] == [
        ("failed", "the stream of b: iperf3 says: unable to connect to server")
    ]


def test_rounds_are_skipped() -> None:
    told = ADAPTER.parse(two_to_one(mode="rounds"), [])
    assert [(result.status, result.reason) for result in told.results] == [
        ("skipped", "nobody answers iperf3's streams: it has no rounds")
    ]
