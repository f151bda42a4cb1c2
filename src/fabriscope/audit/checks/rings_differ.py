"""Interfaces of one name have rings of one size."""

from __future__ import annotations

from collections.abc import Sequence

from fabriscope.audit.check import Check, agree


def _remedy(parts: Sequence[str], usual: str) -> str:
    which = parts[1].removesuffix("_ring_frames")
    return f"ethtool -G {parts[0]} {which} {usual} (the link goes down for a moment)"


CHECK = Check(
    "rings-differ",
    "warning",
    "interfaces of one name have rings of one size",
    why="a smaller ring loses frames first",
    source="LibreQoE/LibreQoS#417",
    look=agree(
        r"interface\.((?!lo\.).+)\.(rx_ring_frames|tx_ring_frames)",
        "the ring",
        told_by="ethtool -g {0}",
        remedy=_remedy,
    ),
)
