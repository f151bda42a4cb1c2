"""YAML that remembers where everything stood, so that an error can name its line."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

from fabriscope.model.errors import PlanError

Place = tuple[str | int, ...]


class PlacedYaml:
    """A YAML document as plain data, and the line of every key and list item in it."""

    def __init__(self, text: str, file: str) -> None:
        """Read `text`; raises PlanError with `file:line` for anything that is no plain YAML mapping."""
        self.file = file
        self._lines: dict[Place, int] = {(): 1}
        try:
            node = yaml.compose(text, Loader=yaml.SafeLoader)
        except yaml.MarkedYAMLError as error:
            raise PlanError(_what(error), where=f"{file}:{_line(error)}", fix=_remedy(error)) from error
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
        self._lines.setdefault(place, node.start_mark.line + 1)
        if isinstance(node, yaml.MappingNode):
            return self._build_mapping(node, place)
        if isinstance(node, yaml.SequenceNode):
            return [self._build(item, (*place, index)) for index, item in enumerate(node.value)]
        return yaml.SafeLoader("").construct_object(node)

    def _build_mapping(self, node: yaml.MappingNode, place: Place) -> dict[str, Any]:
        result: dict[str, Any] = {}
        for key_node, value_node in node.value:
            key = str(key_node.value)
            line = key_node.start_mark.line + 1
            if key in result:
                raise PlanError(
                    f"the key {key!r} stands here a second time",
                    where=f"{self.file}:{line}",
                    fix="remove one of the two",
                )
            self._lines[(*place, key)] = line
            result[key] = self._build(value_node, (*place, key))
        return result


def read(path: Path) -> tuple[PlacedYaml, str]:
    """Return the document of a file and its text; raises PlanError when the file cannot be read."""
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise PlanError(
            f"the plan cannot be read: {error.strerror}", where=str(path), fix="give the path of a plan file"
        ) from error
    except UnicodeDecodeError as error:
        raise PlanError("the plan is no UTF-8 text", where=str(path), fix="save it as UTF-8") from error
    return PlacedYaml(text, str(path)), text


def _line(error: yaml.MarkedYAMLError) -> int:
    mark = error.problem_mark or error.context_mark
    return mark.line + 1 if mark else 1


def _what(error: yaml.MarkedYAMLError) -> str:
    return f"this is not YAML: {error.problem or error.context}"


def _remedy(error: yaml.MarkedYAMLError) -> str:
    problem = error.problem or ""
    if "\\t" in problem:
        return "indent with spaces, not with tabs"
    if "mapping values" in problem:
        return "put text with a colon in quotes, and check the indentation"
    return "check the indentation, brackets and quotes on this line and the one above"
