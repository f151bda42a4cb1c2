"""What OSU's programs say is set against the time that they ran, and percentiles against their iterations."""

from __future__ import annotations

from typing import Any

import pytest
from tests.adapters import test_osu as osu
from tests.adapters.test_osu_options import NON_BLOCKING, TAILS, TIMED

from fabriscope.adapters.osu import ADAPTER
from fabriscope.model.command import Command, Outcome
from fabriscope.model.errors import ParseError
from fabriscope.model.measurement import Launch, ParsedLaunch

WAYS = osu.BANDWIDTH.replace("OSU MPI Bandwidth", "OSU MPI Bi-Directional Bandwidth")


def read(asked: Launch, text: str, iterations: int, ran_s: float) -> ParsedLaunch:
    command = Command(("osu", "-i", str(iterations)), "a")
    return ADAPTER.parse(asked, [Outcome(command, 0, text.encode(), b"", 0, round(ran_s * 1e9))])


def test_a_latency_that_no_run_of_that_length_had_fails_the_launch() -> None:
    asked = osu.launch(osu.of("ping_pong", 8), osu.of("ping_pong", 16))
    text = TIMED.replace(" 1.00\n", " 99999999.00\n")
    with pytest.raises(ParseError, match=r"osu_latency: its operations come to 2e\+04 s, and it ran for 0\.4 s"):
        read(asked, text, 100, 0.4)
    assert [one.status for one in read(asked, TIMED, 100, 0.4).results] == ["ok", "ok"]


@pytest.mark.parametrize(
    ("asked", "text", "iterations", "least_s"),
    [
        (osu.launch(osu.of("ping_pong", 8), osu.of("ping_pong", 16)), TIMED, 10**6, 6),  # two ways, both rows
        (osu.launch(osu.of("bandwidth", 1024, window=64)), osu.BANDWIDTH, 10**4, 64 * 1024 * 10**4 / 117.25e6),
        (
            osu.launch(osu.of("bidirectional_bandwidth", 1024, window=64)), WAYS, 10**4,
            2 * 64 * 1024 * 10**4 / 117.25e6,
        ),
        (osu.launch(osu.of("message_rate", 64, window=64), ranks="abcd"), osu.RATES, 10**4, 12.8),
        (osu.launch(osu.of("allreduce", 1024)), osu.REDUCE.format(type="MPI_FLOAT"), 10**6, 30),
        (osu.launch(osu.of("barrier")), osu.BARRIER, 10**6, 20),
        (osu.launch(osu.of("iallreduce", 8)), NON_BLOCKING, 10**6, 15.5),  # alone, then beside a computation
    ],
)  # fmt: skip
def test_every_test_takes_the_time_that_its_rows_say(asked: Launch, text: str, iterations: int, least_s: float) -> None:
    read(asked, text, iterations, least_s)
    with pytest.raises(ParseError, match=f"come to {least_s:.3g} s"):
        read(asked, text, iterations, least_s / 1.05 - 0.15)


@pytest.mark.parametrize(("iterations", "kept"), [(1000, ("", "_p90", "_p99")), (999, ("", "_p90")), (19, ())])
def test_a_percentile_that_so_few_iterations_do_not_tell_is_not_kept(iterations: int, kept: tuple[str, ...]) -> None:
    blocks: Any = read(osu.launch(osu.of("ping_pong", 8)), TAILS, iterations, 60).blocks
    assert {block.quantity for block in blocks} == {
        "latency_ns_separate_mean", *(f"latency_ns_separate{end}" for end in kept)
    }  # fmt: skip
