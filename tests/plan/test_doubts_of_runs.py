"""`run` says what `plan check` asks about before it begins: a few sentences, and how many there are more."""

from __future__ import annotations

from pathlib import Path
from typing import NoReturn

import pytest
from click.testing import CliRunner

from fabriscope.cli import fabriscope
from fabriscope.model.errors import LaunchError
from fabriscope.running import run

PLAN = """name: t
hosts: node[1-2]
fabrics:
  near: {lab: gige, traffic_class: 32}
  far: {lab: gige, traffic_class: 64, service_level: 1}
benchmarks:
  ping_pong: {sizes: [8], in_flight_limit: 1MiB}
"""


def begun(folder: Path, monkeypatch: pytest.MonkeyPatch, text: str, *words: str) -> list[str]:
    """Return what stands on standard error of a run that ends as it begins."""

    def start(*_: object) -> NoReturn:
        raise LaunchError("it has begun")

    monkeypatch.setattr(run, "start", start)
    path = folder / "plan.yaml"
    path.write_text(text)
    done = CliRunner().invoke(fabriscope, ["run", str(path), "-o", str(folder / "run"), *words])
    assert "it has begun" in str(done.exception)
    assert not done.stdout
    return done.stderr.splitlines()


def test_the_first_of_them_are_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    told = begun(tmp_path, monkeypatch, PLAN)
    assert [one.startswith("look again: ") for one in told] == [True, True, True, False]
    assert told[-1] == f"1 more: `fabriscope plan check {tmp_path}/plan.yaml`"


def test_one_is_said_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (told,) = begun(tmp_path, monkeypatch, PLAN, "--only", "near", "--launches", "2")[:1]
    assert told.startswith("look again: ")
    text = PLAN.replace(", traffic_class: 32", "").replace(", traffic_class: 64, service_level: 1", "")
    (told,) = begun(tmp_path, monkeypatch, text.replace("far: {lab: gige", "far: {lab: ethernet-100"))
    assert told.startswith("look again: ping_pong: in_flight_limit does nothing")


@pytest.mark.parametrize("word", ["--quiet", "--json"])
def test_nothing_is_said_where_nobody_reads_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, word: str) -> None:
    assert begun(tmp_path, monkeypatch, PLAN, word) == []
