"""What a launch makes in a service is in the journal before it is made, and `restore` removes what a crash has left."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner

from fabriscope.cli.restore import restore
from fabriscope.hosts.access import leftovers
from fabriscope.hosts.access.leftovers import Leftover
from fabriscope.lab import state
from fabriscope.launch import processes, removing
from fabriscope.model.case import Case, Entry
from fabriscope.model.command import Command, Leaving, left_behind
from fabriscope.model.host import HERE, Host
from fabriscope.model.measurement import Launch
from fabriscope.progress import QuietProgress
from fabriscope.running.clearing import Clearing

pytestmark = pytest.mark.usefixtures("state")

LONG_S = 60.0
REMOVE = 'rm -f "$1"; echo removed'


def leaving(thing: Path, remove: str = REMOVE, at: str = "hdfs://nn:9000") -> Leaving:
    return Leaving(f"the folder {thing} in {at}", at, ("/bin/sh", "-c", remove, "sh", str(thing)), "^removed$")


def left(thing: Path, remove: str = REMOVE, at: str = "hdfs://nn:9000", host: Host = HERE) -> Leftover:
    """Return what nobody holds, as after `kill -9` of all."""
    entry, held_by = leftovers.record(host, leaving(thing, remove, at))
    os.close(held_by)
    thing.touch()
    return entry


def command(thing: Path, script: str, remove: str = REMOVE) -> Command:
    return Command(("/bin/sh", "-c", script, "sh", str(thing)), HERE.name, leaving=leaving(thing, remove))


def said_by_restore(*words: str, status: int = 0) -> str:
    done = CliRunner().invoke(restore, list(words))
    assert done.exit_code == status, done.output
    return done.output


def test_it_is_written_down_before_the_command_starts_and_crossed_out_at_its_end(tmp_path: Path) -> None:
    look = 'touch "$1"; cat "$XDG_STATE_HOME"/fabriscope/left/*.json > "$1".seen; exit 3'
    (outcome,) = processes.run_commands([command(tmp_path / "thing", look)], {HERE.name: HERE}, timeout_s=LONG_S)
    assert f"the folder {tmp_path / 'thing'} in hdfs://nn:9000" in (tmp_path / "thing.seen").read_text()
    assert (leftovers.entries(), outcome.left_as, left_behind(outcome)) == ([], "", "")


def test_one_that_cannot_be_started_has_left_nothing(tmp_path: Path) -> None:
    gone = Command((str(tmp_path / "nothing"),), HERE.name, leaving=leaving(tmp_path / "thing"))
    with pytest.raises(Exception, match="is not on this machine"):
        processes.run_commands([gone], {HERE.name: HERE}, timeout_s=LONG_S)
    assert leftovers.entries() == []


def test_what_is_not_removed_in_time_stays_in_the_journal_and_is_told_with_its_command(tmp_path: Path) -> None:
    thing = tmp_path / "thing"
    one = command(thing, 'touch "$1"', remove='[ -e "$1".now ] || exit 1; rm "$1"; echo removed')
    (outcome,) = processes.run_commands([one], {HERE.name: HERE}, timeout_s=LONG_S)
    (entry,) = leftovers.entries()
    sentence = f"the folder {thing} in hdfs://nn:9000 may be left: `fabriscope restore {entry.name}` removes that"
    assert left_behind(outcome) == sentence
    Path(f"{thing}.now").touch()
    assert said_by_restore(entry.name) == f"the folder {thing} in hdfs://nn:9000: removed\n"
    assert (thing.exists(), leftovers.entries()) == (False, [])


HOLDER = """
import sys, threading
from pathlib import Path
from tests.launch.test_leftovers import command
from fabriscope.launch import processes
from fabriscope.model.host import HERE
one = command(Path(sys.argv[1]), 'touch "$1"; exec sleep 600')
processes.run_commands([one], {HERE.name: HERE}, timeout_s=600)
"""


def until(is_so: Callable[[], object]) -> None:
    end_s = time.monotonic() + LONG_S
    while not is_so():
        assert time.monotonic() < end_s
        time.sleep(0.02)


def test_killed_by_force_it_is_left_and_restore_removes_it_once_nobody_holds_it(tmp_path: Path) -> None:
    thing = tmp_path / "thing"
    with subprocess.Popen([sys.executable, "-c", HOLDER, str(thing)]) as holder:
        until(thing.exists)
        assert "held by a fabriscope that runs" in said_by_restore("--list")
        assert "left, a fabriscope that runs uses it" in said_by_restore()
        assert thing.exists()
        holder.send_signal(signal.SIGKILL)
    assert f"the folder {thing} in hdfs://nn:9000, left by a crash" in said_by_restore("--list")
    assert "would be removed" in said_by_restore("--dry-run")
    assert thing.exists()
    assert said_by_restore() == f"the folder {thing} in hdfs://nn:9000: removed\n"
    assert not thing.exists()
    assert said_by_restore() == "nothing is changed\n"


def test_what_cannot_be_removed_says_why_and_can_be_forgotten(tmp_path: Path) -> None:
    entry = left(tmp_path / "thing", "echo noise; echo 'fabriscope: nothing listens there' >&2; exit 1")
    said = said_by_restore(status=10)
    assert "not removed: nothing listens there -- " in said
    assert f"`fabriscope restore --forget {entry.name}`" in said
    assert "forgotten, stays as it is" in said_by_restore("--forget", entry.name)
    assert leftovers.entries() == []


@pytest.fixture
def labs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(state, "state_root", lambda: tmp_path / "labs")
    (tmp_path / "labs" / "stands").mkdir(parents=True)
    return tmp_path / "labs"


def test_what_was_in_a_lab_that_has_ended_is_crossed_out(tmp_path: Path, labs: Path) -> None:
    with subprocess.Popen(["true"]) as ended:
        ended.wait()
    left(tmp_path / "a", host=Host("node1", (str(labs / "ended" / "rsh"), "-oBatchMode=yes", "node1")))
    left(tmp_path / "b", host=Host("node1", ("nsenter", "-t", str(ended.pid), "-n", "--"), kind="namespace"))
    dry = said_by_restore("--dry-run")
    assert dry.count(": would be crossed out, node1 was a host of a lab that has ended") == 2, dry
    assert len(leftovers.entries()) == 2
    said = said_by_restore()
    assert f"the folder {tmp_path / 'a'} in hdfs://nn:9000: crossed out, node1 was a host of a lab that has" in said
    assert f"the folder {tmp_path / 'b'} in hdfs://nn:9000: crossed out, node1 was a host of a lab that has" in said
    assert leftovers.entries() == []
    assert said_by_restore() == "nothing is changed\n"


def test_what_is_reached_in_another_way_stays_though_it_is_out_of_reach(tmp_path: Path, labs: Path) -> None:
    left(tmp_path / "a", host=Host("node1", (str(labs / "stands" / "rsh"), "node1")))
    left(tmp_path / "b", host=Host("node1", (str(tmp_path / "elsewhere" / "rsh"), "node1")))
    said = said_by_restore(status=10)
    assert said.count("/rsh is not on this machine") == 2, said
    assert len(leftovers.entries()) == 2


def test_what_takes_too_long_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(removing, "REMOVE_LIMIT_S", 0.3)
    left(tmp_path / "thing", "exec sleep 600")
    assert "not removed: it took more than 0 s" in said_by_restore(status=10)


def test_a_damaged_entry_is_told_and_keeps_nobody_else(tmp_path: Path) -> None:
    left(tmp_path / "thing")
    (leftovers.folder() / "0badf00d.json").write_text("{")
    said = said_by_restore(status=10)
    assert f"the folder {tmp_path / 'thing'} in hdfs://nn:9000: removed\n" in said
    assert "what a launch has left cannot be removed, its entry in the journal is damaged" in said


class Heard(QuietProgress):
    """Keeps what is said."""

    def __init__(self) -> None:
        self.sentences: list[str] = []

    def say(self, sentence: str) -> None:
        self.sentences.append(sentence)


def test_the_next_run_removes_what_was_left_in_its_service_and_nothing_elsewhere(tmp_path: Path) -> None:
    left(tmp_path / "mine")
    left(tmp_path / "elsewhere", at="hdfs://other:9000")
    entry = Entry("hdfs", "gige", "inter", ("a",), instrument="testdfsio")
    case = Case(entry, "hdfs_write", 1 << 20, parameters=(("at", "hdfs://nn:9000"),))
    heard = Heard()
    clearing = Clearing(heard)
    for _ in range(2):
        clearing.clear([Launch(1, 1, entry, (case,), seed=1, budget_ns=0)])
    assert heard.sentences == [f"the folder {tmp_path / 'mine'} in hdfs://nn:9000: removed"]
    assert sorted(path.name for path in tmp_path.iterdir() if path.is_file()) == ["elsewhere"]


def test_who_removes_what_it_made_when_it_is_asked_to_end_gets_more_time(tmp_path: Path) -> None:
    thing, cancel = tmp_path / "thing", threading.Event()

    def cancel_once_it_is_there() -> None:
        until(thing.exists)
        cancel.set()

    watching = threading.Thread(target=cancel_once_it_is_there)
    watching.start()
    slow = 'trap "sleep 4; rm $1; echo removed; exit 0" TERM; touch "$1"; while :; do sleep 0.1; done'
    one = command(thing, slow, remove='touch "$1".undone; rm -f "$1"; echo removed')
    (outcome,) = processes.run_commands([one], {HERE.name: HERE}, timeout_s=LONG_S, cancel=cancel)
    watching.join(LONG_S)
    assert (outcome.may_have_left, sorted(tmp_path.glob("thing*")), leftovers.entries()) == (False, [], [])
