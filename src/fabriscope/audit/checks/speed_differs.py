"""Interfaces of one name have one speed."""

from __future__ import annotations

from fabriscope.audit.check import Check, agree

CHECK = Check(
    "speed-differs",
    "error",
    "interfaces of one name have one speed",
    why="one slow link slows every collective",
    source="openucx/ucx#8200",
    look=agree(
        r"interface\.((?!lo\.).+)\.speed_bits_per_s",
        "the speed",
        told_by="ethtool {0}",
        remedy="look at cable, breakout and autonegotiation of {0}",
    ),
)
