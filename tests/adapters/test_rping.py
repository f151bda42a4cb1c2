"""rping prints no time: what it says of one ping and of many, recorded on guests, and what is made of their times."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from tests.adapters.test_foreign import ADAPTERS, CONTEXT, launch, ping_pong

from fabriscope.model.command import Command, Outcome
from fabriscope.model.errors import ParseError
from fabriscope.model.measurement import CaseResult, Launch, ParsedLaunch

DATA = Path(__file__).parent / "data" / "rping"
ONE, MANY, SAID = ((DATA / name).read_bytes() for name in ("one.stdout", "many.stdout", "many.stderr"))
REFUSED = (DATA / "refused.stderr").read_bytes()
RPING = ADAPTERS.get("rping")
ONE_NS, PING_NS = 900_000_000, 250_000
PROGRAMS = replace(CONTEXT, programs={"rping": "/x/rping"})


def commands_of(asked: Launch) -> list[Command]:
    return list(RPING.commands(asked, PROGRAMS))


def pinged(size: int) -> bytes:
    """Return what a client of one ping says: its message without the last byte, which ends it."""
    said = b"rdma-ping-0: "
    letters = bytes(range(ord("A"), ord("z") + 1)) * (size // 58 + 1)
    return b"ping data: " + said + letters[: size - 1 - len(said)] + b"\nended\n"


def answered(command: Command) -> Outcome:
    """Return what a command says where all is well, and how long it takes."""
    count = int(command.argv[command.argv.index("-C") + 1]) if "-C" in command.argv else 0
    stdout = b"" if command.is_server or not count else MANY
    if count == 1 and not command.is_server:
        stdout = pinged(int(command.argv[command.argv.index("-S") + 1]))
    return Outcome(command, 0, stdout, SAID if count else b"", 0, ONE_NS + (count - 1) * PING_NS)


def parsed(asked: Launch, outcomes: list[Outcome]) -> ParsedLaunch:
    found: ParsedLaunch = RPING.parse(asked, outcomes)
    return found


def test_one_ping_and_many_for_each_case() -> None:
    asked = launch("rping", "verbs", ping_pong(64), ping_pong(4096), budget_ns=400_000_000)
    commands = commands_of(asked)
    rpings = [command for command in commands if "/x/rping" in command.argv]
    assert [" ".join(one.argv[one.argv.index("/x/rping") :]) for one in rpings] == [
        "/x/rping -s -a 10.0.0.2 -p 18815 -C 1 -S 64 -V",
        "/x/rping -c -I 10.0.0.1 -a 10.0.0.2 -p 18815 -C 1 -S 64 -V -v",
        "/x/rping -s -a 10.0.0.2 -p 18816 -C 400 -S 64 -V",
        "/x/rping -c -I 10.0.0.1 -a 10.0.0.2 -p 18816 -C 400 -S 64 -V",
        "/x/rping -s -a 10.0.0.2 -p 18817 -C 1 -S 4096 -V",
        "/x/rping -c -I 10.0.0.1 -a 10.0.0.2 -p 18817 -C 1 -S 4096 -V -v",
        "/x/rping -s -a 10.0.0.2 -p 18818 -C 400 -S 4096 -V",
        "/x/rping -c -I 10.0.0.1 -a 10.0.0.2 -p 18818 -C 400 -S 4096 -V",
    ]
    assert [command.host for command in commands] == ["b", "b", "a"] * 4
    assert [command.argv[-1] for command in commands if command.ready_pattern == "listening"] == [
        "18815", "18816", "18817", "18818",
    ]  # fmt: skip


def test_a_ping_takes_what_many_take_longer_than_one() -> None:
    asked = launch("rping", "verbs", ping_pong(64), ping_pong(4096))
    found = parsed(asked, [answered(command) for command in commands_of(asked)])
    assert [result.status for result in found.results] == ["ok", "ok"]
    assert [(block.quantity, *block.values) for block in found.blocks] == [("rdma_ping_time_ns_mean", PING_NS)] * 2


def result_of(asked: Launch, outcomes: list[Outcome]) -> CaseResult:
    found = parsed(asked, outcomes)
    assert found.blocks == ()
    return found.results[0]


def test_what_fails_says_why() -> None:
    asked = launch("rping", "verbs", ping_pong(64))
    good = [answered(command) for command in commands_of(asked)]
    refused = [*good[:2], replace(good[2], exit_status=255, stdout=b"ended\n", stderr=REFUSED)]
    assert "RDMA_CM_EVENT_REJECTED" in str(result_of(asked, refused).reason)
    assert "was not started" in str(result_of(asked, good[:4]).reason)
    silent = [*good[:2], replace(good[2], stdout=b"ended\n"), *good[3:]]
    assert "shows no data" in str(result_of(asked, silent).reason)
    sudden = [*good[:5], replace(good[5], elapsed_ns=ONE_NS - 1)]
    assert "took no longer than one" in str(result_of(asked, sudden).reason)
    assert result_of(asked, []).status == "failed"


@pytest.mark.parametrize(
    ("case", "reason"),
    [
        (ping_pong(22), "rping's messages have 23 to 65535 bytes"),
        (ping_pong(65536), "rping's messages have 23 to 65535 bytes"),
        ({**ping_pong(64), "parameters": (("queue_depth", "8"),)}, "rping cannot set queue_depth"),
        ({"benchmark": "bandwidth", "message_size_bytes": 64}, "rping has no bandwidth"),
    ],
)
def test_what_rping_cannot_be_asked_for(case: dict[str, object], reason: str) -> None:
    asked = launch("rping", "verbs", case)
    assert commands_of(asked) == []
    assert parsed(asked, []).results == (CaseResult(asked.cases[0].case_id, "skipped", reason),)


def test_a_ping_is_shown_as_it_was_recorded() -> None:
    assert pinged(64) == ONE


@pytest.mark.parametrize("size", [23, 1013, 1014, 4096, 65535])
def test_pings_of_any_size_are_seen(size: int) -> None:
    asked = launch("rping", "verbs", ping_pong(size))
    found = parsed(asked, [answered(command) for command in commands_of(asked)])
    assert [result.status for result in found.results] == ["ok"]


def test_data_of_another_size_than_was_sent_are_no_ping() -> None:
    asked = launch("rping", "verbs", ping_pong(4096))
    said = [answered(command) for command in commands_of(asked)]
    said = [replace(one, stdout=pinged(2048)) if one.stdout.startswith(b"ping data") else one for one in said]
    with pytest.raises(ParseError, match="line 1: 2048 B came back, and 4096 B were sent"):
        parsed(asked, said)
