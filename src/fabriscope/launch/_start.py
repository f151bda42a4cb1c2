"""How a command begins on its host: what is executed here, with which variables, and what it is fed."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field

from fabriscope.model.command import Command
from fabriscope.model.host import Host

SECRET_VARIABLES = frozenset({"FABRISCOPE_TOKEN"})

# The first lines of standard input are the secrets' values; `read` takes no byte beyond its line.
_READ_SECRETS = 'for name in {names}; do IFS= read -r "$name"; export "$name"; done; exec "$@"'


@dataclass(frozen=True)
class Start:
    """What is executed on the machine that we are on."""

    argv: tuple[str, ...]
    env: Mapping[str, str] = field(default_factory=dict)
    """Variables added to our own environment."""
    stdin: bytes | None = None


def start_of(command: Command, host: Host) -> Start:
    """Return how the command is started on the host.

    The lab's `nsenter` keeps the environment. A remote shell does not, and it joins its words into one line of
    shell: there, plain variables travel by `env`, and secrets as the first lines of standard input, since
    every user of a machine can read every argv.
    """
    if not host.access or host.kind != "machine":
        return Start((*host.access, *command.argv), command.env, command.stdin)
    plain = [f"{name}={value}" for name, value in command.env.items() if name not in SECRET_VARIABLES]
    secrets = [name for name in command.env if name in SECRET_VARIABLES]
    argv = ["env", *plain, *command.argv] if plain else list(command.argv)
    stdin = command.stdin
    if secrets:
        argv = ["sh", "-c", _READ_SECRETS.format(names=" ".join(secrets)), "sh", *argv]
        head = "".join(f"{command.env[name]}\n" for name in secrets).encode()
        stdin = head + (command.stdin or b"")
    return Start((*host.access, shlex.join(argv)), {}, stdin)
