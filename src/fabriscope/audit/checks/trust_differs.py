"""Interfaces of one name trust the same field."""

from __future__ import annotations

from fabriscope.audit.check import Check, agree

CHECK = Check(
    "trust-differs",
    "error",
    "interfaces of one name trust the same field",
    why="routed or untagged traffic lands in priority 0 on one host",
    source="Mellanox/nic-configuration-operator",
    look=agree(
        r"dcb\.(.+)\.trust",
        "trust",
        told_by="mlnx_qos -i {0}",
        remedy="mlnx_qos -i {0} --trust {usual}",
    ),
)
