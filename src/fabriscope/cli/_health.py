"""The checks of `fabriscope doctor`: each looks at one thing, by trying it where that is possible."""

from __future__ import annotations

import os
import secrets
import shlex
import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from fabriscope import engine_binary
from fabriscope.adapters.base import AdapterContext
from fabriscope.adapters.engine import ADAPTER
from fabriscope.hosts import facts, mpi, mpi_environments
from fabriscope.launch import mpi_jobs, processes
from fabriscope.model import search_paths
from fabriscope.model.case import Case, Entry
from fabriscope.model.errors import FabriscopeError, ToolMissing
from fabriscope.model.fabric import Fabric
from fabriscope.model.host import Host
from fabriscope.model.lab import LabSpec
from fabriscope.model.measurement import Launch
from fabriscope.model.mpi import MpiStack
from fabriscope.registry import discover

TOOLS = {"ethtool": "offloads and coalescing of interfaces (package ethtool)"}
"""What is of use beside the instruments' programs."""
TRIAL_TIMEOUT_S = 30.0
TRIAL_BUDGET_NS = 20_000_000

_HOST = "localhost"
_LAB_HOSTS = ("doctor-a", "doctor-b")
_FABRIC = Fabric("doctor", dict.fromkeys(_LAB_HOSTS, "eth0"))


@dataclass(frozen=True)
class Check:
    """What came of one check."""

    group: str
    name: str
    status: str
    """`ok`, `warning` (something less will work), `untried` or `failed`."""
    text: str
    fix: str | None = None
    is_required: bool = False
    """The main job, measuring with the engine on a lab, needs it."""


@dataclass(frozen=True)
class Place:
    """Where trial messages are sent: between two hosts of a lab, or inside this machine."""

    hosts: Mapping[str, Host]
    rank_hosts: tuple[str, str]
    fabric: Fabric | None = None
    remote_shell: str | None = None


HERE = Place({_HOST: Host(_HOST)}, (_HOST, _HOST))


def machine() -> Iterator[Check]:
    """Look at the machine itself."""
    known = {fact.name: fact.value for fact in facts.collect(Host(_HOST))}
    threads = known.get("cpu.thread_count")
    yield Check(
        "machine", "processor", "ok", f"{known.get('cpu.model') or 'of unknown model'}, {threads or 'unknown'} threads"
    )
    yield Check("machine", "system", "ok", f"Linux {known.get('kernel.release')}, {known.get('kernel.distribution')}")
    load = known.get("load.mean_1min")
    if isinstance(load, float) and isinstance(threads, int):
        is_busy = load > threads / 2
        fix = "measure when the machine is idle: other programs show up in every number" if is_busy else None
        yield Check("machine", "load", "warning" if is_busy else "ok", f"{load} on {threads} threads", fix)


def engine() -> Iterator[Check]:
    """Look for the engine and let it send a message to itself over TCP; and by libfabric, which few plans need."""
    try:
        path = engine_binary.find_engine()
    except FabriscopeError as error:
        yield Check("engine", "fabriscope-engine", "failed", error.what, error.fix, is_required=True)
        return
    yield Check("engine", "fabriscope-engine", "ok", str(path), is_required=True)
    problem = trial(HERE, "tcp")
    if problem:
        yield Check("engine", "message over loopback", "failed", problem, is_required=True)
    else:
        yield Check("engine", "message over loopback", "ok", "arrived", is_required=True)
    problem = trial(HERE, "libfabric-tcp")
    yield Check(
        "engine", "message by libfabric", "warning" if problem else "ok", problem or "arrived, by its provider tcp"
    )


def lab_parts() -> Iterator[Check]:
    """Look at what a lab needs, one thing after the other."""
    from fabriscope.lab.programs import check_system_programs
    from fabriscope.model import native

    who = "root" if os.geteuid() == 0 else "not root: namespaces of users are needed"
    yield Check("lab", "user", "ok", who)
    try:
        check_system_programs()
        for name in ("fabriscope-init", "fabriscope-switch"):
            native.program(name)
    except FabriscopeError as error:
        yield Check("lab", "programs", "failed", error.what, error.fix, is_required=True)
        return
    yield Check("lab", "programs", "ok", "unshare, nsenter, ip, fabriscope-switch", is_required=True)


def lab_message(place: Place) -> Check:
    """Send a message between two hosts of a lab that stands."""
    problem = trial(place, "tcp")
    if problem:
        return Check("lab", "message between hosts", "failed", problem, is_required=True)
    return Check("lab", "message between hosts", "ok", "arrived over an emulated Gigabit Ethernet", is_required=True)


def lab_spec() -> LabSpec:
    """Return the lab that the doctor builds."""
    from fabriscope.lab.presets import PRESETS

    return LabSpec(_LAB_HOSTS, {"doctor": PRESETS["gige"]})


def lab_place(hosts: Mapping[str, Host], remote_shell: str) -> Place:
    """Return a lab as a place for trials."""
    return Place(hosts, _LAB_HOSTS, _FABRIC, remote_shell)


def mpi_stack(stack: MpiStack, place: Place, *, may_compile: bool) -> Check:
    """Compile the engine with an MPI, start it, and send a message."""
    name = f"{stack.name} ({stack.version}{', ' + stack.device if stack.device else ''})"
    if not may_compile:
        fix = f"`fabriscope doctor --mpi {shlex.quote(stack.name)}` tries it"
        return Check("MPI", name, "untried", f"{stack.mpirun}, not tried", fix)
    try:
        program = engine_binary.build_mpi_engine(stack)
    except FabriscopeError as error:
        return Check("MPI", name, "warning", error.what, error.fix)
    problem = trial(place, "mpi", stack, str(program))
    if problem:
        return Check("MPI", name, "warning", f"it compiles, but: {problem}", f"leave {stack.name} out of plans")
    where = "between two hosts of a lab" if place.fabric else "inside this machine"
    return Check("MPI", name, "ok", f"compiles, starts, and passes messages {where}")


def mpi_absent() -> Check:
    """Say how an MPI is had."""
    return Check(
        "MPI", "libraries", "warning", "none was found", "`fabriscope mpi add mpich` installs one, without root"
    )


def found_mpi(wanted: Sequence[str] = ()) -> list[mpi.Found]:
    """Return every MPI library that is found, or only those that are wanted."""
    return [_wanted_mpi(name) for name in wanted] or mpi.search_everywhere()


def _wanted_mpi(name: str) -> mpi.Found:
    try:
        stack = mpi.find(name)
        return mpi.Found(stack.mpirun, stack)
    except ToolMissing as error:
        return mpi.Found(name, None, str(error))


def is_offered(stack: MpiStack) -> bool:
    """Return whether a module or a package of Spack brings it: there may be many, and the user may want none."""
    return mpi_environments.is_name(stack.name)


def tools(found: Sequence[mpi.Found]) -> Iterator[Check]:
    """Look for the other programs that plans may name, beside the MPI libraries too."""
    folders = search_paths.joined(search_paths.programs(), *(str(Path(one.mpirun).parent) for one in found))
    for name, purpose in {**_instruments_tools(), **TOOLS}.items():
        path = shutil.which(name, path=folders)
        yield Check("tools", name, "ok" if path else "warning", path or f"absent: {purpose}")


def _instruments_tools() -> dict[str, str]:
    """Return the programs of every instrument, plug-ins' too, and what each is for."""
    tools: dict[str, str] = {}
    for name, adapter in sorted(discover("adapters", "ADAPTER").plugins.items()):
        programs = dict.fromkeys(getattr(adapter, "programs", ()), f"what the instrument {name} starts")
        tools |= getattr(adapter, "tools", programs)
    return tools


def trial(place: Place, layer: str, stack: MpiStack | None = None, mpi_engine: str | None = None) -> str | None:
    """Run the engine with two ranks and one tiny case; return why no message passed, None if one did."""
    is_inter = place.fabric is not None
    entry = Entry(
        layer,
        place.fabric.name if place.fabric else None,
        "inter" if is_inter else "intra",
        place.rank_hosts,
        stack.name if stack else None,
    )
    case = Case(entry, "ping_pong", 64)
    launch = Launch(1, 1, entry, (case,), seed=1, budget_ns=TRIAL_BUDGET_NS)
    try:
        context = AdapterContext(
            hosts=place.hosts,
            fabric=place.fabric,
            mpi=stack,
            engine=str(engine_binary.find_engine()) if stack is None else None,
            mpi_engine=mpi_engine,
            token=secrets.token_hex(16),
        )
        commands = ADAPTER.commands(launch, context)
        if stack is not None:
            commands = tuple(
                mpi_jobs.wrap(one, stack, place.hosts, place.fabric, place.remote_shell) for one in commands
            )
        outcomes = processes.run_commands(commands, place.hosts, timeout_s=TRIAL_TIMEOUT_S)
        (result,) = ADAPTER.parse(launch, outcomes).results
    except FabriscopeError as error:
        return str(error)
    return None if result.status == "ok" else result.reason
