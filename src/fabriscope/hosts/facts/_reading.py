"""What a host's files and programs said, and how a fact is made of it."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from fabriscope.model.foreign import MOST_INT
from fabriscope.model.host import Fact

Value = str | int | float | bool


@dataclass(frozen=True)
class Output:
    """What a program said."""

    exit_status: int
    stdout: str
    stderr: str


@dataclass(frozen=True)
class Reading:
    """Everything that was read from one host."""

    files: Mapping[str, str] = field(default_factory=dict)
    links: Mapping[str, str] = field(default_factory=dict)
    problems: Mapping[str, str] = field(default_factory=dict)
    """Path or command line to the reason why it could not be read."""
    outputs: Mapping[str, Output] = field(default_factory=dict)

    def fact(self, name: str, path: str, convert: Callable[[str], Value] = str) -> Fact:
        """Return the fact that a file holds; unknown with its reason if it cannot be read or converted."""
        if path not in self.files:
            return Fact(name, None, f"{path}: {self.problems.get(path, 'not there')}")
        text = self.files[path].strip()
        try:
            return Fact(name, _plain(convert(text), text))
        except (ValueError, LookupError, ArithmeticError) as error:
            return Fact(name, None, f"{path} says {text[:60]!r}: {error}")

    def output(self, command: str) -> tuple[str, str | None]:
        """Return a program's standard output, or an empty text and why there is none."""
        if command not in self.outputs:
            return "", self.problems.get(command, "it was not run")
        output = self.outputs[command]
        if output.exit_status != 0:
            said = (output.stderr or output.stdout).strip().splitlines() or ["nothing"]
            return "", f"`{command}` ended with exit status {output.exit_status}: {said[-1]}"
        return output.stdout, None

    def names_under(self, folder: str) -> list[str]:
        """Return the entries of a folder below which anything was read, in order."""
        prefix = folder.rstrip("/") + "/"
        paths = [*self.files, *self.links, *self.problems]
        names = {path[len(prefix) :].split("/")[0] for path in paths if path.startswith(prefix)}
        return sorted(name for name in names if "*" not in name)


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
        """Return the programs to run; `{interface}` stands for every interface that is up."""

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
    if key not in pairs or pairs[key] in ("", "n/a"):
        return Fact(name, None, f"{key!r} is not told")
    try:
        return Fact(name, _plain(convert(pairs[key]), pairs[key]))
    except (ValueError, LookupError, ArithmeticError) as error:
        return Fact(name, None, f"{key!r} is {pairs[key][:60]!r}: {error}")


def _plain(value: Value, text: str) -> Value:
    """Return a fact's value; raises ValueError for a number that no kernel means: inf, `1_000`, 400 digits."""
    if isinstance(value, bool | str):
        return value
    if not math.isfinite(value) or abs(value) > MOST_INT or "_" in text or not text.isascii():
        raise ValueError("it is no plain number")
    return value
