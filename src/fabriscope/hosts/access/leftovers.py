"""What a launch makes in a service that is not ours: written down, with what removes it, before it is made.

One file each, which the fabriscope that runs the launch holds by a lock (`journal_files`), and which goes once the
thing is gone. It has a name drawn at random that stands here before anything of that name is made: so it is ours.
"""

from __future__ import annotations

import json
import os
import secrets
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from fabriscope.hosts.access import journal_files
from fabriscope.hosts.access.journal_files import brief
from fabriscope.model import folders, plain_files
from fabriscope.model.command import Leaving
from fabriscope.model.errors import HostError, shown
from fabriscope.model.foreign import Foreign
from fabriscope.model.home import state_folder
from fabriscope.model.host import Host

_VERSION = 1
_MOST_BYTES = 1 << 20


@dataclass(frozen=True)
class Leftover:
    """What one launch makes, or has left."""

    name: str
    """By which it is called: eight hexadecimal digits."""
    host: Host
    """From which it is removed."""
    leaving: Leaving
    machine: str
    """Where it was written down, as that machine calls itself: a home may be shared."""
    made_unix_s: int

    @property
    def path(self) -> Path:
        """Return its file."""
        return folder() / f"{self.name}.json"

    @property
    def where(self) -> str:
        """Return what it is, for people."""
        return brief(self.leaving.what)

    def held(self) -> AbstractContextManager[bool]:
        """Hold it for the block, and yield whether it is ours now; not if somebody holds it, or it is gone."""
        return journal_files.held(self.path)

    def drop(self) -> None:
        """Take it out of the journal: the thing is gone."""
        journal_files.drop(self.path)


def folder() -> Path:
    """Return the folder of what may be left, which need not be there."""
    return state_folder() / "left"


def record(host: Host, leaving: Leaving) -> tuple[Leftover, int]:
    """Write down what is about to be made; return it, and the descriptor by which we hold it. Raises HostError."""
    entry = Leftover(secrets.token_hex(4), host, leaving, os.uname().nodename, int(time.time()))
    journal_files.trust(folder(), folders.private_folder)
    about_host = {"name": host.name, "access": host.access, "kind": host.kind}
    about = {"version": _VERSION, **asdict(replace(entry, host=Host(""))), "host": about_host}
    return entry, journal_files.write(entry.path, json.dumps(about, indent=1), f"{entry.where} is not made")


def entries(notice: Callable[[str], None] | None = None) -> list[Leftover]:
    """Return what is written down, the latest first; `notice` is told of what is damaged, a sentence each."""

    def damaged(why: str, path: Path) -> None:
        if notice is not None:
            what = f"what a launch has left cannot be removed, its entry in the journal is damaged: {why}"
            notice(HostError(what, where=str(path), fix=f"`cat {path}`, put right what it names, remove it").sentence())

    read = journal_files.read_all(folder(), folders.problem, _read, damaged)
    return sorted(read, key=lambda entry: entry.made_unix_s, reverse=True)


def _read(path: Path) -> Leftover:
    """Return what a file says; raises OSError or HostError."""
    part = Foreign.json(plain_files.own(path, _MOST_BYTES), str(path), error=HostError)
    if (version := part.at("version").whole()) != _VERSION:
        raise HostError(f"it is of version {version}, and this fabriscope reads version {_VERSION}")
    if (name := part.at("name").text()) != path.stem:
        raise HostError(f"it is of another one, {shown(name)}")
    host, leaving = part.at("host"), part.at("leaving")
    return Leftover(
        name=name,
        host=Host(host.at("name").text(), host.at("access").texts(), kind=host.at("kind").text()),
        leaving=Leaving(
            what=leaving.at("what").text(),
            at=leaving.at("at").text(),
            argv=leaving.at("argv").texts(),
            gone=leaving.at("gone").text(),
        ),
        machine=part.at("machine").text(),
        made_unix_s=part.at("made_unix_s").whole(),
    )
