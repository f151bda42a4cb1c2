"""How a host is reached: the words of `ssh`, and the folder of the connections that are shared.

The user's own ssh configuration decides users, ports, keys and jump hosts, because we call the `ssh` program. Ours are
only the options below; the words that a user gives (`$FABRISCOPE_SSH`, or `ssh:` in a plan) stand before them, and of
two values for one option ssh takes the first.

ClusterShell and execnet were looked at. ClusterShell's tree needs ClusterShell installed on every gateway, and its flat
worker is a pool of ssh processes that cannot end what runs on a host. execnet installs nothing and chains gateways, but
a program that it starts is not ended when we are killed, and a gateway runs threads of its own beside the measurement.
What is left to write, the words here, a guard and a relay, is less than what would be left to write around either.
"""

from __future__ import annotations

import os
import secrets
import shlex
import shutil
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Self

from fabriscope.hosts.access.sent import PYTHON_WORDS
from fabriscope.launch._guard import end_watcher, start_watcher, temporary_root
from fabriscope.launch.on_host import temporary
from fabriscope.model.errors import HostError, shown

COMMAND_VARIABLE = "FABRISCOPE_SSH"
CONNECT_TIMEOUT_S = 10

_OPTIONS = {
    "BatchMode": "yes",  # no question is ever asked: nobody would answer
    "ConnectTimeout": str(CONNECT_TIMEOUT_S),
    "ServerAliveInterval": "5",
    "ServerAliveCountMax": "3",
    "RequestTTY": "no",
    "RemoteCommand": "none",
    "ClearAllForwardings": "yes",  # the user's own forwardings belong to his own sessions
    "LogLevel": "ERROR",
}
_MAX_SOCKET_CHARACTERS = 80
"""ssh adds 17 while it binds, and Linux takes 107."""


@dataclass(frozen=True)
class Ssh:
    """The ssh that reaches the hosts of a run."""

    command: tuple[str, ...] = ("ssh",)
    """From this machine."""
    between_hosts: tuple[str, ...] = ("ssh",)
    """From host to host: for MPI's own launchers, and for relays."""
    folder: Path | None = None
    """Where shared connections have their sockets; None: none is shared."""

    def to(self, host: str, *, is_first: bool = False) -> tuple[str, ...]:
        """Return the words that reach a host; the first connection to it carries the later ones."""
        shared = {}
        if self.folder is not None:
            shared = {"ControlMaster": "yes" if is_first else "no", "ControlPath": str(self._socket(host))}
        return (*self.command, *_words({**_OPTIONS, **shared, "ControlPersist": "no"}), "--", host)

    def to_below(self, host: str) -> tuple[str, ...]:
        """Return the words that reach a host from another host."""
        return (*self.between_hosts, *_words(_OPTIONS), "--", host)

    def _socket(self, host: str) -> Path:
        assert self.folder is not None  # noqa: S101 - asked by the caller
        return self.folder / f"{abs(hash(host)):x}"


def _words(options: dict[str, str]) -> list[str]:
    return [word for name, value in options.items() for word in ("-o", f"{name}={value}")]


def on_host(access: Sequence[str]) -> tuple[str, ...]:
    """Return the words that start a program which comes as text on standard input, on a host reached by `access`."""
    return (*access, shlex.join(PYTHON_WORDS))


def chosen(command: str | None = None, between_hosts: str | None = None) -> Ssh:
    """Return the ssh that the environment, else the plan, names; raises HostError for what is no command."""
    words = os.environ.get(COMMAND_VARIABLE) or command or "ssh"
    return Ssh(split(words), split(between_hosts or "ssh"))


def split(words: str) -> tuple[str, ...]:
    """Return the words of a command that is written as a shell reads it; raises HostError."""
    try:
        found = tuple(shlex.split(words))
    except ValueError as error:
        raise HostError(f"{shown(words)} cannot be split into words: {error}", fix="close the quotes") from error
    if not found:
        raise HostError(f"{shown(words)} names no program", fix="write it like 'ssh -F my_config'")
    return found


class ControlFolder:
    """A private folder for the sockets of shared connections; it goes with us, whatever ends us."""

    def __init__(self) -> None:
        root = temporary_root()
        if len(str(root)) > _MAX_SOCKET_CHARACTERS - 40:
            root = Path("/tmp")  # noqa: S108 - the folder in it has a random name, and is ours alone
        self.path = root / f"fabriscope-ssh-{secrets.token_hex(4)}"
        script = 'while read -r _; do :; done; rm -rf -- "$1"'
        self._keeper = start_watcher(script, "fabriscope-ssh", str(self.path))
        try:
            # Now that the keeper knows of it: should we be killed here, it goes too.
            self._held = temporary.make_held(str(self.path))
        except BaseException:
            end_watcher(self._keeper)
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        end_watcher(self._keeper)
        shutil.rmtree(self.path, ignore_errors=True)
        os.close(self._held)

    def of(self, ssh: Ssh) -> Ssh:
        """Return the same ssh with its connections shared through this folder."""
        return replace(ssh, folder=self.path)
