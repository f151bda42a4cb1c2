"""Versions of what carries messages: the drivers' package, UCX, libfabric, MPI; and the profile that tunes the host."""

from __future__ import annotations

import re

from fabriscope.hosts.access import Reading
from fabriscope.hosts.facts._reading import Group
from fabriscope.model.host import Fact

_VERSIONS = {
    "ofed": ("ofed_info -s", r"(\S+?):?\s*$"),
    "ucx": ("ucx_info -v", r"(?:Library version|Version):?\s+(\S+)"),
    "libfabric": ("fi_info --version", r"libfabric:\s+(\S+)"),
    "open_mpi": ("ompi_info --version", r"Open MPI v(\S+)"),
    "mpich": ("mpichversion", r"MPICH Version:\s+(\S+)"),
    "tuned_profile": ("tuned-adm active", r"Current active profile:\s+(.+)"),
    "lldpd": ("lldpctl -v", r"(\d[\w.]*)"),
}
"""Fact to the program that tells it, and where in its text."""

_SERVICES = ("irqbalance", "lldpad", "dcbd")
_SYSTEMCTL = f"systemctl is-active {' '.join(_SERVICES)}"
_STATES = ("active", "inactive", "failed", "unknown", "activating", "deactivating", "reloading", "maintenance")


def _facts(reading: Reading) -> list[Fact]:
    return [*(_fact(reading, name, *how) for name, how in _VERSIONS.items()), _services(reading)]


def _services(reading: Reading) -> Fact:
    """Return which services run that set by themselves what others have set; systemctl ends with 3 where none does."""
    name, output = "software.services", reading.outputs.get(_SYSTEMCTL)
    states = output.stdout.split() if output else []
    if len(states) != len(_SERVICES) or not all(one in _STATES for one in states):
        return Fact(name, None, reading.output(_SYSTEMCTL)[1] or "systemctl tells no states")
    active = [one for one, state in zip(_SERVICES, states, strict=True) if state == "active"]
    return Fact(name, " ".join(active) or "none")


def _fact(reading: Reading, name: str, command: str, pattern: str) -> Fact:
    text, problem = reading.output(command)
    match = re.search(pattern, text, re.MULTILINE)
    if match is None:
        return Fact(f"software.{name}", None, problem or f"`{command}` tells none")
    return Fact(f"software.{name}", match[1].strip())


FACTS = Group(
    "software",
    _facts,
    commands=tuple(tuple(command.split()) for command in (*(one for one, _ in _VERSIONS.values()), _SYSTEMCTL)),
)
