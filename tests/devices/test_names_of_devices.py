"""A device is what its folder and its files are called, together; a pasted configuration of EOS needs no head."""

from __future__ import annotations

from pathlib import Path

from click.testing import CliRunner

from fabriscope import devices
from fabriscope.cli import fabriscope

EOS = """leaf1#show running-config
hostname leaf1
!
interface Ethernet1
   mtu 9214
   qos trust dscp
   priority-flow-control on
   priority-flow-control priority 3 no-drop
!
end
leaf1#
"""


def test_files_and_a_folder_of_one_name_are_one_device(tmp_path: Path) -> None:
    """The last one of them counted, and the others vanished without a word."""
    (tmp_path / "leaf1").mkdir()
    (tmp_path / "leaf1" / "a.txt").write_text(EOS)
    (tmp_path / "leaf1.cfg").write_text(EOS.replace("mtu 9214", "mtu 1500"))
    (tmp_path / "leaf1.txt").write_text("nothing that is known\n")
    (device,) = devices.of_folder(tmp_path).values()
    known = {fact.name: (fact.value, fact.unknown_because) for fact in device.known.facts}
    assert known["port.Ethernet1.mtu_bytes"][0] is None
    assert "9214" in str(known["port.Ethernet1.mtu_bytes"][1])
    assert known["port.Ethernet1.trust"][0] == "dscp"
    unknown, contradiction = device.problems
    assert unknown == "leaf1.txt: no known command's output"
    assert contradiction.endswith("in a.txt says 9214, `show running-config` in leaf1.cfg says 1500")


def test_a_pasted_session_with_a_pager_and_returns_is_read(tmp_path: Path) -> None:
    text = EOS.replace("   qos trust", " --More-- \r        \r   qos trust").replace("\n", "\r\n")
    (tmp_path / "leaf1.txt").write_bytes(text.encode())
    (device,) = devices.of_folder(tmp_path).values()
    known = {fact.name: fact.value for fact in device.known.facts}
    assert device.problems == ()
    assert (device.system, known["port.Ethernet1.trust"], known["port.Ethernet1.pfc_priorities"]) == (
        "eos",
        "dscp",
        "3",
    )


def test_an_inventory_counts_devices_beside_hosts_and_hides_none(tmp_path: Path) -> None:
    (tmp_path / "leaf1.txt").write_text(EOS)
    words = ["inventory", "--hosts", "localhost", "--devices", str(tmp_path)]
    told = CliRunner().invoke(fabriscope, words, catch_exceptions=False)
    assert told.stdout.splitlines()[:2] == ["1 host: localhost", "1 device: leaf1"]
    (tmp_path / "leaf1.txt").rename(tmp_path / "localhost.txt")
    both = CliRunner().invoke(fabriscope, words, catch_exceptions=False)
    assert (both.exit_code, "localhost is a host and a device of the folder" in both.stderr) == (2, True)
