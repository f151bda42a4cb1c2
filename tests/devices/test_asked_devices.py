"""Switches asked over ssh: what is given to them, what is saved, and what is said where that is less than all."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from tests.devices.made_up_switch import Switch, answering
from tests.devices.test_configurations import EOS

from fabriscope import devices
from fabriscope.cli.devices import COMMAND, SYSTEMS
from fabriscope.running.device_asking import DRIVERS, commands

pytest.importorskip("netmiko")
NEIGHBOURS = '{"lldpNeighbors": {"Ethernet1/1": {"lldpNeighborInfo": [{"systemName": "node1"}]}}}\n'
LEAF = {
    "terminal width 511": "Width set to 511 columns.\n",
    "terminal length 0": "Pagination disabled.\n",
    "show interfaces | json": "% Invalid input (privileged mode required)\n",
    "show lldp neighbors detail | json": NEIGHBOURS,
    "show interfaces flow-control | json": '{"interfaceFlowControls": {}}\n',
    "show running-config": EOS + "end\n",
}
Asking = Callable[..., Result]


@pytest.fixture
def asking(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Asking:
    """Return the command, for one whose ssh knows the switch unless `is_known` is false."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("FABRISCOPE_DEVICE_PASSWORD", "right")
    monkeypatch.delenv("SSH_AUTH_SOCK", raising=False)

    def ask(switch: Switch, *more: str, is_known: bool = True) -> Result:
        (tmp_path / ".ssh").mkdir(exist_ok=True)
        known = f"[127.0.0.1]:{switch.port} {switch.key}\n" if is_known else ""
        (tmp_path / ".ssh" / "known_hosts").write_text(known)
        words = ["127.0.0.1", "--system", "eos", "--user", "admin", "--port", str(switch.port)]
        return CliRunner().invoke(COMMAND, [*words, "-o", str(tmp_path / "switches"), *more])

    return ask


def test_what_a_switch_prints_is_saved_for_the_user_alone_and_read(asking: Asking, tmp_path: Path) -> None:
    with answering(Switch(LEAF, "right")) as switch:
        answer = asking(switch)
    assert answer.exit_code == 4, answer.output
    assert "device 127.0.0.1: `show interfaces | json` is refused there: '% Invalid input" in answer.output
    folder = tmp_path / "switches" / "127.0.0.1"
    assert {path.stat().st_mode & 0o077 for path in (folder, *folder.iterdir())} == {0}
    (found,) = devices.of_folder(tmp_path / "switches").values()
    assert (found.system, found.problems) == ("eos", ())
    facts = {one.name: one.value for one in found.known.facts}
    assert facts["port.Ethernet1/1.neighbour_system"] == "node1"
    assert facts["port.Ethernet1/1.mtu_bytes"] == 9214


def test_only_what_shows_is_given_and_saved_again_nowhere(asking: Asking, tmp_path: Path) -> None:
    with answering(Switch(LEAF, "right")) as switch:
        asking(switch)
        assert [line for line in switch.told if not line.startswith(("show ", "terminal ", "exit"))] == []
        asked = _asked(switch)
        again = asking(switch)
        assert (again.exit_code, _asked(switch)) == (2, asked)
    assert f"{tmp_path / 'switches' / '127.0.0.1'} is there already" in again.output


def _asked(switch: Switch) -> list[str]:
    """Return what a switch was told but for the farewell, which it hears when who said it has gone."""
    return [line for line in switch.told if line != "exit"]


def test_a_wrong_password_and_an_unknown_key_are_told(asking: Asking, tmp_path: Path) -> None:
    with answering(Switch(LEAF, "another")) as switch:
        refused = asking(switch)
    with answering(Switch(LEAF, "right")) as switch:
        unknown = asking(switch, is_known=False)
        assert switch.told == []
    for answer, why in ((refused, "uthentication"), (unknown, "known_hosts; log in by ssh once")):
        assert answer.exit_code == 5
        assert "device 127.0.0.1: it cannot be asked: " in answer.output and why in answer.output
        assert "Traceback" not in answer.output and "right" not in answer.output
    assert not (tmp_path / "switches").exists()


def test_nobody_there_is_told(asking: Asking) -> None:
    switch = Switch({}, "right")
    with answering(switch):
        pass
    answer = asking(switch)
    assert answer.exit_code == 5
    assert "it cannot be asked: " in answer.output


def test_every_system_can_be_asked_and_is_asked_for_what_shows_alone() -> None:
    every = {one.name: commands(one) for one in devices.systems() if one.name != "infiniband"}  # programs of hosts
    assert set(every) == set(DRIVERS) == set(SYSTEMS)
    for given in every.values():
        assert all(one.startswith(("show ", "nv config show", "sonic-cfggen -d --print-data")) for one in given)
    assert "show interfaces" not in every["eos"]
    listed = CliRunner().invoke(COMMAND, ["leaf1", "--system", "onyx", "--list"])
    assert listed.output.splitlines() == every["onyx"]
