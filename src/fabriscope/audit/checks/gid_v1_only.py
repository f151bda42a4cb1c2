"""A RoCE port speaks RoCE v2."""

from __future__ import annotations

from fabriscope.audit.check import Check, each
from fabriscope.audit.place import NotSeen, Place, Wrong


def _judge(place: Place) -> Wrong | None:
    kinds = place.text("rdma.{0}.{1}.gid_kinds")
    if "v2" in kinds:
        return None
    if "unknown type" in kinds:
        raise NotSeen("the kernel does not tell the type of each GID")
    seen = [place.witness("rdma.{0}.{1}.gid_kinds", "show_gids {0}")]
    return Wrong("no GID is of RoCE v2", "cma_roce_mode -d {0} -p {1} -m 2; a newer kernel or firmware", seen)


CHECK = Check(
    "gid-v1-only",
    "error",
    "a RoCE port speaks RoCE v2",
    why="a peer that speaks v2 alone is not reached",
    source="openucx/ucx#4619",
    look=each(r"rdma\.(.+)\.(\d+)\.gid_kinds", _judge),
)
