"""A run that is compared with a copy of itself, whole or in part, is told so: nothing can differ between them."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner
from tests.analysis import made_up

from fabriscope.cli import fabriscope
from fabriscope.running.same_launches import SameLaunches

SHAPE = made_up.Shape(
    sizes=(8,), launch_count=5, stacks=(), benchmarks=("ping_pong",), placements=("inter",), failing=frozenset()
)


def compared(one: Path, other: Path) -> None:
    CliRunner().invoke(fabriscope, ["compare", str(one), str(other)], catch_exceptions=False)


def without_the_last_line(folder: Path) -> None:
    journal = folder / "journal.jsonl"
    journal.write_bytes(b"".join(journal.read_bytes().splitlines(keepends=True)[:-1]))


def test_a_copy_is_told(tmp_path: Path) -> None:
    made_up.write_run(tmp_path / "run", SHAPE)
    copy = shutil.copytree(tmp_path / "run", tmp_path / "copy")
    with pytest.raises(SameLaunches, match=r"these are the same run: both have the same \d+ launches") as refused:
        compared(tmp_path / "run", copy)
    assert refused.value.exit_code == 2
    assert str(refused.value).startswith(f"{tmp_path / 'run'} and {copy}: ")


def test_a_copy_of_a_part_is_told(tmp_path: Path) -> None:
    made_up.write_run(tmp_path / "run", SHAPE)
    copy = shutil.copytree(tmp_path / "run", tmp_path / "copy")
    without_the_last_line(copy)
    for pair in ((tmp_path / "run", copy), (copy, tmp_path / "run")):
        with pytest.raises(SameLaunches, match=r"these share (\d+) of \1 launches: one is a copy of the other"):
            compared(*pair)


def test_another_run_of_the_plan_is_compared(tmp_path: Path) -> None:
    made_up.write_run(tmp_path / "run", SHAPE)
    made_up.write_run(tmp_path / "again", made_up.Shape(**{**vars(SHAPE), "seed": 8}))
    compared(tmp_path / "run", tmp_path / "again")
