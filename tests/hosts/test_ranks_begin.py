"""A rank is its launcher's copy until it becomes another program: what it holds until then is the launcher's."""

from __future__ import annotations

import subprocess
import time
from typing import Any

import pytest


@pytest.mark.parametrize(("before", "kept"), [("hydra_pmi_proxy", 0), ("app", 1)])
def test_what_a_launchers_copy_held_is_no_ranks(
    parts: dict[str, Any], monkeypatch: pytest.MonkeyPatch, before: str, kept: int
) -> None:
    seen = parts["Processes"]("our-mark", {})
    monkeypatch.setenv("FABRISCOPE_LAUNCH_MARK", "our-mark.1")
    with subprocess.Popen(["sleep", "60"]) as started:
        try:
            one = parts["Process"](started.pid, time.monotonic())
            one.program, one.channels = before, {"unix 7 to 8"}
            until_s = time.monotonic() + 60
            while one.program != "sleep":
                assert time.monotonic() < until_s
                seen.identify(one)
            assert len(one.channels) == kept
        finally:
            started.kill()
