"""Settings of the lab's switch that cannot be together are refused in a check; what does nothing is asked about."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from fabriscope.cli import fabriscope
from fabriscope.cli._doubts import machine
from fabriscope.model.errors import PlanError

PLAN = """name: x
hosts: node[1-2]
fabrics:
  near: NEAR
benchmarks:
  ping_pong: {sizes: [8]}
"""
TUNE = "tune: {knobs: {KNOBS}, objective: {benchmark: ping_pong}, budget: 30min}\n"
PFC = "traffic_class: 96, lab: {preset: gige, pfc: 3, xoff: 60KiB, xon: 30KiB}"


def check(folder: Path, near: str, knobs: str = "") -> Result:
    path = folder / "plan.yaml"
    path.write_text(PLAN.replace("NEAR", f"{{{near}}}") + (TUNE.replace("KNOBS", knobs) if knobs else ""))
    return CliRunner().invoke(fabriscope, ["plan", "check", str(path)], catch_exceptions=False)


def asked(result: Result) -> list[str]:
    return [line for line in result.output.splitlines() if line.startswith("look again")]


@pytest.mark.parametrize(
    ("settings", "knobs", "said"),
    [
        ("switch_xon: 70KiB", "", "with switch_xon: 71680 xon (71680 B) is more than xoff (61440 B)"),
        ("switch_xoff: 20KiB", "", "with switch_xoff: 20480 xon (30720 B) is more than xoff (20480 B)"),
        ("switch_xoff: 20KiB, switch_xon: 30KiB", "", "xon (30720 B) is more than xoff (20480 B)"),
        ("switch_ecn: 20KiB, switch_shared_buffer: 40KiB", "", "xoff (61440 B) is more than the shared buffer"),
        ("", "switch_xon: [10KiB, 70KiB]", "with switch_xon: 71680 xon (71680 B) is more than xoff"),
        ("", "switch_xon: [10KiB, 30KiB], switch_xoff: [20KiB, 60KiB]", "xon (30720 B) is more than xoff (20480 B)"),
        ("", "switch_buffer: [100, 64KiB]", "no whole frame of 1514 bytes fits"),
    ],
)
def test_what_no_switch_can_be_is_refused_at_its_line(tmp_path: Path, settings: str, knobs: str, said: str) -> None:
    with pytest.raises(PlanError) as caught:
        check(tmp_path, f"{PFC}, settings: {{{settings}}}", knobs)
    assert said in str(caught.value)
    assert f"plan.yaml:{7 if knobs else 4}:" in str(caught.value)


@pytest.mark.parametrize(
    ("near", "said"),
    [
        ("lab: gige, settings: {switch_rate: 100}", "near: a line rate of 100 b/s; a number without a unit is in bits"),
        ("lab: {preset: gige, rate: 1000}", "near: a line rate of 1000 b/s; a number without a unit"),
        ("lab: {preset: gige, shared_buffer: 1}", "near: a shared_buffer of 1 B holds no whole frame of 1514 B"),
        (
            "lab: {preset: gige, buffer: 64KiB, pfc: 0, xoff: 1MiB}",
            "near: an xoff of 1048576 B is more than the buffer of 65536 B, which is of what may be dropped",
        ),
        (
            "lab: {preset: gige, buffer: 64KiB, ecn_min: 1MiB, ecn_max: 2MiB}",
            "near: an ecn_min of 1048576 B is more than the buffer of 65536 B: no frame finds so much",
        ),
        (f"{PFC}, settings: {{switch_ecn_probability: 10%}}", "ecn_probability does nothing: no frame is marked"),
        ("lab: {preset: gige, headroom: 40KiB}", "near: headroom does nothing: nothing is paused without `pfc`"),
        ("lab: {preset: gige, ecn_probability: 10%}", "near: ecn_probability does nothing: no frame is marked without"),
        (
            "lab: {preset: gige, alpha: 2}",
            "near: alpha does nothing: it is of a shared buffer, and the switch has none",
        ),
    ],
)
def test_what_is_hardly_meant_is_asked_about_once(tmp_path: Path, near: str, said: str) -> None:
    assert len([line for line in asked(check(tmp_path, near)) if said in line]) == 1


@pytest.mark.parametrize(
    ("near", "knobs"),
    [
        (f"{PFC}, settings: {{switch_headroom: 40KiB, switch_xoff: 90KiB}}", ""),
        ("lab: {preset: gige, headroom: 40KiB}, settings: {switch_pfc: 3}", ""),
        ("lab: {preset: gige, on_full: pause, headroom: 40KiB}", ""),
        ("lab: {preset: gige, shared_buffer: 1MiB, alpha: 2}", ""),
        ("lab: {preset: gige, scheduler: fair}", "switch_pfc: [none, 3], switch_headroom: [none, 40KiB]"),
        ("lab: gige, settings: {switch_rate: 100Mb/s}", ""),
    ],
)
def test_what_can_be_meant_is_not(tmp_path: Path, near: str, knobs: str) -> None:
    result = check(tmp_path, near, knobs)
    assert result.exit_code == 0
    assert asked(result) == []


def test_what_is_set_is_told_with_its_unit(tmp_path: Path) -> None:
    settings = "switch_rate: 100Mb/s, switch_delay: 50us, switch_buffer: 64KiB, switch_on_full: drop"
    told = check(tmp_path, f"lab: gige, settings: {{{settings}}}").output
    for words in ("rate to 100000000 b/s on", "delay to 50000 ns on", "buffer to 65536 B on", "on_full to drop on"):
        assert f"sets switch_{words} the lab's switch" in told


@pytest.mark.parametrize("knobs", ["", "congestion_control: [reno, nosuch]"])
def test_a_congestion_control_that_hosts_of_the_lab_may_not_choose_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, knobs: str
) -> None:
    (tmp_path / "allowed").write_text("reno cubic\n")
    monkeypatch.setattr(machine, "ALLOWED_CONGESTION_CONTROLS", tmp_path / "allowed")
    setting = "" if knobs else ", settings: {congestion_control: nosuch}"
    said = "congestion_control: hosts of the lab may choose reno and cubic, and not 'nosuch': its launches would fail"
    assert [line for line in asked(check(tmp_path, f"lab: gige{setting}", knobs)) if said in line]
    assert asked(check(tmp_path, "lab: gige, settings: {congestion_control: cubic}")) == []
