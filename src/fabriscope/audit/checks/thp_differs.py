"""All hosts use transparent huge pages alike."""

from __future__ import annotations

from fabriscope.audit.check import Check, agree

CHECK = Check(
    "thp-differs",
    "note",
    "all hosts use transparent huge pages alike",
    why="times differ from host to host",
    source="linux-rdma/rdma-core#883",
    look=agree(
        r"memory\.transparent_huge_pages",
        "the setting",
        told_by="cat /sys/kernel/mm/transparent_hugepage/enabled",
        remedy="echo {usual} > /sys/kernel/mm/transparent_hugepage/enabled",
    ),
)
