"""Cards of one name have one firmware."""

from __future__ import annotations

from fabriscope.audit.check import Check, agree

CHECK = Check(
    "firmware-mixed",
    "warning",
    "cards of one name have one firmware",
    why="one host is slower or fails",
    source="vendors' guides; majority",
    look=agree(
        r"(?:interface|rdma)\.((?!lo\.).+)\.firmware_version",
        "the firmware",
        told_by="ethtool -i {0}",
        remedy="update the firmware to {usual}, as the others have",
    ),
)
