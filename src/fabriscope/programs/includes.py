"""Which headers a text includes, read from its lines: also what the preprocessor would leave out."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

_DIRECTIVE = re.compile(r"^[ \t]*#[ \t]*(?:include|include_next|import)\b[ \t]*(?:<([^>\n]+)>|\"([^\"\n]+)\")?", re.M)
_ASKED = re.compile(r"\b__has_include(?:_next)?\s*\(\s*[<\"]([^>\"\n]+)")


@dataclass(frozen=True)
class Included:
    """What a text includes, and what that includes."""

    files: frozenset[Path]
    """Of the tree."""
    others: frozenset[str]
    """Headers that the tree does not have, as they are named."""
    is_complete: bool
    """No name of a header is made by a macro."""


@dataclass(frozen=True)
class _Lines:
    quoted: tuple[str, ...]
    angled: tuple[str, ...]
    is_complete: bool


@dataclass
class Tree:
    """Folders that are searched for headers, in order; each file is read once."""

    folders: Sequence[Path]
    _read: dict[Path, _Lines] = field(default_factory=dict)
    _found: dict[tuple[Path | None, str], Path | None] = field(default_factory=dict)

    def included(self, text: str, folder: Path) -> Included:
        """Return what a text in a folder includes; raises OSError."""
        files: set[Path] = set()
        others: set[str] = set()
        is_complete = True
        waiting = [(_lines(text), folder)]
        while waiting:
            lines, place = waiting.pop()
            is_complete = is_complete and lines.is_complete
            named = [*((name, place) for name in lines.quoted), *((name, None) for name in lines.angled)]
            found = [(name, self._find(name, beside)) for name, beside in named]
            others |= {name for name, path in found if path is None}
            new = {path for _, path in found if path is not None} - files
            files |= new
            waiting += [(self._of(path), path.parent) for path in new]
        return Included(frozenset(files), frozenset(others), is_complete)

    def _find(self, name: str, beside: Path | None) -> Path | None:
        if (beside, name) not in self._found:
            paths = (folder / name for folder in ([beside] if beside else []) + [*self.folders])
            self._found[beside, name] = next((path.resolve() for path in paths if path.is_file()), None)
        return self._found[beside, name]

    def _of(self, path: Path) -> _Lines:
        if path not in self._read:
            self._read[path] = _lines(path.read_text("utf-8", "replace"))
        return self._read[path]


def _lines(text: str) -> _Lines:
    directives = _DIRECTIVE.findall(text)
    return _Lines(
        quoted=tuple(quoted for _, quoted in directives if quoted),
        angled=(*(angled for angled, _ in directives if angled), *_ASKED.findall(text)),
        is_complete=all(angled or quoted for angled, quoted in directives),
    )
