"""The plug-in that fails a session in which something that can be installed was missing."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests import needs

PASSES = "def test_passes():\n    pass\n"
SKIPS = "import pytest\nfrom tests import needs\n\n\ndef test_skips():\n    pytest.skip({reason})\n"


def session(folder: Path, text: str, kind: str, *words: str) -> subprocess.CompletedProcess[str]:
    """Run a session of pytest with one file, in which only this kind of skips is allowed."""
    (folder / "test_made_up.py").write_text(PASSES + text)
    argv = [sys.executable, "-m", "pytest", "-p", "tests.skips", "-c", "/dev/null", f"--rootdir={folder}", *words]
    env = {
        **os.environ,
        "FABRISCOPE_TEST_SKIPS": kind,
        "PYTHONPATH": f"{needs.ROOT}:{os.environ.get('PYTHONPATH', '')}",
    }
    return subprocess.run(
        [*argv, str(folder)], cwd=folder, env=env, capture_output=True, text=True, timeout=120, check=False
    )


@pytest.mark.parametrize("words", [(), ("-n", "2")])
def test_a_missing_package_is_an_error_where_packages_can_be_installed(tmp_path: Path, words: tuple[str, ...]) -> None:
    text = SKIPS.format(reason='"srun is not on this machine -- install the Debian package slurm-client"')
    assert words or session(tmp_path, text, "").returncode == 0
    done = session(tmp_path, text, "hardware", *words)
    assert done.returncode == 1
    assert "1 skipped for want of what can be installed" in done.stdout
    assert "test_made_up.py::test_skips: srun is not on this machine" in done.stdout


def test_a_module_that_is_skipped_as_a_whole_counts(tmp_path: Path) -> None:
    text = 'import pytest\n\npytest.importorskip("no_such_module_of_ours")\n'
    done = session(tmp_path, text, "hardware")
    assert done.returncode == 1
    assert "1 skipped for want of what can be installed" in done.stdout


@pytest.mark.parametrize("reason", ["needs.ONE_PROCESSOR", "needs.NOT_FETCHED + 'hadoop'"])
def test_missing_hardware_and_what_is_not_fetched_are_no_errors(tmp_path: Path, reason: str) -> None:
    done = session(tmp_path, SKIPS.format(reason=reason), "hardware")
    assert done.returncode == 0, done.stdout
    assert "1 passed, 1 skipped" in done.stdout


@pytest.mark.parametrize(("more", "status"), [(0, 0), (1, 1)])
def test_more_skips_than_there_are_reasons_for_are_an_error(tmp_path: Path, more: int, status: int) -> None:
    count = needs.MOST_SKIPS + more
    text = SKIPS.format(reason="needs.ONE_PROCESSOR").replace(
        "def test_skips()", f"@pytest.mark.parametrize('one', range({count}))\ndef test_skips(one)"
    )
    done = session(tmp_path, text, "hardware")
    assert done.returncode == status, done.stdout
    assert (f"{count} tests were skipped, and {needs.MOST_SKIPS} may be" in done.stdout) == bool(status)
    assert session(tmp_path, text, "").returncode == 0


def test_a_folder_of_which_every_test_is_skipped_is_an_error_whatever_the_reason(tmp_path: Path) -> None:
    room = tmp_path / "room"
    room.mkdir()
    (room / "test_room.py").write_text(SKIPS.format(reason="needs.ONE_PROCESSOR"))
    assert session(tmp_path, "", "").returncode == 0
    done = session(tmp_path, "", "hardware")
    assert done.returncode == 1
    assert "room: every test in this folder was skipped" in done.stdout
    (room / "test_more.py").write_text(PASSES)
    assert session(tmp_path, "", "hardware").returncode == 0
