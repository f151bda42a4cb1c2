"""`fabriscope configure`: what is written, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from tests.devices.test_configurations import EOS, NXOS, ONYX

from fabriscope.cli.configure import configure
from fabriscope.model.errors import HostError


def run(*words: str) -> Result:
    return CliRunner().invoke(configure, list(words))


@pytest.fixture
def switches(tmp_path: Path) -> Path:
    folder = tmp_path / "switches"
    for name, text in (("leaf1", EOS), ("leaf2", NXOS), ("leaf3", ONYX)):
        (folder / name).mkdir(parents=True)
        (folder / name / "running.txt").write_text(text)
    return folder


def test_every_device_gets_its_files(switches: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    result = run("--devices", str(switches), "-o", str(out))
    assert result.exit_code == 0, result.output
    assert "leaf2 (nxos): " in result.output
    assert "touches: the buffers are carved anew" in result.output
    assert "nothing has been sent to anything" in result.output
    for leaf in ("leaf1", "leaf2", "leaf3"):
        names = {path.name for path in (out / leaf).iterdir()}
        assert names == {"configure.txt", "undo.txt", "prove.txt", "notes.md"}
    assert "show priority-flow-control" in (out / "leaf1" / "prove.txt").read_text()


def test_one_system_alone(switches: Path, tmp_path: Path) -> None:
    assert run("--devices", str(switches), "--system", "onyx", "-o", str(tmp_path / "out")).exit_code == 0
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["leaf3"]


def test_a_configuration_that_is_not_at_hand_is_said(tmp_path: Path) -> None:
    (tmp_path / "leaf1").mkdir()
    ports = {"Ethernet7": {"mtu": 1500, "interfaceStatus": "connected", "lineProtocolStatus": "up"}}
    (tmp_path / "leaf1" / "interfaces.json").write_text(json.dumps({"interfaces": ports}))
    result = run("--devices", str(tmp_path), "-o", str(tmp_path / "out"))
    assert "a device that is not configured at all, as is assumed" in result.output
    assert "interface Ethernet7\n   mtu 9214" in (tmp_path / "out" / "leaf1" / "configure.txt").read_text()
    assert "its running configuration is not at hand" in (tmp_path / "out" / "leaf1" / "notes.md").read_text()


def test_what_is_not_understood_is_told_and_the_others_go_on(switches: Path, tmp_path: Path) -> None:
    (switches / "leaf9.txt").write_text("what is this\n")
    (switches / "leaf8.txt").write_text(EOS.replace("dscp 26", "dscp 260"))
    result = run("--devices", str(switches), "-o", str(tmp_path / "out"))
    assert result.exit_code == 4
    assert "device leaf9: nothing is written, no configuration of it could be read" in result.output
    assert "device leaf9: leaf9.txt: no known command's output" in result.output
    assert not (tmp_path / "out" / "leaf9").exists()
    assert (tmp_path / "out" / "leaf1").is_dir()


@pytest.mark.parametrize(
    ("words", "why"),
    [
        ((), "give --devices, PLAN, --hosts or --lab, or --system"),
        (("--system", "junos"), "there is no system junos"),
        (("--system", "eos", "--priority", "8"), "8 is not in the range"),
        (("--system", "eos", "--dscp", "64"), "64 is not in the range"),
        (("--system", "eos", "--for", "iwarp"), "'iwarp' is not 'roce-v2'"),
    ],
)
def test_what_it_refuses(words: tuple[str, ...], why: str, tmp_path: Path) -> None:
    result = run(*words, "-o", str(tmp_path / "out"))
    assert result.exit_code == 2
    assert why in result.output
    assert not (tmp_path / "out").exists()


def test_a_folder_with_something_in_it_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "mine").write_text("x")
    result = run("--system", "eos", "-o", str(tmp_path))
    assert (result.exit_code, [path.name for path in tmp_path.iterdir()]) == (2, ["mine"])


def test_no_folder_of_devices(tmp_path: Path) -> None:
    result = run("--devices", str(tmp_path / "nowhere"), "-o", str(tmp_path / "out"))
    assert isinstance(result.exception, HostError)
