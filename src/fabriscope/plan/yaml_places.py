"""YAML that remembers where everything stood, so that an error can name its line.

Of YAML only what a plan needs is read, and nothing without a bound: scalars (plan/scalars.py), lists, mappings,
and aliases as far as what they stand for stays small.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import yaml

from fabriscope.model.errors import PlanError, shown
from fabriscope.plan.overrides import with_values
from fabriscope.plan.plan_file import text_of
from fabriscope.plan.scalars import KEYS, TAG, impossible_tag, scalar
from fabriscope.plan.scalars import text as text_of_node

Place = tuple[str | int, ...]

MAX_DEPTH = 32
MAX_VALUES = 10_000
"""Values of a file, aliases replaced by what they stand for."""
MAX_KEY_CHARACTERS = 200
_UNSPACED = re.compile(r" *(?:- )?([A-Za-z_]{1,40}):([^\s/:'\"].{0,60})")
"""A key and its value, as `budget:40s`, which YAML reads as one word."""
_REMEDIES = (
    ("\\t", "indent with spaces, not with tabs"),
    ("mapping values", "put text with a colon in quotes, and check the indentation"),
    ("found undefined alias", "an alias (*name) stands for what &name marked before it: put text with * in quotes"),
    ("found another document", "keep one plan in the file, and remove the line `---` before the other"),
    ("cannot start any token", "put text that begins with this character in quotes"),
    ("could not find expected ':'", "write it as `key: value`, with a colon and a blank"),
    ("<block mapping start>", "keys of one level begin in one column: indent this line as those beside it"),
    ("but found '}'", "remove the brace, which closes nothing"),
    ("but found ']'", "remove the bracket, which closes nothing"),
    ("expected ',' or", "close the bracket, or put text that has brackets in quotes, such as 'node[1-4]'"),
)
"""Part of what the loader says to what to do about it."""


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

    def __init__(self, text: str, file: str, options: Iterable[str] = ()) -> None:
        """Read `text`; raises PlanError with `file:line` for anything that is no plain YAML mapping.

        `options` are keys whose values are those of the command line: what is wrong there is no line's fault.
        """
        self.file = file
        self._options = frozenset(options)
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
        """Return `file:line` of a key, or of the nearest thing around it that the file has, or its option."""
        if place and place[0] in self._options:
            return f"--{place[0]}"
        return f"{self.file}:{self.line(place)}"

    def line(self, place: Place) -> int:
        """Return the number of that line; of an option, that of the file's first key."""
        while place not in self._lines:
            place = place[:-1]
        return self._lines[place]

    def _build(self, node: yaml.Node, place: Place) -> Any:
        line = self._lines.setdefault(place, node.start_mark.line + 1)
        where = f"{self.file}:{line}"
        if isinstance(node, yaml.ScalarNode):
            self._count += 1
            refuse_excess(0, self._count, where)
            return scalar(node, where)
        if any(node is other for other in self._around):
            raise PlanError("an alias here stands for what it is itself a part of", where=where, fix="remove the alias")
        if node.tag not in (TAG + "map", TAG + "seq"):
            raise impossible_tag(node, where)
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


def read(path: Path, values: Mapping[str, Any] | None = None) -> tuple[PlacedYaml, str]:
    """Return the document of a file and its text, with top-level keys of other values; raises PlanError when the file
    cannot be read."""
    text = with_values(text_of(path), values or {}, str(path))
    return PlacedYaml(text, str(path), values or ()), text


def _composed(text: str, file: str) -> yaml.Node | None:
    try:
        loader = _Loader(text, file)
        try:
            node: yaml.Node | None = loader.get_single_node()
        finally:
            loader.dispose()
    except yaml.MarkedYAMLError as error:
        if (unspaced := _unspaced(text, error)) is not None:
            line, key, value = unspaced
            fix = f"write `{key}: {value}`"
            raise PlanError(f"no blank stands after the colon of {key!r}", where=f"{file}:{line}", fix=fix) from error
        raise PlanError(_what(error), where=f"{file}:{_line(error)}", fix=_remedy(error)) from error
    except (yaml.YAMLError, ValueError, OverflowError) as error:  # a number in a directive or an escape
        what = f"this is not YAML: {str(error).splitlines()[0]}"
        raise PlanError(what, where=f"{file}:1", fix="check directives and escapes (%, \\)") from error
    return node


def _key(node: yaml.Node, where: str) -> str:
    """Return a key as it is written: `1` and `yes` are keys of those letters."""
    if not isinstance(node, yaml.ScalarNode):
        raise PlanError("a key is a word, not a list or a mapping", where=where, fix="write `key: value`")
    if node.tag == TAG + "merge":
        fix = "write the keys out; an alias (*name) stands for a whole value alone"
        raise PlanError("merge keys (<<) are not read in plans", where=where, fix=fix)
    if node.tag not in KEYS:
        raise impossible_tag(node, where)
    if len(node.value) > MAX_KEY_CHARACTERS:
        raise PlanError(
            f"a key of {len(node.value)} characters is longer than {MAX_KEY_CHARACTERS}", where=where, fix="shorten it"
        )
    return text_of_node(node, where)


def _line(error: yaml.MarkedYAMLError) -> int:
    """Return the line of what is wrong: of a key without a colon, or a bracket left open, that in which it begins."""
    begins = (error.problem or "").startswith(("could not find expected ':'", "expected ',' or"))
    mark = (begins and error.context_mark) or error.problem_mark or error.context_mark
    return mark.line + 1 if mark else 1


def _unspaced(text: str, error: yaml.MarkedYAMLError) -> tuple[int, str, str] | None:
    """Return line, key and value of the first key of what an error is about that has no blank after its colon."""
    first = error.context_mark or error.problem_mark
    start = first.line - (error.context_mark is None) if first else 0
    start = max(start, 0)
    end = error.problem_mark.line + 1 if error.problem_mark else start + 1
    for number, line in enumerate(text.split("\n")[start:end], start + 1):
        if match := _UNSPACED.fullmatch(line.rstrip()):
            return number, match[1], match[2]
    return None


def _what(error: yaml.MarkedYAMLError) -> str:
    problem = str(error.problem or error.context)
    return f"this is not YAML: {problem if len(problem) <= 200 else problem[:200] + ' ...'}"


def _remedy(error: yaml.MarkedYAMLError) -> str:
    problem = error.problem or ""
    usual = "check the indentation, brackets and quotes on this line and the one above"
    return next((remedy for part, remedy in _REMEDIES if part in problem), usual)
