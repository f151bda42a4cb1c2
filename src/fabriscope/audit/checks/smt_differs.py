"""All hosts have SMT and isolated processors alike."""

from __future__ import annotations

from collections.abc import Sequence

from fabriscope.audit.check import Check, agree


def _remedy(parts: Sequence[str], usual: str) -> str:
    if parts[0] == "smt" and usual in ("on", "off"):
        return f"echo {usual} > /sys/devices/system/cpu/smt/control"
    if parts[0] == "isolated":
        return "boot without isolcpus" if usual == "none" else f"boot with isolcpus={usual}"
    return "boot with the SMT and processors of the others, and look at /sys/devices/system/cpu/offline"


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
        remedy=_remedy,
    ),
)
