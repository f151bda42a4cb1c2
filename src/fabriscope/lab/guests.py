"""Hosts with a kernel of their own: a User Mode Linux program inside the namespaces of a host.

A guest is a host of the lab like the others as far as its interfaces go: veth pairs, at whose far ends the switch and
the management bridge are. But what uses them is a kernel that runs as a program in there. Its root is the machine's own
/ by hostfs, read-only, under an overlay in memory; process 1 is `fabriscope-agent`, which finishes the boot by a script
of ours and then runs commands for `fabriscope-guest-exec`, over the management network.
"""

from __future__ import annotations

import shlex
import struct
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from fabriscope.lab import cpu_share, guest_kernel, network
from fabriscope.lab.network import Wiring
from fabriscope.model import native
from fabriscope.model.errors import LabError
from fabriscope.model.lab import LEAST_CPU_SHARE, LabSpec

BOOT_TIMEOUT_S = 120.0
READY = "fabriscope-agent: ready"
ENDED = "fabriscope: its kernel has ended"
_BOOT_POLL_S = 0.02
_CONSOLE_LINES = 3
_KEPT_CONSOLE_CHARACTERS = 1 << 15
_CLOCK_SOURCE = Path("/sys/devices/system/clocksource/clocksource0/current_clocksource")
_START = Path(__file__).with_name("_guest_start.py")
_NOT_OUTGOING = b"".join(
    struct.pack("=HBBI", *words)
    for words in ((0x30, 0, 0, 0xFFFFF004), (0x15, 0, 1, 4), (0x06, 0, 0, 0), (0x06, 0, 0, 1 << 18))
)
"""A filter of the kernel (classic BPF: load the type of packet, compare, return) that drops what goes out: a card of
transport `raw` takes the guest's own frames in otherwise, and counts them."""

# One core, and nothing that a guest's /sys could tell otherwise: Open MPI's hwloc finds no core at all.
_ENVIRONMENT = ("HWLOC_SYNTHETIC=node:1 core:1 pu:1", "HWLOC_THISSYSTEM=1")

# $1: what it prints goes there, $2: its process id goes there, $3: its control group or nothing, then the words.
# The shell outlives the kernel.
_BOOT_SCRIPT = f"""
console=$1 pid=$2; shift 2
setsid sh -c 'group=$1; shift; {{ [ -z "$group" ] || echo 0 > "$group/cgroup.procs"; }} && "$@"
echo "{ENDED}, with status $?"' sh "$@" </dev/null >"$console" 2>&1 &
echo $! > "$pid"
"""


@dataclass(frozen=True)
class Guest:
    """One guest, as a lab records it."""

    name: str
    address: str
    """Of the management network."""
    host_pid: int
    """The process that holds its namespaces, inside the lab."""
    words: tuple[str, ...]
    """What boots it, inside those namespaces."""
    group: str = ""
    """The control group that its kernel runs in; empty: that of everybody."""


def console(folder: Path, name: str) -> Path:
    """Return the file that a guest's console is kept in."""
    return folder / f"{name}.console"


def pid_file(folder: Path, name: str) -> Path:
    """Return the file that holds the process id of a guest's kernel, inside the lab."""
    return folder / f"{name}.pid"


def said(folder: Path, name: str) -> str:
    """Return the text of a guest's console, of a very long one the end."""
    try:
        return console(folder, name).read_text(errors="replace")[-_KEPT_CONSOLE_CHARACTERS:]
    except OSError as error:
        return f"its console cannot be read: {error.strerror}"


def last_lines(folder: Path, name: str) -> str:
    """Return, in one line, why a guest's kernel gave up, if it did, and the end of its console."""
    lines = [line.strip() for line in said(folder, name).splitlines() if line.strip()]
    panics = [line for line in lines[:-_CONSOLE_LINES] if "Kernel panic" in line]
    return " | ".join(panics[-1:] + lines[-_CONSOLE_LINES:]) or "its console is empty"


def exec_words(folder: Path, name: str, address: str) -> list[str]:
    """Return the words that run a command on a guest, inside the lab."""
    program = str(native.program("fabriscope-guest-exec"))
    return [
        program,
        "--pid-file",
        str(pid_file(folder, name)),
        "--console",
        str(console(folder, name)),
        name,
        address,
    ]


def outer_script(wirings: Sequence[Wiring]) -> str:
    """Return the batch for `ip` in a guest's namespaces: its cables, which no kernel but its own may answer on."""
    lines = [f"link set {network.MANAGEMENT_INTERFACE} arp off up"]
    lines += [f"link set {one.interface} mtu {one.switch.mtu_bytes} arp off up" for one in wirings]
    return "\n".join(lines) + "\n"


def boot_script(spec: LabSpec, wirings: Sequence[Wiring], index: int) -> str:
    """Return the shell script by which a guest finishes its boot: interfaces, addresses, RDMA devices."""
    names = [network.MANAGEMENT_INTERFACE, *(one.interface for one in wirings)]
    renamed = [f"link set vec{number} name {name}" for number, name in enumerate(names)]
    batch = "\n".join(["link set lo up", *renamed]) + "\n" + network.host_script(wirings, index, len(spec.hosts))
    lines = ["set -e"]
    # perftest asks /proc/cpuinfo for a clock, of which User Mode Linux tells nothing.
    lines += ["{ cat /proc/cpuinfo; printf 'cpu MHz\\t\\t: %s\\n\\n' " + _clock_mhz() + "; } > /run/cpuinfo"]
    lines += ["mount --bind /run/cpuinfo /proc/cpuinfo"]
    if (clock := _clock_source()) is not None:
        # A guest's time is the machine's, behind a system call of microseconds: what counts it can be read in there.
        lines += [f"echo {clock} > /run/clocksource", f"mount --bind /run/clocksource {_CLOCK_SOURCE}"]
    if (share := spec.cpu_shares.get(spec.hosts[index])) is not None:
        lines += [f"echo {share} > /run/fabriscope-cpu-share"]
    lines += [f"echo 1 > /proc/sys/net/ipv6/conf/{knob}/disable_ipv6" for knob in ("all", "default")]
    lines += [f"echo {shlex.quote(spec.congestion_control)} > /proc/sys/net/ipv4/tcp_congestion_control"]
    lines += [f"ip -batch - <<'END'\n{batch}END"]
    for one in wirings:
        if (driver := spec.rdma.get(one.name)) is not None:
            lines += [f"rdma link add {network.rdma_device(driver, one)} type {driver} netdev {one.interface}"]
            # The address of its link-local GID, the one that UCX can use over Soft RoCE (launch/_rdma.py).
            # It asks neither for routers nor after others of its address; four frames tell of its groups (MLD).
            knobs = ("accept_ra", "router_solicitations", "dad_transmits", "disable_ipv6")
            lines += [f"echo 0 > /proc/sys/net/ipv6/conf/{one.interface}/{knob}" for knob in knobs]
    return "\n".join(lines) + "\n"


def _clock_mhz() -> str:
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        key, _, value = line.partition(":")
        if key.strip() == "cpu MHz":
            return value.strip()
    return "1000.000"


def _clock_source() -> str | None:
    try:
        return _CLOCK_SOURCE.read_text().strip()
    except OSError:
        return None


def kernel_words(
    kernel: Path, spec: LabSpec, wirings: Sequence[Wiring], folder: Path, index: int, host_pid: int
) -> list[str]:
    """Return the words that boot a guest, inside the lab."""
    name, address = spec.hosts[index], network.management_address(index)
    words = [
        *[str(kernel), f"mem={spec.guest_memory_bytes >> 20}M", "quiet", "loglevel=4", "panic=1"],
        *["root=/dev/root", "rootfstype=hostfs", "rootflags=/", "ro"],
        f"init={native.program('fabriscope-agent')}",
        *["con=null", "con0=null,fd:1", f"umid={name}", "uml_dir=/dev/shm/uml/"],
        *[f"FABRISCOPE_GUEST={folder}", f"FABRISCOPE_HOST={name}", f"FABRISCOPE_ADDRESS={address}"],
        f"vec0:transport=raw,ifname={network.MANAGEMENT_INTERFACE},gro=1,depth=64,bpffile={folder / name}.filter,"
        f"mac={network.hardware_address(network.MANAGEMENT_NET, index)}",
    ]
    for number, one in enumerate(wirings):
        mac = network.fabric_hardware_address(one, index)
        size = f"depth=128,mtu={one.switch.mtu_bytes}"
        words.append(f"vec{number + 1}:transport=fd,fd={{{number}}},{size},mac={mac}")
    cards = ",".join(one.interface for one in wirings)
    start = [sys.executable, "-I", "-S", "-c", _START.read_text(), cards, *words]
    inside = ["nsenter", "-t", str(host_pid), "-m", "-u", "-i", "-n", "--"]
    return [*inside, "env", "-u", "TMP", "-u", "TEMP", "TMPDIR=/dev/shm", *start]


def start(run: Callable[..., str], folder: Path, guest: Guest) -> None:
    """Boot a guest; `run` runs a script inside the lab. Its console begins anew."""
    run(_BOOT_SCRIPT, str(console(folder, guest.name)), str(pid_file(folder, guest.name)), guest.group, *guest.words)


def write_files(spec: LabSpec, wirings: Sequence[Wiring], folder: Path, index: int) -> None:
    """Write what a guest reads at its boot."""
    name = spec.hosts[index]
    (folder / f"{name}.boot").write_text(boot_script(spec, wirings, index))
    (folder / f"{name}.env").write_text("\n".join(_ENVIRONMENT) + "\n")
    (folder / f"{name}.filter").write_bytes(_NOT_OUTGOING)


def await_ready(folder: Path, names: Sequence[str]) -> None:
    """Return when all these guests take commands; raises LabError with the console's end of one that does not."""
    deadline = time.monotonic() + BOOT_TIMEOUT_S
    waiting = list(names)
    while waiting:
        texts = {name: said(folder, name) for name in waiting}
        for name, text in texts.items():
            if ENDED in text:
                raise LabError(f"its kernel ended while it booted: {last_lines(folder, name)}", where=f"host {name}")
            if time.monotonic() > deadline:
                what = f"it did not boot within {BOOT_TIMEOUT_S:.0f} s: {last_lines(folder, name)}"
                raise LabError(what, where=f"host {name}")
        waiting = [name for name, text in texts.items() if READY not in text]
        time.sleep(_BOOT_POLL_S if waiting else 0)


def dead(folder: Path, names: Sequence[str]) -> Mapping[str, str]:
    """Return the guests whose kernels have ended, and the ends of their consoles."""
    found = {}
    for name in names:
        if ENDED in (lines := last_lines(folder, name)):
            found[name] = lines
    return found


def end_all_words(guest: Guest, folder: Path) -> list[str]:
    """Return the words that end every process of a guest but its agent, inside the lab."""
    program, *rest = exec_words(folder, guest.name, guest.address)
    return [program, "--end-all", *rest]


def check(spec: LabSpec) -> None:
    """Raise LabError where guests cannot be as the lab asks for."""
    for name in spec.guests:
        if name not in spec.hosts:
            raise LabError(f"the guest {name!r} is none of the hosts", fix="name it among the hosts too")
    for name, share in spec.cpu_shares.items():
        if name not in spec.guests:
            raise LabError(f"{name!r} is no guest, and only guests have a share of a processor", fix="name a guest")
        if not LEAST_CPU_SHARE <= share <= 1:
            what = f"a share of {share:g} of a processor is outside {LEAST_CPU_SHARE:g} to 1"
            raise LabError(what, where=f"host {name}", fix="choose another share")
    for name in spec.rdma:
        if name not in spec.fabrics:
            raise LabError(f"there is no fabric {name!r} to speak verbs")
        if set(spec.guests) != set(spec.hosts):
            lacking = ", ".join(host for host in spec.hosts if host not in spec.guests)
            what = f"{lacking} cannot speak verbs: in the lab, only guests have RDMA devices"
            raise LabError(what, where=f"fabric {name}", fix="let every host be a guest")


def boot_all(
    spec: LabSpec, wirings: Sequence[Wiring], run: Callable[..., str], folder: Path, pids: Mapping[str, int]
) -> tuple[dict[str, Guest], dict[str, list[int]]]:
    """Boot a lab's guests at once, and start the agents of the other hosts; return the guests, and agents' processes.

    `run` runs a script inside the lab, where host name to process id is `pids`. Raises LabError or ToolMissing.
    """
    if not spec.guests:
        return {}, {}
    kernel = guest_kernel.find()
    booted: dict[str, Guest] = {}
    for index, name in enumerate(spec.hosts):
        if name in spec.guests:
            write_files(spec, wirings, folder, index)
            words = kernel_words(kernel, spec, wirings, folder, index, pids[name])
            share = spec.cpu_shares.get(name)
            group = str(cpu_share.make(folder, name, share)) if share is not None else ""
            booted[name] = Guest(name, network.management_address(index), pids[name], tuple(words), group)
            start(run, folder, booted[name])
    agents = {
        name: start_agent(run, folder, name, pids[name], network.management_address(index))
        for index, name in enumerate(spec.hosts)
        if name not in spec.guests
    }
    await_ready(folder, list(booted))
    return booted, agents


def start_agent(run: Callable[..., str], folder: Path, name: str, host_pid: int, address: str) -> list[int]:
    """Start the agent of a host made of namespaces, for guests that run commands there; return its process ids."""
    inside = ["nsenter", "-t", str(host_pid), "-m", "-u", "-i", "-n", "--"]
    words = [*inside, str(native.program("fabriscope-agent")), address]
    log = folder / f"{name}.agent.log"
    pid = run(f"{shlex.join(words)} </dev/null >{shlex.quote(str(log))} 2>&1 & echo $!")
    deadline = time.monotonic() + BOOT_TIMEOUT_S
    while READY not in (text := log.read_text()):
        if time.monotonic() > deadline or "fabriscope-agent:" in text:
            raise LabError(f"its agent did not start: {text.strip() or 'no reason given'}", where=f"host {name}")
        time.sleep(_BOOT_POLL_S)
    return [int(pid)]
