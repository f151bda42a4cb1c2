"""A configuration with a value that no device prints ends in a sentence for that device; the others are written."""

from __future__ import annotations

import copy
import json
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner
from tests.devices.test_configurations import SONIC

from fabriscope.cli.configure import configure
from fabriscope.configure import eos
from fabriscope.configure.step import Ready, Saved, Step, Wanted, made_ready
from fabriscope.model.errors import HostError


@pytest.mark.parametrize("number", [".", "2000"])
def test_the_device_is_named_and_the_other_written(number: str, tmp_path: Path) -> None:
    odd = copy.deepcopy(SONIC)
    odd["PORT"]["Ethernet0"]["admin_status"] = "up"
    whole = copy.deepcopy(odd)
    odd["QUEUE"] = {f"Ethernet0|{number}": {"scheduler": "s1"}, **odd["QUEUE"]}
    for name, tables in (("leaf1", odd), ("leaf2", whole)):
        folder = tmp_path / "switches" / name
        folder.mkdir(parents=True)
        (folder / "config_db.json").write_text(json.dumps(tables))
    words = ["--devices", str(tmp_path / "switches"), "-o", str(tmp_path / "out")]
    ended = CliRunner().invoke(configure, words)
    assert ended.exit_code == 4, ended.output
    assert f"device leaf1: nothing is written, '{number}' is not from 0 to 63" in ended.output
    assert sorted(path.name for path in (tmp_path / "out").iterdir() if path.is_dir()) == ["leaf2"]


def test_a_line_with_a_sign_that_nobody_types_is_not_written() -> None:
    typed = Step("MTU", ("mtu 9000",), ("mtu 15\x0700",))
    dialect = replace(eos.DIALECT, ready=lambda _wanted, _saved: Ready((typed,)))
    with pytest.raises(HostError, match=r"device leaf1: nothing is written, 'mtu 15\\x0700' has a sign that nobody"):
        made_ready(dialect, Wanted(), Saved("leaf1", "x"))
