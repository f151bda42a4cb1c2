"""What a complete record of a lab holds, and of which types."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_DETAILS: dict[str, Any] = {
    "pids": {str: int},
    "network_namespaces": {str: str},
    "switch_arguments": [str],
    "keeper_words": [str],
    "remote_shell": str,
    "hosts": [{str: object}],
    "guests": {str: {str: object}},
    "agents": {str: [int]},
    "fabrics": {str: {str: object}},
    "since_unix_s": (int, float),
}
_HOST: dict[str, Any] = {
    "name": str,
    "access": [str],
    "client": [str],
    "addresses": {str: str},
    "management_interface": str,
    "kind": str,
}
"""`[str]` is a list of strings, `{str: int}` a mapping."""


def unusable(details: Mapping[str, Any]) -> str | None:
    """Return the first key of a record whose value is missing or of another type; None if there is none."""
    wrong = _wrong(details, _DETAILS) or [key for host in details["hosts"] for key in _wrong(host, _HOST)]
    return wrong[0] if wrong else None


def _wrong(values: Mapping[str, Any], shapes: dict[str, Any]) -> list[str]:
    return [key for key, shape in shapes.items() if not fits(values.get(key), shape)]


def fits(value: Any, shape: Any) -> bool:
    """Return whether a value is of a shape: a type, types, a list of one shape, or a mapping to one shape."""
    if isinstance(shape, list):
        return isinstance(value, list) and all(fits(one, shape[0]) for one in value)
    if isinstance(shape, dict):
        return isinstance(value, dict) and all(fits(one, shape[str]) for one in value.values())
    return isinstance(value, shape) and (shape is object or not isinstance(value, bool))
