"""The registry finds plug-ins, refuses duplicates, and keeps the reason why one is unavailable."""

from __future__ import annotations

from pathlib import Path

import pytest

from fabriscope.model.errors import FabriscopeError
from fabriscope.registry import PLUGIN_FOLDERS_VARIABLE, discover


def _plugin(folder: Path, name: str) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{name}.py").write_text(f"class Plugin:\n    name = {name!r}\n\n\nADAPTER = Plugin()\n")


def test_a_users_folder_adds_a_plugin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _plugin(tmp_path / "adapters", "mine")
    monkeypatch.setenv(PLUGIN_FOLDERS_VARIABLE, str(tmp_path))
    room = discover("adapters", "ADAPTER")
    assert room.get("mine").name == "mine"
    assert room.get("engine").name == "engine"


def test_two_of_one_name_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _plugin(tmp_path / "adapters", "engine")
    monkeypatch.setenv(PLUGIN_FOLDERS_VARIABLE, str(tmp_path))
    with pytest.raises(FabriscopeError, match="two files define adapter 'engine'"):
        discover("adapters", "ADAPTER")


def test_a_miss_lists_the_known_names() -> None:
    with pytest.raises(FabriscopeError, match=r"no adapter 'absent'.*engine"):
        discover("adapters", "ADAPTER").get("absent")


def test_files_without_a_plugin_are_ignored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "adapters").mkdir()
    (tmp_path / "adapters" / "helpers.py").write_text("VALUE = 1\n")
    (tmp_path / "adapters" / "_private.py").write_text("raise RuntimeError\n")
    monkeypatch.setenv(PLUGIN_FOLDERS_VARIABLE, str(tmp_path))
    assert "helpers" not in discover("adapters", "ADAPTER").plugins


def test_a_foreign_module_that_is_missing_is_a_reason(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "adapters").mkdir()
    (tmp_path / "adapters" / "needy.py").write_text("import a_package_that_nobody_has\n")
    monkeypatch.setenv(PLUGIN_FOLDERS_VARIABLE, str(tmp_path))
    with pytest.raises(FabriscopeError, match=r"'needy' is unavailable: the Python package a_package_that_nobody_has"):
        discover("adapters", "ADAPTER").get("needy")
