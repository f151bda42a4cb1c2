"""The kinds of faults: each prepares a run, injects one fault at a random moment, and says what it did."""

from __future__ import annotations

import os
import random
import signal
import struct
import subprocess
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from campaigns.faults import disks, in_turns, place, sites
from campaigns.faults.case import LAB_PLAN, LOCAL_PLAN, MPI_PLAN, SSH_PLAN, Missed, Run, kill
from campaigns.faults.disks import LAB_LAUNCHES
from campaigns.faults.sites import HOSTS, MPI_LAUNCHERS, over_ssh

from fabriscope import lab
from fabriscope.model.errors import LabError
from fabriscope.model.lab import LabSpec
from fabriscope.model.mpi import MpiStack

ENGINES = ("fabriscope-engine",)
LOCAL_LAUNCHES = 8
MPI_LAUNCHES = 4
SSH_LAUNCHES = 5
_SHIM = Path(__file__).with_name("clock_shim.c")


@dataclass(frozen=True)
class Kind:
    """One kind of fault."""

    name: str
    title: str
    inject: Callable[[Run], str]
    """Waits for its moment and does it; returns what was done. Raises Missed where there was nothing to do it to."""
    plan: str = LAB_PLAN
    surround: Callable[[Run], AbstractContextManager[None]] = lambda _run: nullcontext()
    """A context that the run and its resume stand in; it is left before traces are looked for."""
    check: Callable[[Run], Iterable[str]] = lambda _run: ()
    """Yields what is wrong of this kind alone, before the run is resumed."""
    mend: Callable[[Run], None] = lambda _run: None
    """What somebody would do before he resumes."""


def _host_dies(run: Run) -> str:
    built = run.lab()
    run.random_moment(LAB_LAUNCHES)
    return _end_host(built, run.chance.choice(HOSTS))


def _end_host(built: lab.Lab, name: str) -> str:
    namespace = built.state.details["network_namespaces"][name]
    pids = [int(path.name) for path in Path("/proc").glob("[0-9]*")]
    own = [pid for pid in pids if _namespace(pid) == namespace]
    kill(own)
    return f"every process of {name} killed ({len(own)})"


def _namespace(pid: int) -> str:
    try:
        return str(Path(f"/proc/{pid}/ns/net").readlink())
    except OSError:
        return ""


def _change(run: Run, built: lab.Lab, values: dict[str, Any], host: str) -> None:
    """Change a link of the lab; raises Missed if the lab went with its run meanwhile."""
    try:
        built.change("wire", values, [host])
    except LabError:
        run.end()
        raise Missed from None


def _link_down(run: Run, launch_count: int = LAB_LAUNCHES) -> str:
    built = run.lab()
    run.random_moment(launch_count)
    name, down_s = run.chance.choice(HOSTS[:2]), run.chance.choice((0.05, 0.3, 1.0, 3.0))
    _change(run, built, {"is_down": True}, name)
    time.sleep(down_s)
    with suppress(Missed):
        _change(run, built, {"is_down": False}, name)
    return f"the link of {name} down for {down_s} s"


def _port_drops(run: Run) -> str:
    built = run.lab()
    run.random_moment(LAB_LAUNCHES)
    name = run.chance.choice(HOSTS[:2])
    _change(run, built, {"drop_every": 10}, name)
    return f"the port of {name} drops every tenth frame from then on"


def _rank_hangs(run: Run) -> str:
    run.random_moment(LAB_LAUNCHES if run.plan.read_text() == LAB_PLAN else MPI_LAUNCHES)
    run.pause_until(lambda: bool(run.pids(*ENGINES)))
    time.sleep(run.chance.uniform(0, 0.2))
    run.pause_until(lambda: _stop_one(sorted(run.pids(*ENGINES)), run.chance))
    return "a rank stopped by SIGSTOP"


def _stop_one(pids: list[int], chance: random.Random) -> bool:
    """Stop one of some processes where it stands; return whether one was still there."""
    if not pids:
        return False
    pid = chance.choice(pids)
    kill([pid], signal.SIGSTOP)
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] in "tT"
    except OSError:
        return False


@contextmanager
def _shifted_clock(run: Run) -> Iterator[None]:
    library = run.folder.parent / f"clock_shim-{os.getpid()}.so"
    if not library.exists():
        compiler = os.environ.get("CC", "cc")
        subprocess.run([compiler, "-shared", "-fPIC", "-O1", "-o", str(library), str(_SHIM), "-ldl"], check=True)
    shift = run.folder / "shift"
    shift.write_bytes(struct.pack("q", 0))
    run.extra_env = {"LD_PRELOAD": str(library), "CLOCK_SHIFT_FILE": str(shift)}
    yield


def _clock_jumps(run: Run) -> str:
    run.random_moment(LAB_LAUNCHES)
    seconds = run.chance.choice((-86400, -3600, -5, 5, 3600, 86400 * 400))
    with (run.folder / "shift").open("r+b", buffering=0) as shift:
        shift.write(struct.pack("q", seconds))
    return f"the wall clock jumps by {seconds} s"


@contextmanager
def _in_a_lab(run: Run) -> Iterator[None]:
    built = lab.up(LabSpec(("shared",), {}))
    run.prefix = built.host("shared").access
    try:
        yield
    finally:
        built.down()


def _ssh_host_dies(run: Run) -> str:
    run.random_moment(SSH_LAUNCHES)
    if run.own_lab is None:
        raise Missed
    run.lost_a_host = True
    return _end_host(run.own_lab, run.chance.choice(HOSTS))


def _shared_lab(run: Run) -> str:
    plan = run.plan.read_text()
    other = Run(run.folder / "other", plan, run.chance)
    other.prefix, other.extra_env = run.prefix, run.extra_env
    other.start()
    run.random_moment(LOCAL_LAUNCHES if plan == LOCAL_PLAN else SSH_LAUNCHES)
    what = "a second run on the same hosts of one lab"
    if run.chance.random() < 0.5:
        kill(other.own_processes())
        what += ", killed in its middle"
        other.end()
    elif other.end() != 0 or other.reasons():
        raise RuntimeError(f"the second run was harmed: {other.said()} {other.reasons()}")
    left = place.left_behind(other.mark, place.standing(), other.temporary)
    if left:
        raise RuntimeError(f"the second run left {left}")
    return what


@contextmanager
def _on_a_terminal(run: Run) -> Iterator[None]:
    run.has_terminal = True
    yield


def _terminal_closes(run: Run) -> str:
    try:
        run.random_moment(LAB_LAUNCHES)
    finally:
        run.close_terminal()
    return "the terminal closed"


def _fabriscope_killed(run: Run) -> str:
    moment_s = run.chance.uniform(0.1, 5.0)
    run.was_killed = True
    time.sleep(moment_s)
    if run.is_over():
        raise Missed
    kill(run.own_processes())
    return f"fabriscope killed {moment_s:.1f} s after its start"


def _mpirun_killed(run: Run) -> str:
    run.random_moment(MPI_LAUNCHES)
    run.pause_until(lambda: bool(run.pids(*MPI_LAUNCHERS)))
    time.sleep(run.chance.uniform(0, 0.7))
    pids = run.pids(*MPI_LAUNCHERS)
    if not pids:
        raise Missed
    kill(pids)
    return "mpirun killed"


def _switch_dies(run: Run) -> str:
    run.lab()
    run.random_moment(LAB_LAUNCHES)
    pids = run.pids("fabriscope-switch")
    if not pids:
        raise Missed
    kill(pids)
    return "the lab's switch killed"


def kinds(mpirun: str | None, stacks: Sequence[MpiStack] = ()) -> dict[str, Kind]:
    """Return the kinds of faults by name; those that need an MPI only where there is one."""
    every = [
        Kind("host-dies", "a host dies", _host_dies),
        Kind("link-down", "a link goes down and comes back", _link_down),
        Kind("port-drops", "a port drops every tenth frame", _port_drops),
        Kind("rank-hangs", "a rank hangs", _rank_hangs),
        Kind("disk-full", "the disk is full", disks.fill, surround=disks.small, mend=disks.make_room),
        Kind("clock-jumps", "the clock jumps", _clock_jumps, surround=_shifted_clock),
        Kind("shared-lab", "two runs share one lab", _shared_lab, LOCAL_PLAN, surround=_in_a_lab),
        Kind("terminal-closes", "the terminal closes", _terminal_closes, surround=_on_a_terminal),
        Kind("fabriscope-killed", "fabriscope is killed", _fabriscope_killed),
        Kind("switch-dies", "the lab's switch dies", _switch_dies),
    ]
    if mpirun is not None:
        plan = MPI_PLAN.replace("MPIRUN", mpirun)
        every.append(Kind("mpirun-killed", "mpirun is killed", _mpirun_killed, plan))
        every.append(Kind("mpi-rank-hangs", "a rank of an MPI job hangs", _rank_hangs, plan))
    extra = [
        Kind("ssh-host-dies", "a host reached by ssh dies", _ssh_host_dies, SSH_PLAN, over_ssh),
        Kind("ssh-shared-lab", "two runs share hosts reached by ssh", _shared_lab, SSH_PLAN, over_ssh),
    ]
    extra += [*_in_turns(), *_of_links_and_disks(mpirun)]
    of_places = [_kind(where, blow) for where in sites.places(mpirun, stacks) for blow in sites.BLOWS]
    return {one.name: one for one in (*every, *extra, *of_places)}


def _in_turns() -> list[Kind]:
    """Return the faults of one of several launches that measure in turns."""
    of_one = [
        Kind("turn-killed", "in turns: who has the turn is killed", in_turns.holder_killed, sites.TURNS_PLAN),
        Kind("turn-stops", "in turns: who has the turn stops", in_turns.holder_stops, sites.TURNS_PLAN),
        Kind("waiting-killed", "in turns: who waits is killed", in_turns.waiting_killed, sites.TURNS_PLAN),
    ]
    return [replace(one, check=in_turns.others_harmed) for one in of_one]


def _of_links_and_disks(mpirun: str | None) -> Iterator[Kind]:
    """Yield what befalls the links and disks of runs that measure in turns, of streams, and of applications."""
    runs = [
        ("turns", "in turns", sites.TURNS_PLAN, sites.TURNS_LAUNCHES),
        ("streams", "streams to one", sites.STREAMS_PLAN, sites.STREAMS_LAUNCHES),
    ]
    if mpirun is not None:
        plan = sites.APPLICATIONS_PLAN.replace("MPIRUN", mpirun)
        runs.append(("applications", "NAS kernels", plan, sites.APPLICATIONS_LAUNCHES))
    for name, title, plan, count in runs:
        full, down = partial(disks.fill, launch_count=count), partial(_link_down, launch_count=count)
        yield Kind(f"{name}-disk-full", f"{title}: disk full", full, plan, disks.small, mend=disks.make_room)
        yield Kind(f"{name}-link-down", f"{title}: a link goes down", down, plan)


def _kind(where: sites.Place, blow: sites.Blow) -> Kind:
    name, title = f"{where.name}-{blow.name}", f"{where.title}: {blow.title}"
    return Kind(name, title, lambda run: blow.strike(run, where), where.plan, where.surround)


def seeded(seed: int, number: int) -> random.Random:
    """Return the chance of one case, whatever ran before it."""
    return random.Random(f"{seed}.{number}")  # noqa: S311 - what goes wrong, no secret
