"""Interfaces of one name have rings of one size."""

from __future__ import annotations

from fabriscope.audit.check import Check, agree

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
        remedy="ethtool -G {0} rx|tx {usual} (the link goes down for a moment)",
    ),
)
