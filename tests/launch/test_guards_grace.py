"""What ends strays on a host waits a moment for those that end by themselves: their guards ask them to."""

from __future__ import annotations

import os
import secrets
import subprocess

import pytest

from fabriscope.launch.on_host import sweep


def marked(mark: str, script: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(["/bin/sh", "-c", script], env={**os.environ, sweep.MARK_VARIABLE: mark})


def test_one_that_ends_by_itself_is_waited_for_and_another_one_is_not_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    mark = secrets.token_hex(8)
    with marked(mark, "sleep 0.3; exit 7") as ends:
        sweep.wait_for_guards(mark)
        assert ends.wait(10) == 7
    monkeypatch.setattr(sweep, "GUARDS_GRACE_S", 0.2)
    with marked(mark, "exec sleep 600") as stays:
        sweep.wait_for_guards(mark)
        assert stays.poll() is None
        assert sweep.end_marked(mark) == 1
        assert stays.wait(10) == -9


def test_one_that_takes_its_time_to_die_is_counted_once(monkeypatch: pytest.MonkeyPatch) -> None:
    looks = iter([({7, 9}, 0), ({7}, 0), (set(), 0)])
    monkeypatch.setattr(sweep, "_sweep", lambda _: next(looks))
    assert sweep.end_marked("mark") == 2
