"""All hosts run one kernel."""

from __future__ import annotations

from fabriscope.audit.check import Check, agree

CHECK = Check(
    "kernel-mixed",
    "warning",
    "all hosts run one kernel",
    why="drivers and TCP differ from kernel to kernel",
    source="hosts of one image; majority",
    look=agree(
        r"kernel\.release",
        "the kernel",
        told_by="uname -r",
        remedy="boot the kernel {usual}, as the others do",
    ),
)
