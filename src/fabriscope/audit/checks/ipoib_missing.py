"""The interface of an InfiniBand port has an address."""

from __future__ import annotations

from fabriscope.audit.check import Check, each_rdma_port
from fabriscope.audit.place import NothingThere, Place, Wrong


def _judge(place: Place) -> Wrong | None:
    if place.text("rdma.{0}.{1}.link_layer") != "InfiniBand":
        raise NothingThere
    interface = place.text("rdma.{0}.{1}.interface")
    if place.text(f"interface.{interface}.ipv4_network") != "none":
        return None
    seen = [place.witness("rdma.{0}.{1}.interface", "rdma link show {0}/{1}"),
            place.witness(f"interface.{interface}.ipv4_network", f"ip addr show dev {interface}")]  # fmt: skip
    return Wrong(f"{interface} has no IPv4 address", f"ip addr add ADDRESS/BITS dev {interface}", seen)


CHECK = Check(
    "ipoib-missing",
    "warning",
    "the interface of an InfiniBand port has an address",
    why="libfabric's verbs finds no provider, and what connects by addresses takes another network",
    source="ofiwg/libfabric#4186",
    look=each_rdma_port(_judge, "link_layer"),
)
