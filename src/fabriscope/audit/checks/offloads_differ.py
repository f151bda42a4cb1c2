"""Interfaces of one name have the same offloads."""

from __future__ import annotations

from collections.abc import Sequence

from fabriscope.audit.check import Check, agree


def _remedy(parts: Sequence[str], usual: str) -> str:
    return f"ethtool -K {parts[0]} {parts[1].removesuffix('_checksum')} {'on' if usual == 'yes' else 'off'}"


CHECK = Check(
    "offloads-differ",
    "warning",
    "interfaces of one name have the same offloads",
    why="TCP reaches a third of its rate where segmentation or aggregation is off",
    source="majority",
    look=agree(
        r"interface\.((?!lo\.).+)\.(tso|gso|gro|lro|rx_checksum|tx_checksum)",
        "the offload",
        told_by="ethtool -k {0}",
        remedy=_remedy,
    ),
)
