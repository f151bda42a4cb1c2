"""A program in a lab was stopped and goes on again: so does what waits for it."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Callable

from tests import needs

from fabriscope.launch import _group


def until(is_so: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 60
    while not is_so():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_who_waits_for_a_program_that_was_stopped_is_woken_when_that_goes_on() -> None:
    needs.root("a program enters a namespace")
    words = [needs.program("nsenter"), "-t", str(os.getpid()), "-p", "--", "sleep", "600"]
    with subprocess.Popen(words, start_new_session=True) as waiter:
        group = waiter.pid

        def are_stopped() -> list[bool]:
            return [member.is_stopped for member in _group.living(group)]

        try:
            until(lambda: [member.name for member in _group.programs(group)] == ["sleep"])
            (program,) = _group.programs(group)
            os.kill(program.pid, signal.SIGSTOP)
            until(lambda: are_stopped() == [True, True])
            assert _group.stopped({group}) == {group}
            assert are_stopped() == [True, True], "nobody is woken whose program is stopped"
            os.kill(program.pid, signal.SIGCONT)
            until(lambda: are_stopped().count(True) == 1)
            assert _group.stopped({group}) == set()
            until(lambda: are_stopped() == [False, False])
        finally:
            os.killpg(group, signal.SIGKILL)
