"""Other people's programs have one kind of buffers: a case that asks for another is skipped, with the reason."""

from __future__ import annotations

import pytest
from tests.adapters.test_foreign import ADAPTERS, launch

BUFFERS = ("same", "separate", "rotating")


@pytest.mark.parametrize(
    ("program", "layer", "benchmark", "own"),
    [
        ("netpipe", "tcp", "ping_pong", "same"),
        ("qperf", "tcp", "ping_pong", "same"),
        ("sockperf", "tcp", "ping_pong", "same"),
        ("qperf", "tcp", "bandwidth", "separate"),
        ("sockperf", "tcp", "bandwidth", "separate"),
        ("iperf3", "tcp", "bandwidth", "separate"),
        ("perftest", "verbs", "ping_pong", "separate"),
        ("imb", "mpi", "ping_pong", "separate"),
    ],
)
def test_a_program_is_asked_for_its_own_buffers_alone(program: str, layer: str, benchmark: str, own: str) -> None:
    for buffers in BUFFERS:
        case = {"benchmark": benchmark, "message_size_bytes": 64, "parameters": (("buffers", buffers),)}
        (result,) = ADAPTERS.get(program).parse(launch(program, layer, case), []).results
        reason = result.reason or ""
        assert ("the buffers" in reason) == (buffers != own), reason
        if buffers != own:
            assert result.status == "skipped"
            assert reason.endswith(f"the buffers {own}, not {buffers}")
