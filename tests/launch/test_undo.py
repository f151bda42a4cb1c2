"""What a command leaves elsewhere is removed at the end, unless it said itself that nothing is left."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from fabriscope.launch import processes
from fabriscope.model.command import Command, Leaving, Outcome
from fabriscope.model.host import Host

pytestmark = pytest.mark.usefixtures("state")

HOSTS = {"here": Host("here")}
LONG_S = 600.0


def command(folder: Path, script: str, undo: str = 'rm "$1"; echo removed') -> Command:
    """Return one that makes a file before it does what the script says."""
    words = ("sh", str(folder / "left"))
    return Command(
        ("/bin/sh", "-c", f'touch "$1"; {script}', *words),
        "here",
        leaving=Leaving(
            f"the file {words[1]}", "here", ("/bin/sh", "-c", f'echo x >> "$1".undone; {undo}', *words), "^removed$"
        ),
    )


def run(one: Command, timeout_s: float = LONG_S, cancel: threading.Event | None = None) -> Outcome:
    (outcome,) = processes.run_commands([one], HOSTS, timeout_s=timeout_s, cancel=cancel)
    return outcome


@pytest.mark.parametrize("script", ["exit 0", "exit 3", "kill -9 $$"])
def test_what_is_left_is_removed_however_the_command_ended(tmp_path: Path, script: str) -> None:
    outcome = run(command(tmp_path, script))
    assert (outcome.may_have_left, (tmp_path / "left").exists()) == (False, False)
    assert (tmp_path / "left.undone").read_text() == "x\n"


def test_one_that_was_ended_by_us_is_undone_too(tmp_path: Path) -> None:
    assert run(command(tmp_path, "exec sleep 600"), timeout_s=0.3).timed_out
    assert not (tmp_path / "left").exists()
    cancel = threading.Event()
    cancel.set()
    outcome = run(command(tmp_path, "exec sleep 600"), cancel=cancel)
    assert (outcome.exit_status, outcome.may_have_left) == (None, False)
    assert not (tmp_path / "left").exists()


def test_one_that_removed_it_itself_is_not_undone(tmp_path: Path) -> None:
    outcome = run(command(tmp_path, 'rm "$1"; echo removed'))
    assert (outcome.may_have_left, sorted(tmp_path.glob("left*"))) == (False, [])


@pytest.mark.parametrize("undo", ["exit 1", "exec sleep 600"])
def test_what_cannot_be_removed_is_told(tmp_path: Path, undo: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processes, "UNDO_LIMIT_S", 0.3)
    assert run(command(tmp_path, "exit 0", undo)).may_have_left
    assert (tmp_path / "left").exists()


def test_an_undo_that_cannot_be_started_is_told(tmp_path: Path) -> None:
    one = Command(
        ("/bin/sh", "-c", "exit 0"), "here", leaving=Leaving("x", "here", (str(tmp_path / "nothing"),), "^removed$")
    )
    assert run(one).may_have_left
