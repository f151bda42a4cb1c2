"""Cards of one name have one firmware."""

from __future__ import annotations

from fabriscope.audit.check import Check, agree, every

CHECK = Check(
    "firmware-mixed",
    "warning",
    "cards of one name have one firmware",
    why="one host is slower or fails",
    source="vendors' guides; majority",
    look=every(
        agree(
            r"interface\.((?!lo\.).+)\.firmware_version",
            "the firmware",
            told_by="ethtool -i {0}",
            remedy="update the firmware to {usual}, as the others have",
        ),
        agree(
            r"rdma\.(.+)\.firmware_version",
            "the firmware",
            told_by="cat /sys/class/infiniband/{0}/fw_ver",
            remedy="update the firmware to {usual}, as the others have",
        ),
    ),
)
