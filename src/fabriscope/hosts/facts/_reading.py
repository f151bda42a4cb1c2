"""What a group of facts is: what it needs to read of a host, and what it makes of that."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from fabriscope.hosts.access.reading import Reading, Value, plain_value
from fabriscope.model.host import Fact


class FactGroup(Protocol):
    """One group of facts: what it needs to read, and what it makes of that."""

    @property
    def name(self) -> str:
        """Return the first part of its facts' names."""

    @property
    def globs(self) -> Sequence[str]:
        """Return the files to read, as patterns."""

    @property
    def links(self) -> Sequence[str]:
        """Return the symbolic links to read, as patterns."""

    @property
    def commands(self) -> Sequence[tuple[str, ...]]:
        """Return the programs to run, as `Wanted.commands` has them."""

    def facts(self, reading: Reading) -> list[Fact]:
        """Return the facts; an unknown keeps its reason."""


@dataclass(frozen=True)
class Group:
    """A group made of a function."""

    name: str
    facts: Callable[[Reading], list[Fact]]
    globs: tuple[str, ...] = ()
    links: tuple[str, ...] = ()
    commands: tuple[tuple[str, ...], ...] = ()


def is_down(reading: Reading, interface: str) -> bool:
    """Return whether the kernel calls an interface down: then no program is asked of it."""
    return reading.files.get(f"/sys/class/net/{interface}/operstate", "").strip() == "down"


def kib_to_bytes(text: str) -> int:
    """Return bytes from the kernel's `16384 kB`, which means KiB."""
    return int(text.split()[0]) * 1024


def chosen(text: str) -> str:
    """Return `madvise` from `always [madvise] never`."""
    match = re.search(r"\[(\S+)\]", text)
    if match is None:
        raise ValueError("no choice is marked")
    return match[1]


def key_values(text: str, separator: str = ":") -> dict[str, str]:
    """Return the lines `key: value` of a text; of several with one key the first."""
    pairs: dict[str, str] = {}
    for line in text.splitlines():
        key, found, value = line.partition(separator)
        if found:
            pairs.setdefault(key.strip(), value.strip())
    return pairs


def looked_up(name: str, pairs: Mapping[str, str], key: str, convert: Callable[[str], Value] = str) -> Fact:
    """Return the fact under a key of `key_values`."""
    if pairs.get(key) in (None, "", "n/a"):
        return Fact(name, None, f"{key!r} is not told", is_offered=key not in pairs)
    try:
        return Fact(name, plain_value(convert(pairs[key]), pairs[key]))
    except (ValueError, LookupError, ArithmeticError) as error:
        return Fact(name, None, f"{key!r} is {pairs[key][:60]!r}: {error}")
