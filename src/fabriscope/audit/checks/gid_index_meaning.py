"""One index of the GID table is one kind of address everywhere."""

from __future__ import annotations

from fabriscope.audit.check import Check, agree

CHECK = Check(
    "gid-index-meaning",
    "error",
    "one index of the GID table is one kind of address everywhere",
    why="a program that is given an index uses RoCE v1 or a link-local address on some hosts: error 12 at once",
    source="NVIDIA/nccl#426, #769, openucx/ucx#10027",
    look=agree(
        r"rdma\.(.+)\.(\d+)\.gid_kind\.(\d+)",
        "the kind of address",
        told_by="show_gids {0}",
        remedy="let the library choose, or name an index that is the same everywhere",
    ),
)
