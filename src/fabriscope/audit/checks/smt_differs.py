"""All hosts have SMT and isolated processors alike."""

from __future__ import annotations

from fabriscope.audit.check import Check, agree

CHECK = Check(
    "smt-differs",
    "note",
    "all hosts have SMT and isolated processors alike",
    why="ranks share cores on some hosts alone",
    source="majority",
    look=agree(
        r"cpu\.(smt|isolated|thread_count)",
        "the setting",
        told_by="lscpu",
        remedy="set {0} as on the others, {usual}",
    ),
)
