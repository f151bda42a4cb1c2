"""What a run says while it runs: unwrapped where nobody has a terminal, and how long it still takes by the clock."""

from __future__ import annotations

import pytest

from fabriscope.model.case import Case, Entry
from fabriscope.model.measurement import Launch
from fabriscope.progress import TerminalProgress

S = 1_000_000_000
ENTRY = Entry("tcp", "gige", "inter", ("node1", "node2"))
LONG = "node1 and node2: a load of 11.73 on 2 processors before the run. Other programs show up in every number. " * 3


def launch(launch_id: int) -> Launch:
    return Launch(launch_id, 1, ENTRY, (Case(ENTRY, "ping_pong", 1),), 1, S)


@pytest.fixture(autouse=True)
def no_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)
    monkeypatch.delenv("FORCE_COLOR", raising=False)


def test_what_is_no_terminal_is_not_wrapped(capsys: pytest.CaptureFixture[str]) -> None:
    with TerminalProgress() as progress:
        progress.say(LONG)
        progress.start("runs/a-path-that-is-rather-long/and-goes-on-for-more-than-eighty-columns/x", 1, 0, 46 * S)
    lines = capsys.readouterr().err.splitlines()
    assert lines[0].rstrip() == LONG.rstrip()
    assert lines[1].startswith("1 launch, about 46 s on an idle machine, into runs/a-path")
    assert lines[1].endswith("columns/x")


def test_what_is_left_goes_by_the_time_that_the_launches_so_far_took_together(
    capsys: pytest.CaptureFixture[str],
) -> None:
    clock = [5 * S]
    with TerminalProgress(lambda: clock[0]) as progress:
        progress.start("runs/x", 4, 0, 40 * S)
        for number in (1, 2):
            progress.launch_started(launch(number), 10 * S)
        clock[0] += 40 * S
        for number in (1, 2):  # in turns: each of them ran for 40 s, and both together, too
            progress.launch_ended(launch(number), {}, 38 * S)
        progress.launch_started(launch(3), 10 * S)
    said = [line for line in capsys.readouterr().err.splitlines() if line.startswith("launch ")]
    assert [line[line.index("(") :] for line in said] == ["(about 40 s left)"] * 3


def test_each_launch_of_a_group_counts_by_its_own_time(capsys: pytest.CaptureFixture[str]) -> None:
    """Whichever of them started last: what is left neither jumps up nor down where all go as expected."""
    clock, expected_s = [5 * S], {1: 9, 2: 1, 3: 1, 4: 9, 5: 9, 6: 1}
    with TerminalProgress(lambda: clock[0]) as progress:
        progress.start("runs/x", 6, 0, 30 * S)
        for group in ((1, 2), (3, 4), (5, 6)):
            for number in group:
                progress.launch_started(launch(number), expected_s[number] * S)
            clock[0] += 10 * S
            for number in group:
                progress.launch_ended(launch(number), {}, 10 * S)
    said = [line for line in capsys.readouterr().err.splitlines() if line.startswith("launch ")]
    assert [line[line.index("(about") :] for line in said] == [
        f"(about {left} s left)" for left in (30, 30, 20, 20, 10, 10)
    ]
