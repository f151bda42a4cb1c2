"""The rules of the house: which way imports go, what is declared, and numbers that may only fall (tests/house.toml).

Everything is counted by scripts/house, whose docstrings define each count.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tomllib
from collections.abc import Mapping, Sequence
from importlib import metadata
from pathlib import Path
from typing import Any

import pytest
from tests.needs import ROOT

pytestmark = pytest.mark.timeout(1200)  # counting takes a minute of a processor, which others want as well

HOUSE = ROOT / "scripts" / "house"
LIMITS: Mapping[str, int] = tomllib.loads((ROOT / "tests" / "house.toml").read_text())
SLACK = 20
"""A number that fell by more than a 20th of its limit must be written down; one that fell by less may wait."""

ROOMS: Mapping[str, set[str]] = {
    "model": set(),
    "hosts": {"model", "registry"},
    "knobs": {"model", "registry", "hosts"},
    "launch": {"model", "registry", "hosts"},
    "lab": {"model"},
    "programs": {"model"},
    "readers": {"model"},
    "adapters": {"model", "readers"},
    "store": {"model"},
    "analysis": {"model"},
    "reports": {"model", "analysis", "audit", "registry"},
    "plan": {"model"},
    "devices": {"model", "registry"},
    "configure": {"model", "devices"},
    "audit": {"model", "registry", "configure"},
}
"""Room to what it may import; the table of ARCHITECTURE.md says the same. `cli` may import everything."""

FOUNDATIONS = ("bug_log", "engine_binary", "progress", "registry")
"""Top-level files that import model alone, and `programs` where they compile."""
ANALYSIS = (
    *("words", "rows", "curve", "frames", "numbers", "proof", "values", "comparing", "tuning", "profiles", "papers"),
    "incast",
    *("best_words", "group_words", "answer", "results"),
)
"""What is in analysis; each may import model and those before it."""
RUNNING = (
    "applications",
    *(
        "library_settings",
        "settings",
        "evaluation",
        "same_launches",
        "binding",
        "effort",
        "block_planner",
        "sharing",
        "sharpen",
        "probing",
        "osu_builds",
        "library_probing",
        "tuning_time",
        "tuning_plan",
        "tuning_commands",
        "tuning",
        "casualties",
        "clearing",
        "copy_rates",
        "launch_counters",
        "launch_limits",
        "rdma_ports",
        "switches",
        "strayed",
        "causes",
        "idle_instruments",
    ),
    *("fleet", "services", "comparison", "resumption", "verify", "launch_runner", "groups", "real_site"),
    *(
        "program_place",
        "site",
        "vocabulary",
        "planned",
        "prove",
        "profile",
        "run",
        "survey",
        "device_asking",
        "log_labels",
        "log_ours",
        "log_sockets",
        "log_definitions",
        "log_series",
        "log_values",
        "log_twins",
        "importing",
    ),
)
"""What is in running, which wires rooms together: each may import rooms but cli, foundations, and those before it."""


def counted(root: Path = ROOT) -> Any:
    """Return what scripts/house counts below a folder."""
    argv = [sys.executable, str(HOUSE), "--json", "--root", str(root)]
    return json.loads(subprocess.run(argv, capture_output=True, text=True, check=True).stdout)


@pytest.fixture(scope="module")
def house() -> Any:
    return counted()


def allowed() -> dict[str, set[str]]:
    """Return what each unit may import."""
    analysis, running = (named("analysis", ANALYSIS), named("running", RUNNING))
    rules = {name: {*others, *(analysis if "analysis" in others else ())} for name, others in ROOMS.items()}
    rules |= {name: {"model"} for name in FOUNDATIONS} | {"engine_binary": {"model", "programs"}}
    rules |= {name: {"model", *analysis[:place]} for place, name in enumerate(analysis)}
    rules |= {name: {*ROOMS, *analysis, *FOUNDATIONS, *running[:place]} for place, name in enumerate(running)}
    tops = {"running": set(), "__init__": {"model", "store", *analysis}, "__main__": {"cli", "model"}}
    return {**rules, **tops, "cli": {*rules}}


def named(room: str, inside: Sequence[str]) -> list[str]:
    """Return the units of a room whose own files and folders stand in an order."""
    return [f"{room}/{name}" for name in inside]


def forbidden(units: Mapping[str, list[str]]) -> dict[str, set[str]]:
    """Return the arrows that no rule allows; of a unit without a rule all of them."""
    rules = allowed()
    wrong = {unit: set(others) - rules.get(unit, set()) for unit, others in units.items()}
    return {unit: others for unit, others in wrong.items() if others}


def test_rooms_and_top_level_files_import_only_what_they_may(house: Any) -> None:
    assert not forbidden(house["units"]), "an arrow that the tables above and in ARCHITECTURE.md do not allow"


def test_every_room_and_top_level_file_has_its_rule(house: Any) -> None:
    assert set(house["units"]) == set(allowed()), "a new unit needs its line above and in ARCHITECTURE.md"


def test_no_files_import_each_other(house: Any) -> None:
    assert house["circles"] == house["circles_of_units"] == []


def test_private_names_stay_in_their_folder(house: Any) -> None:
    assert house["private_imports"] == [], "drop the underscore of what others need"


def distributions(modules: list[str]) -> dict[str, str]:
    """Return which package brings each module."""
    owners = metadata.packages_distributions()
    return {module: plain(owners[module][0]) if module in owners else f"unknown: {module}" for module in modules}


def plain(requirement: str) -> str:
    """Return a requirement's name as PyPI compares it."""
    name = re.match(r"[A-Za-z0-9._-]+", requirement)
    assert name
    return re.sub(r"[-_.]+", "-", name[0]).lower()


def test_what_is_imported_is_declared_and_what_is_declared_is_imported(house: Any) -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    optional = {kind: {plain(text) for text in texts} for kind, texts in project["optional-dependencies"].items()}
    declared = {plain(text) for text in project["dependencies"]}
    imported = set(distributions(house["foreign_imports"]["src"]).values())
    assert imported == declared | optional["submit"] | optional["devices"]
    for area in ("tests", "benchmarks", "campaigns"):
        others = set(distributions(house["foreign_imports"][area]).values())
        assert others <= declared | optional["dev"], area


@pytest.mark.parametrize("name", LIMITS)
def test_a_number_only_falls(house: Any, name: str) -> None:
    count, limit = house["limited"][name], LIMITS[name]
    assert count <= limit, (
        f"{name} is {count}, at most {limit} is allowed: `scripts/house` shows where; tests/house.toml is never raised"
    )
    assert count >= limit - limit // SLACK, (
        f"{name} fell from {limit} to {count}: `scripts/house --lower` writes it into tests/house.toml"
    )


def test_every_number_has_a_limit(house: Any) -> None:
    assert set(house["limited"]) == set(LIMITS)


MADE_UP = {
    "src/fabriscope/__init__.py": "__version__ = '1'\n",
    "src/fabriscope/top.py": "from fabriscope.lab import wires\nimport polars\n",
    "src/fabriscope/lab/__init__.py": "",
    "src/fabriscope/lab/wires.py": "from fabriscope import __version__\nfrom fabriscope.store import shelf\n",
    "src/fabriscope/store/__init__.py": "from fabriscope.lab._knots import tied  # noqa: F401\n",
    "src/fabriscope/store/shelf.py": '"""# noqa in a text"""\ndef take():\n    import fabriscope.lab.wires\n',
    "src/fabriscope/lab/_knots.py": "from typing import Any, Literal\ntied: Any = Literal['x']\n",
    "src/fabriscope/store/keys.py": (
        "from typing import Any\n\n\ndef read(row: dict[str, Any]) -> Any:\n"
        "    row['written'] = row['read'] or row.get('asked')  # type: ignore\n    return row[row['read']]\n"
    ),
    "tests/test_long.py": "import os\n" * 301,
}


@pytest.fixture
def made_up(tmp_path: Path) -> Path:
    for name, text in MADE_UP.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return tmp_path


def test_faults_of_imports_are_seen(made_up: Path) -> None:
    seen = counted(made_up)
    assert seen["units"] == {"__init__": [], "top": ["lab"], "lab": ["store"], "store": ["lab"]}
    assert forbidden(seen["units"]) == {"top": {"lab"}, "lab": {"store"}, "store": {"lab"}}
    assert seen["circles"] == [["fabriscope.lab.wires", "fabriscope.store.shelf"]]
    assert seen["circles_of_units"] == [["lab", "store"]]
    assert seen["floors"] == {"__init__": 1, "lab": 1, "store": 1, "top": 2}
    assert seen["private_imports"] == ["src/fabriscope/store/__init__.py:1: fabriscope.lab._knots.tied"]
    assert seen["foreign_imports"] == {"src": ["polars"], "tests": [], "benchmarks": [], "campaigns": []}


def test_what_is_counted(made_up: Path) -> None:
    seen = counted(made_up)
    assert seen["any"] == {"top": 0, "lab": 1, "store": 2}
    assert seen["key_reads"] == {"top": 0, "lab": 0, "store": 3}
    assert seen["lines"]["tests"] == 301 and seen["lines"]["src: top"] == 3
    limited = seen["limited"]
    assert (limited["noqa"], limited["type_ignore"]) == (1, 1)
    assert (limited["longest_file_lines"], limited["file_lines_beyond_300"]) == (301, 1)
    assert (limited["longest_function_lines"], limited["function_lines_beyond_40"]) == (3, 0)


def test_a_limit_is_lowered_and_never_raised(made_up: Path) -> None:
    limits = made_up / "tests" / "house.toml"
    limits.write_text("".join(f"{name} = {0 if name == 'any' else 500}\n" for name in LIMITS))
    argv = [sys.executable, str(HOUSE), "--root", str(made_up), "--lower"]
    said = subprocess.run(argv, capture_output=True, text=True, check=True).stdout
    written = tomllib.loads(limits.read_text())
    assert written["any"] == 0
    assert written["longest_file_lines"] == 301
    assert "longest_file_lines: 500 -> 301" in said
    assert "any" not in said
