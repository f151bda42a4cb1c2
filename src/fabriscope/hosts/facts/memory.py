"""Memory and its pages."""

from __future__ import annotations

from collections.abc import Mapping

from fabriscope.hosts.access import Reading
from fabriscope.hosts.facts._reading import Group, chosen, key_values, kib_to_bytes, looked_up
from fabriscope.model.host import Fact

_HUGE_PAGES = "/sys/kernel/mm/transparent_hugepage/enabled"


def _facts(reading: Reading) -> list[Fact]:
    pairs = key_values(reading.files.get("/proc/meminfo", ""))
    return [
        looked_up("memory.total_bytes", pairs, "MemTotal", kib_to_bytes),
        looked_up("memory.available_bytes", pairs, "MemAvailable", kib_to_bytes),
        looked_up("memory.swap_total_bytes", pairs, "SwapTotal", kib_to_bytes),
        _swap_used(pairs),
        looked_up("memory.huge_page_count", pairs, "HugePages_Total", int),
        looked_up("memory.huge_page_bytes", pairs, "Hugepagesize", kib_to_bytes),
        reading.fact("memory.transparent_huge_pages", _HUGE_PAGES, chosen),
    ]


def _swap_used(pairs: Mapping[str, str]) -> Fact:
    name = "memory.swap_used_bytes"
    if "SwapTotal" not in pairs or "SwapFree" not in pairs:
        return Fact(name, None, "/proc/meminfo tells no swap")
    return Fact(name, kib_to_bytes(pairs["SwapTotal"]) - kib_to_bytes(pairs["SwapFree"]))


FACTS = Group("memory", _facts, globs=("/proc/meminfo", _HUGE_PAGES))
