"""Changes of a host: undone at their end, and by the host's end when we are killed or cut off."""

from __future__ import annotations

import os
import signal
import subprocess
from pathlib import Path

import pytest
from tests.hosts.holding import LONG_S, children, end_of, holder, mtu, restored, wait_until
from tests.launch.stand_in import far_host, make_ssh

from fabriscope.hosts.access import journal
from fabriscope.hosts.access.changes import Change, changed
from fabriscope.model.errors import HostError, ToolMissing
from fabriscope.model.host import HERE, Host

pytestmark = pytest.mark.usefixtures("state")


def test_a_change_stands_for_the_block_and_is_journalled_before_it_is_made(setting: Path, state: Path) -> None:
    with changed(HERE, mtu(setting)) as standing:
        assert standing.old == "1500"
        assert setting.read_text() == "9000\n"
        (entry,) = journal.entries()
        assert (entry.old, entry.change, entry.host.name) == ("1500", mtu(setting), "localhost")
        assert (state.stat().st_mode & 0o777, entry.path.stat().st_mode & 0o777) == (0o700, 0o600)
    assert setting.read_text() == "1500\n"
    assert journal.entries() == []


def test_an_error_in_the_block_undoes_it_too(setting: Path) -> None:
    with pytest.raises(ZeroDivisionError), changed(HERE, mtu(setting)):
        raise ZeroDivisionError
    assert setting.read_text() == "1500\n"
    assert journal.entries() == []


def test_what_cannot_be_journalled_is_not_changed(setting: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(HostError, match=r"is not changed: .* journal \(No space left"), changed(HERE, mtu(setting)):
        pass
    assert setting.read_text() == "1500\n"
    assert journal.entries() == []


def test_a_value_that_stands_already_is_left_alone(setting: Path) -> None:
    with changed(HERE, mtu(setting, "1500")):
        assert journal.entries() == []
    assert setting.read_text() == "1500\n"


def test_of_a_choice_the_chosen_word_is_the_value(tmp_path: Path) -> None:
    path = tmp_path / "enabled"
    path.write_text("always [madvise] never\n")
    with changed(HERE, Change.of_file("huge pages", str(path), "never")) as standing:
        assert standing.old == "madvise"
    assert path.read_text() == "madvise\n"


def by_commands(path: Path, make: str = 'echo "$2" > "$1"') -> Change:
    shell = ("sh", "-c")
    return Change.by_commands(
        "the queue of eth0",
        ("cat", str(path)),
        (*shell, make, "sh", str(path), "fq"),
        "fq",
        (*shell, 'echo "$2" > "$1"', "sh", str(path), "{old}"),
    )


def test_a_change_by_programs(tmp_path: Path) -> None:
    path = tmp_path / "queue"
    path.write_text("pfifo_fast\n")
    with changed(HERE, by_commands(path)):
        assert path.read_text() == "fq\n"
    assert path.read_text() == "pfifo_fast\n"


@pytest.mark.parametrize(
    ("make", "why"),
    [
        ('echo half > "$1"; echo "RTNETLINK answers: Busy" >&2; exit 2', "failed: RTNETLINK answers: Busy"),
        ('echo other > "$1"', "it reads 'other' after 'fq' was set"),
    ],
)
def test_what_fails_half_way_is_put_back_at_once(make: str, why: str, tmp_path: Path) -> None:
    path = tmp_path / "queue"
    path.write_text("pfifo_fast\n")
    with pytest.raises(HostError, match=why), changed(HERE, by_commands(path, make)):
        pass
    assert path.read_text() == "pfifo_fast\n"
    assert journal.entries() == []


@pytest.mark.parametrize("host", [Host("h", ("no-such-ssh",)), Host("h", ("false",))])
def test_a_host_that_cannot_be_reached_is_not_changed(host: Host, setting: Path) -> None:
    with pytest.raises((HostError, ToolMissing), match="host h"), changed(host, mtu(setting)):
        pass
    assert journal.entries() == []


@pytest.mark.parametrize("is_far", [False, True])
def test_killed_in_the_middle_the_host_s_end_puts_it_back(is_far: bool, setting: Path, tmp_path: Path) -> None:
    host = far_host(make_ssh(tmp_path)) if is_far else HERE
    with holder(setting, host=host) as process:
        assert setting.read_text() == "9000\n"
        process.kill()
    wait_until(lambda: setting.read_text() == "1500\n")
    (result,) = restored()
    assert (result.text.partition(": ")[2], result.is_problem) == ("is 1500 already", False)
    assert restored() == []


def test_a_connection_that_ends_puts_it_back(setting: Path, tmp_path: Path) -> None:
    connection = tmp_path / "connection"
    connection.write_text('#!/bin/sh\ncat | sh -c "$1"\n')
    connection.chmod(0o755)
    with holder(setting, host=Host("far", (str(connection),))) as process:
        (cable,) = (pid for pid in children(end_of(process)) if Path(f"/proc/{pid}/comm").read_text() == "cat\n")
        os.kill(cable, signal.SIGKILL)
        wait_until(lambda: setting.read_text() == "1500\n")
        assert process.stdin is not None
        process.stdin.close()
        assert process.wait(LONG_S) == 0  # the host's end has said what it did


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_a_signal_to_the_host_s_end_puts_it_back(number: int, setting: Path) -> None:
    with holder(setting) as process:
        os.kill(end_of(process), number)
        wait_until(lambda: setting.read_text() == "1500\n")


def test_a_setting_of_an_interface_in_a_lab(labs: None) -> None:
    from fabriscope import lab
    from fabriscope.lab.presets import PRESETS
    from fabriscope.model.lab import LabSpec

    built = lab.up(LabSpec(("a", "b"), {"gige": PRESETS["gige"]}))
    try:
        host = built.host("a")
        path = "/sys/class/net/eth0/tx_queue_len"

        def length() -> str:
            return subprocess.run([*host.access, "cat", path], capture_output=True, text=True, check=True).stdout

        before = length()
        with changed(host, Change.of_file("the queue of eth0", path, "77")):
            assert length() == "77\n"
        assert length() == before
        make = ("ip", "link", "set", "eth0", "mtu", "1400")
        read = ("cat", "/sys/class/net/eth0/mtu")
        with changed(host, Change.by_commands("the MTU of eth0", read, make, "1400", (*make[:-1], "{old}"))):
            pass
        assert subprocess.run([*host.access, *read], capture_output=True, text=True, check=True).stdout == "1500\n"
    finally:
        built.down()
