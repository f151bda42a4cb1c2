"""The nominal peak of a core: its clock, times the operations that its instruction set can do in a cycle."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass

_CPU0 = "/sys/devices/system/cpu/cpu0/cpufreq"
ASKING = "; ".join(
    (
        'echo "fabriscope cpu model: $(grep -m1 -i "model name" /proc/cpuinfo | cut -d: -f2-)"',
        'echo "fabriscope cpu MHz: $(grep -m1 -i "cpu MHz" /proc/cpuinfo | cut -d: -f2-)"',
        'echo "fabriscope cpu sets: $('
        'grep -m1 -o -w -e avx512f -e avx -e fma -e sse2 -e asimd /proc/cpuinfo | tr "\\n" " ")"',
        f'echo "fabriscope cpu base kHz: $(cat {_CPU0}/base_frequency 2>/dev/null)"',
        f'echo "fabriscope cpu most kHz: $(cat {_CPU0}/cpuinfo_max_freq 2>/dev/null)"',
    )
)
"""What a shell says of the processor that it runs on."""
_SAID = re.compile(r"^fabriscope cpu ([A-Za-z ]+): *(.*?) *$", re.MULTILINE)
_SETS = (
    ("avx512f", 32, "AVX-512: two units of 8 doubles, fused"),
    ("fma", 16, "AVX2 and FMA: two units of 4 doubles, fused"),
    ("asimd", 8, "NEON: two units of 2 doubles, fused"),
    ("avx", 8, "AVX: 4 doubles added and 4 multiplied"),
    ("sse2", 4, "SSE2: 2 doubles added and 2 multiplied"),
)
"""Operations on doubles in a cycle, the best first; processors with fewer units need the plan's `flop_per_cycle`."""


@dataclass(frozen=True)
class Peak:
    """Of one core."""

    clock_hz: float
    clock_from: str
    flop_per_cycle: int
    flop_from: str

    @property
    def flop_per_s(self) -> float:
        """Return the operations of a second."""
        return self.clock_hz * self.flop_per_cycle

    def told(self) -> dict[str, object]:
        """Return it as a record has it."""
        return asdict(self)


def of(text: str, told: Mapping[str, str]) -> Peak | None:
    """Return the peak by what a plan says, else by what the shell has said; None where either is not known."""
    said = dict(_SAID.findall(text))
    clock, flop = _clock(said, told), _flop(said, told)
    return Peak(*clock, *flop) if clock is not None and flop is not None else None


def _clock(said: Mapping[str, str], told: Mapping[str, str]) -> tuple[float, str] | None:
    if "clock_hz" in told:
        return float(told["clock_hz"]), "the plan"
    named = re.search(r"@ ([0-9.]+) ?GHz", said.get("model", ""))
    for value, factor, source in (
        (said.get("base kHz", ""), 1e3, f"{_CPU0}/base_frequency"),
        (named[1] if named else "", 1e9, "the processor's name"),
        (said.get("most kHz", ""), 1e3, f"{_CPU0}/cpuinfo_max_freq"),
        (said.get("MHz", ""), 1e6, "/proc/cpuinfo, the clock before the run"),
    ):
        if re.fullmatch(r"[0-9]+(?:\.[0-9]+)?", value) and float(value) > 0:
            return float(value) * factor, source
    return None


def _flop(said: Mapping[str, str], told: Mapping[str, str]) -> tuple[int, str] | None:
    if "flop_per_cycle" in told:
        return int(told["flop_per_cycle"]), "the plan"
    known = said.get("sets", "").split()
    return next(((count, source) for name, count, source in _SETS if name in known), None)
