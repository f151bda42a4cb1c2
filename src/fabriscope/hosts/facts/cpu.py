"""Processors, their clock, and what changes it while we measure."""

from __future__ import annotations

from fabriscope.hosts.access import Reading
from fabriscope.hosts.facts._reading import Group, key_values, looked_up
from fabriscope.model import processors as of_machine
from fabriscope.model.host import Fact

_CPU = "/sys/devices/system/cpu"
_STATUS = "/proc/self/status"
"""Of the reader, which is bound as our programs are."""
_FREQUENCY = f"{_CPU}/cpu0/cpufreq"


def _facts(reading: Reading) -> list[Fact]:
    text = reading.files.get("/proc/cpuinfo", "")
    processors = [key_values(part) for part in text.strip().split("\n\n") if part.strip()]
    first = processors[0] if processors else {}
    cores = {(one.get("physical id"), one.get("core id")) for one in processors if "core id" in one}
    sockets = {one["physical id"] for one in processors if "physical id" in one}
    return [
        looked_up("cpu.model", first, "model name"),
        _count("cpu.thread_count", len(processors), "/proc/cpuinfo lists no processor"),
        _count("cpu.core_count", len(cores), "/proc/cpuinfo names no core"),
        _count("cpu.socket_count", len(sockets), "/proc/cpuinfo names no socket"),
        looked_up("cpu.clock_hz", first, "cpu MHz", lambda mhz: round(float(mhz) * 1e6)),
        looked_up("cpu.microcode", first, "microcode"),
        reading.fact("cpu.online", f"{_CPU}/online"),
        looked_up("cpu.allowed", key_values(reading.files.get(_STATUS, "")), "Cpus_allowed_list"),
        _order(text, key_values(reading.files.get(_STATUS, "")).get("Cpus_allowed_list", "")),
        reading.fact("cpu.isolated", f"{_CPU}/isolated", lambda cpus: cpus or "none"),
        reading.fact("cpu.smt", f"{_CPU}/smt/control"),
        reading.fact("cpu.governor", f"{_FREQUENCY}/scaling_governor"),
        reading.fact("cpu.clock_now_hz", f"{_FREQUENCY}/scaling_cur_freq", lambda khz: int(khz) * 1000),
        reading.fact("cpu.clock_max_hz", f"{_FREQUENCY}/cpuinfo_max_freq", lambda khz: int(khz) * 1000),
        reading.fact("cpu.turbo_off", f"{_CPU}/intel_pstate/no_turbo", lambda flag: flag == "1"),
        reading.fact("cpu.deepest_idle_state", "/sys/module/intel_idle/parameters/max_cstate", int),
    ]


def _order(cpuinfo: str, allowed: str) -> Fact:
    """Return in which order ranks take processors: a hardware thread of each core, then the others."""
    try:
        order = of_machine.found(cpuinfo, of_machine.numbers(allowed)).text()
    except ValueError as error:
        return Fact("cpu.order", None, f"Cpus_allowed_list: {error}")
    return Fact("cpu.order", order) if order else Fact("cpu.order", None, "/proc/cpuinfo lists no processor")


def _count(name: str, count: int, reason: str) -> Fact:
    return Fact(name, count) if count else Fact(name, None, reason)


FACTS = Group(
    "cpu",
    _facts,
    globs=(
        "/proc/cpuinfo",
        _STATUS,
        f"{_CPU}/online",
        f"{_CPU}/isolated",
        f"{_CPU}/smt/control",
        f"{_FREQUENCY}/scaling_governor",
        f"{_FREQUENCY}/scaling_cur_freq",
        f"{_FREQUENCY}/cpuinfo_max_freq",
        f"{_CPU}/intel_pstate/no_turbo",
        "/sys/module/intel_idle/parameters/max_cstate",
    ),
)
