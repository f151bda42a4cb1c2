"""Names in a plan, and words that become parts of command lines, of labels, of files' names or of job scripts."""

from __future__ import annotations

import re
import shlex
import unicodedata
from collections.abc import Callable
from typing import Annotated

from pydantic import AfterValidator, BeforeValidator, Field

from fabriscope.model.errors import shown

MAX_INTERFACE_CHARACTERS = 15
_ALIKE = frozenset(("LATIN", "GREEK", "CYRILLIC", "ARMENIAN", "CHEROKEE"))
"""Alphabets that share the looks of letters."""


def _as_written(value: object) -> object:
    """Return a number as the text that it is written as; anything else as it is."""
    return str(value) if isinstance(value, int | float) and not isinstance(value, bool) else value


Text = Annotated[str, BeforeValidator(_as_written)]
"""Which a number is, too: it stays as it is written."""
# They end up in a job script's directives: what a shell would read differently is refused.
SchedulerWord = Annotated[
    Text,
    Field(pattern=r"^[A-Za-z0-9_@%+=:,./][A-Za-z0-9_@%+=:,./-]*$", max_length=1000),
]
SchedulerKey = Annotated[str, Field(pattern=r"^[A-Za-z][A-Za-z0-9_-]*$", max_length=100)]


def _matching(pattern: str, what: str) -> Callable[[str], str]:
    """Return the check of a text that becomes a word of a command line, of a label, or of a file's name."""

    def check(text: str) -> str:
        if not re.fullmatch(pattern, text):
            raise ValueError(f"{shown(text)} is no {what}")
        return text

    return check


def _short_enough(name: str) -> str:
    if len(name) > MAX_INTERFACE_CHARACTERS:
        most = f"Linux gives an interface at most {MAX_INTERFACE_CHARACTERS}"
        raise ValueError(f"{shown(name)} has {len(name)} characters, and {most}: look the name up with `ip link`")
    return name


def _unmistakable(name: str) -> str:
    """Return a name that looks like no other: no invisible or compatibility characters, no mixed alphabets."""
    text = name.replace("µ", "u")
    if (hidden := next((one for one in text if not one.isprintable()), None)) is not None:
        raise ValueError(f"{name!a} has the character U+{ord(hidden):04X}, which nobody sees -- remove it")
    alphabets = {unicodedata.name(letter, "").partition(" ")[0] for letter in text if letter.isalpha()}
    if unicodedata.normalize("NFKC", text) != text or len(alphabets & _ALIKE) > 1:
        raise ValueError(f"{name!a} has letters that look like others -- write them all in one alphabet")
    return name


def _ssh_words(text: str) -> str:
    try:
        words = shlex.split(text)
    except ValueError as error:
        raise ValueError(f"{shown(text)} cannot be split into words: {error}") from error
    if not words:
        raise ValueError("it names no program: leave it out, or write for example ssh -p 22")
    if words[0].startswith("-"):
        raise ValueError(f"its first word is the program: write `ssh {text}`")
    if variable := next((word for word in words if re.search(r"\$[A-Za-z_]", word) and " " not in word), None):
        raise ValueError(f"variables such as {shown(variable)} are not replaced: write the value itself")
    return text


def absolute(value: str) -> str:
    """Return a path that means the same wherever a launch starts."""
    if not value.startswith("/"):
        what = f"{shown(value)} is no path from / on, and launches do not start in this folder"
        raise ValueError(f"{what}: write the whole path, such as /opt/{_last_part(value)}")
    return value


def _last_part(path: str) -> str:
    name = path.rstrip("/").rpartition("/")[2]
    return name if re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]{0,40}", name) else "mpi"


HomePath = Annotated[str, AfterValidator(lambda path: path if path.startswith("~") else absolute(path))]
"""Of an installation: `~` is the user's home."""
Label = Annotated[
    str,
    AfterValidator(
        _matching(
            r"\w[^/\\\x00-\x1f\x7f-\x9f]{0,79}",
            "name: write at most 80 letters, digits, '.', '_' and '-', a letter or digit first",
        )
    ),
    AfterValidator(_unmistakable),
]
"""Of a fabric or an MPI library: it is a part of an entry's id, which reports and `compare --left` name."""
InterfaceName = Annotated[
    str,
    AfterValidator(_short_enough),
    AfterValidator(
        _matching(
            r"(?![0-9]+(?:\.[0-9]+){3}$)[A-Za-z0-9_][A-Za-z0-9_.:@+-]{0,14}", "network interface's name, such as eth0"
        )
    ),
]
"""Which is no address."""
VariableName = Annotated[
    str, AfterValidator(_matching(r"[A-Za-z_][A-Za-z0-9_]{0,199}", "environment variable's name, such as UCX_TLS"))
]
VariableValue = Annotated[
    Text, AfterValidator(_matching(r"[^\n\r]*", "environment variable's value, which is one line"))
]
Words = Annotated[str, AfterValidator(_ssh_words)]
COMPANION_PATTERN = r"^[A-Za-z0-9_][^/\\]{0,99}\.ya?ml$"
"""Of the name of a file beside the plan; the run folder keeps it too, where no file of its own but the plan ends so."""
