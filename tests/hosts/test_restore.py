"""What `restore` does with changes that both ends were killed over, and what keeps two processes apart."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from tests.hosts.holding import HOLDER, LONG_S, children, holder, left_over, mtu, restored, wait_until
from tests.launch.test_processes import is_gone

from fabriscope.hosts.access import changes, journal
from fabriscope.hosts.access.changes import changed
from fabriscope.model.errors import FabriscopeError, HostError
from fabriscope.model.host import HERE

pytestmark = pytest.mark.usefixtures("state")


def test_when_both_ends_are_killed_restore_puts_it_back(setting: Path) -> None:
    entry = left_over(setting)
    assert setting.read_text() == "9000\n"
    (dry,) = restored(is_dry=True)
    assert dry.text == "the MTU of eth0 on localhost: would be 1500 again, was 9000"
    assert setting.read_text() == "9000\n"
    (result,) = restored()
    assert result.text == "the MTU of eth0 on localhost: is 1500 again, was 9000"
    assert setting.read_text() == "1500\n"
    assert not entry.path.exists()
    assert restored() == []


@pytest.mark.parametrize("seed", range(8))
def test_killed_at_any_moment_the_old_value_comes_back(seed: int, setting: Path) -> None:
    luck = random.Random(seed)
    argv = [sys.executable, "-c", HOLDER, str(setting), "9000"]
    with subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL) as process:
        time.sleep(luck.uniform(0.2, 0.8))
        process.send_signal(signal.SIGSTOP)  # no more children from here on
        ends = children(process.pid)
        for pid in ends if luck.random() < 0.5 else []:
            os.kill(pid, signal.SIGKILL)
        process.kill()
    wait_until(lambda: all(is_gone(pid) for pid in ends))
    assert all(result.is_over for result in restored())
    assert (setting.read_text(), journal.entries()) == ("1500\n", [])


def test_what_somebody_else_has_set_meanwhile_is_left_alone(setting: Path) -> None:
    entry = left_over(setting)
    setting.write_text("4000\n")
    for _ in range(2):
        (result,) = restored()
        assert result.is_problem
        assert "left alone, somebody else has set it to 4000" in result.text
        assert f"`fabriscope restore --forget {entry.name}`" in result.text
    assert setting.read_text() == "4000\n"


def test_a_value_that_means_harm_reaches_no_terminal(setting: Path) -> None:
    left_over(setting)
    setting.write_text("4000\n\x1b[2Jgone")
    (result,) = restored()
    assert "set it to 4000 \\x1b[2Jgone since" in result.text


def test_what_somebody_else_sets_in_the_block_is_left_alone_at_its_end(setting: Path) -> None:
    with pytest.raises(HostError, match="somebody else has set it to 4000"), changed(HERE, mtu(setting)):
        setting.write_text("4000\n")
    assert setting.read_text() == "4000\n"
    assert len(journal.entries()) == 1


def test_a_reboot_undid_what_does_not_survive_it(setting: Path) -> None:
    left_over(setting, place={"boot_id": "another boot", "network": "net:[1]"})
    (result,) = restored()
    assert result.text.endswith("undone by a reboot of the host since")
    assert (result.is_problem, setting.read_text(), journal.entries()) == (False, "9000\n", [])


def test_what_survives_a_reboot_is_put_back_after_one(setting: Path) -> None:
    entry = left_over(setting)
    document = json.loads(entry.path.read_text())
    document["change"]["survives_reboot"] = True
    entry.path.write_text(json.dumps({**document, "place": {"boot_id": "another boot", "network": "net:[1]"}}))
    restored()
    assert setting.read_text() == "1500\n"


def test_in_another_network_namespace_nothing_is_touched(setting: Path) -> None:
    (entry,) = [left_over(setting)]
    left = json.loads(entry.path.read_text())
    entry.path.write_text(json.dumps({**left, "place": {**left["place"], "network": "net:[1]"}}))
    (result,) = restored()
    assert result.is_problem
    assert "another network namespace" in result.text
    assert setting.read_text() == "9000\n"


@pytest.mark.parametrize("kind", ["namespace", "guest"])
@pytest.mark.parametrize("has_new_owner", [False, True])
def test_a_labs_host_is_gone_though_the_next_one_has_its_number(kind: str, has_new_owner: bool, setting: Path) -> None:
    with subprocess.Popen(["true"]) as ended:
        ended.wait()
    entry = left_over(setting)
    host = {**json.loads(entry.path.read_text())["host"], "kind": kind}
    host["access"] = ["nsenter", "-t", str(os.getpid() if has_new_owner else ended.pid), "-n", "--"]
    entry.path.write_text(json.dumps({**json.loads(entry.path.read_text()), "host": host}))
    assert entry.place.network == str(Path("/proc/self/ns/net").readlink())
    (result,) = restored()
    assert result.text.endswith("undone, its host in a lab is no more")
    assert (result.is_problem, setting.read_text(), journal.entries()) == (False, "9000\n", [])


def test_a_change_of_another_machine_is_left_to_it(setting: Path) -> None:
    left_over(setting, machine="login2")
    (result,) = restored()
    assert "it was changed from login2" in result.text
    assert setting.read_text() == "9000\n"


def test_a_host_that_cannot_be_reached_keeps_its_entry(setting: Path) -> None:
    left_over(setting, host={"name": "node1", "access": ["false"], "kind": "machine"})
    (result,) = restored()
    assert result.is_problem
    assert "the MTU of eth0 on node1: not put back to 1500" in result.text
    assert len(journal.entries()) == 1


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("{", "no JSON"),
        ("[]", "should be an object"),
        ('{"version": 2}', "of version 2"),
        ('{"version": 1, "name": "x"}', "of another change"),
    ],
)
def test_a_damaged_entry_is_one_sentence_and_the_others_go_on(text: str, why: str, setting: Path, state: Path) -> None:
    left_over(setting)
    (state / "00000000.json").write_text(text)
    (state / "00000000.json").chmod(0o600)
    said: list[str] = []
    (result,) = changes.restored(journal.entries(said.append))
    assert result.is_over
    (sentence,) = said
    assert why in sentence
    assert "00000000.json" in sentence
    assert "\n" not in sentence


def test_an_entry_or_a_folder_that_others_could_have_written_is_not_used(setting: Path, state: Path) -> None:
    entry = left_over(setting)
    entry.path.chmod(0o666)
    said: list[str] = []
    assert journal.entries(said.append) == []
    assert "not a file that only we can write" in said[0]
    state.parent.chmod(0o777)
    with pytest.raises(HostError, match=r"not trusted: .* can be written by other users"):
        restored()
    assert setting.read_text() == "9000\n"


def test_what_a_process_holds_neither_restore_nor_a_second_change_touches(setting: Path) -> None:
    with holder(setting) as process:
        (result,) = restored(is_asked=True)
        assert "a fabriscope that runs holds it at 9000" in result.text
        with (
            pytest.raises(HostError, match="is changed already, by a fabriscope that runs"),
            changed(HERE, mtu(setting, "4000")),
        ):
            pass
        with (  # it stands as is wanted, and goes back when that process ends
            pytest.raises(HostError, match="is changed already, by a fabriscope that runs"),
            changed(HERE, mtu(setting, "9000"), is_to_last=True),
        ):
            pass
        assert setting.read_text() == "9000\n"
        assert process.stdin is not None
        process.stdin.close()
        assert process.wait(LONG_S) == 0
    assert setting.read_text() == "1500\n"


def test_of_two_at_once_one_changes_it(setting: Path) -> None:
    said: list[str] = []
    both = threading.Barrier(2, timeout=LONG_S)
    over = threading.Barrier(2, timeout=LONG_S)

    def change(new: str) -> None:
        both.wait()
        try:
            with changed(HERE, mtu(setting, new)):
                said.append(new)
                over.wait()
        except FabriscopeError as error:
            said.append(error.what)
            over.wait()

    threads = [threading.Thread(target=change, args=(new,)) for new in ("4000", "9000")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(LONG_S)
    assert sum("is changed already" in text for text in said) == 1
    assert setting.read_text() == "1500\n"
    assert journal.entries() == []


def test_after_a_crash_a_second_change_waits_for_restore(setting: Path) -> None:
    entry = left_over(setting)
    with pytest.raises(HostError, match=f"restore {entry.name}` puts it back"), changed(HERE, mtu(setting, "4000")):
        pass
    setting.write_text("1500\n")  # put back by hand
    with changed(HERE, mtu(setting, "4000")):
        assert setting.read_text() == "4000\n"
    assert (setting.read_text(), journal.entries()) == ("1500\n", [])


def test_the_latest_change_is_put_back_first(setting: Path) -> None:
    first = left_over(setting, made_unix_s=1)
    document = json.loads(first.path.read_text())
    change = {**document["change"], "new": "4000"}
    latest = {**document, "name": "ffffffff", "old": "9000", "change": change, "made_unix_s": 2}
    first.path.with_name("ffffffff.json").write_text(json.dumps(latest))
    first.path.with_name("ffffffff.json").chmod(0o600)
    setting.write_text("4000\n")
    assert [result.entry.old for result in restored()] == ["9000", "1500"]
    assert setting.read_text() == "1500\n"


def test_what_is_kept_is_crossed_out_where_a_reboot_undid_it(setting: Path) -> None:
    left_over(setting, is_kept=True, place={"boot_id": "another boot", "network": "net:[1]"})
    (result,) = restored()
    assert (result.outcome, journal.entries()) == ("rebooted", [])


def test_what_is_kept_stays_until_somebody_asks(setting: Path) -> None:
    with changed(HERE, mtu(setting)) as standing:
        standing.keep()
    assert setting.read_text() == "9000\n"
    (result,) = restored()
    assert "it is meant to stay" in result.text
    assert setting.read_text() == "9000\n"
    restored(is_asked=True)
    assert (setting.read_text(), journal.entries()) == ("1500\n", [])
