"""Whose a plan's file is: what it names is executed as us, so others must not have written it."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from fabriscope.model.errors import PlanError
from fabriscope.plan.load import Plan
from fabriscope.plan.place_schema import SshSection

_FIX = "read it, then start with a copy of your own"


def refuse_others(plan: Plan) -> None:
    """Raise PlanError for a plan that names programs, or variables of theirs, and that others could have written."""
    if not _names_programs(plan):
        return
    path = Path(plan.file)
    try:
        about, real = path.stat(), path.resolve()
        above = [(folder, folder.stat().st_mode) for folder in real.parents]
    except (OSError, RuntimeError):  # a pipe that was opened for us, or what its reader has told
        return
    if about.st_uid not in _us():
        what = f"it belongs to user {about.st_uid}, and names programs that would run as you"
        raise PlanError(what, where=plan.file, fix=_FIX)
    for one, mode in ((path, about.st_mode), *above):
        if mode & stat.S_IWOTH and not (stat.S_ISDIR(mode) and mode & stat.S_ISVTX):
            what = f"everybody may write to {one}, and the plan names programs that would run as you"
            raise PlanError(what, where=plan.file, fix=_FIX)


def _us() -> set[int]:
    """Return us, root, and who became root by sudo to run what is theirs."""
    us = {os.geteuid(), 0}
    told = os.environ.get("SUDO_UID", "")
    return us | {int(told)} if os.geteuid() == 0 and told.isdecimal() else us


def _names_programs(plan: Plan) -> bool:
    """Return whether the plan chooses what is executed: ssh, MPI, Hadoop or HBase by their places, applications."""
    stacks, of_plan = plan.section.mpi, plan.section.applications
    of_applications = (of_plan.npb and of_plan.npb.reference) or (of_plan.hpl and of_plan.hpl.program)
    if of_applications or plan.section.services.homes:
        return True
    if plan.section.osu:
        return True
    return plan.section.ssh != SshSection() or any(
        one.path or one.env or "/" in f"{one.name}{one.library or ''}" for one in stacks
    )
