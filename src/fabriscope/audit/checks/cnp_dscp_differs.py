"""Congestion notifications have one DSCP everywhere."""

from __future__ import annotations

from fabriscope.audit.check import Check, agree

CHECK = Check(
    "cnp-dscp-differs",
    "warning",
    "congestion notifications have one DSCP everywhere",
    why="notifications wait behind the data that they should slow",
    source="Juniper validated design, AMD",
    look=agree(
        r"dcb\.(.+)\.cnp_dscp",
        "the DSCP of notifications",
        told_by="cat /sys/class/net/{0}/ecn/roce_np/cnp_dscp",
        remedy="echo {usual} > /sys/class/net/{0}/ecn/roce_np/cnp_dscp",
    ),
)
