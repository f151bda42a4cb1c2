"""Runs one case of the transport corpus: builds its lab, watches its hosts, and says what came of it."""

from __future__ import annotations

import contextlib
import json
import os
import pwd
import shlex
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from unittest import mock

from campaigns.corpus.nouns import GUESTS, LIBRARIES, MPICH4, MPICH5, OPENMPI4, OPENMPI5, Case

from fabriscope import engine_binary, lab
from fabriscope.analysis.proof.expected import meant
from fabriscope.analysis.proof.library_words import ASKED_BY
from fabriscope.hosts import counters, mpi
from fabriscope.lab import Lab
from fabriscope.launch import job_group, processes
from fabriscope.model.command import Command, Outcome
from fabriscope.model.counters import Expectation, Watch
from fabriscope.model.errors import FabriscopeError, LaunchError, ToolMissing
from fabriscope.model.lab import LabSpec
from fabriscope.model.mpi import MpiStack

IDLE_S = 0.5
INTERVAL_S = 1.0
PYTHON = "/usr/bin/python3"  # which every user may run
CASE_TIMEOUT_S = 45.0
MAX_HANGS = 3
BEGUN_S = 0.5
"""What runs beside a job has begun after that; on a machine with a load above BUSY_LOAD, after as much longer."""
BUSY_LOAD = 4.0
_SCRIPTS = ("tricks", "services", "senders", "rings", "wires", "memory")
"""Programs of the corpus that are plain Python; hosts run them in another folder than the checkout's root."""
os.environ["PYTHONPATH"] = f"{Path(__file__).parents[2]}:{os.environ.get('PYTHONPATH', '/')}"
_MARK = "corpus-traffic "
_FOOTER = '{"type":"footer"'
_ROOT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
_POLITE = {
    "OMPI_MCA_mpi_yield_when_idle": "1", "OMPI_MCA_hwloc_base_binding_policy": "none", "I_MPI_PIN": "off",
    "I_MPI_WAIT_MODE": "1", "HYDRA_BINDING": "none",
}  # fmt: skip
"""All hosts share this machine's cores."""
_OPENMPI = {OPENMPI4: ("plm_rsh_agent", "--mca"), OPENMPI5: ("plm_ssh_agent", "--prtemca")}
_ALIKE = """#!/bin/sh
# A stand-in for ssh to hosts that are network namespaces alone: everything else is the first host's.
while [ $# -gt 0 ]; do case $1 in -*) shift ;; *) break ;; esac; done
case $1 in
{cases}
  *) echo "rsh: there is no host $1" >&2; exit 255 ;;
esac
shift
exec nsenter -t {first} -m -u -i nsenter -t "$pid" -n env -C / /bin/sh -c "$*"
"""


class _Hung(LaunchError):
    """A job that did not end in time."""


@dataclass(frozen=True)
class Library:
    """An MPI library, and the program of the corpus compiled with it."""

    stack: MpiStack
    program: str


@dataclass(frozen=True)
class Seen:
    """What there is to judge a case by."""

    watches: Mapping[str, Watch]
    idle: Mapping[str, Watch]
    expectation: Expectation
    said: str
    least_us: float | None = None
    """Least half round trip that the program saw."""


def libraries(folder: Path) -> dict[str, Library]:
    """Return the libraries that are here, by the corpus's names, with the program compiled into `folder`."""
    found: dict[str, Library] = {}
    for stack in mpi.stacks():
        name = _name_of(stack)
        if name is None or name in found or stack.mpicxx is None:
            continue
        program = folder / f"corpus_traffic.{name.replace(' ', '').lower()}"
        source = Path(__file__).with_name("traffic.cc")
        argv = [stack.mpicxx, "-O2", str(source), "-o", str(program)]
        done = subprocess.run(
            argv, env={**os.environ, **stack.env}, capture_output=True, text=True, timeout=120, check=False
        )
        if done.returncode:
            raise FabriscopeError(f"{source.name} does not compile with {stack.name}: {done.stderr.strip()[-300:]}")
        found[name] = Library(stack, str(program))
    return found


def _name_of(stack: MpiStack) -> str | None:
    if stack.kind == "mpich":
        return {"4": MPICH4, "5": MPICH5}.get(stack.version.partition(".")[0])
    known = {"openmpi4": OPENMPI4, "openmpi5": OPENMPI5, "intelmpi": LIBRARIES[-1]}
    return known.get(stack.kind)


def run(case: Case, known: Mapping[str, Library], standing: Lab | None = None, user: str = "") -> tuple[Seen, int]:
    """Run a case and return what there is to judge it by, and how often its job hung before; nothing of it is left.

    It runs in a lab of its own, or in the guests of one that is `standing`. Its programs and what watches them are
    root's, or those of `user`, to whom its files in the hosts' /dev/shm are given; its servers stay root's. A user
    may make no control group.

    Debian's MPICH 4 hangs after its results now and then: such a job is made again. Raises ToolMissing where its
    library is not here, LaunchError where the job did not end well.
    """
    if case.job.library and case.job.library not in known:
        raise ToolMissing(f"{case.job.library} is not on this machine")
    for hung_count in range(MAX_HANGS):
        with contextlib.suppress(_Hung):
            return _run_once(case, known, standing, user), hung_count
    raise LaunchError(f"the job hung {MAX_HANGS} times")


def _run_once(case: Case, known: Mapping[str, Library], standing: Lab | None, user: str) -> Seen:
    built = standing or lab.up(LabSpec(case.hosts, case.fabrics))
    try:
        for host, script in case.prepare:
            _on_host(built, host, ["sh", "-ec", script])
        for host in case.hosts if user else ():
            _on_host(built, host, ["sh", "-c", f"chown -R {user} /dev/shm"])
        with _beside(case, built):
            return _watched(case, built, known, _as(user))
    finally:
        if standing is None:
            built.down()


def _on_host(built: Lab, host: str, words: Sequence[str]) -> None:
    argv = [*built.host(host).access, *words]
    done = subprocess.run(argv, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=30, check=False)
    if done.returncode:
        raise LaunchError(f"preparing {host} failed: {done.stderr.strip()}")


@contextlib.contextmanager
def _beside(case: Case, built: Lab) -> Iterator[None]:
    """Let somebody else's programs run: they carry no mark of ours and began before anything was watched."""
    running: list[subprocess.Popen[bytes]] = []
    try:
        for host, words in case.beside:
            argv = [*built.host(host).access, *_words(words)]
            null = subprocess.DEVNULL
            running.append(subprocess.Popen(argv, start_new_session=True, stdin=null, stdout=null, stderr=null))
            time.sleep(BEGUN_S * max(1.0, os.getloadavg()[0] / BUSY_LOAD))
        ended = [one for one in running if one.poll() is not None]
        if ended:
            raise LaunchError(f"what runs beside the job has ended: {shlex.join(map(str, ended[0].args))}")  # type: ignore[arg-type]
        yield
    finally:
        for one in running:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(one.pid, signal.SIGKILL)
            one.wait()


def _as(user: str) -> tuple[str, ...]:
    if not user:
        return ()
    account = pwd.getpwnam(user)
    own = ["env", "-u", "TMPDIR", "-u", "HOME", "setpriv", "--clear-groups"]
    return *own, f"--reuid={account.pw_uid}", f"--regid={account.pw_gid}"


def _watched(case: Case, built: Lab, known: Mapping[str, Library], prefix: tuple[str, ...]) -> Seen:
    hosts = {host.name: host for host in built.hosts}
    watching = [replace(one, argv=(*prefix, *one.argv)) for one in counters.commands(built.hosts, INTERVAL_S)]
    pause = Command(("sleep", f"{IDLE_S:g}"), case.hosts[0])
    idle = processes.run_commands([pause], hosts, timeout_s=CASE_TIMEOUT_S, watchers=watching)
    job = [one if one.is_server else replace(one, argv=(*prefix, *one.argv)) for one in _commands(case, built, known)]
    with mock.patch.object(job_group, "make", return_value=None) if prefix else contextlib.nullcontext():
        outcomes = processes.run_commands(job, hosts, timeout_s=CASE_TIMEOUT_S, watchers=watching)
    done = outcomes[len(watching) :]
    started = [one for one in done if one.timed_out or one.exit_status is not None or one.command.is_server]
    if len(started) < len(job):
        raise LaunchError("a part of the job was never started: its server did not say that it listens")
    _check(done)
    said = "\n".join((one.stdout + b"\n" + one.stderr).decode("utf-8", "replace") for one in done)
    sent = _sent(said)
    calm = {one.command.host: counters.parse(one) for one in idle[: len(watching)]}
    return Seen(
        watches={one.command.host: counters.parse(one) for one in outcomes[: len(watching)]},
        idle=calm,
        expectation=_expectation(case, sent, calm),
        said=said,
        least_us=sent["least_us"] if sent and sent["least_us"] > 0 else None,
    )


def _check(outcomes: Sequence[Outcome]) -> None:
    for one in outcomes:
        if not one.command.is_server and one.exit_status != 0:
            if one.timed_out:
                raise _Hung("the job did not end in time")
            if _MARK.encode() in one.stdout:  # Open MPI 4 calls some that ended well "exiting improperly" (docs/mpi.md)
                continue
            last = [line for line in (one.stderr + one.stdout).decode("utf-8", "replace").splitlines() if line.strip()]
            raise LaunchError(f"the job ended with {one.exit_status}: {' | '.join(last[-4:])[-400:]}")


def _sent(said: str) -> dict[str, Any] | None:
    """Return what `traffic.cc` or our engine said that it sent, None for others; raises _Hung for a torn line."""
    lines = said.splitlines()
    line = next((line for line in lines if _MARK in line), None)
    try:
        found: dict[str, Any] | None = json.loads(line.partition(_MARK)[2]) if line else None
    except json.JSONDecodeError as error:
        raise _Hung("what it said of itself cannot be read") from error
    footer = next((line for line in lines if line.startswith(_FOOTER)), None)
    if footer is not None:
        told = json.loads(footer)
        found = {"sent": told["sent_payload_bytes"], "messages": told["sent_messages"], "least_us": -1}
    return found


def _expectation(case: Case, sent: Mapping[str, Any] | None, idle: Mapping[str, Watch]) -> Expectation:
    """Return what was asked; the payload between hosts where it is to be known, inside the host where there is one."""
    payload: Mapping[tuple[str, str], int] | None = case.job.payload
    count = None
    if sent is not None:
        found: dict[tuple[str, str], int] = {}
        for pair, byte_count in sent["sent"].items():
            source, _, target = pair.partition(">")
            ends = case.job.rank_hosts[int(source)], case.job.rank_hosts[int(target)]
            if ends[0] != ends[1] or len(set(case.job.rank_hosts)) == 1:
                found[ends] = found.get(ends, 0) + byte_count
        payload = found
        count = int(sent["messages"])
    if not case.knows_payload or payload is None or case.job.traffic.split()[:1] == ["reduce"]:
        payload = count = None
    return replace(_asked(case, idle), payload_bytes=payload, message_count=count)


def _asked(case: Case, idle: Mapping[str, Watch]) -> Expectation:
    """Return what was asked; of guests, which have devices, as `--expect` finds it there."""
    if case.hosts == GUESTS:
        (asked,) = meant(case.asked.replace(" ", ":"), idle)
        return asked
    transport, _, interface = case.asked.partition(" ")
    interfaces = dict.fromkeys(case.hosts, interface) if transport in ("tcp", "udp") and interface else {}
    return Expectation(transport, {"tcp": interface, "udp": interface, "roce": "RDMA"}.get(transport, ""), interfaces)


def _commands(case: Case, built: Lab, known: Mapping[str, Library]) -> list[Command]:
    job = case.job
    servers = [Command(_words(words), host, ready_pattern="istening", is_server=True) for host, words in job.servers]
    ranks = [_mpi(case, built, known[job.library])] if job.library else []
    return [*servers, *ranks, *(Command(_words(words), host) for host, words in job.programs)]


def _words(text: str) -> tuple[str, ...]:
    """Return the words of a command; `{python}`, and `{tcp}` and its neighbours, also inside a script for a shell."""
    text = text.replace("{python}", PYTHON).replace("{tcp}", str(Path(__file__).with_name("tcp.py")))
    if "{engine}" in text:
        text = text.replace("{engine}", str(engine_binary.find_engine()))
    for name in _SCRIPTS:
        text = text.replace(f"{{{name}}}", f"-m campaigns.corpus.{name}")
    return tuple(shlex.split(text))


def _mpi(case: Case, built: Lab, library: Library) -> Command:
    """Return the job as a user would start it on its first host, with the library's words asked for."""
    job, stack = case.job, library.stack
    shell = _alike_shell(built, case.hosts) if case.shares_memory else str(built.remote_shell)
    counts = {host: job.rank_hosts.count(host) for host in dict.fromkeys(job.rank_hosts)}
    if job.library in _OPENMPI:
        agent, option = _OPENMPI[job.library]
        argv = [stack.mpirun, "--mca", agent, shell, option, "oob_tcp_if_include", "mgmt0", "--bind-to", "none"]
        argv += ["-H", ",".join(f"{host}:{count}" for host, count in counts.items()), "-np", str(len(job.rank_hosts))]
    else:
        prefix = "-bootstrap" if stack.kind == "intelmpi" else "-launcher"
        argv = [stack.mpirun, prefix, "rsh", f"{prefix}-exec", shell, "-iface", "mgmt0"]
        argv += ["-hosts", ",".join(counts), "-n", str(len(job.rank_hosts)), "-ppn", str(max(counts.values()))]
    prefix_folder = str(Path(stack.mpirun).parents[1])
    settings = {name: value.replace("{prefix}", prefix_folder) for name, value in job.settings.items()}
    env = {**stack.env, **_ROOT, **_POLITE, **ASKED_BY, **settings}
    first = built.host(job.rank_hosts[0])
    program = _words(job.words) if job.words else (library.program, *job.traffic.split())
    return Command((*argv, *program), first.name, env=env, rank_hosts=job.rank_hosts)


def _alike_shell(built: Lab, hosts: Sequence[str]) -> str:
    """Return a stand-in for ssh, in the lab's own folder, to hosts that differ in their network alone."""
    pids = built.state.details["pids"]
    cases = "\n".join(f"  {host}) pid={pids[host]} ;;" for host in hosts)
    shell = built.state.folder / "rsh-alike"
    shell.write_text(_ALIKE.format(cases=cases, first=pids[hosts[0]]))
    shell.chmod(0o755)
    return str(shell)


@contextlib.contextmanager
def scratch() -> Iterator[Path]:
    """Return a folder that goes at the end."""
    with tempfile.TemporaryDirectory(prefix="transport-corpus-") as folder:
        yield Path(folder)
