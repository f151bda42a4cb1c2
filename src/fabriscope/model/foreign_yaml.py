"""YAML that others wrote, but for plans (`plan/yaml_places.py`): a few values, in bounds, refused by their line."""

from __future__ import annotations

from typing import Any

import yaml

from fabriscope.model.errors import FabriscopeError, ParseError, shown
from fabriscope.model.foreign import MAX_DIGITS, MAX_LEVELS

MAX_VALUES = 100_000
"""Of a text, each alias counted as one; a day's `nv config show` of a switch with 128 ports has a tenth."""
_TAG = "tag:yaml.org,2002:"


def decode_yaml(
    text: str | bytes, where: str, *, error: type[FabriscopeError] = ParseError
) -> tuple[Any, tuple[int, ...]]:
    """Return what a YAML text says, and the lines of its items where it is a list.

    Raises `error`, in our words and with the line, for what is no YAML, for a value that is none of its kind or has
    more than MAX_DIGITS digits, for merge keys, for an alias inside of what it stands for, and for more than
    MAX_LEVELS levels or MAX_VALUES values.
    """
    try:
        loader = _Loader(text.decode("utf-8") if isinstance(text, bytes) else text, where, error)
        node = loader.get_single_node()
        value = None if node is None else loader.construct_document(node)
    except UnicodeDecodeError as problem:
        raise error(f"byte {problem.start + 1} is no part of a text in UTF-8", where=where) from problem
    except yaml.MarkedYAMLError as problem:
        mark = problem.problem_mark or problem.context_mark
        place = f"{where}: line {mark.line + 1}" if mark else where
        raise error(f"it is no YAML: {problem.problem or problem.context}", where=place) from problem
    except yaml.reader.ReaderError as problem:
        raise error(f"it is no YAML: the character U+{problem.character:04X} stands in it", where=where) from problem
    except (ValueError, OverflowError) as problem:  # an escape or a directive of no number
        raise error("it is no YAML: an escape or a directive is of no number", where=where) from problem
    items = node.value if isinstance(node, yaml.SequenceNode) else []
    return value, tuple(item.start_mark.line + 1 for item in items)


class _Loader(yaml.SafeLoader):
    def __init__(self, text: str, where: str, error: type[FabriscopeError]) -> None:
        super().__init__(text)
        self._where, self._error = where, error
        self._depth = self._count = 0

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        self._depth += 1
        self._count += 1
        if self._depth > MAX_LEVELS or self._count > MAX_VALUES:
            most = f"{MAX_LEVELS} levels" if self._depth > MAX_LEVELS else f"{MAX_VALUES} values"
            raise self._refused(self.line + 1, f"it has more than {most}")
        node = super().compose_node(parent, index)
        self._depth -= 1
        if node is not None and node.end_mark is None:  # nobody has come to its end yet
            raise self._refused(self.line + 1, "an alias here stands for what it is itself a part of")
        if isinstance(node, yaml.ScalarNode) and node.tag == f"{_TAG}merge":
            raise self._refused(node.start_mark.line + 1, "merge keys (<<) are not read")
        return node

    def calculated(self, node: yaml.ScalarNode) -> Any:
        """Return the value of a scalar that is more than its text."""
        try:
            if len(node.value) <= MAX_DIGITS:
                return yaml.SafeLoader("").construct_object(node)
        except (ValueError, OverflowError, LookupError, yaml.YAMLError):
            pass
        kind = {"timestamp": "date", "bool": "truth"}.get(node.tag.removeprefix(_TAG), "number")
        raise self._refused(node.start_mark.line + 1, f"{shown(node.value)} is no {kind}")

    def _refused(self, line: int, what: str) -> FabriscopeError:
        return self._error(what, where=f"{self._where}: line {line}")


for _kind in ("int", "float", "bool", "timestamp"):
    _Loader.add_constructor(f"{_TAG}{_kind}", _Loader.calculated)
