"""`fabriscope hosts check`: hosts that answer, hosts that do not, and words that name none."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner
from tests.launch.stand_in import make_ssh

from fabriscope.cli import fabriscope
from fabriscope.launch.ssh import COMMAND_VARIABLE
from fabriscope.model.errors import HostError


def test_good_and_bad_hosts_each_have_a_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(COMMAND_VARIABLE, make_ssh(tmp_path))
    result = CliRunner().invoke(fabriscope, ["hosts", "check", "n[1-2],closed,bare,localhost"])
    lines = {line.split()[1]: line for line in result.output.splitlines()}
    assert "Python 3." in lines["n1"]
    assert "lo 127.0.0.1" in lines["n2"]
    assert "Connection refused" in lines["closed"]
    assert "it has no python3" in lines["bare"]
    assert lines["localhost"].endswith("this machine")
    assert result.exit_code == HostError.exit_code
    assert not list((tmp_path / "homes" / "n1").iterdir())


def test_a_plan_names_its_own_ssh(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(COMMAND_VARIABLE, raising=False)
    plan = tmp_path / "plan.yaml"
    plan.write_text(
        f"name: x\nhosts: n[1-2]\nssh: {make_ssh(tmp_path)}\nfabrics: {{lo: {{interface: lo}}}}\n"
        "benchmarks: {ping_pong: {sizes: [1]}}\n"
    )
    result = CliRunner().invoke(fabriscope, ["hosts", "check", str(plan), "--json"])
    assert result.exit_code == 0
    assert set(json.loads(result.output)["hosts"]) == {"n1", "n2"}


def test_what_is_no_host_list_is_refused() -> None:
    result = CliRunner().invoke(fabriscope, ["hosts", "check", "node[1-"])
    assert isinstance(result.exception, HostError)
    assert "'node[1-' is no host list" in str(result.exception)
    assert "name a plan's file, or write it like node[1-4],head" in str(result.exception)
