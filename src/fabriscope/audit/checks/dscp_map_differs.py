"""Interfaces of one name map DSCP to the same priorities."""

from __future__ import annotations

from fabriscope.audit.check import Check, agree

CHECK = Check(
    "dscp-map-differs",
    "error",
    "interfaces of one name map DSCP to the same priorities",
    why="marked traffic lands in another class on one host",
    source="sonic-net/sonic-buildimage rendered maps",
    look=agree(
        r"dcb\.(.+)\.dscp_to_priority",
        "the map",
        told_by="dcb app show dev {0}",
        remedy="dcb app replace dev {0} dscp-prio {usual}",
    ),
)
