"""How long a launch may take, and stand still."""

from __future__ import annotations

import pytest

from fabriscope.model.command import Command
from fabriscope.running.launch_limits import SETTLE_S, launch_limit_s, stopped_limit_s

S = 10**9


@pytest.mark.parametrize(
    ("limits_s", "expected_s"),
    [((None,), 2 * 3 + 5), ((), 2 * 3 + 5), ((4.0, None, 2.0), 2 * 3 + 5), ((30.0, 40.0), 70)],
)
def test_a_launch_has_its_time_or_that_of_its_commands(limits_s: tuple[float | None, ...], expected_s: float) -> None:
    commands = [Command(("x",), "here", limit_s=limit_s) for limit_s in limits_s]
    assert launch_limit_s(3 * S, 5 * S, commands) == expected_s + SETTLE_S


def test_a_stopped_program_is_waited_for_as_long_as_a_watchdog_speaks_and_not_as_a_launch_settles() -> None:
    for case_timeout_s in (1, 5, 30):
        least_s = case_timeout_s + 2  # engine/src/session.cc: a rank waits so much longer than rank 0
        assert least_s < stopped_limit_s(case_timeout_s * S) < launch_limit_s(0, case_timeout_s * S, [])
