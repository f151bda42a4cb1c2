"""What is read of a run is typed, read once, and refused by its place where it is something else."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from fabriscope import store
from fabriscope.model.case import Case, Entry
from fabriscope.model.errors import StoreError
from fabriscope.model.manifest import Near
from fabriscope.model.measurement import Launch
from fabriscope.store import journal

ENTRY = Entry("tcp", "gige", "inter", ("n0", "n1"))
CASE = Case(ENTRY, "ping_pong", 8)
LAUNCHES = tuple(Launch(number, number, ENTRY, (CASE,), seed=7, budget_ns=10**9) for number in range(1, 7))


@pytest.fixture
def folder(tmp_path: Path) -> store.RunFolder:
    contents = store.describe((CASE,), LAUNCHES, version=store.SINCE_VERSION, name="test")
    return store.create(tmp_path / "run", contents, "name: test\n")


def record(launch_id: int) -> dict[str, Any]:
    results = {CASE.case_id: {"status": "ok", "reason": None}}
    head = {"launch_id": launch_id, "block": launch_id, "entry_id": ENTRY.entry_id}
    return {**head, "results": results, "started_unix_ns": 1, "elapsed_ns": 2}


def test_the_journal_is_read_once(folder: store.RunFolder, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(1, 6):
        folder.append(record(number))
    parsed: list[int] = []
    line_of = journal.line_of

    def counted(number: int, raw: bytes) -> journal.Line:
        parsed.append(number)
        return line_of(number, raw)

    monkeypatch.setattr(journal, "line_of", counted)
    mine = store.open_run(folder.path)
    assert (len(mine.done()), mine.has_idle(), len(mine.read().journal)) == (5, False, 5)
    mine.append(record(6))
    assert sorted(mine.done()) == [1, 2, 3, 4, 5, 6]
    assert parsed == [1, 2, 3, 4, 5, 6]
    assert sorted(folder.done()) == [1, 2, 3, 4, 5, 6], "what another process appended is read, and that alone"
    assert parsed == [1, 2, 3, 4, 5, 6, 6]


def test_a_line_that_was_changed_after_it_was_read_is_noticed_on_the_next_reading(folder: store.RunFolder) -> None:
    for number in (1, 2, 3):
        folder.append(record(number))
    assert folder.read().notes == ()
    path = folder.path / "journal.jsonl"
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(lines[0] + lines[1].replace(b'"elapsed_ns":2', b'"elapsed_ns":3') + lines[2])
    assert [one.launch_id for one in folder.read().journal] == [1, 3]
    path.write_bytes(b"".join(lines))
    assert [one.launch_id for one in folder.read().journal] == [1, 2, 3]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"details": {"sent_payload_bytes": {"0-1": 7}}}, "details.sent_payload_bytes has the name '0-1'"),
        (
            {"details": {"groups": {"x": {"slowest_ranks": {"one": 1}}}}},
            "groups.x.slowest_ranks.one has the name 'one'",
        ),
        ({"results": {CASE.case_id: {"status": 1}}}, f"results.{CASE.case_id}.status is 1, and must be text"),
        ({"commands": [{"host": "n0"}]}, "commands[0].argv is missing"),
        ({"mishaps": "all"}, "mishaps is not a list"),
    ],
)
def test_a_line_of_another_shape_is_refused_by_its_place(
    folder: store.RunFolder, change: dict[str, Any], words: str
) -> None:
    line = {**record(1), "details": {}, "commands": [], **change}
    (folder.path / "journal.jsonl").write_text(json.dumps(line) + "\n")
    with pytest.raises(StoreError, match=re.escape(words)) as caught:
        folder.done()
    assert caught.value.where == f"{folder.path / 'journal.jsonl'}:1"
    assert words in folder.read().notes[-1]


def test_what_other_instruments_say_of_themselves_is_theirs(folder: store.RunFolder) -> None:
    folder.append({**record(1), "details": {"header": "iperf3", "footer": 7, "groups": [], "sent_payload_bytes": 9}})
    details = folder.done()[1].details
    assert (details.clock_name, details.is_whole, details.groups, details.sent_payload_bytes) == (None, False, {}, None)


def test_keys_still_work_and_say_what_took_their_place(folder: store.RunFolder) -> None:
    folder.append(record(1))
    run = folder.read()
    with pytest.warns(DeprecationWarning, match=r"write \.launch_id"):
        assert run.journal[0]["launch_id"] == 1
    with pytest.warns(DeprecationWarning, match=r"write \.entries"):
        assert run.manifest["entries"][ENTRY.entry_id]["label"] == ENTRY.label()
    with pytest.warns(DeprecationWarning, match=r"write \.additions"):
        assert run.manifest.get("additions", 3) == 3


def test_a_round_that_schedules_a_launch_twice_is_left_out_by_name(folder: store.RunFolder) -> None:
    near = (Near("made up", 8, 512, (64,)),)
    folder.add(1, (Launch(7, 7, ENTRY, (Case(ENTRY, "ping_pong", 64),), 7, 1),), near)
    folder.add(2, LAUNCHES[:1], near)
    run = folder.read()
    assert run.notes == ("round 2 of added launches is left out: journal.jsonl, line 2: launch 1 is scheduled twice",)
    assert [(added.round, added.near, added.after_lines) for added in run.manifest.additions] == [(1, near, 0)]
    assert [launch.launch_id for launch in run.manifest.launches] == [1, 2, 3, 4, 5, 6, 7]
    assert run.manifest.planned == store.scheduled(LAUNCHES)
    assert run.manifest.document["schedule"][-1]["round"] == 1
    with pytest.raises(StoreError, match=r"cannot be: .*launch_id is 1, as of another launch"):
        _ = folder.manifest


def test_what_is_computed_of_a_run_is_kept_with_it_alone(folder: store.RunFolder) -> None:
    calls: list[object] = []
    first, second = folder.read(), folder.read()
    assert [run.once(calls.append) for run in (first, first, second)] == [None] * 3
    assert [id(run) for run in calls] == [id(first), id(second)]
