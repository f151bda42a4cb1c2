"""A service that runs already, by its address: a client that looks, one that leaves nothing there, what may be left."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import replace

from fabriscope.model.command import Command, Outcome

ONLY_LOOK, ONLY_REMOVE = "fabriscope.only=look", "fabriscope.only=remove"
"""Words of the client that let it do only that."""
UNDONE = "^fabriscope: (removed |made nothing)"


def own_name(token: str) -> str:
    """Return the name of what a launch makes there, which the token of the launch makes one that nobody can guess."""
    return f"fabriscope-{hashlib.sha256(token.encode()).hexdigest()[:16]}"


def undoing(client: Command) -> Command:
    """Return the client as one that leaves nothing there, whatever ends it."""
    return replace(client, undo=(*client.argv, ONLY_REMOVE), undone=UNDONE)


def looking(client: Command) -> Command:
    """Return what asks whether the service can be used, and changes nothing."""
    return replace(client, argv=(*client.argv, ONLY_LOOK), undo=(), last_line=None)


def setting(client: Command, name: str) -> str:
    """Return one of the settings that a client was told; empty for one that it was not."""
    return next((word.partition("=")[2] for word in client.argv if word.startswith(f"{name}=")), "")


def failed(outcomes: Sequence[Outcome], reason: str, address: str, left: str) -> str:
    """Return why a launch failed, with where, and with what may be left there and how it is removed (`left`)."""
    may_have_left = any(outcome.may_have_left for outcome in outcomes)
    return f"{address}: {reason}{f'; {left}' if may_have_left else ''}"
