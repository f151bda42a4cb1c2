"""What kills have left in the temporary folder goes with the next launch, and nothing that somebody uses or owns."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from click.testing import CliRunner

from fabriscope.cli import fabriscope
from fabriscope.launch import _guard
from fabriscope.launch.on_host import temporary
from fabriscope.launch.processes import run_commands
from fabriscope.model.command import Command
from fabriscope.model.host import Host

LONG_S = 60.0
LEFT = ("fabriscope-0123456789ab", "fabriscope-0123456789abcdef", "fabriscope-ssh-01234567")
OTHERS = ("fabriscope-profile-x", "fabriscope-0123", "fabriscope-0123456789xy", "hydra_0123456789ab")
KILLED = """
import os, signal
from fabriscope.launch._guard import Guard
guard = Guard()
(guard.folder / "session").mkdir()
print(guard.folder, guard._watcher.pid, flush=True)
input()
"""


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "tmp"
    folder.mkdir(mode=0o700)
    monkeypatch.setenv("TMPDIR", str(folder))
    monkeypatch.setattr(tempfile, "tempdir", None)
    _guard.clear_once.cache_clear()
    return folder


def made(place: Path, *names: str) -> list[Path]:
    for name in names:
        (place / name).mkdir(mode=0o700)
        (place / name / "session").mkdir()
    return [place / name for name in names]


def test_what_nobody_holds_goes_and_other_names_stay(place: Path) -> None:
    left, others = made(place, *LEFT), made(place, *OTHERS)
    assert temporary.clear_abandoned(str(place), is_dry=True) == sorted(map(str, left))
    assert all(path.exists() for path in left)
    assert temporary.clear_abandoned(str(place)) == sorted(map(str, left))
    assert sorted(place.iterdir()) == sorted(others)


def test_what_is_held_named_or_of_another_kind_stays(place: Path) -> None:
    held, named, shared, target = (place / f"fabriscope-{digit * 12}" for digit in "1234")
    handle = temporary.make_held(str(held))
    made(place, named.name, shared.name)
    shared.chmod(0o755)
    elsewhere = place / "elsewhere"
    elsewhere.mkdir(mode=0o700)
    target.symlink_to(elsewhere)
    (place / "fabriscope-555555555555").write_text("a file")
    with subprocess.Popen(["sleep", "600"], env={**os.environ, "TMPDIR": str(named)}) as user:
        try:
            assert temporary.clear_abandoned(str(place)) == []
        finally:
            user.kill()
    os.close(handle)
    assert temporary.clear_abandoned(str(place)) == [str(held), str(named)]
    assert elsewhere.is_dir()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can make a folder of another user")
def test_a_folder_of_another_user_stays(place: Path) -> None:
    (path,) = made(place, LEFT[0])
    os.chown(path, 12345, 12345)
    assert temporary.clear_abandoned(str(place)) == []


@pytest.mark.usefixtures("state")
@pytest.mark.parametrize("who", ["launch", "restore"])
def test_after_a_kill_of_fabriscope_and_its_watcher_the_next_one_clears(who: str, place: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", KILLED], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        folder, watcher = process.stdout.readline().split()
        assert temporary.clear_abandoned(str(place)) == []  # it is held
        os.kill(int(watcher), signal.SIGKILL)
        process.kill()
    assert Path(folder, "session").is_dir()
    if who == "restore":
        done = CliRunner().invoke(fabriscope, ["restore", "--list"], catch_exceptions=False)
        assert f"left behind: {folder}, the folder of a launch that was killed" in done.stderr
        done = CliRunner().invoke(fabriscope, ["restore"], catch_exceptions=False)
        assert f"removed: {folder}, the folder of a launch that was killed" in done.stderr
        assert "nothing is changed" in done.stdout
    else:
        (outcome,) = run_commands([Command(("echo", "well"), "here")], {"here": Host("here")}, timeout_s=LONG_S)
        assert outcome.stdout == b"well\n"
    assert list(place.iterdir()) == []
