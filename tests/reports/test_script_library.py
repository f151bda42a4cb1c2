"""The scripts of pages are built once, and again where what is kept is not what was written."""

from __future__ import annotations

import base64
import gzip
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from fabriscope.model.errors import FabriscopeError
from fabriscope.reports import _script_library
from fabriscope.reports._script_library import ScriptLibrary, kept_path


class Builder:
    """Stands in for the real builder, and counts how often it is started."""

    def __init__(self, program: str = "print('scripts', end='')") -> None:
        self.program, self.starts = program, 0

    def __call__(self) -> subprocess.Popen[str]:
        self.starts += 1
        pipe = subprocess.PIPE
        return subprocess.Popen([sys.executable, "-S", "-c", self.program], stdout=pipe, stderr=pipe, text=True)


@pytest.fixture
def builder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Builder:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    builder = Builder()
    monkeypatch.setattr(_script_library, "_start", builder)
    return builder


def _scripts() -> str:
    return gzip.decompress(base64.b64decode(ScriptLibrary().text())).decode()


def _kept() -> Path:
    path = kept_path()
    assert path is not None
    return path


def test_they_are_built_once(builder: Builder) -> None:
    assert [_scripts(), _scripts(), _scripts()] == ["scripts"] * 3
    assert builder.starts == 1
    assert _kept().parent.stat().st_mode & 0o777 == 0o700


@pytest.mark.parametrize(
    "damaged", [lambda kept: kept[:-1], lambda kept: kept[:-9] + b"!" + kept[-8:], lambda _: b"\xff"]
)
def test_what_was_changed_is_built_again(builder: Builder, damaged: Callable[[bytes], bytes]) -> None:
    _scripts()
    _kept().write_bytes(damaged(_kept().read_bytes()))
    assert [_scripts(), _scripts()] == ["scripts"] * 2
    assert builder.starts == 2


def test_what_others_could_have_written_is_neither_used_nor_written(builder: Builder) -> None:
    _scripts()
    _kept().parent.parent.chmod(0o777)
    assert _scripts() == "scripts"
    assert builder.starts == 2
    _kept().unlink()
    assert _scripts() == "scripts"
    assert not _kept().exists()


def test_another_builder_builds_its_own(builder: Builder, monkeypatch: pytest.MonkeyPatch) -> None:
    _scripts()
    monkeypatch.setattr(_script_library, "version", lambda _name: "0.0")
    _scripts()
    assert builder.starts == 2


def test_where_nothing_can_be_kept_they_are_built_each_time(builder: Builder, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", "/dev/null/cache")
    assert [_scripts(), _scripts()] == ["scripts"] * 2
    assert builder.starts == 2


def test_a_builder_that_fails_is_told_and_nothing_is_kept(builder: Builder) -> None:
    builder.program = "raise SystemExit('no such library')"
    with pytest.raises(FabriscopeError, match="the figures' script library cannot be built: no such library"):
        ScriptLibrary().text()
    assert not _kept().exists()
