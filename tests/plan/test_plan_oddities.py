"""What keys say together that is possible and hardly meant is asked about; a plain plan is not."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from fabriscope.cli import fabriscope
from fabriscope.model.errors import PlanError

PLAN = """name: x
hosts: node[1-2]
fabrics:
  near: {NEAR}
  far: {FAR}
benchmarks:
  ping_pong: {sizes: [8]}
"""
LAB = "lab: {preset: gige, delay: 200us}"


def check(folder: Path, near: str, far: str) -> Result:
    path = folder / "plan.yaml"
    path.write_text(PLAN.replace("NEAR", near).replace("FAR", far))
    return CliRunner().invoke(fabriscope, ["plan", "check", str(path)], catch_exceptions=False)


@pytest.mark.parametrize(
    ("near", "far", "asked"),
    [
        ("lab: {preset: gige, delay: 1}", LAB, "near: a delay of 1 s from host to host; a number without a unit is in"),
        ("lab: {preset: gige, drop_every: 2}", LAB, "near: one frame in 2 is lost"),
        ("lab: gige, service_level: 5", LAB, "near: service_level is of what verbs send, and no fabric has `rdma`"),
        (LAB, LAB, "nothing differs between near and far"),
        ("interface: eth0", "interface: eth0", "nothing differs between near and far"),
        (
            "interface: {node1: eth0, node2: eth0, node3: eth0}",
            "interface: eth1",
            "1 host that the plan has not: node3",
        ),
    ],
)
def test_it_is_asked_about(tmp_path: Path, near: str, far: str, asked: str) -> None:
    assert any(
        line.startswith("look again") and asked in line for line in check(tmp_path, near, far).output.splitlines()
    )


def test_a_plain_plan_is_not(tmp_path: Path) -> None:
    result = check(tmp_path, "lab: gige", LAB)
    assert result.exit_code == 0
    assert "look again" not in result.output


def test_links_that_are_never_up_are_refused(tmp_path: Path) -> None:
    with pytest.raises(PlanError, match="the links would never be up") as raised:
        check(tmp_path, "lab: {preset: gige, flap_period: 1s, flap_down: 1s}", LAB)
    assert str(raised.value).endswith(":4: the links would never be up -- let flap_period be more than flap_down")
