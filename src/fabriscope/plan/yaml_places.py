"""YAML that remembers where everything stood, so that an error can name its line.

Of YAML only what a plan needs is read, and nothing without a bound: scalars (plan/scalars.py), lists, mappings,
and aliases as far as what they stand for stays small.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import yaml

from fabriscope.model.errors import PlanError, shown
from fabriscope.plan import yaml_remedies
from fabriscope.plan.overrides import with_values
from fabriscope.plan.plan_file import text_of
from fabriscope.plan.scalars import KEYS, TAG, impossible_tag, scalar
from fabriscope.plan.scalars import text as text_of_node

Place = tuple[str | int, ...]

MAX_DEPTH = 32
MAX_VALUES = 10_000
"""Values of a file, aliases replaced by what they stand for."""
MAX_KEY_CHARACTERS = 200


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
                raise self._second(place, result, key, line)
            self._lines[(*place, key)] = line
            result[key] = self._build(value_node, (*place, key))
        return result

    def _second(self, place: Place, before: Mapping[str, Any], key: str, line: int) -> PlanError:
        """Return the error of a key that `before` has already; of keys beside those that they belong to, the first."""
        first = self._lines[(*place, key)]
        names = list(before)
        above = names[names.index(key) - 1] if names[0] != key else names[-1]
        if before[above] is None and before[names[-1]] is None:
            what = f"nothing stands below {shown(above)}, and {shown(key)} beside it"
            return PlanError(what, where=f"{self.file}:{first}", fix=f"indent {shown(key)} below {shown(above)}")
        what = f"the key {shown(key)} stands here a second time, the first is in line {first}"
        return PlanError(what, where=f"{self.file}:{line}", fix="remove one of the two")


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
        line, what, fix = yaml_remedies.finding(text, error)
        raise PlanError(what, where=f"{file}:{line}", fix=fix) from error
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
    if node.value.startswith("\xa0"):
        raise PlanError("no-break blanks (U+00A0) stand before the key", where=where, fix="indent with plain blanks")
    if len(node.value) > MAX_KEY_CHARACTERS:
        raise PlanError(
            f"a key of {len(node.value)} characters is longer than {MAX_KEY_CHARACTERS}", where=where, fix="shorten it"
        )
    return text_of_node(node, where)
