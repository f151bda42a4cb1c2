"""All hosts have one limit of locked memory."""

from __future__ import annotations

from fabriscope.audit.check import Check, agree

CHECK = Check(
    "limits-differ",
    "warning",
    "all hosts have one limit of locked memory",
    why="registration fails on some hosts",
    source="ai4d-iasc/trixie#81",
    look=agree(
        r"limit\.(locked_bytes|open_files|mapping_count)",
        "the limit",
        told_by="cat /proc/self/limits",
        remedy="set {0} to {usual}, as the others have",
    ),
)
