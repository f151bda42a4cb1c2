"""The rooms import only what DESIGN allows."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[1] / "src" / "fabriscope"
ROOMS = {
    "model": set(),
    "hosts": {"model", "registry"},
    "launch": {"model", "registry"},
    "lab": {"model", "registry"},
    "adapters": {"model", "registry"},
    "store": {"model"},
    "analysis": {"model"},
    "reports": {"model", "analysis", "registry"},
    "plan": {"model"},
}  # type: dict[str, set[str]]


def _imports(path: Path) -> set[str]:
    """Return the rooms (or top-level modules) of fabriscope that a file imports."""
    rooms: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text())):
        names: list[str] = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
            names = [node.module]
            if node.module == "fabriscope":
                names = [f"fabriscope.{alias.name}" for alias in node.names]
        rooms |= {name.split(".")[1] for name in names if name.startswith("fabriscope.")}
    return rooms


@pytest.mark.parametrize("room", ROOMS)
def test_a_room_imports_only_what_it_may(room: str) -> None:
    allowed = ROOMS[room] | {room, "__version__"}
    files = list((SOURCE / room).rglob("*.py"))
    assert files, f"the room {room} is empty"
    wrong = {str(path.relative_to(SOURCE)): _imports(path) - allowed for path in files}
    assert not {path: rooms for path, rooms in wrong.items() if rooms}


def test_the_test_sees_a_forbidden_arrow(tmp_path: Path) -> None:
    path = tmp_path / "x.py"
    path.write_text(
        "from fabriscope.launch import processes\nfrom fabriscope import store\nimport fabriscope.lab.presets\n"
    )
    assert _imports(path) == {"launch", "store", "lab"}
