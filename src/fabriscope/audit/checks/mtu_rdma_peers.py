"""RDMA ports of one name use one payload on all hosts."""

from __future__ import annotations

from fabriscope.audit.check import Check, agree

CHECK = Check(
    "mtu-rdma-peers",
    "error",
    "RDMA ports of one name use one payload on all hosts",
    why="queue pairs that are made by hand do not negotiate it: the job dies after it connected",
    source="kvcache-ai/Mooncake#3868",
    look=agree(
        r"rdma\.(.+)\.(\d+)\.active_mtu_bytes",
        "the payload of a packet",
        told_by="ibv_devinfo -d {0} -i {1}",
        remedy="give all ports one MTU of their interface: ip link set dev INTERFACE mtu 4200",
    ),
)
