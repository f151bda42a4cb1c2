"""`plan check` asks to look again at what may not be meant, and calls no plan good that a run would refuse."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from fabriscope.cli import fabriscope
from fabriscope.cli._doubts import machine
from fabriscope.hosts import mpi
from fabriscope.model.errors import ToolMissing
from fabriscope.model.mpi import MpiStack

PLAN = """
name: some
hosts: node[1-2]
fabrics: {near: {lab: gige}, far: {lab: {preset: gige, delay: 200us}}}
benchmarks: {ping_pong: {sizes: [1, 64]}}
"""
OF_THIS_MACHINE = """
name: none
hosts: localhost
placements: [intra]
layers: [tcp]
instruments: [iperf3]
benchmarks: {ping_pong: {sizes: [1]}}
launches: 1
budget: 1s
"""

Check = Callable[..., Result]


@pytest.fixture
def check(tmp_path: Path) -> Check:
    def checked(text: str, *words: str) -> Result:
        (tmp_path / "x.yaml").write_text(text)
        return CliRunner().invoke(fabriscope, ["plan", "check", str(tmp_path / "x.yaml"), *words])

    return checked


def test_an_instrument_without_any_of_the_benchmarks_is_named(check: Check) -> None:
    told = check(PLAN + "instruments: [engine, iperf3]\n")
    assert "look again: iperf3 measures nothing of this plan: iperf3 has no ping_pong; add" in told.output
    some = check(PLAN.replace("]}}", "]}, bandwidth: {sizes: [64KiB]}}") + "instruments: [iperf3]\n")
    assert "look again" not in some.output


def test_a_size_of_0_that_is_left_out_is_named(check: Check) -> None:
    assert "look again: ping_pong: the size 0 is left out over TCP" in check(PLAN.replace("[1,", "[0, 1,")).output


def test_too_few_launches_for_a_verdict_are_named_in_json_too(check: Check) -> None:
    told = check(PLAN + "launches: 2\n")
    assert "look again: with 2 launches of each entry nothing is decided: a verdict needs 3" in told.output
    assert "2 launches of each entry" in json.loads(check(PLAN + "launches: 2\n", "--json").output)["look_again"][0]
    alone = check(PLAN.replace("near: {lab: gige}, ", "") + "launches: 2\n")
    assert "look again" not in alone.output, "of one entry there is no verdict"


def test_a_congestion_control_that_the_kernel_lacks_is_named(
    check: Check, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "known").write_text("reno cubic\n")
    monkeypatch.setattr(machine, "CONGESTION_CONTROLS", tmp_path / "known")
    monkeypatch.setattr(machine, "MODULES", tmp_path)
    told = check(PLAN.replace("64]}}", "64], socket: {congestion_control: [default, reno, cubik]}}}"))
    assert "kernel has no 'cubik'; did you mean 'cubic'? it has reno and cubic" in told.output


def test_a_plan_with_a_library_that_is_not_here_is_not_called_good(
    check: Check, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = [MpiStack(name, "openmpi4", "4", "/x/mpirun", None, {}) for name in ("openmpi-4.1.4", "mpich-4.0.2")]
    monkeypatch.setattr(mpi, "stacks", lambda: here)
    told = check(PLAN + "layers: [tcp, mpi]\nmpi: [openmpi-4]\n")
    assert "a good plan" not in told.output
    assert "cannot be run on this machine" in told.output
    assert isinstance(told.exception, ToolMissing)
    assert "did you mean 'openmpi-4.1.4'?" in str(told.exception)
    with pytest.raises(ToolMissing, match=r"machine -- .*found: openmpi-4.1.4, mpich-4.0.2"):
        mpi.find("mvapich2")


def test_a_mistake_is_told_before_the_plan_is_called_good(check: Check) -> None:
    told = check(PLAN + "bind: [8190, 8191]\n")
    assert told.output == ""
    assert "bind names processor 8190" in str(told.exception)


def _run(folder: Path, *program: str) -> subprocess.CompletedProcess[str]:
    plan = folder / "none.yaml"
    plan.write_text(OF_THIS_MACHINE)
    argv = [sys.executable, *program, "run", str(plan), "-o", str(folder / "run")]
    return subprocess.run(argv, capture_output=True, text=True, timeout=120, check=False)


def test_a_run_of_a_plan_that_measures_nothing_is_refused(tmp_path: Path) -> None:
    done = _run(tmp_path, "-m", "fabriscope")
    assert done.returncode == 2, done.stderr
    assert "none.yaml:6: iperf3 measures nothing of this plan: iperf3 has no ping_pong -- add a" in done.stderr
    assert not (tmp_path / "run").exists()


def test_a_run_that_measures_nothing_ends_with_10_and_says_why(tmp_path: Path) -> None:
    unasked = "from fabriscope.running import idle_instruments; idle_instruments.refuse = lambda *_: None"
    done = _run(tmp_path, "-c", f"{unasked}; from fabriscope.cli import fabriscope; fabriscope()")
    assert done.returncode == 10, done.stderr
    why = "Nothing was measured: 1 measurement of 1 case failed or was left out: iperf3 has no ping_pong."
    assert why in done.stdout
    assert "nothing was measured: change the plan" in done.stdout


def test_a_program_that_is_not_here_is_named_with_its_package(check: Check, monkeypatch: pytest.MonkeyPatch) -> None:
    told = check(OF_THIS_MACHINE.replace("ping_pong: {sizes: [1]}", "bandwidth: {sizes: [1KiB]}"))
    here = shutil.which("iperf3")
    absent = "look again: iperf3: iperf3 is not on this machine; install the package iperf3"
    assert (absent in told.output) == (here is None)
    monkeypatch.setattr(shutil, "which", lambda _name: None)
    hpl = "layers: [mpi]\nmpi: [openmpi]\napplications: {hpl: {n: 1000, ranks: 2}}\n"
    told = check(PLAN.replace("benchmarks: {ping_pong: {sizes: [1, 64]}}\n", hpl))
    assert "look again: hpl: xhpl or hpcc is not on this machine; install the package hpcc" in told.output
    own = check(
        PLAN.replace("benchmarks: {ping_pong: {sizes: [1, 64]}}\n", hpl.replace("{n:", "{program: /opt/xhpl, n:"))
    )
    assert "look again: hpl" not in own.output


def test_a_rate_without_its_unit_and_a_time_out_that_is_too_short_are_named(check: Check) -> None:
    told = check(
        OF_THIS_MACHINE.replace("localhost", "a,b")
        .replace("placements: [intra]", "fabrics: {eth: {interface: eth0, line_rate: 10000}}")
        .replace("budget: 1s", "case_timeout: 1ms")
        .replace("iperf3", "engine")
    )
    assert "look again: eth: a line_rate of 10000 b/s; a number without a unit is in bits a second" in told.output
    assert "look again: case_timeout: launches that do well may say nothing for 1 ms; write 1s or more" in told.output
