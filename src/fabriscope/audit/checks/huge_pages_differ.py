"""All hosts have as many huge pages."""

from __future__ import annotations

from collections.abc import Sequence

from fabriscope.audit.check import Check, agree


def _remedy(parts: Sequence[str], usual: str) -> str:
    if parts[0] == "huge_page_bytes":
        return f"boot with default_hugepagesz={int(usual) >> 10}K"
    return f"sysctl vm.nr_hugepages={usual}"


CHECK = Check(
    "huge-pages-differ",
    "note",
    "all hosts have as many huge pages",
    why="programs that ask for them fail on some hosts",
    source="openucx/ucx#6985",
    look=agree(
        r"memory\.(huge_page_count|huge_page_bytes)",
        "the setting",
        told_by="grep -i huge /proc/meminfo",
        remedy=_remedy,
    ),
)
