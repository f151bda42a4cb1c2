"""Interfaces of one name honour pause frames alike."""

from __future__ import annotations

from fabriscope.audit.check import Check, agree

CHECK = Check(
    "pause-differ",
    "warning",
    "interfaces of one name honour pause frames alike",
    why="a host that does not pause loses frames, and one that does holds others up",
    source="openucx/ucx#948",
    look=agree(
        r"interface\.((?!lo\.).+)\.(rx_pause|tx_pause)",
        "pause",
        told_by="ethtool -a {0}",
        remedy="set {1} as the others have it, {usual}: ethtool -A {0} rx|tx on|off",
    ),
)
