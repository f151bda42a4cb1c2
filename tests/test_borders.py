"""What nobody foresaw: it fails one launch or ends one command, in one sentence, and its traceback is in a log."""

from __future__ import annotations

import json
import os
import subprocess
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from tests import forked
from tests.test_casualties import THERE, launch, site

from fabriscope import bug_log
from fabriscope import plan as plans
from fabriscope.adapters.base import AdapterContext
from fabriscope.model.command import Command, Outcome
from fabriscope.model.errors import LabError, PlanError
from fabriscope.model.measurement import CaseResult, Launch, ParsedLaunch, SampleBlock
from fabriscope.running.casualties import Casualties
from fabriscope.running.launch_runner import LaunchRunner
from fabriscope.running.settings import Standing

PLAN = """
name: borders
hosts: localhost
placements: [intra]
layers: [shm]
benchmarks: {ping_pong: {sizes: [8]}}
launches: 3
instruments: [engine, odd]
budget: 3s
"""


class Panic(BaseException):
    """As the errors of libraries that are written in Rust: no Exception."""


class Adapter:
    """An instrument whose output nobody foresaw."""

    name = "odd"
    layers = frozenset({"tcp", "shm"})

    def __init__(self, parse: Callable[[Launch], Any], commands: Callable[[Launch], Any] | None = None) -> None:
        self._parse = parse
        self._commands = commands or (lambda launch: (Command(("echo", "words"), launch.entry.hosts[0]),))

    def commands(self, launch: Launch, context: AdapterContext) -> tuple[Command, ...]:  # noqa: ARG002 - the protocol's
        commands: tuple[Command, ...] = self._commands(launch)
        return commands

    def parse(self, launch: Launch, outcomes: Sequence[Outcome]) -> ParsedLaunch:  # noqa: ARG002 - the protocol's
        parsed: ParsedLaunch = self._parse(launch)
        return parsed


def throws(error: BaseException) -> Callable[[Launch], Any]:
    def throw(_launch: Launch) -> Any:
        raise error

    return throw


def stranger(planned: Launch) -> ParsedLaunch:
    results = tuple(CaseResult(case.case_id, "ok", None) for case in planned.cases)
    return ParsedLaunch((SampleBlock("0123456789ab", [1.0]),), results)


@pytest.fixture
def plan(tmp_path: Path) -> plans.Plan:
    path = tmp_path / "plan.yaml"
    path.write_text(
        "name: x\nhosts: a,b\nplacements: [intra]\nbenchmarks: {ping_pong: {sizes: [1, 64]}}\ncounters: false\n"
    )
    words = plans.Vocabulary(frozenset({"ping_pong"}), frozenset({"engine"}), frozenset({"tcp"}), frozenset())
    return plans.load(path, words)


def record_of(plan: plans.Plan, adapter: Adapter, errors: Path) -> tuple[dict[str, Any], list[Outcome]]:
    place = site(a=THERE, b=THERE)
    casualties, standing = Casualties(place), Standing(place)
    runner = LaunchRunner(plan, launch("a", "b"), adapter, place, casualties, {}, threading.Event(), standing, errors)
    record, _, outcomes = runner.run(10**8)
    return record, outcomes


@pytest.mark.parametrize("error", [TypeError("no subscript"), RecursionError(), Panic("a column"), MemoryError()])
def test_an_error_in_an_adapter_fails_its_launch_and_its_traceback_is_kept(
    plan: plans.Plan, tmp_path: Path, error: BaseException
) -> None:
    for adapter in (Adapter(throws(error)), Adapter(throws(error), throws(error))):
        errors = tmp_path / "errors"
        record, _ = record_of(plan, adapter, errors)
        assert record["status"] == "failed"
        assert {one["status"] for one in record["results"].values()} == {"failed"}
        assert f"an error in fabriscope itself: {type(error).__name__}: {error}" in record["reason"]
        log = tmp_path / record["reason"].partition("please report it with ")[2].partition(" of the run folder")[0]
        text = log.read_text()
        assert "Traceback" in text
        assert "launch 1, " in text
        assert log.stat().st_mode & 0o777 == 0o600


def test_what_a_launch_said_is_kept_though_its_reader_failed(plan: plans.Plan, tmp_path: Path) -> None:
    _, outcomes = record_of(plan, Adapter(throws(ValueError("what is this"))), tmp_path / "errors")
    assert [one.stdout for one in outcomes] == [b"words\n"]


@pytest.mark.parametrize("nonsense", [lambda _: None, lambda _: "words", lambda _: ParsedLaunch((None,), ())])  # type: ignore[arg-type]
def test_an_adapter_that_returns_nonsense_fails_its_launch(
    plan: plans.Plan, tmp_path: Path, nonsense: Callable[[Launch], Any]
) -> None:
    record, _ = record_of(plan, Adapter(nonsense), tmp_path / "errors")
    assert record["status"] == "failed"


def test_numbers_of_no_unit_are_refused(plan: plans.Plan, tmp_path: Path) -> None:
    def odd(planned: Launch) -> ParsedLaunch:
        blocks = tuple(SampleBlock(case.case_id, [1.0], "latency_us") for case in planned.cases)
        return ParsedLaunch(blocks, tuple(CaseResult(case.case_id, "ok") for case in planned.cases))

    record, _ = record_of(plan, Adapter(odd), tmp_path / "errors")
    assert "'latency_us' names no unit that is known" in record["reason"]
    assert record["status"] == "failed"


def test_results_of_other_cases_are_refused(plan: plans.Plan, tmp_path: Path) -> None:
    record, _ = record_of(plan, Adapter(stranger), tmp_path / "errors")
    assert record["reason"] == "the output is about cases that this launch does not have: 0123456789ab"
    assert set(record["results"]) == {case.case_id for case in launch("a", "b").cases}


@pytest.mark.parametrize("error", [PlanError("it says no", where="there"), LabError("it says no", where="there")])
def test_an_error_of_ours_is_said_as_it_is(plan: plans.Plan, tmp_path: Path, error: Exception) -> None:
    record, _ = record_of(plan, Adapter(throws(error)), tmp_path / "errors")
    assert record["reason"] == "there: it says no"
    assert not (tmp_path / "errors").exists()


@pytest.mark.parametrize("kind", [KeyboardInterrupt, SystemExit])
def test_what_is_no_error_passes(plan: plans.Plan, tmp_path: Path, kind: type[BaseException]) -> None:
    with pytest.raises(kind):
        record_of(plan, Adapter(throws(kind())), tmp_path / "errors")


ODD = '''
"""An instrument whose second launch ends as nobody foresaw, and whose third one cannot be stored."""
from fabriscope.model.command import Command
from fabriscope.model.measurement import CaseResult, ParsedLaunch, SampleBlock

class Odd:
    name = "odd"
    layers = frozenset({"shm"})

    def commands(self, launch, context):
        return (Command(("echo", "words"), launch.entry.hosts[0]),)

    def parse(self, launch, outcomes):
        if launch.block == 2:
            return {}["absent"]
        value = 1e3 if launch.block == 1 else "far too many"
        blocks = [SampleBlock(one.case_id, [value]) for one in launch.cases]
        return ParsedLaunch(tuple(blocks), tuple(CaseResult(one.case_id, "ok", None) for one in launch.cases))

ADAPTER = Odd()
'''


def fabriscope(environment: dict[str, str], *words: object) -> subprocess.CompletedProcess[str]:
    return forked.fabriscope([str(word) for word in words], {**os.environ, **environment})


def test_a_run_goes_on_after_a_launch_that_nobody_foresaw(tmp_path: Path) -> None:
    (tmp_path / "plugins" / "adapters").mkdir(parents=True)
    (tmp_path / "plugins" / "adapters" / "odd.py").write_text(ODD)
    (tmp_path / "plan.yaml").write_text(PLAN)
    environment = {"FABRISCOPE_PLUGINS": str(tmp_path / "plugins")}
    folder = tmp_path / "run"
    done = fabriscope(environment, "run", tmp_path / "plan.yaml", "-o", folder)
    assert done.returncode == 10, done.stderr
    assert "Traceback" not in done.stderr + done.stdout
    lines = [json.loads(line) for line in (folder / "journal.jsonl").read_text().splitlines()]
    odd = {line["block"]: line for line in lines if line["commands"] and line["commands"][0]["argv"][0] == "echo"}
    assert [odd[block]["status"] for block in (1, 2, 3)] == ["ok", "failed", "failed"]
    assert "an error in fabriscope itself: KeyError: 'absent' (odd.py:15)" in odd[2]["reason"]
    assert "please report it with errors/" in odd[3]["reason"]
    assert {
        line["status"] for line in lines if line["launch_id"] not in {one["launch_id"] for one in odd.values()}
    } == {"ok"}
    assert len(list((folder / "errors").iterdir())) == 2
    assert fabriscope(environment, "verify", folder).returncode == 0


BROKEN = '''
"""A command that ends as nobody foresaw."""
import threading
import click

@click.command(name="broken")
@click.option("--how")
def COMMAND(how):
    """Break."""
    if how == "disk":
        raise OSError(28, "No space left on device", "/some/file")
    if how == "thread":
        thread = threading.Thread(target=lambda: [][1])
        thread.start()
        thread.join()
        return
    class Panic(BaseException):
        pass
    errors = {"type": TypeError("what\\nis this"), "panic": Panic("index out of bounds")}
    raise errors.get(how, RecursionError("deep"))
'''


@pytest.mark.parametrize(
    ("how", "status", "says"),
    [
        ("type", 1, "fabriscope: an error in fabriscope itself: TypeError: what is this ("),
        ("panic", 1, "fabriscope: an error in fabriscope itself: Panic: index out of bounds ("),
        ("deep", 1, "fabriscope: an error in fabriscope itself: RecursionError: deep ("),
        ("thread", 0, "fabriscope: an error in fabriscope itself: IndexError: list index out of range ("),
        ("disk", 1, "fabriscope: /some/file: No space left on device -- its log is "),
    ],
)
def test_a_command_never_prints_a_traceback(tmp_path: Path, how: str, status: int, says: str) -> None:
    (tmp_path / "plugins" / "cli").mkdir(parents=True)
    (tmp_path / "plugins" / "cli" / "broken.py").write_text(BROKEN)
    environment = {"FABRISCOPE_PLUGINS": str(tmp_path / "plugins"), "XDG_STATE_HOME": str(tmp_path / "state")}
    done = fabriscope(environment, "broken", "--how", how)
    assert done.returncode == status
    assert done.stderr.startswith(says)
    assert done.stderr.count("\n") == 1
    assert "Traceback" not in done.stderr
    (log,) = (tmp_path / "state" / "fabriscope" / "errors").iterdir()
    assert str(log) in done.stderr
    assert "Traceback" in log.read_text()
    assert "command: " in log.read_text()


def test_without_a_place_for_logs_the_sentence_is_said_all_the_same(tmp_path: Path) -> None:
    (tmp_path / "plugins" / "cli").mkdir(parents=True)
    (tmp_path / "plugins" / "cli" / "broken.py").write_text(BROKEN)
    (tmp_path / "state").write_text("no folder")
    environment = {"FABRISCOPE_PLUGINS": str(tmp_path / "plugins"), "XDG_STATE_HOME": str(tmp_path / "state")}
    done = fabriscope(environment, "broken", "--how", "type")
    assert done.returncode == 1
    assert done.stderr.count("\n") == 1
    assert done.stderr.endswith("-- please report it; no log of it could be written\n")


def test_a_plugin_that_cannot_be_loaded_keeps_nobody_from_the_rest(tmp_path: Path) -> None:
    (tmp_path / "cli").mkdir()
    (tmp_path / "cli" / "broken.py").write_text("def (:\n")
    done = fabriscope({"FABRISCOPE_PLUGINS": str(tmp_path)}, "--help")
    assert done.returncode == 0
    assert "Traceback" not in done.stderr


def test_a_sentence_names_the_place_in_our_code() -> None:
    try:
        plans.load(None, None)  # type: ignore[arg-type]
    except Exception as error:
        sentence = bug_log.sentence(error)
    assert "(model/plain_files.py:" in sentence
