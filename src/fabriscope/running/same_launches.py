"""Launches that two run folders share: one is a copy of the other, or both are copies of one that went on."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from fabriscope.model.counting import counted
from fabriscope.model.errors import FabriscopeError
from fabriscope.model.record import LaunchRecord
from fabriscope.model.run_data import RunData


class SameLaunches(FabriscopeError):
    """What is to be compared is the same measurement."""

    exit_code = 2


def refuse(paths: Sequence[Path], runs: Sequence[RunData]) -> None:
    """Raise SameLaunches where two runs have launches with one seal: nothing can differ between a launch and itself."""
    if len(runs) < 2:
        return
    one, other = (dict.fromkeys(identity for record in run.journal if (identity := _identity(record))) for run in runs)
    shared = len(one.keys() & other.keys())
    if not shared:
        return
    where, least = f"{paths[0]} and {paths[1]}", min(len(one), len(other))
    if shared == len(one) == len(other):
        what = f"these are the same run: both have the same {counted(shared, 'launch')}"
    else:
        what = f"these share {shared} of {counted(least, 'launch')}: one is a copy of the other, or of a part of it"
    fix = "compare runs that were measured apart; `fabriscope compare RUN` compares the entries of one"
    raise SameLaunches(what, where=where, fix=fix)


def _identity(record: LaunchRecord) -> tuple[object, ...] | None:
    """Return what no two launches share; None for one without a seal, of an older version."""
    if record.seal is None or not record.seal.files or not record.started_unix_ns:
        return None
    files = tuple(sorted((name, digests.sha256) for name, digests in record.seal.files.items()))
    return record.launch_id, record.attempt, record.started_unix_ns, record.elapsed_ns, files
