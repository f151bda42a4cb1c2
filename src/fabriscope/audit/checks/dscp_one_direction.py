"""RDMA ports of one name mark traffic alike."""

from __future__ import annotations

from fabriscope.audit.check import Check, agree

CHECK = Check(
    "dscp-one-direction",
    "error",
    "RDMA ports of one name mark traffic alike",
    why="traffic is lossless in one direction alone: retries exceeded",
    source="openucx/ucx#10325",
    look=agree(
        r"rdma\.(.+)\.(\d+)\.traffic_class",
        "the traffic class",
        told_by="cat /sys/class/infiniband/{0}/tc/{1}/traffic_class",
        remedy="echo {usual} > /sys/class/infiniband/{0}/tc/{1}/traffic_class",
    ),
)
