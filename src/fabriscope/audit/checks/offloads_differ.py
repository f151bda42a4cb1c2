"""Interfaces of one name have the same offloads."""

from __future__ import annotations

from fabriscope.audit.check import Check, agree

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
        remedy="set {1} as the others have it, {usual}: ethtool -K {0} {1} on|off",
    ),
)
