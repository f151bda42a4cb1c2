"""A lab with three faults: each is found, nothing else is, and what is put back is found no more."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from click.testing import CliRunner
from tests import needs

from fabriscope import lab
from fabriscope.cli import audit, inventory, restore
from fabriscope.cli._lab_break import _mending, command
from fabriscope.lab.broken import FAULTS
from fabriscope.lab.presets import PRESETS
from fabriscope.model.lab import LabSpec

HOSTS = ("node1", "node2", "node3", "node4")
PLANTED = {"mtu": "node3", "sack": "node2", "arp": "node1"}


def found(name: str) -> dict[str, list[str]]:
    done = CliRunner().invoke(audit.COMMAND, ["--lab", name, "--format", "json"])
    return {one["check"]: one["hosts"] for one in json.loads(done.stdout)["findings"]}


def test_three_faults_of_a_lab(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    needs.root("to build a lab")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    tmp_path.chmod(0o700)
    built = lab.up(LabSpec(HOSTS, {"gige": PRESETS["gige"]}))
    try:
        assert found(built.name) == {}
        mends = []
        for fault, host in PLANTED.items():
            done = CliRunner().invoke(command, [fault, "--lab", built.name, "--host", host], catch_exceptions=False)
            match = re.search(r"fabriscope restore ([0-9a-f]{8})", done.stdout)
            assert match, done.stdout
            mends.append(match[1])
        assert found(built.name) == {
            "mtu-hosts-agree": ["node3"], "tcp-settings-differ": ["node2"], "arp-differs": ["node1"],
        }  # fmt: skip
        told = CliRunner().invoke(inventory.COMMAND, ["--lab", built.name])
        assert re.search(r"^! +1400 +\(node3\)$", told.stdout, re.MULTILINE)
        restored = CliRunner().invoke(restore.COMMAND, mends)
        assert restored.exit_code == 0, restored.output
        assert found(built.name) == {}
    finally:
        built.down()


def test_each_fault_of_a_switch_is_mended_by_what_ends_it() -> None:
    switch = {"on_full": "drop", "rate_bits_per_s": 10**8, "delay_ns": 5000, "buffer_bytes": 65536,
              "rx_coalesce_ns": 0, "rx_coalesce_frames": 1}  # fmt: skip
    assert _mending("pause", switch) == "--on-full drop"
    assert _mending("cable", switch) == "--clear"
    wanted = {"slow-wire": "--rate 100000000bit/s", "far": "--delay 5000ns", "small-buffer": "--buffer 65536",
              "coalescing": "--rx-coalesce-time 0ns --rx-coalesce-frames 1"}  # fmt: skip
    assert {name: _mending(name, switch) for name in wanted} == wanted


def test_every_fault_says_what_it_does_and_how_it_shows() -> None:
    done = CliRunner().invoke(command, ["--list"])
    assert done.exit_code == 0
    assert [line.split()[0] for line in done.stdout.splitlines()] == list(FAULTS)
    assert all(bool(fault.setting) != bool(fault.switch) for fault in FAULTS.values())
