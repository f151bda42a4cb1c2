"""What is named as the archive of the OSU micro-benchmarks and is none, or not whole, or of something else."""

from __future__ import annotations

import io
import random
import tarfile
import threading
from pathlib import Path

import pytest
from tests import needs
from tests.test_osu_run import DEBIAN_MPICH, plan_of, run

from fabriscope.model.errors import LaunchError
from fabriscope.running import osu_builds


def archive(path: Path, name: str, *, is_cut: bool = False) -> Path:
    content = random.Random(1).randbytes(100_000)
    with tarfile.open(path, "w:gz") as made:
        told = tarfile.TarInfo(f"suite/{name}")
        told.size = len(content)
        made.addfile(told, io.BytesIO(content))
    if is_cut:
        path.write_bytes(path.read_bytes()[:50_000])
    return path


@pytest.mark.parametrize(
    ("make", "what"),
    [
        (lambda path: path.write_text("some words\n" * 100), "it is no archive of sources that can be unpacked -- "),
        (lambda path: archive(path, "configure", is_cut=True), "it is no archive of sources that can be unpacked -- "),
        (lambda path: archive(path, "README"), "there is no configure in it -- "),
    ],
    ids=["text", "cut", "other"],
)
def test_it_is_refused_in_one_line_and_leaves_nothing(
    make: object, what: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    stack = needs.mpi_library("mpich", DEBIAN_MPICH)
    path = tmp_path / "osu.tar.gz"
    assert callable(make)
    make(path)
    assert not osu_builds.is_at(path)
    with pytest.raises(LaunchError) as error:
        osu_builds.build(path, stack, threading.Event())
    assert f"osu.tar.gz: {what}" in str(error.value)
    assert "\n" not in str(error.value)
    assert not (tmp_path / "cache").exists()


def test_plan_check_asks_about_a_file_that_is_none(tmp_path: Path) -> None:
    (tmp_path / "osu.txt").write_text("some words\n")
    told = run("plan", "check", str(plan_of(tmp_path, osu=str(tmp_path / "osu.txt"))))
    assert f"there is no program of the OSU micro-benchmarks in {tmp_path / 'osu.txt'}; name the folder" in told.stdout
