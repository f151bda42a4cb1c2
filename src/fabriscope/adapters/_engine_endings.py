"""How the engine's ranks ended, in words."""

from __future__ import annotations

from collections.abc import Sequence

from fabriscope.model.command import Outcome

_STDERR_LINES_KEPT = 5
_SHELL_ADDS, _LAST_SIGNAL = 128, 64


def killed(outcomes: Sequence[Outcome]) -> str:
    """Return which ranks a signal of somebody else's ended or stopped: then a peer that was waited for has a name."""
    return "".join(
        f"; {_ending(rank, one)}" for rank, one in enumerate(outcomes) if one.stood_still or _signal(one) is not None
    )


def ended_badly(outcomes: Sequence[Outcome]) -> str:
    """Return how rank 0 ended, and each other one that ended badly."""
    return "; ".join(_ending(rank, one) for rank, one in enumerate(outcomes) if rank == 0 or one.exit_status != 0)


def ended_before(outcomes: Sequence[Outcome]) -> str:
    """Return how other ranks ended for which rank 0 was then ended by us; nothing where it was not.

    What rank 0 says of itself is our signal then, and no reason.
    """
    if outcomes[0].exit_status is not None or outcomes[0].timed_out:
        return ""
    return "; ".join(_ending(rank, one) for rank, one in enumerate(outcomes) if one.exit_status)


def _signal(outcome: Outcome) -> int | None:
    """Return the signal that ended a program, also as a shell on its host tells it: 128 more."""
    status = outcome.exit_status or 0
    if status < 0:
        return -status
    return status - _SHELL_ADDS if _SHELL_ADDS < status <= _SHELL_ADDS + _LAST_SIGNAL else None


def _ending(rank: int, outcome: Outcome) -> str:
    if outcome.stood_still:
        how = "stood still, stopped by a signal"
    elif outcome.timed_out:
        how = "did not end in time"
    elif outcome.exit_status is None:
        how = "was ended by us"
    elif (signal := _signal(outcome)) is not None:
        how = f"was ended by signal {signal}"
    else:
        how = f"ended with exit status {outcome.exit_status} before its footer"
    lines = [line.strip() for line in outcome.stderr.decode("utf-8", "replace").splitlines() if line.strip()]
    said = f", saying: {' | '.join(lines[-_STDERR_LINES_KEPT:])}" if lines else ", saying nothing"
    who = "the engine" if outcome.command.rank_hosts or rank == 0 else f"the engine of rank {rank}"
    return f"{who} on {outcome.command.host} {how}{said}"
