"""The link that all programs share, and one launch of one program over it."""

from __future__ import annotations

import contextlib
import dataclasses
import os
import secrets
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from benchmarks._peers_turns import MARK, Operations, round_trips, take_turns
from benchmarks._peers_values import OURS, Point, Reading, our_values, their_operations

from fabriscope import engine_binary, lab
from fabriscope.adapters import netpipe
from fabriscope.adapters.base import AdapterContext
from fabriscope.hosts import mpi, mpi_wheels
from fabriscope.lab.presets import PRESETS
from fabriscope.launch import mpi_jobs, processes
from fabriscope.model.case import Case, Entry, SocketOptions
from fabriscope.model.command import Command
from fabriscope.model.errors import FabriscopeError, LaunchError, ParseError, ToolMissing
from fabriscope.model.fabric import Fabric
from fabriscope.model.host import Host
from fabriscope.model.lab import LabSpec
from fabriscope.model.measurement import Launch, ParsedLaunch
from fabriscope.model.mpi import MpiStack
from fabriscope.registry import Room, discover

HOSTS = ("node1", "node2")
PROGRAMS = ("NPtcp", "sockperf", "qperf", "iperf3", "IMB-MPI1")
WITHOUT_NODELAY = ("qperf",)
"""It never sets TCP_NODELAY; with one message in flight, or a stream that never pauses, Nagle has no say."""
MOST_NS_IN_TURNS = {"netpipe": netpipe.AUTOMATIC_NS - 1}
"""From there on NetPIPE chooses its repeats by a clock that goes on while it is stopped."""
LEAST_ROUND_TRIPS = 5
"""Of fewer no median is taken."""
SPARE_S = 20.0
"""What a launch may take beyond twice its budget."""


@dataclass
class Link:
    """Two hosts, what joins them, and everything that runs there."""

    name: str
    hosts: dict[str, Host]
    fabric: Fabric
    engine: str
    programs: dict[str, str]
    lab: lab.Lab | None = None
    stack: MpiStack | None = None
    mpi_engine: str | None = None
    pin: tuple[str, ...] = ()
    """Words before a program that keep it off the switch's core."""
    listeners: dict[str, str] = field(default_factory=dict)
    """What to hear to the library that writes it down: `tcp` and `mpi` round trips, calls of `collectives`."""
    adapters: Room = field(default_factory=lambda: discover("adapters", "ADAPTER"))
    launch_count: int = 0

    def entry(self, layer: str, program: str) -> Entry:
        """Return what one program measures; MPI without a lab stays on one host and uses shared memory."""
        is_inter = self.lab is not None
        return Entry(
            layer,
            self.fabric.name if is_inter or layer == "tcp" else None,
            "inter" if is_inter else "intra",
            HOSTS if is_inter else (HOSTS[0], HOSTS[0]),
            self.stack.name if layer == "mpi" and self.stack else None,
            "engine" if program == OURS else program,
        )

    def measure(self, number: int, point: Point, program: str, budget_ns: int) -> Reading:
        """Launch one program once for one point (layer, benchmark, size, window) and return what it said."""
        return self.launched(self.launch(number, point, program, budget_ns), {})

    def measure_in_turns(self, number: int, point: Point, programs: Sequence[str], budget_ns: int) -> list[Reading]:
        """Launch all programs at once for one point of ping_pong, let one run at a time, and return what was heard.

        `budget_ns` is that of each and passes for all alike: of n programs each gets about the n-th part of it.
        """
        layer, _, size, _ = point
        with tempfile.TemporaryDirectory(prefix="round-trips-") as folder:
            marks = {one: f"{folder}/{one}" for one in programs}
            budgets = {one: min(budget_ns, MOST_NS_IN_TURNS.get(one, budget_ns)) for one in programs}
            launches = {one: self.launch(number, point, one, budgets[one]) for one in programs}

            def run(program: str) -> Reading:
                return self.launched(launches[program], self.listening(layer, size, marks[program]))

            turns, said = take_turns(marks, run)
            heard = turns.heard(round_trips)
        return [_overheard(said[one], heard[one]) for one in programs]

    def run(self, launch: Launch, env: Mapping[str, str], timeout_s: float) -> ParsedLaunch:
        """Run one launch with more environment variables; raises LaunchError, ToolMissing or ParseError."""
        entry = launch.entry
        adapter = self.adapters.get(entry.instrument)
        commands = [
            self.wrapped(dataclasses.replace(one, env={**one.env, **env}), entry)
            for one in adapter.commands(launch, self.context(launch))
        ]
        outcomes = processes.run_commands(commands, self.hosts, timeout_s=timeout_s)
        parsed: ParsedLaunch = adapter.parse(launch, outcomes)
        return parsed

    def launch(self, number: int, point: Point, program: str, budget_ns: int) -> Launch:
        """Return the launch of one program for one point (layer, benchmark, size, window)."""
        layer, benchmark, size, window = point
        entry = self.entry(layer, program)
        two = (("buffers", "separate"),) if (layer, benchmark) == ("mpi", "ping_pong") else ()  # as IMB
        case = Case(entry, benchmark, size, window, "", SocketOptions(tcp_nodelay=program not in WITHOUT_NODELAY), two)
        self.launch_count += 1
        return Launch(self.launch_count, number, entry, (case,), self.launch_count, budget_ns)

    def launched(self, launch: Launch, env: Mapping[str, str]) -> Reading:
        """Return what the program of a launch said; `env` is added to that of its processes."""
        entry, case = launch.entry, launch.cases[0]
        program = OURS if entry.instrument == "engine" else entry.instrument
        point = (entry.layer, case.benchmark, case.message_size_bytes, case.window_size)
        try:
            parsed = self.run(launch, env, 2 * launch.budget_ns / 1e9 + SPARE_S)
        except (LaunchError, ToolMissing, ParseError) as error:
            return Reading(launch.block, *point, program, {}, None, str(error))
        reason = parsed.results[0].reason
        if program == OURS:
            return Reading(launch.block, *point, program, *our_values(case, parsed.blocks), reason)
        values = {one.quantity: float(one.values[0]) for one in parsed.blocks}
        return Reading(launch.block, *point, program, values, their_operations(program, case, parsed.details), reason)

    def listening(self, layer: str, size: int, mark: str) -> dict[str, str]:
        """Return the environment of a program whose round trips are to be written to `mark`."""
        return {"LD_PRELOAD": self.listeners[layer], "ROUND_TRIP_BYTES": str(size), MARK: mark}

    def context(self, launch: Launch) -> AdapterContext:
        """Return what an adapter may know of this link.

        Streams of others have no pause, so ours makes all windows of a launch in one burst.
        """
        entry, is_stream = launch.entry, launch.cases[0].benchmark == "bandwidth"
        context = AdapterContext(
            hosts=self.hosts,
            fabric=self.fabric if entry.fabric else None,
            mpi=self.stack,
            engine=self.engine,
            mpi_engine=self.mpi_engine,
            programs=self.programs,
            token=secrets.token_hex(16),
        )
        return dataclasses.replace(context, burst_ns=launch.budget_ns) if is_stream else context

    def wrapped(self, command: Command, entry: Entry) -> Command:
        """Return the command as it is started here: with the MPI's launcher, or on a core of its own."""
        if not command.rank_hosts or self.stack is None:
            return dataclasses.replace(command, argv=(*self.pin, *command.argv))
        shell = str(self.lab.remote_shell) if self.lab else None
        return mpi_jobs.wrap(command, self.stack, self.hosts, self.fabric if entry.fabric else None, shell)


def _overheard(said: Reading, heard: Operations) -> Reading:
    """Return the reading by what was heard in place of what was said: one definition for every program."""
    if not said.values:
        return said
    count = len(heard.times_ns)
    if count < LEAST_ROUND_TRIPS:
        reason = f"{count} round trips were heard while all programs ran"
        return dataclasses.replace(said, values={}, operation_count=None, reason=reason)
    values = {**said.values, "latency_ns": float(np.median(heard.times_ns)) / 2}
    return dataclasses.replace(said, values=values, operation_count=count)


def _listeners(folder: str, stack: MpiStack | None) -> dict[str, str]:
    """Compile the library that listens to sockets, and those for the MPI library."""
    ways: dict[str, tuple[str, ...]] = {"tcp": ("c++", "_round_trips.cc")}
    if stack is not None and stack.mpicxx is not None:
        ways["mpi"] = (stack.mpicxx, "_round_trips.cc", "-DWITH_MPI")
        ways["collectives"] = (stack.mpicxx, "_collective_calls.cc")
    built = {}
    for what, (compiler, name, *words) in ways.items():
        source, built[what] = str(Path(__file__).with_name(name)), f"{folder}/{what}.so"
        argv = [compiler, *words, "-std=c++17", "-O2", "-shared", "-fPIC", source, "-o", built[what], "-ldl"]
        done = subprocess.run(argv, capture_output=True, text=True, timeout=120, check=False)
        if done.returncode:
            raise FabriscopeError(f"{source} does not compile: {done.stderr.strip()}")
    return built


def _imb(stack: MpiStack) -> str | None:
    folders = [Path(stack.mpirun).parent, *(prefix / "bin" for prefix in mpi_wheels.added().values())]
    return next((str(folder / "IMB-MPI1") for folder in folders if (folder / "IMB-MPI1").exists()), None)


@contextlib.contextmanager
def link(name: str, mpi_name: str | None, imb: str | None = None, names: tuple[str, ...] = HOSTS) -> Iterator[Link]:
    """Build the link `loopback` or `lab:<preset>`, with an MPI library if one is named; raises FabriscopeError.

    `names` are those of the hosts. `imb` is the path of IMB-MPI1; without it the one beside mpirun is taken, else
    Intel's, else the one on PATH.
    """
    with tempfile.TemporaryDirectory(prefix="listeners-") as folder, _link(name, mpi_name, imb, names) as place:
        place.listeners |= _listeners(folder, place.stack)
        yield place


@contextlib.contextmanager
def _link(name: str, mpi_name: str | None, imb: str | None, names: tuple[str, ...]) -> Iterator[Link]:
    engine = str(engine_binary.find_engine())
    programs = {one: path for one in PROGRAMS if (path := shutil.which(one)) is not None}
    stack = mpi.find(mpi_name) if mpi_name else None
    mpi_engine = str(engine_binary.build_mpi_engine(stack)) if stack else None
    if imb is not None or (stack is not None and (imb := _imb(stack)) is not None):
        programs["IMB-MPI1"] = imb
    # The two ends of a ping-pong over TCP never run at once. Left alone they change cores, and with them their wake-up
    # time (28 or 43 us at 8 B), now and then: a launch would show which of the two it met, not how fast a program is.
    cores = sorted(os.sched_getaffinity(0))
    pin = ("taskset", "-c", str(cores[0])) if len(cores) > 1 else ()
    if name == "loopback":
        hosts = {one: Host(one, addresses={"lo": "127.0.0.1"}) for one in names}
        fabric = Fabric("loopback", dict.fromkeys(names, "lo"))
        yield Link(name, hosts, fabric, engine, programs, None, stack, mpi_engine, pin)
        return
    place, _, preset = name.partition(":")
    if place != "lab" or preset not in PRESETS:
        known = ", ".join(["loopback", *(f"lab:{one}" for one in PRESETS)])
        raise FabriscopeError(f"there is no link {name!r}", fix=f"known: {known}")
    os.sched_setaffinity(0, cores[1:] or cores)
    try:
        built = lab.up(LabSpec(names, {preset: PRESETS[preset]}))
    finally:
        os.sched_setaffinity(0, cores)
    try:
        switch = PRESETS[preset]
        rate = switch.rate_bits_per_s or None
        fabric = Fabric(preset, dict.fromkeys(names, "eth0"), line_rate_bits_per_s=rate, mtu_bytes=switch.mtu_bytes)
        hosts = {host.name: host for host in built.hosts}
        yield Link(name, hosts, fabric, engine, programs, built, stack, mpi_engine, pin)
    finally:
        built.down()
