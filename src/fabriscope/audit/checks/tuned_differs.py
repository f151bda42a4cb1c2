"""All hosts have one tuned profile."""

from __future__ import annotations

from fabriscope.audit.check import Check, agree

CHECK = Check(
    "tuned-differs",
    "note",
    "all hosts have one tuned profile",
    why="hosts are tuned for different work",
    source="redhat-performance/tuned#660",
    look=agree(
        r"software\.(tuned)_profile",
        "the profile",
        told_by="tuned-adm active",
        remedy="tuned-adm profile {usual}",
        is_optional=True,
    ),
)
