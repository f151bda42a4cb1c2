"""RDMA ports of one name are in one state."""

from __future__ import annotations

from fabriscope.audit.check import Check, agree

CHECK = Check(
    "port-down",
    "error",
    "RDMA ports of one name are in one state",
    why="a rail that is down is left out without a word, or the job hangs",
    source="leptonai/gpud",
    look=agree(
        r"rdma\.(.+)\.(\d+)\.state",
        "the state",
        told_by="cat /sys/class/infiniband/{0}/ports/{1}/state",
        remedy="look at the cable and at the port of the switch",
    ),
)
