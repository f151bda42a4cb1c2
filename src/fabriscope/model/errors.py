"""Every error that a user can meet.

    FabriscopeError            one sentence: what is wrong, where, what to do
    ├── PlanError              the plan is wrong: edit it                    (exit 2)
    ├── HostError              a host cannot be reached or read              (exit 5)
    ├── LabError               the lab cannot be built, or broke             (exit 5)
    ├── LaunchError            a process did not start or did not end well   (exit 6)
    ├── ToolMissing            a program that we need is not on this machine (exit 7)
    ├── ParseError             a program said something we cannot read       (exit 6)
    └── StoreError             a run folder is missing, damaged or in use    (exit 8)

``exit_code`` is the status with which the command line ends; `docs/exit-codes.md` lists them all.
"""

from __future__ import annotations

import reprlib
import unicodedata

_SHORT = reprlib.Repr()
_SHORT.maxstring = _SHORT.maxother = _SHORT.maxlong = 60
_SHORT.maxlevel = 2
_SHORT.maxlist = _SHORT.maxtuple = _SHORT.maxdict = 4


def shown(value: object) -> str:
    """Return a value that somebody else wrote as a sentence shows it: short, on one line, odd characters escaped."""
    return _SHORT.repr(value)


_SPELLED = {"\n": "\n", "\t": "\t"}


def printable(text: str) -> str:
    """Return a text without what a terminal would obey: escape sequences, other controls, marks of direction."""
    if text.isprintable():
        return text
    return "".join(
        one if one.isprintable() or unicodedata.category(one) == "Zs" else _SPELLED.get(one) or _escaped(one)
        for one in text
    )


def _escaped(character: str) -> str:
    return character.encode("unicode_escape").decode()


class FabriscopeError(Exception):
    """The base of the tree: one sentence for the user, with a remedy where one is known."""

    exit_code = 1

    def __init__(self, what: str, *, where: str | None = None, fix: str | None = None) -> None:
        self.what = what
        self.where = where
        self.fix = fix
        super().__init__(self.sentence())

    def sentence(self) -> str:
        """Return `where: what; fix` with the absent parts left out."""
        head = f"{self.where}: " if self.where else ""
        tail = f" -- {self.fix}" if self.fix else ""
        return printable(f"{head}{self.what}{tail}")


class PlanError(FabriscopeError):
    """The plan is wrong; `where` is `file:line`."""

    exit_code = 2


class HostError(FabriscopeError):
    """A host cannot be reached, or a fact about it cannot be read."""

    exit_code = 5


class LabError(FabriscopeError):
    """The lab cannot be built, or one of its parts died."""

    exit_code = 5


class LaunchError(FabriscopeError):
    """A process did not start, hung, or ended badly; trying again may help."""

    exit_code = 6


class ParseError(FabriscopeError):
    """A program printed something of an unexpected shape."""

    exit_code = 6


class ToolMissing(FabriscopeError):
    """A program or library that is needed is not on this machine."""

    exit_code = 7


class StoreError(FabriscopeError):
    """A run folder is missing, damaged, of a newer version, or in use by another process."""

    exit_code = 8
