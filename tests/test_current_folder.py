"""The current folder may be anybody's: nothing in it is loaded, started or read that was not named."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from fabriscope.launch import in_front
from fabriscope.launch.processes import run_commands
from fabriscope.model import search_paths
from fabriscope.model.command import Command
from fabriscope.model.host import HERE
from fabriscope.registry import PLUGIN_FOLDERS_VARIABLE, discover

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "fabriscope"
PLANTED = ("json", "typing", "click", "pydantic", "email", "secrets", "ClusterShell", "yaml")


@pytest.fixture
def hostile(tmp_path: Path) -> Path:
    """Return a folder full of what Python would load, each of which leaves a mark when it is executed."""
    folder = tmp_path / "hostile"
    folder.mkdir()
    mark = f"open({str(tmp_path / 'mark')!r}, 'a').write(__name__)\n"
    for name in (*PLANTED, "planted"):
        (folder / f"{name}.py").write_text(mark)
    about = folder / "planted-1.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: planted\nVersion: 1\n")
    (about / "entry_points.txt").write_text("[fabriscope.cli]\nplanted = planted:COMMAND\n")
    return folder


def test_python_loads_nothing_from_the_current_folder(hostile: Path, tmp_path: Path) -> None:
    words = [sys.executable, "-m", "fabriscope", "plan", "check", str(ROOT / "examples" / "demo.yaml")]
    done = subprocess.run(words, cwd=hostile, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    assert not (tmp_path / "mark").exists()


def test_an_empty_name_in_pythonpath_is_not_handed_on(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", ["", str(tmp_path), "/usr/lib"])
    monkeypatch.setattr(search_paths, "_given", {})
    monkeypatch.setenv("PYTHONPATH", f":.:near:{ROOT}:")
    monkeypatch.setenv("PATH", ":bin:/usr/bin:.")
    monkeypatch.setenv("LD_LIBRARY_PATH", ":/opt/lib:")
    monkeypatch.setenv("XDG_CONFIG_HOME", "")
    monkeypatch.setenv("CLUSTERSHELL_CFGDIR", "near")
    search_paths.leave_current_folder()
    assert sys.path == ["/usr/lib"]
    assert os.environ["PYTHONPATH"] == f"{tmp_path}/near:{ROOT}"
    assert os.environ["PATH"] == "/usr/bin"
    assert os.environ["LD_LIBRARY_PATH"] == "/opt/lib"
    assert not {"XDG_CONFIG_HOME", "CLUSTERSHELL_CFGDIR"} & set(os.environ)
    assert search_paths.given()["PATH"] == ":bin:/usr/bin:."
    monkeypatch.setenv("PATH", "")
    search_paths.leave_current_folder()
    assert os.environ["PATH"] == os.defpath, "an empty PATH is the current folder, too"


def test_the_current_folder_is_searched_where_it_was_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [str(tmp_path)])
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    search_paths.leave_current_folder()
    assert sys.path == [str(tmp_path)]
    assert os.environ["PYTHONPATH"] == str(tmp_path)


def test_every_python_of_ours_is_started_apart_from_the_current_folder() -> None:
    wrong = []
    for path in sorted(SOURCE.rglob("*.py")):
        text = path.read_text()
        for match in re.finditer(r"sys\.executable", text):
            after = text[match.end() : match.end() + 60]
            is_word = re.match(r'[,)]?[^\n]*"-[IP]"', after) or "PYTHON_WORDS[1:]" in after
            if not is_word and path.name != "_guard.py":  # which says -I in its script
                wrong.append(f"{path.relative_to(SOURCE)}:{text.count(chr(10), 0, match.start()) + 1}")
    assert wrong == []


def test_a_launch_runs_elsewhere(hostile: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(hostile)
    outcomes = run_commands([Command(("pwd",), HERE.name)], {}, timeout_s=30)
    assert outcomes[0].stdout == b"/\n"


def test_a_users_own_program_has_the_paths_that_it_was_given(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "bin").mkdir()
    program = tmp_path / "bin" / "own-program"
    program.write_text(f'#!/bin/sh\necho "$PATH" >{tmp_path}/said\n')
    program.chmod(0o755)
    before = f"bin:{os.environ['PATH']}"
    monkeypatch.setattr(search_paths, "_given", {"PATH": before})
    assert in_front.run(("own-program",), {}).exit_status == 0
    assert (tmp_path / "said").read_text() == f"{before}\n"


def test_a_relative_folder_of_plugins_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "mine" / "readers").mkdir(parents=True)
    (tmp_path / "mine" / "readers" / "own.py").write_text("raise SystemExit('executed')\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv(PLUGIN_FOLDERS_VARIABLE, "mine")
    assert "write the whole path" in discover("readers", "READER").unavailable["mine"]


@pytest.mark.skipif(shutil.which("sh") is None, reason="there is no shell")
@pytest.mark.parametrize("path", [":/usr/bin", ".:/usr/bin"])
def test_a_program_of_the_current_folder_is_not_found(path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", path)
    assert search_paths.programs() == "/usr/bin:/usr/sbin:/sbin"
