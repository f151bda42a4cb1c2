"""What programs that print `label: value` share: a result is a block of lines, and each label stands once in it."""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from fabriscope.model.errors import ParseError
from fabriscope.model.foreign import shown
from fabriscope.readers.base import Column, Draft, Value


@dataclass
class Block:
    """The labels and values of one result."""

    columns: Mapping[str, Column]
    """By label."""
    line: int
    words: dict[str, str] = field(default_factory=dict)
    lines: dict[str, int] = field(default_factory=dict)
    without_number: set[str] = field(default_factory=set)
    """Labels that stand in it, and say that nothing was measured."""

    def take(self, label: str, word: str, line: int) -> bool:
        """Take a value; return whether its label is known; raises ParseError where it stood before."""
        if label not in self.columns:
            return False
        if label in self.words:
            raise ParseError(f"{label} stands twice in one result: {shown(self.words[label])} and {shown(word)}")
        self.words[label], self.lines[label] = word, line
        return True

    def row(self, draft: Draft, needed: Sequence[str], usual: Iterable[str] = ()) -> dict[str, Value] | None:
        """Add a row to the last table; None, with a problem, where what every result has is missing.

        `usual`: labels that the program prints with those; one that is missing is told.
        """
        missing = next((label for label in needed if label not in self.words), None)
        if missing is not None:
            draft.problem(f"the result of line {self.line} has no {missing}", "cut", self.line)
            return None
        self._tell_missing(draft, usual)
        line, printed = draft.line, dict[str, Value]()
        for label, word in self.words.items():
            draft.line = self.lines[label]
            column = self.columns[label]
            printed[column.head] = column.printed(word)
        draft.line = line
        return draft.row(printed, line=self.line)

    def _tell_missing(self, draft: Draft, usual: Iterable[str]) -> None:
        lost = [label for label in usual if label not in self.words and label not in self.without_number]
        if lost:
            more = f" (and {len(lost) - 1} more)" if len(lost) > 1 else ""
            draft.problem(f"the result of line {self.line} has no {lost[0]}{more}", "cut", self.line)


def tell_outside(draft: Draft, label: str, known: Container[str]) -> None:
    """Note a label of a result that stands outside of any: the line with which one begins is lost, or it is twice."""
    if label in known:
        draft.problem(f"{label} stands outside of a result", "cut")
