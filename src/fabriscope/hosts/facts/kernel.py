"""The operating system and the clock that it keeps time with."""

from __future__ import annotations

from fabriscope.hosts.access import Reading
from fabriscope.hosts.facts._reading import Group, key_values, looked_up
from fabriscope.model.host import Fact

_PTRACE = "/proc/sys/kernel/yama/ptrace_scope"
_CLOCKSOURCE = "/sys/devices/system/clocksource/clocksource0/current_clocksource"

# The rest of the command line is the site's own business, and may hold what does not belong into a report.
_OPTIONS = (
    "mitigations", "isolcpus", "nohz", "nohz_full", "rcu_nocbs", "idle", "intel_idle.max_cstate", "intel_pstate",
    "amd_pstate", "processor.max_cstate", "cpufreq.default_governor", "nosmt", "maxcpus", "clocksource", "tsc",
    "iommu", "intel_iommu", "amd_iommu", "pcie_aspm", "hugepages", "hugepagesz", "transparent_hugepage", "preempt",
    "numa_balancing", "skew_tick", "pci",
)  # fmt: skip


def _options_that_matter(command_line: str) -> str:
    """Return the options that change how fast a message travels."""
    return " ".join(word for word in command_line.split() if word.partition("=")[0] in _OPTIONS) or "none"


def _facts(reading: Reading) -> list[Fact]:
    release = key_values(reading.files.get("/etc/os-release", ""), "=")
    return [
        reading.fact("kernel.release", "/proc/sys/kernel/osrelease"),
        reading.fact("kernel.version", "/proc/sys/kernel/version"),
        reading.fact("kernel.host_name", "/proc/sys/kernel/hostname"),
        reading.fact("kernel.options", "/proc/cmdline", _options_that_matter),
        reading.fact("kernel.clocksource", _CLOCKSOURCE),
        reading.fact("kernel.ptrace_scope", _PTRACE, int)
        if _PTRACE in reading.files
        else Fact("kernel.ptrace_scope", None, "this kernel has no Yama", is_offered=False),
        looked_up("kernel.distribution", release, "PRETTY_NAME", lambda text: text.strip('"')),
    ]


FACTS = Group(
    "kernel",
    _facts,
    globs=(
        "/proc/sys/kernel/osrelease",
        "/proc/sys/kernel/version",
        "/proc/sys/kernel/hostname",
        "/proc/cmdline",
        "/etc/os-release",
        _CLOCKSOURCE,
        _PTRACE,
    ),
)
