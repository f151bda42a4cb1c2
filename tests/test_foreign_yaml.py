"""YAML of others: in bounds, and refused by its line in our words; all JSON and YAML is decoded at that border."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import fabriscope
from fabriscope.model.errors import PlanError
from fabriscope.model.foreign_yaml import decode_yaml

SOURCE = Path(fabriscope.__file__).parent
MERGES = "a: &a {x: 1}\n" + "b: &b {<<: [*a, *a]}\n"
BORDERS = {
    "model/foreign.py", "model/foreign_yaml.py", "plan/yaml_places.py", "plan/scalars.py",
    "configure/sonic.py",  # what it has written itself
}  # fmt: skip
ON_HOSTS = {"hosts/access/_collector.py", "hosts/access/orders.py", "hosts/counters/_devices.py", "lab/_probe.py"}
"""Sent to hosts as text, where nothing of ours is."""


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("a: 1\nb: " + "9" * 5000, r"line 2: '9+\.\.\.9+' is no number"),
        ("a: 2001-02-30", "line 1: '2001-02-30' is no date"),
        ("a: !!int x", "line 1: 'x' is no number"),
        ("a: 0x_", "line 1: '0x_' is no number"),
        ("a: !!bool x", "is no truth"),
        ("- x\n- &a [*a]", "line 2: an alias here stands for what it is itself a part of"),
        (MERGES, "line 2: merge keys"),
        ("- " * 2000 + "x", "more than 64 levels"),
        ("[" * 5000, "more than 64 levels"),
        ("- x\n" * 100_001, "line 10000[01]: it has more than 100000 values"),
        ("a: !foo x", "line 1: it is no YAML: could not determine a constructor"),
        ("a: [", "it is no YAML"),
        ("? [1]\n: 2", "line 1: it is no YAML: found unhashable key"),
        ("a: \x00", r"the character U\+0000 stands in it"),
        (b"a: \xff", "byte 4 is no part of a text in UTF-8"),
        ('a: "\\UFFFFFFFF"', "it is no YAML"),
    ],
)
def test_what_no_file_of_ours_has_is_refused_by_its_line(text: str | bytes, says: str) -> None:
    with pytest.raises(PlanError, match=says) as caught:
        decode_yaml(text, "file", error=PlanError)
    assert str(caught.value).startswith("file: ")
    assert len(str(caught.value)) < 300


def test_the_rest_is_read_with_the_lines_of_a_list() -> None:
    text = "# accepted\n- {a: 1, b: [x, 1.5, yes, 2026-01-02]}\n-\n  c: &c [1]\n  d: *c\n"
    value, lines = decode_yaml(text, "file")
    assert value[1] == {"c": [1], "d": [1]}
    assert value[0]["b"][:3] == ["x", 1.5, True]
    assert lines == (2, 4)
    assert decode_yaml("", "file") == (None, ())


def _readings(path: Path) -> Iterator[str]:
    """Yield where a file decodes JSON or YAML by itself."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            called = f"{node.value.id}.{node.attr}"
            if called in ("json.loads", "json.load", "yaml.safe_load", "yaml.load", "json.JSONDecoder"):
                yield f"{path.relative_to(SOURCE)}:{node.lineno}: {called}"


def test_nothing_of_others_is_decoded_beside_the_border() -> None:
    files = [(str(path.relative_to(SOURCE)), path) for path in sorted(SOURCE.rglob("*.py"))]
    found = [
        place
        for name, path in files
        if name not in BORDERS | ON_HOSTS and path.parent.name != "on_host"
        for place in _readings(path)
    ]
    assert found == []
