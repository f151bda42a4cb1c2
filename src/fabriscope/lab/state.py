"""What a lab leaves on the disk while it stands, so that exactly it can be found and removed, and nothing else."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import shutil
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from fabriscope.lab import cpu_share, record_shape
from fabriscope.lab.processes import ProcessId, process_id
from fabriscope.model import folders, plain_files
from fabriscope.model.errors import FabriscopeError, LabError, ParseError
from fabriscope.model.foreign import decode_json
from fabriscope.model.home import state_folder
from fabriscope.model.host import Host

__all__ = ["LabState", "ProcessId", "new_folder", "process_id", "recorded", "remove_left_overs", "state_root"]

STATE_FILE = "state.json"
STAND_IN = "rsh"
"""The lab's stand-in for ssh, in its folder."""
_MAX_RECORD_BYTES = 16 << 20
_GONE_TIMEOUT_S = 10.0
_REAPED_TIMEOUT_S = 5.0
"""By then whoever reaps at all has reaped what ended."""
_LEFT_OVERS_TIMEOUT_S = 2.0
"""All left-overs together get this long to end; what does not is reported, and hinders nobody."""
_MEND = "mend that, or set XDG_RUNTIME_DIR to a folder that only you can write"
_MAX_SOCKET_CHARACTERS = 107 - len("/_switch.sock")


@dataclass(frozen=True)
class LabState:
    """One lab, as recorded."""

    name: str
    folder: Path
    owner: ProcessId | None
    """The process that the lab must not outlive; None for one that stays (`fabriscope lab up`)."""
    keeper: ProcessId
    """Process 1 of the lab's PID namespace, whose end is the end of all; before it is there, what will start it."""
    details: dict[str, Any]

    @property
    def is_left_over(self) -> bool:
        """Return whether nobody needs the lab any more: its owner or its keeper died."""
        return self.keeper.has_ended_with_all_below() or (self.owner is not None and not self.owner.is_alive())

    @property
    def is_complete(self) -> bool:
        """Return whether the lab was built to the end."""
        return bool(self.details)

    def write(self) -> None:
        """Record the lab."""
        _write(self, self.folder)

    def remove(self) -> None:
        """End the keeper, with it everything in the lab, and forget the lab. Raises LabError if it will not end."""
        self._forget(self._end_keeper(), _GONE_TIMEOUT_S)

    def _end_keeper(self) -> ProcessId | None:
        """Send SIGKILL to the keeper; return `unshare`, which started it and ends with it. Raises LabError."""
        if not self.keeper.is_alive() or self.keeper == self.owner:
            return None
        try:
            parent = self.keeper.parent("unshare")
            self.keeper.kill()
        except PermissionError:
            raise LabError(
                f"its keeper, process {self.keeper.pid}, is not ours to end",
                where=f"lab {self.name}",
                fix=f"ask who owns it to end it, then remove {self.folder}",
            ) from None
        return parent

    def _forget(self, parent: ProcessId | None, timeout_s: float) -> None:
        """Remove what is recorded of the lab once the keeper and its parent have ended; raises LabError."""
        began_s = time.monotonic()
        while (is_left := self.keeper.is_alive()) or (parent is not None and parent.is_alive()):
            waited_s = time.monotonic() - began_s
            is_overdue = waited_s > min(_REAPED_TIMEOUT_S, timeout_s)
            if parent is not None and (is_overdue or parent.is_stopped()):
                parent.kill()
            if is_overdue and self.keeper.has_ended_with_all_below():
                break
            if is_left and waited_s > timeout_s:
                raise LabError(
                    f"its keeper, process {self.keeper.pid}, does not end, though it was sent SIGKILL",
                    where=f"lab {self.name}",
                    fix=f"see what the kernel does with it: `cat /proc/{self.keeper.pid}/stack`; other labs go on",
                )
            time.sleep(0.005)
        cpu_share.remove(self.folder)
        remove_folder(self.folder)


def state_root() -> Path:
    """Return the folder under which this user's labs are recorded; never one that somebody else could have made.

    Raises LabError where this user has no place of their own.
    """
    if os.geteuid() == 0:
        return Path("/run/fabriscope")
    for runtime in (os.environ.get("XDG_RUNTIME_DIR"), f"/run/user/{os.geteuid()}"):
        if runtime and _is_own(runtime):
            return Path(runtime) / "fabriscope"
    try:
        return state_folder() / _where_numbers_hold()
    except FabriscopeError:
        raise LabError(
            "there is no place to record a lab in", fix="set XDG_RUNTIME_DIR to a folder that only you can write"
        ) from None


def is_of_gone_lab(host: Host) -> bool:
    """Return whether a host was reached by the stand-in for ssh of a lab that is no more."""
    program = Path(host.access[0] if host.is_remote else "/")
    try:
        is_stand_in = program.name == STAND_IN and program.parent.parent == state_root()
    except LabError:
        return False
    return is_stand_in and not os.path.lexists(program.parent)


def _is_own(folder: str) -> bool:
    try:
        return Path(folder).stat().st_uid == os.geteuid() and folders.problem(folder) is None
    except OSError:
        return False


def _where_numbers_hold() -> str:
    """Return a name for this boot and PID namespace: a home may be shared by machines, process numbers are not."""
    boot = Path("/proc/sys/kernel/random/boot_id").read_text()
    place = f"{boot}{Path('/proc/self/ns/pid').readlink()}"
    return f"labs-{hashlib.sha256(place.encode()).hexdigest()[:8]}"


def new_folder(name: str) -> Path:
    """Return a new folder for a lab, with a record of which we are owner and, until it has one, keeper.

    Raises LabError if the name is taken or the folder cannot be made.
    """
    root, us = state_root(), process_id(os.getpid())
    if len(os.fsencode(root / name)) > _MAX_SOCKET_CHARACTERS:
        raise LabError(
            "its path is too long for the switch's socket",
            where=str(root / name),
            fix="give the lab a shorter name, or set XDG_RUNTIME_DIR",
        )
    scratch = root / _scratch_name(us, name)
    try:
        if (why := folders.private_folder(str(root))) is not None:
            raise _untrusted(root, why)
        scratch.mkdir(mode=0o700)
        try:
            # With its record from the first moment on: a folder without one would be a left-over that nobody knows.
            _write(LabState(name, root / name, us, us, {}), scratch)
            scratch.rename(root / name)
        except BaseException:
            shutil.rmtree(scratch, ignore_errors=True)
            raise
    except OSError as error:
        if (root / name).exists():
            raise LabError(
                f"there is a lab {name!r} already", fix="take another name, or `fabriscope lab down` it"
            ) from None
        what = f"the lab cannot be recorded: {error.strerror}"
        raise LabError(what, where=str(root / name), fix=_MEND) from error
    return root / name


def recorded(notice: Callable[[str], None] | None = None) -> Iterator[LabState]:
    """Yield every lab that is recorded for this user, standing or not.

    What is no record of ours is never used; `notice` is told of it, a sentence each. Raises LabError for a folder of
    labs that others can write.
    """
    root = state_root()
    try:
        if (why := folders.problem(str(root))) is not None:
            raise _untrusted(root, why)
        paths = sorted(path for path in root.iterdir() if not path.name.startswith("."))
    except FileNotFoundError:
        return
    except OSError as error:
        raise LabError(f"the labs cannot be listed: {error.strerror}", where=str(root)) from error
    for path in paths:
        try:
            yield _read(path)
        except FileNotFoundError:
            continue  # it is being removed right now
        except (OSError, ValueError) as error:
            if notice is not None:
                what = f"this is no record of a lab: {error}"
                notice(LabError(what, where=str(path), fix="remove it").sentence())


def remove_left_overs(notice: Callable[[str], None] | None = None) -> list[str]:
    """Remove the labs whose owner died without taking them down; return their names.

    One that cannot be removed is passed by, and `notice` is told of it, a sentence each. Raises LabError as `recorded`.
    """
    names, parents = [], {}
    left = [state for state in recorded(notice) if state.is_left_over]
    deadline = time.monotonic() + _LEFT_OVERS_TIMEOUT_S
    for state in left:
        with contextlib.suppress(LabError):  # said below
            parents[state.name] = state._end_keeper()
    for state in left:
        try:
            state._forget(parents.get(state.name) or state._end_keeper(), max(0, deadline - time.monotonic()))
            names.append(state.name)
        except LabError as error:
            if notice is not None:
                notice(error.sentence())
    _remove_scratch()
    return names


def remove_folder(folder: Path) -> None:
    """Remove a lab's folder, under a name that says whose it is: should we die meanwhile, it is left over, not lost."""
    scratch = folder.with_name(_scratch_name(process_id(os.getpid()), folder.name))
    with contextlib.suppress(OSError):
        folder.rename(scratch)
    for path in (scratch, folder):
        shutil.rmtree(path, ignore_errors=True)


def _scratch_name(owner: ProcessId, name: str) -> str:
    return f".{owner.pid}-{owner.start_ticks}-{name}"


def _remove_scratch() -> None:
    """Remove what was left by a process that died while it made or removed a lab's folder."""
    for path in state_root().glob(".*-*-*"):
        pid, ticks, _ = path.name[1:].split("-", 2)
        if pid.isdigit() and ticks.isdigit() and not ProcessId(int(pid), int(ticks)).is_alive():
            shutil.rmtree(path, ignore_errors=True)


def _untrusted(root: Path, why: str) -> LabError:
    return LabError(
        f"labs that are recorded there are not trusted: {why}",
        where=str(root),
        fix=_MEND,
    )


def _write(state: LabState, folder: Path) -> None:
    text = json.dumps({**asdict(state), "folder": str(state.folder)}, indent=1)
    path = folder / STATE_FILE
    try:
        handle = os.open(path.with_suffix(".new"), os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o600)
    except FileNotFoundError:
        raise LabError(f"the lab {state.name} has ended meanwhile", where=str(folder)) from None
    with os.fdopen(handle, "w") as file:
        os.fchmod(handle, 0o600)
        file.write(text)
    path.with_suffix(".new").replace(path)


def _read(folder: Path) -> LabState:
    """Return a lab's record; raises OSError, or ValueError with what is wrong with it."""
    path = folder / STATE_FILE
    try:
        raw = decode_json(plain_files.own(path, _MAX_RECORD_BYTES), STATE_FILE)
    except ParseError as error:
        raise ValueError(str(error)) from None
    if not isinstance(raw, dict) or raw.get("name") != folder.name:
        raise ValueError(f"{STATE_FILE} names another lab")
    owner = _process(raw.get("owner")) if raw.get("owner") is not None else None
    details = raw.get("details")
    if not isinstance(details, dict):
        raise ValueError(f"{STATE_FILE} has no `details`")
    if details and (key := record_shape.unusable(details)) is not None:
        raise ValueError(f"{STATE_FILE} lacks a usable {key!r}")
    return LabState(raw["name"], folder, owner, _process(raw.get("keeper")), details)


def _process(raw: Any) -> ProcessId:
    if (
        not isinstance(raw, dict)
        or not record_shape.fits(raw, {str: int})
        or set(raw) != {"pid", "start_ticks"}
        or raw["pid"] < 1
    ):
        raise ValueError(f"{STATE_FILE} names a process as {raw!r}")
    return ProcessId(raw["pid"], raw["start_ticks"])
