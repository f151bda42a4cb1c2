"""A service that runs already, by its address: a client that looks, one that leaves nothing there, what may be left."""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import replace

from fabriscope.adapters._services import what_failed
from fabriscope.adapters.base import AdapterContext
from fabriscope.model.command import Command, Leaving, Outcome, left_behind
from fabriscope.model.measurement import Launch

ONLY_LOOK, ONLY_REMOVE = "fabriscope.only=look", "fabriscope.only=remove"
"""Words of the client that let it do only that."""
GONE = "^fabriscope: (removed |made nothing)"


class Asking(ABC):
    """An instrument whose service a launch starts, or which runs already; then it is asked before the first launch."""

    @abstractmethod
    def commands(self, launch: Launch, context: AdapterContext) -> tuple[Command, ...]:
        """Return the daemons, and the client; the client alone where the service runs already."""

    def look(self, launch: Launch, context: AdapterContext) -> Command | None:
        """Return what asks whether a service that runs can be used, and changes nothing; None where it is ours."""
        if "at" not in launch.cases[0].parameter_map:
            return None
        (client,) = self.commands(launch, context)
        return replace(client, argv=(*client.argv, ONLY_LOOK), leaving=None, last_line=None)

    def refused(self, outcome: Outcome) -> str | None:
        """Return why a service cannot be used, by what `look` came to; None where it can."""
        return what_failed((), [outcome], "what asks it")


def own_name(token: str) -> str:
    """Return the name of what a launch makes there, which the token of the launch makes one that nobody can guess."""
    return f"fabriscope-{hashlib.sha256(token.encode()).hexdigest()[:16]}"


def leaving(client: Command, what: str, address: str) -> Command:
    """Return the client as one of which nothing stays there, whatever ends it; `what` it makes is written down."""
    return replace(client, leaving=Leaving(f"{what} in {address}", address, (*client.argv, ONLY_REMOVE), GONE))


def setting(client: Command, name: str) -> str:
    """Return one of the settings that a client was told; empty for one that it was not."""
    return next((word.partition("=")[2] for word in client.argv if word.startswith(f"{name}=")), "")


def failed(outcomes: Sequence[Outcome], reason: str, address: str, otherwise: str) -> str:
    """Return why a launch failed, with where, and with what may be left there and how it is removed.

    `otherwise` is what removes it without us.
    """
    left = [f"; {left_behind(outcome)}, and so does {otherwise}" for outcome in outcomes if outcome.may_have_left]
    return f"{address}: {reason}{''.join(left)}"
