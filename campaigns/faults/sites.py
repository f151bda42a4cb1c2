"""What a run under a fault may run on: MPI libraries, many to one, collectives, applications, guests, ssh and Slurm.

Each is hit by the same faults, which can befall any run: fabriscope is killed or asked to end, a process of the run is
killed or stops.
"""

from __future__ import annotations

import os
import shutil
import signal
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from functools import cache

from campaigns.faults.case import MPI_PLAN, SSH_PLAN, Missed, Run, kill
from tests.slurm.cluster import PROGRAMS, Cluster

from fabriscope import lab
from fabriscope.hosts import mpi
from fabriscope.lab import guest_kernel
from fabriscope.lab.presets import PRESETS
from fabriscope.model.errors import FabriscopeError
from fabriscope.model.lab import LabSpec
from fabriscope.model.mpi import MpiStack

INCAST_PLAN = """
name: fault
hosts: node[1-3]
fabrics: {small: {lab: {preset: gige, buffer: 64KiB}}}
ranks: [3]
benchmarks: {incast: {sizes: [4KiB]}}
launches: 4
budget: 800ms
case_timeout: 1s
floor: false
"""
STREAMS_PLAN = """
name: fault
hosts: node[1-3]
fabrics: {wire: {lab: {preset: gige, buffer: 64KiB}}}
many_to_one: {streams: [2, 5]}
benchmarks: {many_to_one: {sizes: [4KiB], duration: 200ms, mode: [streams, rounds]}}
launches: 3
budget: 800ms
case_timeout: 1s
floor: false
"""
STREAMS_LAUNCHES = 6
COLLECTIVES_PLAN = """
name: fault
hosts: node[1-3]
fabrics: {wire: {lab: gige}}
layers: [mpi]
mpi: [{name: chosen, path: MPIRUN}]
ranks: [3]
benchmarks: {barrier: {}, allreduce: {sizes: [8]}}
launches: 3
budget: 900ms
case_timeout: 1s
floor: false
"""
APPLICATIONS_PLAN = """
name: fault
hosts: node[1-3]
fabrics: {wire: {lab: gige}}
layers: [mpi]
mpi: [{name: chosen, path: MPIRUN}]
placements: [inter, intra]
ranks: [2]
applications: {npb: {kernels: [CG, FT, IS, MG], class: [S, W], time_limit: 10s}}
launches: 2
"""
APPLICATIONS_LAUNCHES = 4
GUESTS_PLAN = """
name: fault
hosts: g[1-2]
guests: all
fabrics: {roce: {lab: gige, rdma: soft-roce}}
layers: [tcp, verbs]
benchmarks: {ping_pong: {sizes: [64]}}
launches: 2
budget: 800ms
case_timeout: 4s
floor: false
"""
SLURM_PLAN = """
name: fault
hosts: slurm
fabrics: {net: {interface: eth0}}
layers: [tcp]
benchmarks: {ping_pong: {sizes: [1, 4KiB]}}
launches: 4
budget: 800ms
case_timeout: 1s
floor: false
"""
TURNS_PLAN = """
name: fault
hosts: node[1-3]
fabrics: {wire: {lab: gige}, other: {lab: gige}}
layers: [tcp, shm]
placements: [inter, intra]
benchmarks: {ping_pong: {sizes: [1, 4KiB]}}
turns: auto
launches: 3
budget: 3s
case_timeout: 4s
floor: false
"""
TURNS_LAUNCHES = 12
HOSTS = ("node1", "node2", "node3")
MPI_LAUNCHERS = ("mpiexec", "mpiexec.hydra", "mpirun", "orterun", "prterun")
RANKS = ("fabriscope-engine", "fabriscope-npb", "fabriscope-guest-exec", "linux")
PROGRAMS_OF_RUNS = (*RANKS, *MPI_LAUNCHERS, "srun", "hydra_pmi_proxy", "prted")
"""What a launch is made of, one of which is struck: ranks, what starts them, and the kernels of guests."""
_LONGEST_START_S = 3.0


@dataclass(frozen=True)
class Place:
    """One kind of run."""

    name: str
    title: str
    plan: str
    launch_count: int
    surround: Callable[[Run], AbstractContextManager[None]] = lambda _run: nullcontext()


@dataclass(frozen=True)
class Blow:
    """A fault that can befall any run."""

    name: str
    title: str
    strike: Callable[[Run, Place], str]


@contextmanager
def over_ssh(run: Run) -> Iterator[None]:
    """Let the run reach the hosts of a lab that is not its own, by the lab's stand-in for ssh."""
    built = lab.up(LabSpec(HOSTS, {"wire": PRESETS["gige"]}))
    run.extra_env = {"FABRISCOPE_SSH": str(built.remote_shell)}
    run.own_lab = built
    try:
        yield
    finally:
        built.down()


@contextmanager
def _in_a_job(run: Run) -> Iterator[None]:
    """Let the run, and what resumes it, be jobs of a Slurm of their own, on the same two nodes."""
    folder = run.folder / "slurm"
    folder.mkdir()
    cluster = Cluster(folder)
    words = ("salloc", "--quiet", "--nodelist", "n[2-3]", "--ntasks-per-node", "1")
    run.prefix = tuple(cluster.argv("env", f"SLURM_CONF={folder / 'slurm.conf'}", *words))
    try:
        yield
    finally:
        cluster.stop()


def places(mpirun: str | None, stacks: Sequence[MpiStack]) -> list[Place]:
    """Return the kinds of runs that this machine can make with these libraries; `mpirun` is that of the collectives."""
    found = [
        Place("incast", "many to one, in rounds", INCAST_PLAN, 4),
        Place("streams", "streams to one", STREAMS_PLAN, STREAMS_LAUNCHES),
        Place("turns", "in turns", TURNS_PLAN, TURNS_LAUNCHES),
        Place("ssh", "over ssh", SSH_PLAN, 5, over_ssh),
    ]
    for kind in ("mpich", "openmpi"):
        stack = next((one for one in stacks if one.kind.startswith(kind)), None)
        if stack is not None:
            found.append(Place(kind, f"MPI, {kind}", MPI_PLAN.replace("MPIRUN", stack.mpirun), 4))
    if mpirun is not None:
        found.append(Place("collectives", "collectives", COLLECTIVES_PLAN.replace("MPIRUN", mpirun), 3))
        applications = APPLICATIONS_PLAN.replace("MPIRUN", mpirun)
        found.append(Place("applications", "NAS kernels", applications, APPLICATIONS_LAUNCHES))
    try:
        guest_kernel.find()
        found.append(Place("guests", "guests, Soft RoCE", GUESTS_PLAN, 4))
    except FabriscopeError:
        pass
    search = os.pathsep.join((os.environ.get("PATH", ""), "/usr/sbin", "/sbin"))
    if os.geteuid() == 0 and all(shutil.which(name, path=search) for name in PROGRAMS):
        found.append(Place("slurm", "a Slurm job", SLURM_PLAN, 4, _in_a_job))
    return found


@cache
def stacks() -> Sequence[MpiStack]:
    """Return the MPI libraries of this machine, the newest first."""
    stacks = [one.stack for one in mpi.search() if one.stack is not None]
    return sorted(stacks, key=lambda stack: [int(word) for word in stack.version.split(".")], reverse=True)


def _killed(run: Run, place: Place) -> str:
    _some_moment(run, place)
    run.was_killed = True
    kill(run.own_processes())
    return "fabriscope killed"


def _asked_to_end(run: Run, place: Place) -> str:
    number = run.chance.choice((signal.SIGINT, signal.SIGTERM, signal.SIGHUP))
    _some_moment(run, place)
    kill(run.own_processes(), number)
    return f"fabriscope got {number.name}"


def _some_moment(run: Run, place: Place) -> None:
    """Wait for a moment between the start of the run and its end; raises Missed if it ends before."""
    if run.chance.random() < 0.3:
        run.pause_until(lambda: bool(run.own_processes()))
        time.sleep(run.chance.uniform(0, _LONGEST_START_S))
        if run.is_over():
            raise Missed
    else:
        run.random_moment(place.launch_count)


def _process_killed(run: Run, place: Place) -> str:
    return f"{_struck(run, place, signal.SIGKILL)} killed"


def _process_stops(run: Run, place: Place) -> str:
    return f"{_struck(run, place, signal.SIGSTOP)} stopped"


def _struck(run: Run, place: Place, number: signal.Signals) -> str:
    """Send a signal to a process of a launch, chosen by chance; return its name."""
    run.random_moment(place.launch_count)
    run.pause_until(lambda: bool(run.programs(*PROGRAMS_OF_RUNS)))
    time.sleep(run.chance.uniform(0, 0.3))
    for _ in range(20):
        programs = sorted(run.programs(*PROGRAMS_OF_RUNS).items())
        if programs:
            pid, name = run.chance.choice(programs)
            kill([pid], number)
            return name
        time.sleep(0.05)
    raise Missed


BLOWS = (
    Blow("killed", "fabriscope is killed", _killed),
    Blow("asked-to-end", "SIGINT, SIGTERM or SIGHUP", _asked_to_end),
    Blow("process-killed", "a rank or a launcher is killed", _process_killed),
    Blow("process-stops", "a rank or a launcher stops", _process_stops),
)
