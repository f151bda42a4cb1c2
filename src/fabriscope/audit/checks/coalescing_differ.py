"""Interfaces of one name coalesce interrupts alike."""

from __future__ import annotations

from fabriscope.audit.check import Check, agree

CHECK = Check(
    "coalescing-differ",
    "warning",
    "interfaces of one name coalesce interrupts alike",
    why="latency grows by the time that a frame waits for company",
    source="luigirizzo/netmap#892, mtorromeo/r8168#68",
    look=agree(
        r"interface\.((?!lo\.).+)\.(rx_coalesce_us|rx_coalesce_frames|rx_coalesce_adaptive|tx_coalesce_us|tx_coalesce_frames)",
        "coalescing",
        told_by="ethtool -c {0}",
        remedy="set {1} to {usual}: ethtool -C {0} ...",
    ),
)
