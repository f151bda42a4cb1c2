"""The lab's switch as a process: how it is started, where its files are, and which processors it has."""

from __future__ import annotations

import shlex
import time
from collections.abc import Sequence
from pathlib import Path

from fabriscope.lab import namespaces
from fabriscope.model import native
from fabriscope.model.errors import LabError
from fabriscope.model.host import Host
from fabriscope.model.switch_settings import SwitchPlace

READY_TIMEOUT_S = 10.0
BRIDGE = "bridge"
"""How a fabric's hosts are attached where it has no switch of ours."""
SWITCH_HOST = "the lab's switch"
"""As the journal of changes calls it; no host is called so."""


def of_switch(folder: Path, kind: str) -> Path:
    """Return the path of a file of the switch; no host's name begins so."""
    return folder / f"_switch.{kind}"


def place(folder: Path, keeper_words: Sequence[str], fabric: str, attachment: str) -> SwitchPlace | None:
    """Return where a fabric's switch is told something; None for a fabric that is a bridge."""
    keeper = Host(SWITCH_HOST, tuple(keeper_words), kind="namespace")
    return None if attachment == BRIDGE else SwitchPlace(keeper, str(of_switch(folder, "sock")), fabric)


def start(keeper_words: Sequence[str], folder: Path, arguments: list[str]) -> None:
    """Start the switch; one that still runs is ended. Raises LabError."""
    if not arguments:
        return
    control, log, pid = (of_switch(folder, kind) for kind in ("sock", "log", "pid"))
    if pid.exists():
        namespaces.run_in(keeper_words, 'kill -9 "$1" 2>/dev/null || true', pid.read_text().strip())
    for path in (control, log):
        path.unlink(missing_ok=True)
    argv = [str(native.program("fabriscope-switch")), "--control", str(control), *arguments]
    pid.write_text(
        namespaces.run_in(keeper_words, f"{shlex.join(argv)} </dev/null >{shlex.quote(str(log))} 2>&1 & echo $!")
    )
    deadline = time.monotonic() + READY_TIMEOUT_S
    while "ready" not in (said := log.read_text() if log.exists() else ""):
        if "fabriscope-switch:" in said or time.monotonic() > deadline:
            raise LabError(f"the switch did not start: {said.strip() or 'it says nothing'}")
        time.sleep(0.002)
    _confine(keeper_words, folder)


def confine(keeper_words: Sequence[str], folder: Path, processors: str) -> bool:
    """Let what forwards frames run on these processors alone, from now on and after it was started again.

    Not its threads that keep cores awake, each of which has a core of its own. False where no fabric has a switch.
    Raises LabError.
    """
    if not of_switch(folder, "pid").exists():
        return False
    of_switch(folder, "processors").write_text(processors)
    _confine(keeper_words, folder)
    return True


def _confine(keeper_words: Sequence[str], folder: Path) -> None:
    wanted, pid = of_switch(folder, "processors"), of_switch(folder, "pid")
    if wanted.exists():
        namespaces.run_in(keeper_words, 'taskset -p -c "$1" "$2"', wanted.read_text(), pid.read_text().strip())
