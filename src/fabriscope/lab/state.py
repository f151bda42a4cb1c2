"""What a lab leaves on the disk while it stands, so that exactly it can be found and removed, and nothing else."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import tempfile
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from fabriscope.lab import cpu_share
from fabriscope.model.errors import LabError

STATE_FILE = "state.json"
_GONE_TIMEOUT_S = 10.0


@dataclass(frozen=True)
class ProcessId:
    """A process that cannot be mistaken for a later one of the same number."""

    pid: int
    start_ticks: int
    """Start time in clock ticks since boot, field 22 of /proc/PID/stat."""

    def is_alive(self) -> bool:
        """Return whether this very process still runs (a zombie does not)."""
        return _start_ticks(self.pid) == self.start_ticks


def process_id(pid: int) -> ProcessId:
    """Return the identity of a running process; raises LabError if it is gone."""
    start_ticks = _start_ticks(pid)
    if start_ticks is None:
        raise LabError(f"process {pid} of the lab ended at once")
    return ProcessId(pid, start_ticks)


def _start_ticks(pid: int) -> int | None:
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return None
    return None if fields[0] in "ZX" else int(fields[19])


@dataclass(frozen=True)
class LabState:
    """One lab, as recorded."""

    name: str
    folder: Path
    owner: ProcessId | None
    """The process that the lab must not outlive; None for one that stays (`fabriscope lab up`)."""
    keeper: ProcessId
    """Process 1 of the lab's PID namespace: its end is the end of all."""
    details: dict[str, Any]

    @property
    def is_left_over(self) -> bool:
        """Return whether nobody needs the lab any more: its owner or its keeper died."""
        return not self.keeper.is_alive() or (self.owner is not None and not self.owner.is_alive())

    @property
    def is_complete(self) -> bool:
        """Return whether the lab was built to the end."""
        return bool(self.details)

    def write(self) -> None:
        """Record the lab."""
        text = json.dumps({**asdict(self), "folder": str(self.folder)}, indent=1)
        path = self.folder / STATE_FILE
        path.with_suffix(".new").write_text(text)
        path.with_suffix(".new").replace(path)

    def remove(self) -> None:
        """End the keeper, with it everything in the lab, and forget the lab. Raises LabError if it will not end."""
        if self.keeper.is_alive():
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.keeper.pid, signal.SIGKILL)
            deadline = time.monotonic() + _GONE_TIMEOUT_S
            while self.keeper.is_alive():
                if time.monotonic() > deadline:
                    raise LabError(f"the lab's keeper, process {self.keeper.pid}, does not end", where=self.name)
                time.sleep(0.005)
        cpu_share.remove(self.folder)
        shutil.rmtree(self.folder, ignore_errors=True)


def state_root() -> Path:
    """Return the folder under which this user's labs are recorded."""
    if os.geteuid() == 0:
        return Path("/run/fabriscope")
    runtime = os.environ.get("XDG_RUNTIME_DIR")
    if runtime and os.access(runtime, os.W_OK):
        return Path(runtime) / "fabriscope"
    return Path(tempfile.gettempdir()) / f"fabriscope-{os.geteuid()}"


def new_folder(name: str) -> Path:
    """Return a new, empty folder for a lab; raises LabError if the name is taken or the folder cannot be made."""
    root = state_root()
    try:
        root.mkdir(mode=0o700, parents=True, exist_ok=True)
        if root.stat().st_uid != os.geteuid():
            raise LabError("the folder of labs belongs to somebody else", where=str(root))
        (root / name).mkdir(mode=0o700)
    except FileExistsError:
        raise LabError(
            f"there is a lab {name!r} already", fix="take another name, or `fabriscope lab down` it"
        ) from None
    except OSError as error:
        raise LabError(f"the lab cannot be recorded: {error.strerror}", where=str(root / name)) from error
    return root / name


def recorded() -> Iterator[LabState]:
    """Yield every lab that is recorded for this user, standing or not."""
    for path in sorted(state_root().glob(f"*/{STATE_FILE}")):
        try:
            raw = json.loads(path.read_text())
            owner = ProcessId(**raw["owner"]) if raw["owner"] else None
            yield LabState(raw["name"], path.parent, owner, ProcessId(**raw["keeper"]), raw["details"])
        except (OSError, ValueError, KeyError, TypeError):
            continue  # it is being written or removed right now


def remove_left_overs() -> list[str]:
    """Remove the labs whose owner died without taking them down; return their names."""
    names = []
    for state in recorded():
        if state.is_left_over:
            state.remove()
            names.append(state.name)
    return names
