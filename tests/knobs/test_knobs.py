"""Settings that a plan may change: what they are called, which values they take, and that hosts say them back."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from fabriscope.hosts.access import changes, journal
from fabriscope.hosts.access.journal import Change
from fabriscope.knobs import knobs
from fabriscope.knobs.knob import Setting
from fabriscope.model.errors import HostError
from fabriscope.model.host import HERE

ROOT = Path(__file__).parents[2]


pytestmark = pytest.mark.usefixtures("state")


@pytest.mark.parametrize(
    ("name", "value", "text"),
    [
        ("mtu", 9000, "9000"), ("mtu", "9000", "9000"), ("mtu", "4KiB", "4096"), ("tso", False, "off"),
        ("tso", "on", "on"),
        ("busy_poll", "50us", "50"), ("rx_coalesce_time", 8, "8"), ("rx_coalesce_time", "1ms", "1000"),
        ("congestion_control", "cubic", "cubic"), ("rx_ring", 4096, "4096"), ("governor", "performance", "performance"),
        ("tcp_receive_buffer", "6MiB", "6291456"),
    ],
)  # fmt: skip
def test_values_as_hosts_say_them(name: str, value: Setting, text: str) -> None:
    assert knobs()[name].value(value) == text


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("mtu", 67), ("mtu", True), ("mtu", "big"), ("tso", "maybe"), ("tso", 2), ("busy_poll", "1ns"),
        ("busy_poll", -1),
        ("congestion_control", "cubic; rm"), ("governor", 3), ("rx_ring", 0), ("tcp_sack", 2), ("mtu", 10**30),
    ],
)  # fmt: skip
def test_values_that_none_has(name: str, value: Setting) -> None:
    with pytest.raises(ValueError, match=r".+"):
        knobs()[name].value(value)


@pytest.mark.parametrize("name", knobs())
def test_every_knob_has_a_way_to_be_read_set_and_put_back(name: str) -> None:
    knob = knobs()[name]
    change = knob.change("eth0", "x")
    assert change.path or (change.read_argv and change.set_argv and "{old}" in change.restore_argv)
    assert bool(change.read_pattern) == bool(change.read_argv)
    if change.read_pattern:
        assert re.compile(change.read_pattern).groups >= 1
    assert ("eth0" in change.what) == (knob.scope == "interface")
    assert f"| `{name}` |" in (ROOT / "docs" / "settings.md").read_text(), "docs/settings.md names every setting"


ETHTOOL = {
    "-c": "Coalesce parameters for eth0:\nAdaptive RX: off  TX: n/a\nrx-usecs:\t8\nrx-frames:\t128\ntx-usecs:\tn/a\n",
    "-g": "Ring parameters for eth0:\nPre-set maximums:\nRX:\t\t8192\nRX Mini:\tn/a\nTX:\t\t8192\n"
    "Current hardware settings:\nRX:\t\t1024\nRX Mini:\tn/a\nTX:\t\t512\n",
    "-a": "Pause parameters for eth0:\nAutonegotiate:\ton\nRX:\t\ton\nTX:\t\toff\n",
    "-k": "Features for eth0:\nrx-checksumming: on\ntcp-segmentation-offload: on\n"
    "\ttx-tcp-segmentation: off [requested on]\n\ttx-tcp-accecn-segmentation: on\n"
    "large-receive-offload: off [fixed]\n",
}


@pytest.mark.parametrize(
    ("name", "old"),
    [
        ("rx_coalesce_time", "8"), ("rx_coalesce_frames", "128"), ("rx_coalesce_adaptive", "off"), ("rx_ring", "1024"),
        ("tx_ring", "512"), ("rx_pause", "on"), ("tx_pause", "off"), ("rx_checksum", "on"), ("tso", "off"),
        ("tx_coalesce_time", None), ("lro", None), ("gro", None),
    ],
)  # fmt: skip
def test_what_ethtool_prints_of_a_value(name: str, old: str | None, tmp_path: Path) -> None:
    """A stand-in prints what ethtool does; what is `n/a` or fixed is refused before anything is set."""
    real = knobs()[name].change("eth0", "no-such-value")
    (tmp_path / "printed").write_text(ETHTOOL[real.read_argv[1]])
    read = ("cat", str(tmp_path / "printed"))
    change = Change(real.what, real.new, "", read, ("false",), ("false",), read_pattern=real.read_pattern)
    with pytest.raises(HostError) as caught, changes.changed(HERE, change):
        pass
    if old is None:
        assert "tells no value of it that could be changed" in caught.value.what
        assert journal.entries() == []
    else:
        assert "`false` failed" in caught.value.what, "it was read, and setting it was tried"
        assert journal.entries() == []


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("tcp-segmentation-offload: on\n\ttx-tcp-segmentation: on\n", "on"),
        ("tcp-segmentation-offload: off\ngeneric-receive-offload: on\n", "off"),
        ("tcp-segmentation-offload: off\n\ttx-tcp-segmentation: off [fixed]\n", None),
    ],
)
def test_what_cuts_tcp_is_read_of_its_own_line(text: str, told: str | None) -> None:
    match = re.search(knobs()["tso"].change("eth0", "on").read_pattern, text, re.MULTILINE)
    assert (match[1] if match else None) == told


VALUES: dict[str, Setting] = {
    "mtu": 1300, "tx_queue": 77, "gro_flush_timeout": 20000, "tso": "off", "gso": "off", "gro": "on",
    "tx_checksum": "off",
    "tcp_sack": 0, "tcp_timestamps": 0, "tcp_window_scaling": 0, "tcp_slow_start_after_idle": 0,
    "tcp_receive_buffer": "1MiB", "tcp_send_buffer": "1MiB",
}  # fmt: skip


def test_in_a_lab_all_that_a_host_has_is_set_and_put_back(labs: None) -> None:
    from fabriscope import lab
    from fabriscope.lab.presets import PRESETS
    from fabriscope.model.lab import LabSpec

    built = lab.up(LabSpec(("a", "b"), {"gige": PRESETS["gige"]}))
    try:
        host = built.host("a")

        def read(change: Change) -> str:
            argv = change.read_argv or ("cat", change.path)
            text = subprocess.run([*host.access, *argv], capture_output=True, text=True, check=True).stdout.strip()
            match = re.search(change.read_pattern, text, re.MULTILINE)
            return match[1] if match and change.read_pattern else text

        for name, value in VALUES.items():
            knob = knobs()[name]
            change = knob.change("eth0", knob.value(value))
            before = read(change)
            with changes.changed(host, change):
                assert read(change) == change.new, name
            assert read(change) == before, name
        with changes.changed(host, knobs()["mtu"].change("eth0", "1200")) as standing:
            standing.keep()
    finally:
        built.down()
    (result,) = changes.restored(journal.entries())
    assert result.text.endswith("undone, its host in a lab is no more")
    assert (result.is_problem, journal.entries()) == (False, [])
