"""Removes what launches have left: in services that are not ours by what the journal says, and of folders here."""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace

from fabriscope.hosts.access import changes
from fabriscope.hosts.access.journal_files import brief
from fabriscope.hosts.access.leftovers import Leftover
from fabriscope.launch import processes
from fabriscope.launch._guard import temporary_root
from fabriscope.launch.on_host import temporary
from fabriscope.model.command import Command
from fabriscope.model.errors import FabriscopeError, LaunchError
from fabriscope.model.host import Host

REMOVE_LIMIT_S = 300.0
"""The time that removing may take, where nobody waits to measure."""


@dataclass(frozen=True)
class Removal:
    """What came of one entry."""

    text: str
    """One line for people."""
    is_problem: bool = False
    """Whether it should have been removed, and was not."""


def removed(entries: Iterable[Leftover], is_gone: Callable[[Host], bool], *, is_dry: bool = False) -> Iterator[Removal]:
    """Remove what nobody holds of these, in their order, and yield what came of each.

    What was in a lab went with it: where the host `is_gone` for good nothing is asked, and the entry is crossed out.
    """
    for entry in entries:
        with entry.held() as is_ours:
            if entry.machine != os.uname().nodename:
                removal = Removal(f"{entry.where}: left, made from {entry.machine}, where this command removes it")
            elif not is_ours:
                removal = Removal(f"{entry.where}: left, a fabriscope that runs uses it")
            elif changes.is_of_ended_process(entry.host) or is_gone(entry.host):
                if not is_dry:
                    entry.drop()
                verb = "would be crossed out" if is_dry else "crossed out"
                removal = Removal(f"{entry.where}: {verb}, {entry.host.name} was a host of a lab that has ended")
            elif is_dry:
                removal = Removal(f"{entry.where}: would be removed, if it is still there")
            else:
                removal = _removed(entry)
        yield removal


def abandoned_folders(*, is_dry: bool = False) -> list[str]:
    """Remove the temporary folders here of launches that were killed, and return their paths."""
    try:
        root = temporary_root()
    except LaunchError:
        return []
    return temporary.clear_abandoned(str(root), is_dry=is_dry)


def _removed(entry: Leftover) -> Removal:
    host = replace(entry.host, mark=secrets.token_hex(16))
    try:
        command = Command(entry.leaving.argv, host.name)
        (outcome,) = processes.run_commands([command], {host.name: host}, timeout_s=REMOVE_LIMIT_S)
    except FabriscopeError as error:
        return _failed(entry, error.what)
    if outcome.says(entry.leaving.gone):
        entry.drop()
        return Removal(f"{entry.where}: removed")
    if outcome.timed_out:
        return _failed(entry, f"it took more than {REMOVE_LIMIT_S:.0f} s")
    lines = outcome.stderr.decode("utf-8", "replace").splitlines()
    said = [line for line in lines if line.startswith("fabriscope: ")] or lines
    return _failed(entry, said[-1].removeprefix("fabriscope: ") if said else f"exit status {outcome.exit_status}")


def _failed(entry: Leftover, why: str) -> Removal:
    fix = f"`fabriscope restore {entry.name}` tries again, `fabriscope restore --forget {entry.name}` crosses it out"
    return Removal(f"{entry.where}: not removed: {brief(why)} -- {fix}", is_problem=True)
