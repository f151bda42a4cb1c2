"""What of hosts we have changed and not put back: written down, and on the disk, before anything is changed.

One file a change. Whoever holds a change holds a lock on its file, which the kernel takes back whatever ends him: what
nobody holds was left by a crash, or is meant to stay. Nothing is executed from a folder that others could have written.
"""

from __future__ import annotations

import json
import os
import re
import secrets
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Self

from fabriscope.hosts.access import journal_files
from fabriscope.hosts.access.journal_files import brief
from fabriscope.model import caches, folders, plain_files
from fabriscope.model.errors import HostError, shown
from fabriscope.model.foreign import Foreign
from fabriscope.model.home import state_folder
from fabriscope.model.host import Host

_VERSION = 1
_MOST_BYTES = 1 << 20
_LOCK_TIMEOUT_S = 20.0


@dataclass(frozen=True)
class Change:
    """A setting of a host: how its value is read and set, and how the old one is put back."""

    what: str
    """For people: `the MTU of eth0`."""
    new: str
    """The value as it reads once it is set."""
    path: str = ""
    read_argv: tuple[str, ...] = ()
    """A program that prints the value; none where `path` tells it."""
    set_argv: tuple[str, ...] = ()
    restore_argv: tuple[str, ...] = ()
    """`{old}` in it stands for the old value."""
    survives_reboot: bool = False
    read_pattern: str = ""
    """A regular expression whose group is the value in what `read_argv` prints; empty: all of it is."""
    ended_pattern: str = ""
    """Found in why it cannot be read: the process that had the setting has ended, and the setting with it."""

    @classmethod
    def of_file(cls, what: str, path: str, new: str) -> Self:
        """Return the change of what stands in a file, such as one of /sys; of `always [never]` the choice is meant."""
        return cls(what, new, path)

    @classmethod
    def of_thing(cls, what: str, path: str, make: tuple[str, ...], remove: tuple[str, ...]) -> Self:
        """Return the making of something that is there as long as `path` is, such as a device."""
        return cls(what, "there", path, (), make, remove)

    @classmethod
    def by_commands(
        cls, what: str, read: tuple[str, ...], make: tuple[str, ...], new: str, restore: tuple[str, ...]
    ) -> Self:
        """Return a change by programs such as `ip` or `tc`; `read` prints the value, `new` once it is made."""
        return cls(what, new, "", read, make, restore)

    def value_in(self, text: str) -> str | None:
        """Return the value in what `path` or `read_argv` says, as the host's end reads it; None where it has none."""
        text = text.strip()
        if self.read_argv:
            match = re.search(self.read_pattern or r"\A([\s\S]*)\Z", text, re.MULTILINE)
            return match[1] if match else None
        words = text.split()
        chosen = [word[1:-1] for word in words if word.startswith("[") and word.endswith("]")]
        return chosen[0] if len(chosen) == 1 and len(words) > 1 else text

    def is_of_same(self, other: Change) -> bool:
        """Return whether both are of one setting, whatever they make of it."""
        mine, others = ((one.path, one.read_argv, one.read_pattern) for one in (self, other))
        return mine == others


@dataclass(frozen=True)
class Place:
    """What a setting belongs to: one boot of a host, and one network namespace there."""

    boot_id: str
    network: str


@dataclass(frozen=True)
class Entry:
    """One change in the journal."""

    name: str
    """By which it is called: eight hexadecimal digits."""
    host: Host
    change: Change
    old: str
    place: Place
    machine: str
    """Where it was made, as that machine calls itself: a home may be shared."""
    made_unix_s: int
    is_kept: bool = False
    """Whether it is to stay until somebody asks for its end."""

    @property
    def path(self) -> Path:
        """Return its file."""
        return folder() / f"{self.name}.json"

    @property
    def where(self) -> str:
        """Return what was changed, and on which host, for people."""
        return brief(f"{self.change.what} on {self.host.name}")

    def held(self) -> AbstractContextManager[bool]:
        """Hold it for the block, and yield whether it is ours now; not if somebody holds it, or it is gone."""
        return journal_files.held(self.path)

    def keep(self) -> None:
        """Write down that it is to stay."""
        os.close(_write(replace(self, is_kept=True)))

    def drop(self) -> None:
        """Take it out of the journal: it is undone, or somebody else's now."""
        journal_files.drop(self.path)


def folder() -> Path:
    """Return the journal's folder, which need not be there."""
    return state_folder() / "changes"


_of_this_process: set[str] = set()
"""The entries that were written here."""


def record(host: Host, change: Change, old: str, place: Place) -> tuple[Entry, int]:
    """Write a change down before it is made; return its entry, and the descriptor by which we hold it.

    Raises HostError where the same setting is changed already, and nobody has put it back.
    """
    entry = Entry(secrets.token_hex(4), host, change, old, place, os.uname().nodename, int(time.time()))
    journal_files.trust(folder(), folders.private_folder)
    with caches.locked(folder() / "lock", _LOCK_TIMEOUT_S, HostError):
        for other in entries():
            if other.place != place or not other.change.is_of_same(change):
                continue
            with other.held() as is_ours:
                if is_ours and other.old == old:  # undone since by somebody else
                    other.drop()
                    continue
            fix = f"`fabriscope restore {other.name}` puts it back" if is_ours else "wait until it has ended"
            whose = "by a fabriscope that has ended" if is_ours else "by a fabriscope that runs"
            raise HostError(f"{entry.where} is changed already, {whose}", fix=fix)
        held_by = _write(entry)
    _of_this_process.add(entry.name)
    return entry, held_by


def refuse_held(host: Host, change: Change, place: Place) -> None:
    """Raise HostError where another process holds a setting at the value that is wanted, and will put it back."""
    others = (one for one in entries() if one.name not in _of_this_process)
    for other in (one for one in others if one.place == place and one.change.is_of_same(change)):
        with other.held() as is_ours:
            if not is_ours and other.path.exists():
                what = f"{brief(f'{change.what} on {host.name}')} is changed already, by a fabriscope that runs"
                raise HostError(what, fix="wait until it has ended")


def entries(notice: Callable[[str], None] | None = None) -> list[Entry]:
    """Return the journal, the latest change first; `notice` is told of what is damaged, a sentence each."""

    def damaged(why: str, path: Path) -> None:
        if notice is not None:
            what = f"this change cannot be put back, its entry in the journal is damaged: {why}"
            notice(HostError(what, where=str(path), fix=f"`cat {path}`, put right what it names, remove it").sentence())

    read = journal_files.read_all(folder(), folders.problem, _read, damaged)
    return sorted(read, key=lambda entry: entry.made_unix_s, reverse=True)


def forget(change: Change) -> None:
    """Take what the journal has of a setting of this machine out of it: it was undone in another way."""
    for entry in entries():
        if entry.change.is_of_same(change) and not entry.host.access and entry.machine == os.uname().nodename:
            entry.drop()


def _write(entry: Entry) -> int:
    """Put an entry on the disk, and return the descriptor by which its file is locked. Raises HostError."""
    host = {"name": entry.host.name, "access": entry.host.access, "kind": entry.host.kind}
    text = json.dumps({"version": _VERSION, **asdict(replace(entry, host=Host(""))), "host": host}, indent=1)
    return journal_files.write(entry.path, text, f"{entry.where} is not changed")


def _read(path: Path) -> Entry:
    """Return what a file of the journal says; raises OSError or HostError."""
    part = Foreign.json(plain_files.own(path, _MOST_BYTES), str(path), error=HostError)
    if (version := part.at("version").whole()) != _VERSION:
        raise HostError(f"it is of version {version}, and this fabriscope reads version {_VERSION}")
    if (name := part.at("name").text()) != path.stem:
        raise HostError(f"it is of another change, {shown(name)}")
    host, place = part.at("host"), part.at("place")
    return Entry(
        name=name,
        host=Host(host.at("name").text(), host.at("access").texts(), kind=host.at("kind").text()),
        change=_change(part.at("change")),
        old=part.at("old").text(),
        place=Place(place.at("boot_id").text(), place.at("network").text()),
        machine=part.at("machine").text(),
        made_unix_s=part.at("made_unix_s").whole(),
        is_kept=part.at("is_kept").flag(),
    )


def _change(part: Foreign) -> Change:
    return Change(
        what=part.at("what").text(),
        new=part.at("new").text(),
        path=part.at("path").text(),
        read_argv=part.at("read_argv").texts(),
        set_argv=part.at("set_argv").texts(),
        restore_argv=part.at("restore_argv").texts(),
        survives_reboot=part.at("survives_reboot").flag(),
        read_pattern=pattern.text() if (pattern := part.get("read_pattern")) is not None else "",
        ended_pattern=ended.text() if (ended := part.get("ended_pattern")) is not None else "",
    )
