"""What a host's files and programs said, and how a fact is made of it."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from fabriscope.model.foreign import MOST_INT, Foreign
from fabriscope.model.host import Fact

Value = str | int | float | bool
_NOT_THERE = "No such file or directory"
_TEXTS = ("files", "links", "problems")


@dataclass(frozen=True)
class Wanted:
    """What is to be read of a host; files and links are patterns."""

    globs: tuple[str, ...] = ()
    links: tuple[str, ...] = ()
    commands: tuple[tuple[str, ...], ...] = ()
    """Programs to run; `{interface}` stands for every interface that is up, `{hardware}` for those with a device."""


@dataclass(frozen=True)
class Output:
    """What a program said."""

    exit_status: int
    stdout: str
    stderr: str

    @property
    def last_words(self) -> str:
        """Return the last line of what it said, as an error; else how it ended."""
        lines = (self.stderr or self.stdout).strip().splitlines()
        return lines[-1] if lines else f"exit status {self.exit_status}"


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
            why = self.problems.get(path, _NOT_THERE)
            return Fact(name, None, f"this host has no {path}" if why == _NOT_THERE else f"{path}: {why}")
        text = self.files[path].strip()
        try:
            return Fact(name, plain_value(convert(text), text))
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

    def missing(self, name: str, command: str) -> Fact:
        """Return a fact that a program should have told and did not; what is not supported is not offered."""
        output = self.outputs.get(command)
        said = (output.stderr or output.stdout).lower() if output else ""
        why = self.output(command)[1] or "not told"
        return Fact(name, None, why, is_offered="operation not supported" not in said)

    def names_under(self, folder: str) -> list[str]:
        """Return the entries of a folder below which anything was read, in order."""
        prefix = folder.rstrip("/") + "/"
        paths = [*self.files, *self.links, *self.problems]
        names = {path[len(prefix) :].split("/")[0] for path in paths if path.startswith(prefix)}
        return sorted(name for name in names if "*" not in name)

    @classmethod
    def of(cls, part: Foreign) -> Reading:
        """Return what the collector answered; raises ParseError."""
        texts = {group: {key: one.text() for key, one in part.at(group).members()} for group in _TEXTS}
        return cls(
            **texts,
            outputs={
                key: Output(
                    one.at("exit_status").whole(least=-MOST_INT), one.at("stdout").text(), one.at("stderr").text()
                )
                for key, one in part.at("outputs").members()
            },
        )


def plain_value(value: Value, text: str) -> Value:
    """Return a fact's value; raises ValueError for a number that no kernel means: inf, `1_000`, 400 digits."""
    if isinstance(value, bool | str):
        return value
    if not math.isfinite(value) or abs(value) > MOST_INT or "_" in text or not text.isascii():
        raise ValueError("it is no plain number")
    return value
