"""Many to one by perftest: which commands its streams take, and what is known of them from what the clients say."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from tests.adapters.test_foreign import CONTEXT, FABRIC, launch

from fabriscope.adapters import ib_send_bw, ib_write_bw
from fabriscope.adapters.base import AdapterContext
from fabriscope.adapters.perftest import ADAPTER as PAIRS
from fabriscope.model.command import Outcome
from fabriscope.model.errors import LaunchError, ParseError
from fabriscope.model.fabric import RdmaPort
from fabriscope.model.measurement import ARRIVED, RANK_START, Launch, ParsedLaunch

S = 10**9
SIZE, MESSAGES = 8192, 240
ADAPTERS = {"ib_write_bw": ib_write_bw.ADAPTER, "ib_send_bw": ib_send_bw.ADAPTER}
PORTS = {"a": RdmaPort("rxe0", gid_index=1), "b": RdmaPort("mlx5_0", hca_port=2, gid_index=3)}
PLACE: AdapterContext = replace(
    CONTEXT,
    fabric=replace(FABRIC, transport="roce", rdma_ports=PORTS),
    programs={name: f"/x/{name}" for name in ADAPTERS},
)
TEXT = """ WARNING: BW peak won't be measured in this run.
---------------------------------------------------------------------------------------
                    RDMA_Write BW Test
 Number of qps   : 1\t\tTransport type : IB
 TX depth        : 4
 CQ Moderation   : 1
---------------------------------------------------------------------------------------
 #bytes     #iterations    BW peak[MB/sec]    BW average[MB/sec]   MsgRate[Mpps]
 8192       240              0.00               0.62   \t\t   0.000080
---------------------------------------------------------------------------------------
"""


def two_to_one(program: str = "ib_write_bw", window: int = 4, **parameters: str) -> Launch:
    case = {
        "benchmark": "many_to_one",
        "message_size_bytes": SIZE,
        "window_size": window,
        "parameters": tuple(parameters.items()),
    }
    return launch(program, "verbs", case, hosts=("a", "b", "b"))


def words(asked: Launch) -> list[str]:
    commands = ADAPTERS[asked.entry.instrument].commands(asked, PLACE)
    return [f"{one.host}: {' '.join(one.argv)}" for one in commands]


def parsed(
    delays_ns: tuple[int, int] = (0, 0),
    lasted_ns: int = 11 * S,
    text: str = TEXT,
    status: int = 0,
    *,
    is_stored: bool = False,
) -> ParsedLaunch:
    """Return what is made of two clients; of stored commands nobody says which ones were servers."""
    asked = two_to_one(duration_ms="300")
    commands = ib_write_bw.ADAPTER.commands(asked, PLACE)
    if is_stored:
        commands = tuple(replace(command, is_server=False) for command in commands)
    began = [0, 0, *(10 * S + delay for delay in delays_ns)]
    ends = [
        Outcome(command, how, text.encode(), b"it broke", start, lasted_ns)
        for command, how, start in zip(commands, (None, None, 0, status), began, strict=True)
    ]
    return ib_write_bw.ADAPTER.parse(asked, ends)


def account_of(told: ParsedLaunch) -> dict[str, int]:
    groups: Any = told.details["groups"]
    (account,) = groups.values()
    return dict(account)


def test_servers_are_ready_before_any_client_and_clients_do_not_wait_for_each_other() -> None:
    asked = two_to_one(duration_ms="4500", ack_timeout="18")
    assert words(asked) == [
        "a: stdbuf -oL /x/ib_write_bw -F -D 11 -f 3 -s 8192 -t 4 -Q 1 -u 18 -p 18815 -d rxe0 -i 1 -x 1",
        "a: stdbuf -oL /x/ib_write_bw -F -D 11 -f 3 -s 8192 -t 4 -Q 1 -u 18 -p 18816 -d rxe0 -i 1 -x 1",
        "b: /x/ib_write_bw -F -D 11 -f 3 -s 8192 -t 4 -Q 1 -u 18 -p 18815 -d mlx5_0 -i 2 -x 3 10.0.0.1",
        "b: /x/ib_write_bw -F -D 11 -f 3 -s 8192 -t 4 -Q 1 -u 18 -p 18816 -d mlx5_0 -i 2 -x 3 10.0.0.1",
    ]
    commands = ib_write_bw.ADAPTER.commands(asked, PLACE)
    assert [(one.is_server, one.ready_pattern is not None) for one in commands] == [
        (True, True), (True, True), (False, False), (False, True),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("parameters", "said"), [({}, "-t 16 -Q 1"), ({"queue_depth": "8", "signal_every": "2"}, "-t 8 -Q 2")]
)
def test_as_many_messages_are_under_way_as_window_and_queue_allow(parameters: dict[str, str], said: str) -> None:
    assert all(said in one for one in words(two_to_one("ib_send_bw", 16, **parameters)))


def test_more_streams_than_ports_are_refused_before_anything_starts() -> None:
    case = {"benchmark": "many_to_one", "message_size_bytes": SIZE}
    asked = launch("ib_write_bw", "verbs", case, hosts=("a", *("b",) * 101))
    with pytest.raises(LaunchError, match="its 101 streams would need as many ports, and there are 100"):
        ib_write_bw.ADAPTER.commands(asked, PLACE)


@pytest.mark.parametrize("is_stored", [False, True])
def test_each_stream_has_what_it_counted_and_when_that_began(is_stored: bool) -> None:
    told = parsed((0, 50_000_000), is_stored=is_stored)
    assert [result.status for result in told.results] == ["ok"]
    starts = {block.rank: block.values for block in told.blocks if block.quantity == RANK_START}
    assert starts == {0: (0,), 1: (0,), 2: (50_000_000,)}
    counts = {block.rank: block.values for block in told.blocks if block.quantity == ARRIVED}
    assert counts == {1: (SIZE * MESSAGES, 0), 2: (SIZE * MESSAGES, 0)}


def test_what_is_not_known_of_the_starts_is_their_error_and_the_margin_stands_beside_it() -> None:
    # 11 s for 3 + 2 * 3 s of sending: each start lies within 2 s, so it may be wrong by one
    assert account_of(parsed()) == {
        "duration_ns": 3 * S, "interval_ns": 3 * S, "start_error_ns": 2 * S, "margin_ns": 3 * S,
        "start_unix_ns": 10 * S,
    }  # fmt: skip


def bytes_of(count: int, bandwidth: str, rate: str) -> int:
    """Return what counts of a stream, whose client prints these numbers."""
    text = TEXT.replace("240 ", f"{count} ").replace("0.62", bandwidth).replace("0.000080", rate)
    told = parsed(text=text)
    return next(int(block.values[0]) for block in told.blocks if block.quantity == ARRIVED)


def test_its_messages_are_more_exact_than_its_rate() -> None:
    """Which has two digits at 79 to 81 messages per second: what was asked for agrees with them."""
    assert {bytes_of(count, "0.62", "0.000080") for count in (239, 241)} == {239 * SIZE, 241 * SIZE}


def test_messages_that_were_counted_for_longer_are_scaled_to_the_seconds() -> None:
    assert bytes_of(250, "0.62", "0.000080") == round(80.5 * 3 * SIZE)


@pytest.mark.parametrize(("bandwidth", "rate"), [("0.00", "0.000000"), ("inf", "inf"), ("0.94", "0.000120")])
def test_a_client_without_a_clock_or_with_a_wrong_one_has_counted_for_its_seconds(bandwidth: str, rate: str) -> None:
    assert bytes_of(240, bandwidth, rate) == 240 * SIZE


def test_a_stream_that_was_counted_for_much_longer_fails_its_case() -> None:
    slow = TEXT.replace("240 ", "480 ")
    (result,) = parsed(text=slow).results
    assert (result.status, result.reason) == (
        "failed", "the stream of b: ib_write_bw counted for 5.96 s, and 3 s were asked for"
    )  # fmt: skip


def test_a_client_that_failed_is_named_with_its_host() -> None:
    (result,) = parsed(status=1).results
    assert result.status == "failed"
    assert result.reason == (
        "the stream of b: no result of this case: ib_write_bw ended with exit status 1, saying it broke"
    )


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (TEXT.replace("RDMA_Write BW", "Send BW"), "its result is of 'Send BW Test', and ib_write_bw was asked for"),
        (TEXT.replace("8192  ", "4096  ").replace("0.62", "0.31"), "4096 B were measured, and 8192 B asked for"),
        (TEXT.replace("depth        : 4", "depth        : 128"), "its queue depth is 128, and 4 was asked for"),
        (TEXT.replace("0.62", "0.65"), "0.65 is printed as the bandwidth, and its messages come to 655360 B/s"),
    ],
)
def test_a_result_of_another_test_is_refused(text: str, said: str) -> None:
    with pytest.raises(ParseError, match=said):
        parsed(text=text)


def test_a_client_that_ran_for_less_than_it_was_to_send_is_refused() -> None:
    with pytest.raises(ParseError, match="its operations come to 9 s, and it ran for 8 s"):
        parsed(lasted_ns=8 * S)


@pytest.mark.parametrize(
    ("benchmark", "parameters", "reason"),
    [
        ("many_to_one", {"mode": "rounds"}, "nobody answers ib_write_bw's streams: it has no rounds"),
        ("many_to_one", {"completion": "event"}, "ib_write_bw waits for no event where it sends for a time: it polls"),
        ("many_to_one", {"datatype": "int"}, "ib_write_bw cannot set datatype"),
        ("bandwidth", {}, "ib_write_bw has no bandwidth: perftest's other tests are the instrument perftest"),
    ],
)
def test_what_it_cannot_do_is_skipped(benchmark: str, parameters: dict[str, str], reason: str) -> None:
    case = {"benchmark": benchmark, "message_size_bytes": SIZE, "parameters": tuple(parameters.items())}
    asked = launch("ib_write_bw", "verbs", case)
    assert ib_write_bw.ADAPTER.commands(asked, PLACE) == ()
    (result,) = ib_write_bw.ADAPTER.parse(asked, []).results
    assert (result.status, result.reason) == ("skipped", reason)


def test_the_instrument_of_pairs_names_those_of_streams() -> None:
    asked = two_to_one("perftest")
    assert PAIRS.commands(asked, PLACE) == ()
    (result,) = PAIRS.parse(asked, []).results
    assert result.reason == "perftest's streams of many_to_one have instruments of their own: ib_write_bw, ib_send_bw"


def test_a_stored_server_of_a_pair_is_told_by_its_words() -> None:
    asked = launch("perftest", "verbs", {"benchmark": "write_bandwidth", "message_size_bytes": SIZE})
    commands = PAIRS.commands(asked, PLACE)
    text = TEXT.replace("depth        : 4", "depth        : 128")
    count = commands[1].argv[commands[1].argv.index("-n") + 1]
    ends = [
        Outcome(replace(one, is_server=False), 0, said.encode(), b"", 0, 90 * S)
        for one, said in zip(commands, ("nothing", text.replace("240 ", f"{count} ")), strict=True)
    ]
    assert [result.status for result in PAIRS.parse(asked, ends).results] == ["ok"]
