"""The main job on a real lab: a run, a kill at a random moment, a resume, a hang, a Ctrl-C."""

from __future__ import annotations

import contextlib
import json
import os
import random
import signal
import time
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests import forked, needs

from fabriscope.lab.state import recorded, remove_left_overs
from fabriscope.store import seal

PLAN = """
name: short
hosts: node[1-2]
fabrics: {gige: {lab: gige}, plain: {lab: local}}
layers: [tcp, shm]
placements: [inter, intra]
benchmarks:
  ping_pong: {sizes: [1, 4KiB]}
  bandwidth: {sizes: [4KiB], window: 8}
launches: 4
budget: 1600ms
"""
KILLS = int(os.environ.get("FABRISCOPE_TEST_KILLS", "2"))
"""How often the run is killed; the full count stands in docs/faults.md."""


class Runner:
    """Starts `fabriscope` with a mark in its environment, by which every process that it starts can be found."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.plan = folder / "plan.yaml"
        self.run = folder / "run"
        self._mark = f"FABRISCOPE_TEST_MARK={uuid.uuid4()}"

    def start(self, *words: str | Path) -> forked.Command:
        name, value = self._mark.split("=")
        return forked.Command(words, {**os.environ, name: value}, session=True)

    def finish(self, *words: str | Path) -> tuple[int, str, str]:
        process = self.start(*words)
        out, err = process.communicate(timeout=120)
        return process.wait(), out, err

    def processes(self) -> list[str]:
        """Return what still runs with our mark."""
        found = []
        for path in Path("/proc").glob("[0-9]*/environ"):
            try:
                if self._mark.encode() in path.read_bytes():
                    found.append((path.parent / "cmdline").read_bytes().replace(b"\0", b" ").decode())
            except OSError:
                continue
        return found

    def engines(self) -> dict[int, str]:
        """Return pid and command line of this run's engines; what will become one (nsenter) is none yet."""
        found = {}
        for path in Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(OSError):
                program, *words = (path / "cmdline").read_bytes().decode(errors="replace").split("\0")
                if Path(program).name == "fabriscope-engine" and self._mark.encode() in (path / "environ").read_bytes():
                    found[int(path.name)] = " ".join(words)
        return found

    def wait_until_clean(self) -> None:
        deadline = time.monotonic() + 20
        while self.processes():
            assert time.monotonic() < deadline, self.processes()
            time.sleep(0.02)

    def journal(self) -> list[str]:
        """Return the journal's whole lines: while a run writes, the last one may be there in part."""
        path = self.run / "journal.jsonl"
        lines = path.read_text().splitlines(keepends=True) if path.exists() else []
        return [line for line in lines if line.endswith("\n")]


@pytest.fixture
def runner(tmp_path: Path) -> Iterator[Runner]:
    needs.lab()
    one = Runner(tmp_path)
    one.plan.write_text(PLAN)
    yield one
    one.wait_until_clean()


def test_a_run_from_plan_to_report(runner: Runner) -> None:
    status, out, err = runner.finish("run", runner.plan, "-o", runner.run, "--json")
    assert status == 0, err
    events = [json.loads(line) for line in out.splitlines()]
    assert [one["event"] for one in events].count("launch_ended") == 20
    records = [json.loads(line) for line in runner.journal()]
    assert {one["entry_id"] for one in records} == {
        *("gige.tcp.inter", "plain.tcp.inter", "tcp.intra", "shm.intra", "null.intra")
    }
    assert all(one["status"] == "ok" for one in records)
    assert runner.finish("report", runner.run)[0] == 0
    assert (runner.run / "report" / "report.html").stat().st_size > 100_000
    status, out, _ = runner.finish("show", runner.run)
    assert status == 0
    assert "gige" in out
    status, out, _ = runner.finish("verify", runner.run)
    assert status == 0, out
    assert "the samples of 20 launches against the raw output" in out


DYING = """
name: dying
hosts: node[1-2]
fabrics: {gige: {lab: gige}}
layers: [tcp]
benchmarks: {ping_pong: {sizes: [1, 4KiB]}}
floor: false
launches: 2
budget: 10s
"""


def _end_the_host_of_rank_1(runner: Runner) -> None:
    """Kill every process in the network namespace of the engine's rank 1, its host's init too."""
    deadline = time.monotonic() + 60
    while not (ranks := [pid for pid, words in runner.engines().items() if "--rank 1" in words]):
        assert time.monotonic() < deadline
        time.sleep(0.02)
    namespace = Path(f"/proc/{ranks[0]}/ns/net").readlink()
    assert namespace != Path("/proc/self/ns/net").readlink(), "this would end the machine's own processes"
    for path in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if (path / "ns" / "net").readlink() == namespace:
                os.kill(int(path.name), signal.SIGKILL)


def test_launches_of_a_host_that_died_are_made_again_when_it_is_back(runner: Runner) -> None:
    runner.plan.write_text(DYING)
    process = runner.start("run", runner.plan, "-o", runner.run, "-q")
    _end_the_host_of_rank_1(runner)
    process.communicate(timeout=200)
    assert process.returncode == 10
    first = runner.journal()
    # On a busy machine one case may have been measured before its host died.
    failed = [[one["status"] for one in json.loads(line)["results"].values()].count("failed") for line in first]
    assert failed in ([1, 2], [2, 2])
    assert runner.finish("run", "--resume", runner.run, "--keep-failed", "-q")[0] == 10
    assert runner.journal() == first
    status, _, err = runner.finish("run", "--resume", runner.run, "-q")
    assert status == 0, err
    assert runner.journal()[:2] == first
    again = [json.loads(line) for line in runner.journal()[2:]]
    assert [(one["launch_id"], one["attempt"], one["status"]) for one in again] == [(1, 2, "ok"), (2, 2, "ok")]
    assert runner.finish("run", "--resume", runner.run, "-q")[0] == 0
    assert len(runner.journal()) == 4  # nothing is left to be made again
    assert runner.finish("report", runner.run, "--format", "markdown")[0] == 0
    report = next((runner.run / "report").glob("*.md")).read_text()
    assert "Launch 1 was made again" in report
    assert f"attempt 1 does not count: {failed[0]} of 2 measurements failed" in report
    status, out, err = runner.finish("verify", runner.run)
    assert status == 0, out + err


@pytest.mark.timeout(1800)
def test_killed_at_random_moments_nothing_is_lost_and_nothing_stays(runner: Runner) -> None:
    seed = os.environ.get("FABRISCOPE_TEST_SEED", "7")
    print(f"again: FABRISCOPE_TEST_SEED={seed} FABRISCOPE_TEST_KILLS={KILLS}")  # noqa: T201 - pytest shows it on failure
    words: tuple[str | Path, ...] = ("run", runner.plan, "-o", runner.run, "-q")
    kept: list[str] = []
    for number in range(KILLS):
        moment_s = random.Random(f"{seed}.{number}").uniform(0.2, 4.0)
        print(f"kill {number + 1} comes {moment_s:.3f} s after the start")  # noqa: T201
        process = runner.start(*words)
        time.sleep(moment_s)
        process.kill()
        process.communicate()
        runner.wait_until_clean()
        lines = runner.journal()
        assert lines[: len(kept)] == kept, "what was journalled before the kill has changed"
        kept = lines
        if (runner.run / "manifest.json").exists():
            words = ("run", "--resume", runner.run, "-q")
    if words[1] == runner.plan and runner.run.exists():
        runner.run = runner.folder / "second"  # every kill came before the manifest: nothing to resume
        words = ("run", runner.plan, "-o", runner.run, "-q")
        kept = []
    status, _, err = runner.finish(*words)
    assert status == 0, err
    lines = runner.journal()
    assert lines[: len(kept)] == kept
    assert sorted(json.loads(line)["launch_id"] for line in lines) == list(range(1, 21))
    status, out, _ = runner.finish("verify", runner.run)
    assert status == 0, out
    remove_left_overs()
    assert not [one for one in recorded() if one.is_left_over]


def test_ctrl_c_ends_cleanly_and_says_how_to_go_on(runner: Runner) -> None:
    process = runner.start("run", runner.plan, "-o", runner.run)
    while len(runner.journal()) < 2:
        assert process.poll() is None
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130, err
    assert f"--resume {runner.run}" in out
    assert "Traceback" not in err
    runner.wait_until_clean()
    assert all(json.loads(line)["status"] == "ok" for line in runner.journal())


def test_a_finished_run_resumes_to_nothing(runner: Runner) -> None:
    runner.plan.write_text(PLAN.replace("launches: 4", "launches: 1"))
    assert runner.finish("run", runner.plan, "-o", runner.run, "-q")[0] == 0
    before = runner.journal()
    assert runner.finish("run", "--resume", runner.run, "-q")[0] == 0
    assert runner.journal() == before


def test_a_run_that_died_before_its_last_seal_is_sealed_by_the_resume(runner: Runner) -> None:
    runner.plan.write_text(PLAN.replace("launches: 4", "launches: 1"))
    assert runner.finish("run", runner.plan, "-o", runner.run, "-q")[0] == 0
    stated = seal.load(runner.run)
    seal.write(runner.run, stated.files, stated.launch_count, stated.chain, ended=False)
    assert runner.finish("run", "--resume", runner.run, "-q")[0] == 0
    assert seal.load(runner.run) == stated


def test_two_processes_cannot_write_one_run(runner: Runner) -> None:
    process = runner.start("run", runner.plan, "-o", runner.run, "-q")
    while not runner.journal():
        assert process.poll() is None
        time.sleep(0.02)
    status, _, err = runner.finish("run", "--resume", runner.run, "-q")
    assert status == 8
    assert "another process is writing to this run" in err
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=60)


def test_an_option_that_the_kernel_refuses_fails_its_case_and_the_rest_runs(runner: Runner) -> None:
    plan = PLAN.replace(
        "ping_pong: {sizes: [1, 4KiB]}",
        "ping_pong: {sizes: [64], socket: {congestion_control: [default, no-such-cc]}}",
    )
    runner.plan.write_text(plan.replace("launches: 4", "launches: 1"))
    status, out, err = runner.finish("run", runner.plan, "-o", runner.run)
    assert status == 10, err
    assert "measurements failed" in out
    reasons = [
        one["reason"]
        for line in runner.journal()
        for one in json.loads(line)["results"].values()
        if one["status"] == "failed"
    ]
    assert reasons
    assert all("no-such-cc" in reason for reason in reasons)


def test_a_run_that_goes_on_until_it_is_decided(runner: Runner) -> None:
    """How much it decides depends on the machine; which launches it makes follows from what it has decided."""
    wanted = "until: decided\ncompare: [fabric]\nlaunches: 6\ncontrol: gige\nbudget: 3s\ncounters: false\n"
    text = PLAN.replace("layers: [tcp, shm]", "layers: [tcp]").replace("placements: [inter, intra]\n", "")
    text = text.replace("plain: {lab: local}", "slow: {lab: ethernet-100}")
    runner.plan.write_text(text.replace("launches: 4\nbudget: 1600ms\n", wanted))
    status, out, err = runner.finish("run", runner.plan, "-o", runner.run, "--json")
    assert status == 0, err
    said = [one["sentence"] for one in map(json.loads, out.splitlines()) if one["event"] == "said"]
    assert any(sentence.startswith("until decided: 3 blocks at least") for sentence in said)
    assert said[-1].startswith(("everything is decided", "the budget is spent", "the blocks are spent"))
    records = [json.loads(line) for line in runner.journal()]
    blocks = {number: [one["entry_id"] for one in records if one["block"] == number] for number in range(1, 7)}
    every = {"gige.tcp.inter", "gige.tcp.inter.again", "slow.tcp.inter", "null.intra"}
    assert all(set(blocks[number]) == every for number in (1, 2, 3))
    assert all(set(of_block) in (set(), every - {"null.intra"}) for number, of_block in blocks.items() if number > 3)
    status, out, err = runner.finish("run", "--resume", runner.run, "--json")
    assert status == 0, err
    assert [json.loads(line) for line in runner.journal()] == records, "nothing is left that would decide"
    assert "comparisons are decided" in runner.finish("show", runner.run)[1].replace("\n", " ")
