"""What tests need of the machine. Where it is absent a test is skipped, and its reason names the Debian package.

Each function returns if the thing is there. tests/skips.py can make a skip for anything but hardware an error.
"""

from __future__ import annotations

import functools
import glob
import os
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import NoReturn

import pytest

from fabriscope.hosts import java_apps, mpi
from fabriscope.lab import cpu_share, guest_kernel
from fabriscope.model.errors import LabError, ToolMissing
from fabriscope.model.mpi import MpiStack

ROOT = Path(__file__).parents[1]
PACKAGES = ROOT / "scripts" / "packages.txt"
SEARCH = os.pathsep.join((os.environ.get("PATH", "/usr/bin:/bin"), "/usr/sbin", "/sbin"))
UNPACKED_LMOD = ROOT / "build" / "lmod" / "usr/share/lmod/lmod/libexec/lmod"
"""Debian does not let Lmod stand beside the other environment modules: scripts/setup unpacks it."""

LUA = ("/usr/lib/*/lua/5.3/lfs.so", "/usr/lib/*/lua/5.3/term", "/usr/share/lua/5.3/posix", "/usr/share/lua/5.3/json")
"""What Lmod's package depends on, and is not unpacked with it."""
ONE_PROCESSOR = "this machine has one processor"
NO_IPV6 = "no interface of this machine has an IPv6 address"
NO_LOGS_OF_OTHERS = "the logs of others, which are no part of the project, are not beside it"
NO_COUNTS = "this kernel counts nothing by eBPF for a control group, or not for us: that takes root and Linux 6.15"
NO_WORD_ON_FILES = "this kernel tells nothing of the files of /dev/shm, or not us: that takes root and Linux 4.20"
HARDWARE = (ONE_PROCESSOR, NO_IPV6, NO_LOGS_OF_OTHERS, NO_COUNTS, NO_WORD_ON_FILES)
"""What a machine may lack though everything is installed, as the reasons of skips say it."""
NOT_FETCHED = "too large to be fetched for a test: "
"""How the reason begins where something is missing that not even CI brings."""
MOST_SKIPS = 170
"""How many tests may be skipped in CI for all of that: 112 want others' logs, 34 Hadoop or HBase, some the kernel."""
NO_MPI = (
    "no MPI library with a compiler is on this machine"
    " -- `fabriscope mpi add mpich` or the Debian package libmpich-dev brings one"
)
_PROBE_TIMEOUT_S = 60


def skip(what: str, remedy: str) -> NoReturn:
    """Skip the test that calls: what is missing, and what brings it."""
    pytest.skip(f"{what} -- {remedy}")


@functools.cache
def packages() -> dict[str, str]:
    """Return the packages of what scripts/packages.txt lists, by program or pattern."""
    lines = [line.split() for line in PACKAGES.read_text().splitlines() if not line.startswith("#")]
    return {words[1]: words[2] for words in lines}


def program(name: str) -> str:
    """Return the path of a program of scripts/packages.txt."""
    package = packages()[name]
    return shutil.which(name, path=SEARCH) or skip(
        f"{name} is not on this machine", f"install the Debian package {package}"
    )


def file(pattern: str) -> Path:
    """Return the first file of a pattern of scripts/packages.txt."""
    package = packages()[pattern]
    found = sorted(glob.glob(pattern))  # noqa: PTH207 - the patterns are absolute
    return Path(found[0]) if found else skip(f"there is no {pattern}", f"install the Debian package {package}")


def root(why: str) -> None:
    """Need to be root."""
    if os.geteuid() != 0:
        skip(why, "run the tests as root")


@functools.cache
def _namespaces_problem() -> str | None:
    user = [] if os.geteuid() == 0 else ["--user", "--map-root-user"]
    argv = [program("unshare"), *user, "--net", "--mount", "true"]
    tried = subprocess.run(argv, capture_output=True, text=True, timeout=_PROBE_TIMEOUT_S, check=False)
    return None if tried.returncode == 0 else tried.stderr.strip()


def lab() -> None:
    """Need labs: namespaces, and the programs that furnish them."""
    for name in ("unshare", "nsenter", "ip"):
        program(name)
    if problem := _namespaces_problem():
        skip(f"this kernel forbids namespaces: {problem}", "run the tests as root, or allow user namespaces")


def ipv6() -> None:
    """Need an interface with an IPv6 address; a kernel without IPv6 has no list of them."""
    addresses = Path("/proc/net/if_inet6")
    if not addresses.exists() or not addresses.read_text():
        pytest.skip(NO_IPV6)


def tun() -> None:
    """Need the device that makes network interfaces of programs."""
    if not os.access("/dev/net/tun", os.R_OK | os.W_OK):
        skip("/dev/net/tun may not be opened here", "run the tests as root, or give yourself access to it")


def guests() -> Path:
    """Return the guests' kernel; need labs too."""
    lab()
    try:
        return guest_kernel.find()
    except ToolMissing as error:
        skip("the guests' kernel is not built here", error.fix or str(error))


def cpu_shares() -> cpu_share.Place:
    """Return where processors are shared out between guests."""
    try:
        return cpu_share.find()
    except (LabError, ToolMissing) as error:
        skip(error.what, error.fix or "run the tests as root")


def transport(name: str) -> None:
    """Need the libraries that a transport of the engine loads."""
    for library in {"verbs": ("libibverbs", "librdmacm"), "libfabric": ("libfabric",)}[name]:
        file(f"/usr/lib/*/{library}.so.1")


def soft_roce() -> None:
    """Need guests with RDMA devices that the engine can use."""
    guests()
    transport("verbs")
    file("/etc/libibverbs.d/rxe.driver")


@functools.cache
def stacks() -> tuple[MpiStack, ...]:
    """Return the MPI libraries of this machine, looked for once: several files have a case for each.

    One whose compiler has no headers has none: Debian's openmpi-bin, which other packages bring, is without them.
    """
    return tuple(stack if _compiles(stack) else replace(stack, mpicxx=None) for stack in mpi.stacks())


def _compiles(stack: MpiStack) -> bool:
    return stack.mpicxx is not None and _has_headers(str(stack.mpicxx), tuple(sorted(stack.env.items())))


@functools.cache
def _has_headers(mpicxx: str, env: tuple[tuple[str, str], ...]) -> bool:
    done = subprocess.run(
        [mpicxx, "-x", "c++", "-E", "-"],
        input=b"#include <mpi.h>\n",
        capture_output=True,
        env={**os.environ, **dict(env)},
        timeout=120,
        check=False,
    )
    return done.returncode == 0


def mpi_library(name: str = "", path: str | None = None) -> MpiStack:
    """Return an MPI library with a compiler: the one of that name, or any."""
    try:
        found = [mpi.find(name, path)] if name else list(stacks())
    except ToolMissing:
        found = []
    with_compiler = [stack for stack in found if _compiles(stack)]
    if with_compiler:
        return with_compiler[0]
    if path:
        skip(f"there is no {path}", "install the Debian packages mpich and libmpich-dev")
    if name:
        skip(f"no {name} with a compiler is on this machine", f"`fabriscope mpi add {name}`")
    pytest.skip(NO_MPI)


def lmod() -> str:
    """Return Lmod's program."""
    known = (os.environ.get("LMOD_CMD", ""), "/usr/share/lmod/lmod/libexec/lmod", str(UNPACKED_LMOD))
    found = next((path for path in known if os.access(path, os.X_OK)), None)
    if found is None:
        skip("Lmod is not on this machine", "install the Debian package lmod")
    if found == str(UNPACKED_LMOD):
        for pattern in LUA:
            file(pattern)
        program("tclsh")
        program("lua5.3")
    return found


def java_app(name: str) -> None:
    """Need Java and what `fabriscope apps add` brings."""
    try:
        for tool in ("java", "javac"):
            java_apps.program(tool)
        java_apps.find(name)
    except ToolMissing as error:
        pytest.skip(f"{NOT_FETCHED}{error}")
