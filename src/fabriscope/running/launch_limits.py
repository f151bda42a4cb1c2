"""How long a launch may take, and stand still, before it is ended."""

from __future__ import annotations

from collections.abc import Sequence

from fabriscope.model.command import Command

SETTLE_S = 60.0
"""Grace beyond twice the expected time and one case's time-out before a launch is ended. It is twice what the engine's
watchdog grants to opening, so that on a busy machine the watchdog speaks first, which knows the case."""
STOPPED_S = 5.0
"""Grace beyond one case's time-out before a launch is ended in which a signal keeps a program from running. Another
rank's watchdog speaks up to 2 s after the time-out, and knows the case."""


def launch_limit_s(expected_ns: int, case_timeout_ns: int, commands: Sequence[Command]) -> float:
    """Return the limit of a launch, some commands of which may have limits of their own and follow each other."""
    of_commands_s = sum(command.limit_s for command in commands if command.limit_s is not None)
    return max((2 * expected_ns + case_timeout_ns) / 1e9, of_commands_s) + SETTLE_S


def stopped_limit_s(case_timeout_ns: int) -> float:
    """Return how long a signal may keep a program of a launch from running."""
    return case_timeout_ns / 1e9 + STOPPED_S
