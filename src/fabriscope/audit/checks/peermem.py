"""Cards reach the memory of GPUs on all hosts alike."""

from __future__ import annotations

from fabriscope.audit.check import Check, agree

CHECK = Check(
    "peermem",
    "error",
    "cards reach the memory of GPUs on all hosts alike",
    why="one host copies by way of its own memory, and all wait for it",
    source="NVIDIA/nccl#897, #1939, #1537",
    look=agree(
        r"rdma\.gpu_peers",
        "the module by which RDMA reaches GPUs",
        told_by="lsmod | grep -e nvidia_peermem",
        remedy="modprobe nvidia-peermem",
    ),
)
