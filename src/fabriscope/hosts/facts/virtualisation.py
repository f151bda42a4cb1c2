"""Whether the machine is one, and what it claims to be."""

from __future__ import annotations

from fabriscope.hosts.access import Reading
from fabriscope.hosts.facts._reading import Group
from fabriscope.model.host import Fact

_DMI = "/sys/class/dmi/id"
_CONTAINER_FILES = ("/run/.containerenv", "/.dockerenv")


def _facts(reading: Reading) -> list[Fact]:
    return [
        reading.fact("virtualisation.is_guest", "/proc/cpuinfo", _is_guest),
        _container(reading),
        reading.fact("virtualisation.hypervisor", "/sys/hypervisor/type"),
        reading.fact("virtualisation.vendor", f"{_DMI}/sys_vendor"),
        reading.fact("virtualisation.product", f"{_DMI}/product_name"),
    ]


def _is_guest(cpuinfo: str) -> bool:
    """Return whether the processor's flag `hypervisor` is set, as every x86 hypervisor does."""
    flags = next((line for line in cpuinfo.splitlines() if line.startswith("flags")), None)
    if flags is None:
        raise ValueError("no flags are listed")
    return "hypervisor" in flags.split()


def _container(reading: Reading) -> Fact:
    name = "virtualisation.is_container"
    if any(path in reading.files for path in _CONTAINER_FILES):
        return Fact(name, True)
    scheduler = reading.files.get("/proc/1/cgroup", "")
    if any(word in scheduler for word in ("docker", "kubepods", "lxc", "containerd")):
        return Fact(name, True)
    return Fact(name, None, "no container engine has left its mark")


FACTS = Group(
    "virtualisation",
    _facts,
    globs=(
        "/proc/cpuinfo",
        "/proc/1/cgroup",
        "/sys/hypervisor/type",
        f"{_DMI}/sys_vendor",
        f"{_DMI}/product_name",
        *_CONTAINER_FILES,
    ),
)
