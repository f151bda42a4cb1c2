"""A file that was copied, or pasted twice into one, is one launch: what agrees is told or left out."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from fabriscope import store
from fabriscope.cli import fabriscope

SWEEP = (5901.18, 0.65, 0.7, 0.83, 0.8, 0.72, 0.84, 0.94, 1.66, 2.03, 7.35, 19.04, 47.53, 59.31, 1228.13)
FEW = (2.11, 2.12)


def log(name: str, values: tuple[float, ...]) -> str:
    rows = "".join(f"{2**place:<10}{value:20.2f}\n" for place, value in enumerate(values))
    return f"# OSU MPI {name} Test v5.8\n# Size          Latency (us)\n{rows}"


def imported(run: Path, *logs: Path) -> Result:
    words = ["import", *map(str, logs), "-o", str(run)]
    return CliRunner().invoke(fabriscope, words, catch_exceptions=False)


def launches(run: Path) -> int:
    return len(store.open_run(run).read().journal)


def file(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.write_text(text)
    return path


def test_a_copied_file_is_one_launch(tmp_path: Path) -> None:
    first, copy = (file(tmp_path, name, log("Latency", SWEEP)) for name in ("a.log", "b.log"))
    done = imported(tmp_path / "run", first, copy)
    assert done.exit_code == 10
    said = f"{copy}: ping_pong has the numbers of {first} to the last digit, and a copy is no launch"
    assert said in done.stderr
    assert launches(tmp_path / "run") == 1
    assert json.loads((tmp_path / "run" / "plan.yaml").read_text())["left_out"] == [said]
    assert CliRunner().invoke(fabriscope, ["verify", str(tmp_path / "run")]).exit_code == 0


@pytest.mark.parametrize("change", ["packed", "spaced", "stamped"])
def test_the_same_numbers_in_another_file_are_a_copy(tmp_path: Path, change: str) -> None:
    text = log("Latency", SWEEP)
    first, copy = file(tmp_path, "a.log", text), tmp_path / "b.log"
    if change == "packed":
        copy.write_bytes(gzip.compress(text.encode()))
    else:
        copy.write_text(text.replace("    ", "  ") if change == "spaced" else f"Fri Nov 27 10:00:00 2026\n{text}")
    assert imported(tmp_path / "run", first, copy).exit_code == 10
    assert launches(tmp_path / "run") == 1


def test_a_run_that_stands_twice_in_one_file_is_one(tmp_path: Path) -> None:
    both = file(tmp_path, "a.log", log("Latency", SWEEP) * 2)
    done = imported(tmp_path / "run", both)
    assert done.exit_code == 10
    assert "run 2: ping_pong has the numbers of" in done.stderr
    assert launches(tmp_path / "run") == 1


def test_the_part_of_a_file_that_is_no_copy_stays(tmp_path: Path) -> None:
    first = file(tmp_path, "a.log", log("Latency", SWEEP))
    more = file(tmp_path, "b.log", log("Latency", SWEEP) + log("Broadcast Latency", tuple(3 * one for one in SWEEP)))
    assert imported(tmp_path / "run", first, more).exit_code == 10
    (_, second) = store.open_run(tmp_path / "run").read().journal
    cases = store.open_run(tmp_path / "run").read().manifest.cases
    assert {cases[case].benchmark for case in second.results} == {"osu_bcast"}


def test_a_run_cut_short_of_another_is_a_copy(tmp_path: Path) -> None:
    first, short = file(tmp_path, "a.log", log("Latency", SWEEP)), file(tmp_path, "b.log", log("Latency", SWEEP[:9]))
    assert imported(tmp_path / "run", first, short).exit_code == 10
    assert launches(tmp_path / "run") == 1


def test_few_digits_may_agree_by_chance_and_both_count(tmp_path: Path) -> None:
    first, again = (
        file(tmp_path, name, text)
        for name, text in (("a.log", log("Latency", FEW)), ("b.log", log("Latency", FEW) + "\n"))
    )
    done = imported(tmp_path / "run", first, again)
    assert done.exit_code == 0
    assert f"look again: {again}: ping_pong has the numbers of {first}" in done.stderr
    assert "may be chance: both count" in done.stderr
    assert launches(tmp_path / "run") == 2


def test_a_digit_that_differs_makes_two_launches(tmp_path: Path) -> None:
    first = file(tmp_path, "a.log", log("Latency", SWEEP))
    other = file(tmp_path, "b.log", log("Latency", (*SWEEP[:-1], SWEEP[-1] + 0.01)))
    done = imported(tmp_path / "run", first, other)
    assert (done.exit_code, done.stderr) == (0, "")
    assert launches(tmp_path / "run") == 2


def test_one_log_under_two_labels_is_told(tmp_path: Path) -> None:
    folder = tmp_path / "logs"
    folder.mkdir()
    for name in ("eth.log", "roce.log"):
        file(folder, name, log("Latency", SWEEP))
    file(folder, "labels.yaml", "'eth*': {fabric: eth}\n'roce*': {fabric: roce}\n")
    done = imported(tmp_path / "run", folder)
    assert done.exit_code == 0
    assert "and other labels: if one is a copy, its labels are wrong" in done.stderr
    assert launches(tmp_path / "run") == 2
