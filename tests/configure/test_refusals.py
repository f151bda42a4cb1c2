"""What `fabriscope configure` refuses or leaves open, rather than say that nothing is missing."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from tests.configure.appliers import ready
from tests.devices.test_configurations import EOS, NVUE, NXOS, ONYX, SONIC

from fabriscope import devices
from fabriscope.cli.configure import configure
from fabriscope.configure import linux
from fabriscope.configure.step import Saved, Wanted
from fabriscope.model.host import Fact, HostFacts

TEXTS = {"eos": EOS, "nxos": NXOS, "onyx": ONYX, "cumulus": NVUE, "sonic": json.dumps(SONIC)}
WHOLE = EOS.replace("mtu 1500\n   shutdown", "mtu 1500")


def run(*words: str) -> Result:
    return CliRunner().invoke(configure, list(words))


def saved(tmp_path: Path, *texts: str) -> str:
    folder = tmp_path / "switches" / "leaf1"
    folder.mkdir(parents=True)
    for at, text in enumerate(texts):
        (folder / f"running{at}.txt").write_text(text)
    return str(folder.parent)


@pytest.mark.parametrize(
    ("system", "port"),
    [
        *(("onyx", one) for one in ("swp1", "x y", "Ethernet1/1; reload", "")),
        ("eos", "swp1"), ("eos", "Ethernet3.100"), ("nxos", "Ethernet1"), ("sonic", "Ethernet1/1"),
        ("cumulus", "swp1; touch /tmp/x"), ("cumulus", "Ethernet1/1"), ("eos", "Ethernet*"),
    ],
)  # fmt: skip
def test_a_name_that_is_no_port_of_the_system(system: str, port: str, tmp_path: Path) -> None:
    result = run("--system", system, "--port", port, "-o", str(tmp_path / "out"))
    assert result.exit_code == 2, result.output
    assert "is no port of" in result.output or "here each is named" in result.output
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("name", ["", "eth0; reboot", "..", "a/b", "x" * 16])
def test_a_name_that_no_interface_can_have(name: str, tmp_path: Path) -> None:
    result = run("--system", "linux", "--interface", name, "-o", str(tmp_path / "out"))
    assert (result.exit_code, "is no port of linux" in result.output) == (2, True)


def test_a_name_that_a_shell_would_run_is_quoted(tmp_path: Path) -> None:
    assert run("--system", "linux", "--interface", "eth0;reboot", "-o", str(tmp_path / "out")).exit_code == 0
    for file in ("configure.sh", "undo.sh", "prove.txt"):
        for line in (tmp_path / "out" / "linux" / file).read_text().splitlines():
            if "reboot" in line:
                assert any("eth0;reboot" in word for word in shlex.split(line)), line
                assert "'eth0;reboot'" in line or "'/sys/class/net/eth0;reboot/" in line


@pytest.mark.parametrize(
    ("system", "port"), [("eos", "Ethernet9/9"), ("nxos", "Ethernet1/9"), ("onyx", "Ethernet1/9"),
                         ("sonic", "Ethernet400"), ("cumulus", "swp9")],
)  # fmt: skip
def test_a_port_that_the_configuration_does_not_have(system: str, port: str, tmp_path: Path) -> None:
    result = run("--devices", saved(tmp_path, TEXTS[system]), "--port", port, "-o", str(tmp_path / "out"))
    assert result.exit_code == 2, result.output
    assert f"no device has '{port}'; leaf1 has " in result.output
    assert not (tmp_path / "out").exists()


def test_ports_that_a_key_of_nvue_names_together(tmp_path: Path) -> None:
    text = NVUE.replace("swp1:", "swp1,3-5:").replace("9216", "1500")
    assert ready("cumulus", "leaf1", text, Wanted())[0].there == ("swp1", "swp3", "swp4", "swp5")
    _, files = ready("cumulus", "leaf1", text, Wanted(), "swp4")
    assert "nv set interface swp4 link mtu 9216" in files["configure.sh"]
    assert "nv set interface swp3" not in files["configure.sh"]
    assert ready("cumulus", "leaf1", text.replace("swp1,3-5:", "'swp1; reboot':"), Wanted())[0].ports == ()


@pytest.mark.parametrize(
    "text",
    [
        json.dumps({"QUEUE": {"Ethernet0|3": {"scheduler": "s"}}, "DSCP_TO_TC_MAP": {"AZURE": {"26": "3"}}}),
        EOS.replace("interface Ethernet1/1", "interface Ethernet1/1\n   shutdown"),
    ],
)
def test_a_configuration_without_a_port_that_is_meant(text: str, tmp_path: Path) -> None:
    result = run("--devices", saved(tmp_path, text), "-o", str(tmp_path / "out"))
    assert result.exit_code == 4
    assert "device leaf1: nothing is written, no port to be configured is in its configuration" in result.output
    assert "nothing is missing" not in result.output
    assert not (tmp_path / "out" / "leaf1").exists()


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (WHOLE.partition("priority-flow-control all off")[0], "nothing follows `interface Ethernet1/2`"),
        (WHOLE.partition(" off\nend")[0], "'priority-flow-control all') has no end"),
        (ONYX.removesuffix("cli default prefix-modes enable\n"), "it is cut off: its last line, `cli default"),
        (NXOS.removesuffix("\nend\n"), "'priority-flow-control mode on') has no end"),
    ],
)
def test_a_configuration_that_may_be_cut(text: str, why: str, tmp_path: Path) -> None:
    result = run("--devices", saved(tmp_path, text), "-o", str(tmp_path / "out"))
    assert (result.exit_code, why in result.output) == (4, True), result.output
    assert not (tmp_path / "out" / "leaf1").exists()


@pytest.mark.parametrize("text", [EOS.rstrip("\n"), f"leaf1#show running-config\n{EOS}leaf1#", f"{EOS}!"])
def test_a_configuration_whose_last_line_says_that_it_is_whole(text: str, tmp_path: Path) -> None:
    folder = Path(saved(tmp_path, text))
    assert devices.configurations(folder)["leaf1"].flaw == ""


def test_of_a_device_without_a_configuration_only_its_ports_are_meant(tmp_path: Path) -> None:
    state = {"mtu": 1500, "interfaceStatus": "connected", "lineProtocolStatus": "up"}
    for leaf, names in (("leaf1", ("Ethernet7", "Management1")), ("leaf2", ("Ethernet8",))):
        (tmp_path / "switches" / leaf).mkdir(parents=True)
        text = json.dumps({"interfaces": dict.fromkeys(names, state)})
        (tmp_path / "switches" / leaf / "interfaces.json").write_text(text)
    words = ("--devices", str(tmp_path / "switches"), "-o")
    result = run(*words, str(tmp_path / "one"), "--port", "Ethernet7")
    assert result.exit_code == 4
    assert (
        "device leaf2: nothing is written, no port to be configured is in its outputs; it has Ethernet8"
        in result.output
    )
    assert not (tmp_path / "one" / "leaf2").exists()
    assert run(*words, str(tmp_path / "all")).exit_code == 0
    assert "Management1" not in (tmp_path / "all" / "leaf1" / "configure.txt").read_text()
    result = run(*words, str(tmp_path / "none"), "--port", "Ethernet9")
    assert (result.exit_code, "leaf1 has Ethernet7; leaf2 has Ethernet8" in result.output) == (2, True), result.output


def test_a_folders_name_is_no_line_of_a_script(tmp_path: Path) -> None:
    folder = Path(saved(tmp_path, NVUE.replace("9216", "1500")))
    (folder / "leaf1").rename(folder / "leaf\nreboot")
    assert run("--devices", str(folder), "-o", str(tmp_path / "out")).exit_code == 0
    for file in ("configure.sh", "undo.sh"):
        lines = (tmp_path / "out" / "leaf\nreboot" / file).read_text().splitlines()
        assert not any(line.startswith("reboot") for line in lines)


def test_two_configurations_of_one_device(tmp_path: Path) -> None:
    folder = saved(tmp_path, EOS, EOS.replace("9214", "1500"))
    result = run("--devices", folder, "-o", str(tmp_path / "out"))
    assert result.exit_code == 4
    assert "several running configurations that differ (running1.txt is one)" in result.output
    assert not (tmp_path / "out" / "leaf1").exists()


@pytest.mark.parametrize("mark", [" --More-- \n", " --More-- \r          \r", "--More--\b\b\b"])
def test_what_a_pager_left_is_no_line(mark: str, tmp_path: Path) -> None:
    mark = mark if mark.endswith(("\n", "\r")) else f"{mark}\n"
    folder = Path(saved(tmp_path, EOS.replace("   flowcontrol", f"{mark}   flowcontrol")))
    assert devices.configurations(folder)["leaf1"].text == EOS


def test_a_device_and_a_host_of_one_name(tmp_path: Path) -> None:
    folder = Path(saved(tmp_path, EOS))
    (folder / "leaf1").rename(folder / "localhost")
    result = run("--devices", str(folder), "--hosts", "localhost", "-o", str(tmp_path / "out"))
    assert result.exit_code == 2
    assert "localhost is both a device in --devices and a host" in result.output


def test_an_interface_that_the_host_does_not_have(tmp_path: Path) -> None:
    result = run("--hosts", "localhost", "--interface", "nosuch9", "-o", str(tmp_path / "out"))
    assert result.exit_code == 4, result.output
    assert "host localhost: there is no interface nosuch9" in result.output
    assert "nothing is missing" not in result.output
    assert "there is no interface nosuch9" in (tmp_path / "out" / "localhost" / "notes.md").read_text()


def test_every_fact_of_a_host_that_could_not_be_read_is_a_doubt() -> None:
    known = (Fact("interface.eth0.mtu_bytes", 9000), Fact("rdma.mlx5_0.1.interface", "eth0"),
             Fact("rdma.mlx5_0.1.traffic_class", 106))  # fmt: skip
    found = linux.DIALECT.ready(Wanted(), Saved("node1", None, HostFacts(known)))
    said = " ".join(found.doubts)
    for fact in ("pfc_priorities", "trust", "dscp_to_priority", "roce_np_priorities", "roce_rp_priorities"):
        assert f"dcb.eth0.{fact} is not known" in said


def test_the_port_that_is_assumed_is_named(tmp_path: Path) -> None:
    result = run("--system", "sonic", "-o", str(tmp_path / "out"))
    assert "the port is assumed to be Ethernet0; --port names others" in result.output
    assert "assumed to be Ethernet0" in (tmp_path / "out" / "sonic" / "notes.md").read_text()
    result = run("--system", "sonic", "--port", "Ethernet4", "-o", str(tmp_path / "other"))
    assert "assumed to be" not in result.output


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("eos", "--mtu", "9216"), "a port of eos takes 9214 B at most, not 9216"),
        (("eos", "--priority", "6"), "6 is that of the packets that ask a sender to slow down"),
        (("sonic", "--dscp", "48"), "48 is that of the packets that ask a sender to slow down"),
        (("nxos", "--priority", "0"), "0 is the default class of nxos"),
    ],
)
def test_values_that_cannot_be(words: tuple[str, ...], why: str, tmp_path: Path) -> None:
    result = run("--system", *words, "-o", str(tmp_path / "out"))
    assert (result.exit_code, why in result.output) == (2, True), result.output
