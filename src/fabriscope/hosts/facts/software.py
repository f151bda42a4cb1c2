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


def _facts(reading: Reading) -> list[Fact]:
    return [_fact(reading, name, *how) for name, how in _VERSIONS.items()]


def _fact(reading: Reading, name: str, command: str, pattern: str) -> Fact:
    text, problem = reading.output(command)
    match = re.search(pattern, text, re.MULTILINE)
    if match is None:
        return Fact(f"software.{name}", None, problem or f"`{command}` tells none")
    return Fact(f"software.{name}", match[1].strip())


FACTS = Group("software", _facts, commands=tuple(tuple(command.split()) for command, _ in _VERSIONS.values()))
