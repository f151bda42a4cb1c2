"""Interfaces of one name have one driver version."""

from __future__ import annotations

from fabriscope.audit.check import Check, agree

CHECK = Check(
    "driver-mixed",
    "warning",
    "interfaces of one name have one driver version",
    why="hosts with another driver are slower or fail, and a run over them is not one experiment",
    source="hosts of one image; majority",
    look=agree(
        r"interface\.((?!lo\.).+)\.driver_version",
        "the version of the driver",
        told_by="ethtool -i {0}",
        remedy="install driver {usual}, as the others have",
    ),
)
