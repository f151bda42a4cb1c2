"""What the command line says in place of a plan's keys becomes part of its text."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from fabriscope.model.errors import PlanError
from fabriscope.plan import expand, load
from fabriscope.plan.overrides import with_values
from fabriscope.running.vocabulary import vocabulary

PLAN = """# a plan
name: one
hosts: localhost
layers: [tcp, shm]
placements: [intra]
launches: 5   # as ever
benchmarks:
  ping_pong:
    sizes: [1, 64]
"""


@pytest.mark.parametrize(
    ("values", "data"),
    [
        ({}, {}),
        ({"launches": 2}, {"launches": 2}),
        ({"budget": "3s"}, {"budget": "3s"}),
        ({"only": ["shm", "a: b # c"]}, {"only": ["shm", "a: b # c"]}),
        ({"benchmarks": 1, "name": "x"}, {"benchmarks": 1, "name": "x"}),
    ],
)
def test_a_key_is_replaced_with_all_that_is_below_it_and_nothing_else(
    values: dict[str, Any], data: dict[str, Any]
) -> None:
    assert yaml.safe_load(with_values(PLAN, values, "p")) == {**yaml.safe_load(PLAN), **data}


@pytest.mark.parametrize("text", ["launches:\n- 1\n- 2\nname: x\n", "launches:\n  - 1\n\n  - 2\nname: x\n", "name: x"])
def test_lists_and_empty_lines_below_a_key_go_with_it(text: str) -> None:
    assert yaml.safe_load(with_values(text, {"launches": 3}, "p")) == {"launches": 3, "name": "x"}


def test_a_plan_in_braces_is_refused() -> None:
    with pytest.raises(PlanError, match="--launches cannot be put into a plan that is written in braces"):
        with_values('# JSON\n{"name": "x"}', {"launches": 3}, "p")


def test_only_leaves_entries_whose_id_has_a_word(tmp_path: Path) -> None:
    path = tmp_path / "plan.yaml"
    path.write_text(PLAN)
    plan = load(path, vocabulary(), {"only": ["shm"], "launches": 1})
    assert "only:" in plan.text, "so that a resumed run means the same"
    entries = [entry.entry_id for entry in expand(plan, {}).entries if entry.layer != "null"]
    assert entries == ["shm.intra"]
    with pytest.raises(PlanError, match="no entry has 'verbs' in its id"):
        expand(load(path, vocabulary(), {"only": ["verbs"]}), {})


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"launches": 0}, "launches"),
        ({"until": "decided", "launches": 2}, "with 2 launches nothing can be decided: a verdict needs 3"),
    ],
)
def test_what_would_decide_nothing_is_refused(values: dict[str, Any], said: str, tmp_path: Path) -> None:
    path = tmp_path / "plan.yaml"
    path.write_text(PLAN)
    with pytest.raises(PlanError, match=said):
        expand(load(path, vocabulary(), values), {})
