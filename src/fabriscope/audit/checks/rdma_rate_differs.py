"""RDMA ports of one name have one rate."""

from __future__ import annotations

from fabriscope.audit.check import Check, agree

CHECK = Check(
    "rdma-rate-differs",
    "error",
    "RDMA ports of one name have one rate",
    why="one slow link slows every collective",
    source="openucx/ucx#8200; Azure NHC",
    look=agree(
        r"rdma\.(.+)\.(\d+)\.rate",
        "the rate",
        told_by="cat /sys/class/infiniband/{0}/ports/{1}/rate",
        remedy="look at cable, breakout and autonegotiation",
    ),
)
