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

_SERVICES = "ps -C irqbalance,lldpad,dcbd -o comm="


def _facts(reading: Reading) -> list[Fact]:
    return [*(_fact(reading, name, *how) for name, how in _VERSIONS.items()), _services(reading)]


def _services(reading: Reading) -> Fact:
    """Return which programs run that set by themselves what others have set; ps ends with 1 where none does."""
    text, problem = reading.output(_SERVICES)
    output = reading.outputs.get(_SERVICES)
    if problem and not (output and output.exit_status == 1 and not output.stderr.strip()):
        return Fact("software.services", None, problem)
    names = {line.strip() for line in text.splitlines() if line.strip()}
    return Fact("software.services", " ".join(sorted(names)) or "none")


def _fact(reading: Reading, name: str, command: str, pattern: str) -> Fact:
    text, problem = reading.output(command)
    match = re.search(pattern, text, re.MULTILINE)
    if match is None:
        return Fact(f"software.{name}", None, problem or f"`{command}` tells none")
    return Fact(f"software.{name}", match[1].strip())


FACTS = Group(
    "software",
    _facts,
    commands=tuple(tuple(command.split()) for command in (*(one for one, _ in _VERSIONS.values()), _SERVICES)),
)
