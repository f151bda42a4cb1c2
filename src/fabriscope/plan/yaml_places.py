"""YAML that remembers where everything stood, so that an error can name its line.

Of YAML only what a plan needs is read, and nothing without a bound: text, numbers, true, false, null, lists, mappings,
and aliases as far as what they stand for stays small. Dates are text.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import yaml

from fabriscope.model.errors import PlanError, shown
from fabriscope.plan.plan_file import ODD_CHARACTER, text_of

Place = tuple[str | int, ...]

MAX_DEPTH = 32
MAX_VALUES = 10_000
"""Values of a file, aliases replaced by what they stand for."""
MAX_KEY_CHARACTERS = 200
MAX_TEXT_CHARACTERS = 10_000
MAX_INTEGER = 2**63 - 1
_MAX_NUMBER_CHARACTERS = 100

_TAG = "tag:yaml.org,2002:"
_TEXTS = frozenset(_TAG + kind for kind in ("str", "timestamp", "value", "merge"))
_NUMBERS = frozenset((_TAG + "int", _TAG + "float"))
_WORDS = frozenset((_TAG + "bool", _TAG + "null"))


class _Loader(yaml.SafeLoader):
    """Composes nodes up to a depth and a number; its errors are YAMLError and ValueError."""

    def __init__(self, text: str, file: str) -> None:
        super().__init__(text)
        self._file = file
        self._depth = self._count = 0

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        self._depth += 1
        self._count += 1
        line = self.peek_event().start_mark.line + 1  # type: ignore[no-untyped-call]
        refuse_excess(self._depth, self._count, f"{self._file}:{line}")
        node = super().compose_node(parent, index)
        self._depth -= 1
        return node


def refuse_excess(depth: int, count: int, where: str) -> None:
    """Raise PlanError for values that are nested too deeply, or that are too many."""
    if depth > MAX_DEPTH:
        raise PlanError(
            f"values are nested here more than {MAX_DEPTH} levels deep", where=where, fix="remove brackets or levels"
        )
    if count > MAX_VALUES:
        raise PlanError(
            f"the file has more than {MAX_VALUES} values, aliases replaced by what they stand for",
            where=where,
            fix="write fewer values or aliases, or make two plans of it",
        )


class PlacedYaml:
    """A YAML document as plain data, and the line of every key and list item in it."""

    def __init__(self, text: str, file: str) -> None:
        """Read `text`; raises PlanError with `file:line` for anything that is no plain YAML mapping."""
        self.file = file
        self._lines: dict[Place, int] = {(): 1}
        self._count = 0
        self._around: list[yaml.Node] = []
        node = _composed(text, file)
        if not isinstance(node, yaml.MappingNode):
            raise PlanError(
                "a plan is a mapping of keys to values", where=f"{file}:1", fix="start with `name: my-plan`"
            )
        self.data: dict[str, Any] = self._build(node, ())

    def where(self, place: Place) -> str:
        """Return `file:line` of a key, or of the nearest thing around it that the file has."""
        while place not in self._lines:
            place = place[:-1]
        return f"{self.file}:{self._lines[place]}"

    def _build(self, node: yaml.Node, place: Place) -> Any:
        line = self._lines.setdefault(place, node.start_mark.line + 1)
        where = f"{self.file}:{line}"
        if isinstance(node, yaml.ScalarNode):
            self._count += 1
            refuse_excess(0, self._count, where)
            return _scalar(node, where)
        if any(node is other for other in self._around):
            raise PlanError("an alias here stands for what it is itself a part of", where=where, fix="remove the alias")
        if node.tag not in (_TAG + "map", _TAG + "seq"):
            raise _impossible_tag(node, where)
        self._count += 1
        self._around.append(node)
        refuse_excess(len(self._around), self._count, where)
        built = self._mapping(node, place) if isinstance(node, yaml.MappingNode) else self._list(node, place)
        self._around.pop()
        return built

    def _list(self, node: yaml.Node, place: Place) -> list[Any]:
        return [self._build(item, (*place, index)) for index, item in enumerate(node.value)]

    def _mapping(self, node: yaml.MappingNode, place: Place) -> dict[str, Any]:
        result: dict[str, Any] = {}
        for key_node, value_node in node.value:
            line = key_node.start_mark.line + 1
            key = _key(key_node, f"{self.file}:{line}")
            if key in result:
                first = self._lines[(*place, key)]
                raise PlanError(
                    f"the key {shown(key)} stands here a second time, the first is in line {first}",
                    where=f"{self.file}:{line}",
                    fix="remove one of the two",
                )
            self._lines[(*place, key)] = line
            result[key] = self._build(value_node, (*place, key))
        return result


def read(path: Path) -> tuple[PlacedYaml, str]:
    """Return the document of a file and its text; raises PlanError when the file cannot be read."""
    text = text_of(path)
    return PlacedYaml(text, str(path)), text


def _composed(text: str, file: str) -> yaml.Node | None:
    try:
        loader = _Loader(text, file)
        try:
            node: yaml.Node | None = loader.get_single_node()
        finally:
            loader.dispose()
    except yaml.MarkedYAMLError as error:
        raise PlanError(_what(error), where=f"{file}:{_line(error)}", fix=_remedy(error)) from error
    except (yaml.YAMLError, ValueError, OverflowError) as error:  # a number in a directive or an escape
        what = f"this is not YAML: {str(error).splitlines()[0]}"
        raise PlanError(what, where=f"{file}:1", fix="check directives and escapes (%, \\)") from error
    return node


def _key(node: yaml.Node, where: str) -> str:
    """Return a key as it is written: `1` and `yes` are keys of those letters."""
    if not isinstance(node, yaml.ScalarNode):
        raise PlanError("a key is a word, not a list or a mapping", where=where, fix="write `key: value`")
    if node.tag == _TAG + "merge":
        raise PlanError("merge keys (<<) are not read in plans", where=where, fix="write the keys out")
    if node.tag not in _TEXTS | _NUMBERS | _WORDS:
        raise _impossible_tag(node, where)
    if len(node.value) > MAX_KEY_CHARACTERS:
        raise PlanError(
            f"a key of {len(node.value)} characters is longer than {MAX_KEY_CHARACTERS}", where=where, fix="shorten it"
        )
    return _text(node, where)


def _scalar(node: yaml.ScalarNode, where: str) -> Any:
    if node.tag in _TEXTS:
        return _text(node, where)
    if node.tag in _NUMBERS:
        return _number(node, where)
    if node.tag not in _WORDS:
        raise _impossible_tag(node, where)
    try:
        return yaml.SafeLoader("").construct_object(node)
    except (yaml.YAMLError, ValueError, KeyError) as error:  # !!bool of another word
        raise PlanError(f"{shown(node.value)} is not what its tag says", where=where, fix="remove the tag") from error


def _text(node: yaml.ScalarNode, where: str) -> str:
    text: str = node.value
    if len(text) > MAX_TEXT_CHARACTERS:
        raise PlanError(
            f"a text of {len(text)} characters is longer than {MAX_TEXT_CHARACTERS}", where=where, fix="shorten it"
        )
    if (odd := ODD_CHARACTER.search(text)) is not None:  # by an escape, or the file would have been refused
        raise PlanError(
            f"the text has the character U+{ord(odd[0]):04X}, which no plan can have", where=where, fix="remove it"
        )
    return text


def _number(node: yaml.ScalarNode, where: str) -> int | float:
    text: str = node.value
    try:
        number = yaml.SafeLoader("").construct_object(node) if len(text) <= _MAX_NUMBER_CHARACTERS else math.inf
    except (ValueError, OverflowError, IndexError) as error:  # `0x_`, or !!int of a word
        raise PlanError(f"{shown(text)} is no number", where=where, fix="put it in quotes if it is text") from error
    if not math.isfinite(number) or abs(number) > MAX_INTEGER:
        raise PlanError(
            f"{shown(text)} is a number that no plan can have",
            where=where,
            fix=f"write one from {-MAX_INTEGER} to {MAX_INTEGER}, or put it in quotes if it is text",
        )
    return number


def _impossible_tag(node: yaml.Node, where: str) -> PlanError:
    tag = str(node.tag).replace(_TAG, "!!")
    return PlanError(f"the tag {shown(tag)} has no meaning in a plan", where=where, fix="remove it")


def _line(error: yaml.MarkedYAMLError) -> int:
    mark = error.problem_mark or error.context_mark
    return mark.line + 1 if mark else 1


def _what(error: yaml.MarkedYAMLError) -> str:
    problem = str(error.problem or error.context)
    return f"this is not YAML: {problem if len(problem) <= 200 else problem[:200] + ' ...'}"


def _remedy(error: yaml.MarkedYAMLError) -> str:
    problem = error.problem or ""
    if "\\t" in problem:
        return "indent with spaces, not with tabs"
    if "mapping values" in problem:
        return "put text with a colon in quotes, and check the indentation"
    return "check the indentation, brackets and quotes on this line and the one above"
