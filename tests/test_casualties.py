"""What a run does when something of its place is lost: hosts that stand in, cases that hung, nobody who listens."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from fabriscope import plan as plans
from fabriscope.adapters.base import AdapterContext
from fabriscope.model.case import Case, Entry
from fabriscope.model.command import Command, Outcome
from fabriscope.model.errors import HostError
from fabriscope.model.fabric import Fabric
from fabriscope.model.host import Host
from fabriscope.model.measurement import CaseResult, Launch, ParsedLaunch
from fabriscope.plan.imb_schema import ImbOptionsSection
from fabriscope.progress import JsonProgress, QuietProgress, Unheard
from fabriscope.running.casualties import Casualties
from fabriscope.running.launch_runner import LaunchRunner
from fabriscope.running.real_site import RealSite
from fabriscope.running.settings import Standing

THERE, GONE = ("env",), ("false",)
"""Words before a command: one runs it, the other never does."""


def site(**access: tuple[str, ...]) -> RealSite:
    hosts = {name: Host(name, words, kind="namespace") for name, words in access.items()}
    return RealSite(hosts, {"wire": Fabric("wire", dict.fromkeys(hosts, "eth0"))}, {}, "engine", {}, {})


def launch(*hosts: str, block: int = 1) -> Launch:
    entry = Entry("tcp", "wire" if len(set(hosts)) > 1 else None, "inter" if len(set(hosts)) > 1 else "intra", hosts)
    cases = tuple(Case(entry, "ping_pong", size) for size in (1, 64))
    return Launch(block, block, entry, cases, seed=1, budget_ns=1)


def test_a_host_that_is_left_stands_in() -> None:
    casualties = Casualties(site(a=THERE, b=GONE, c=THERE, d=THERE))
    assert casualties.place(launch("a", "b"))[1] == {}  # nobody has looked yet
    (sentence,) = casualties.look(["a", "b"])
    assert sentence.startswith("host b is gone: it cannot be entered")
    assert casualties.look(["a", "b"]) == []  # it is said once
    placed, stand_ins = casualties.place(launch("a", "b", "b"))
    assert placed.entry.hosts == ("a", "c", "c")
    assert stand_ins == {"b": "c"}
    assert placed.cases == launch("a", "b", "b").cases  # the cases keep their ids
    assert casualties.place(launch("b", "b"))[0].entry.hosts == ("a", "a")


def test_without_a_host_to_stand_in_the_launch_fails_at_once() -> None:
    casualties = Casualties(site(a=THERE, b=GONE))
    casualties.look(["b"])
    with pytest.raises(HostError, match="b: it is gone, and no other host is left to stand in: it cannot be entered"):
        casualties.place(launch("a", "b"))
    assert casualties.place(launch("a", "a"))[0].entry.hosts == ("a", "a")


def test_a_host_that_came_back_is_used_again_in_the_next_block(tmp_path: Path) -> None:
    script = tmp_path / "enter"
    script.write_text("#!/bin/sh\nexit 3\n")
    script.chmod(0o755)
    casualties = Casualties(site(a=THERE, b=(str(script),)))
    casualties.place(launch("a", "b"))
    assert casualties.look(["b"]) == ["host b is gone: it cannot be entered (exit status 3)"]
    script.write_text("#!/bin/sh\nexit 0\n")
    with pytest.raises(HostError):
        casualties.place(launch("a", "b"))
    assert casualties.place(launch("a", "b", block=2))[0].entry.hosts == ("a", "b")


def test_hosts_that_were_absent_from_the_beginning_are_told_once_and_not_asked_again() -> None:
    casualties = Casualties(replace(site(a=THERE, b=THERE, c=THERE), absent={"b": "it cannot be reached"}))
    assert casualties.place(launch("a", "b"))[1] == {"b": "c"}
    assert casualties.place(launch("a", "b", block=2))[1] == {"b": "c"}
    assert casualties.tell() == ["host b is gone: it cannot be reached"]
    assert casualties.tell() == []


class Hanging:
    """An instrument whose first case of a launch always hangs."""

    name = "hanging"
    layers = None

    def __init__(self) -> None:
        self.asked: list[tuple[str, ...]] = []

    def commands(self, launch: Launch, context: AdapterContext) -> tuple[Command, ...]:  # noqa: ARG002
        self.asked.append(tuple(case.case_id for case in launch.cases))
        return (Command(("true",), launch.entry.hosts[0]),)

    def parse(self, launch: Launch, outcomes: Sequence[Outcome]) -> ParsedLaunch:
        hung, *others = launch.cases
        assert outcomes[0].exit_status == 0
        if hung.message_size_bytes != 1:
            return ParsedLaunch((), tuple(CaseResult(case.case_id, "ok") for case in launch.cases))
        behind = (CaseResult(case.case_id, "failed", "behind it") for case in others)
        return ParsedLaunch((), (CaseResult(hung.case_id, "failed", "no progress"), *behind), {}, hung.case_id)


def record_of(place: RealSite, hung: Mapping[str, int], hosts: tuple[str, ...] = ("a", "a")) -> dict[str, Any]:
    plan = plans.Plan.__new__(plans.Plan)
    section = type("Section", (), {"case_timeout": 0, "counters": False, "imb_options": ImbOptionsSection()})()
    object.__setattr__(plan, "section", section)
    casualties, standing = Casualties(place), Standing(place)
    runner = LaunchRunner(plan, launch(*hosts), Hanging(), place, casualties, hung, threading.Event(), standing)
    return runner.run(expected_ns=10**9)[0]


def test_a_case_that_hung_once_is_tried_again_and_twice_is_left_out() -> None:
    first, second = (case.case_id for case in launch("a", "a").cases)
    record = record_of(site(a=THERE), {})
    assert record["results"][first] == {"status": "failed", "reason": "no progress"}
    assert record["results"][second]["status"] == "ok"
    assert record["details"]["hung_case_ids"] == [first]
    assert record_of(site(a=THERE), {first: 1})["results"][first]["status"] == "failed"
    record = record_of(site(a=THERE), {first: 2})
    assert record["results"][first] == {"status": "skipped", "reason": "it hung in 2 earlier launches"}


def test_a_launch_that_lost_its_host_says_so_and_blames_no_case() -> None:
    record = record_of(site(a=THERE, b=GONE), {}, ("a", "b"))
    assert record["mishaps"]
    assert "hung_case_ids" not in record["details"]
    assert all(one["reason"].startswith("host b is gone") for one in record["results"].values())


class Closed(QuietProgress):
    """Nobody reads what it says."""

    def __init__(self) -> None:
        self.count = 0

    def notice(self, what: str) -> None:  # noqa: ARG002
        self.count += 1
        raise BrokenPipeError


def test_nobody_needs_to_listen(capsys: pytest.CaptureFixture[str]) -> None:
    closed = Closed()
    with Unheard(closed) as told:
        told.notice("one")
        told.notice("two")
        told.launch_ended(launch("a", "a"), {}, 1)
    assert closed.count == 1
    with Unheard(JsonProgress()) as told:
        told.notice("three")
    assert '"what": "three"' in capsys.readouterr().out
