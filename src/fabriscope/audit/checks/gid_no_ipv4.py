"""A RoCE port has an address that is not link-local."""

from __future__ import annotations

from fabriscope.audit.check import Check, each_rdma_port
from fabriscope.audit.place import Place, Wrong


def _judge(place: Place) -> Wrong | None:
    kinds = place.text("rdma.{0}.{1}.gid_kinds")
    if "IPv4" in kinds or "IPv6" in kinds:
        return None
    seen = [place.witness("rdma.{0}.{1}.gid_kinds", "show_gids {0}")]
    return Wrong("every GID is link-local", "give the port's interface an IPv4 address", seen)


CHECK = Check(
    "gid-no-ipv4",
    "error",
    "a RoCE port has an address that is not link-local",
    why="libraries find no address of the port, or one that is not routed",
    source="uccl-project/uccl#803, openucx/ucx#7991",
    look=each_rdma_port(_judge, "gid_kinds"),
)
