"""A process to start, and what came back: data only, no shell string."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Self


@dataclass(frozen=True)
class Leaving:
    """What a command makes in a service that is not ours, and what removes it."""

    what: str
    """For people, with where it is: `the folder /benchmarks/fabriscope-1f0c52aa in hdfs://nn:9000`."""
    at: str
    """The service."""
    argv: tuple[str, ...]
    """What removes it."""
    gone: str
    """Regular expression of the line of stdout, of the command or of what removes it, by which nothing is left."""


@dataclass(frozen=True)
class Command:
    """One process on one host, or one MPI job (then `rank_hosts` is not empty)."""

    argv: tuple[str, ...]
    host: str
    """Name of the host that it runs on; for an MPI job, of the host that mpirun runs on."""
    env: Mapping[str, str] = field(default_factory=dict)
    stdin: bytes | None = None
    ready_pattern: str | None = None
    """The next command starts after a line of stdout matched this regular expression; its named groups
    replace `{group}` in the argv of the commands that follow. None: the next one starts at once."""
    last_line: str | None = None
    """Regular expression of the line of stdout after which nothing of use comes. A program that does not end soon after
    it is ended by us: MPI libraries sometimes hang in MPI_Finalize. None: it is waited for."""
    is_server: bool = False
    """Ended by us once every command that is no server has ended; its exit status does not matter."""
    must_last: bool = False
    """Of a server without which the others wait in vain: once it has ended by itself they are ended too."""
    is_alone: bool = False
    """The next command starts once this one has ended, however it ended: what becomes of it is nobody else's end."""
    limit_s: float | None = None
    """One that is alone and takes longer is ended by us."""
    rank_hosts: tuple[str, ...] = ()
    """Host of each rank of an MPI job."""
    keeps_env: bool = False
    """Of an MPI job over ssh: its launcher hands none of its own variables to other hosts, so `TMPDIR` may be ours."""
    leaving: Leaving | None = None
    """What it makes in a service that is not ours. What removes that is started, on the same host, once everything has
    ended, unless the command has said itself that nothing is left."""
    most_output_bytes: int = 64 << 20
    """A program that writes more to standard output, or to standard error, is ended, and its launch fails."""

    def with_words(self, words: Mapping[str, str]) -> Self:
        """Return the command with `{name}` replaced in its argv by what an earlier one said."""
        argv = list(self.argv)
        for name, value in words.items():
            argv = [word.replace(f"{{{name}}}", value) for word in argv]
        return replace(self, argv=tuple(argv))


@dataclass(frozen=True)
class Outcome:
    """What one command did. `exit_status` is negative for the signal that ended it, None if we had to end it."""

    command: Command
    exit_status: int | None
    stdout: bytes
    stderr: bytes
    started_unix_ns: int
    elapsed_ns: int
    timed_out: bool = False
    stood_still: bool = False
    """Whether a signal kept a process of it from running when we ended it; not seen of hosts over ssh."""
    may_have_left: bool = False
    """Whether neither the command nor what removes what it makes said that nothing of it is left elsewhere."""
    left_as: str = ""
    """By which `fabriscope restore` knows what may be left."""
    is_lost: bool = False
    """Whether the connection to its host ended without a word of how the program ended: something may be left there."""

    def says(self, pattern: str) -> bool:
        """Return whether a line of what it printed matches."""
        return re.search(pattern, self.stdout.decode("utf-8", "replace"), re.MULTILINE) is not None


def left_behind(outcome: Outcome) -> str:
    """Return, for people, what a command may have left in a service, and what removes it; empty where nothing is."""
    leaving = outcome.command.leaving
    if leaving is None or not outcome.may_have_left:
        return ""
    return f"{leaving.what} may be left: `fabriscope restore {outcome.left_as}` removes that"
