"""All hosts have as many huge pages."""

from __future__ import annotations

from fabriscope.audit.check import Check, agree

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
        remedy="sysctl vm.nr_hugepages={usual}",
    ),
)
