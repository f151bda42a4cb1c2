"""RDMA runs on ports of their own, and on no bond that the switch shares out."""

from __future__ import annotations

from fabriscope.audit.check import Check, each
from fabriscope.audit.place import NothingThere, Place, Wrong


def _judge(place: Place) -> Wrong | None:
    members = {place.parts[0], *place.text_or("interface.{0}.below", "").split()}
    values = place.known.values.items()
    ports = sorted(str(value) for name, value in values if name.startswith("rdma.") and name.endswith(".interface"))
    if not members & set(ports):
        raise NothingThere
    if place.text("interface.{0}.bond_mode") != "802.3ad":
        return None
    seen = [place.witness("interface.{0}.bond_mode", "cat /sys/class/net/{0}/bonding/mode"),
            place.witness("interface.{0}.below", "ls -d /sys/class/net/{0}/lower_*")]  # fmt: skip
    fix = "ip link set dev PORT nomaster, for each port; then a network of its own for each"
    return Wrong("RDMA runs on a bond with LACP", fix, seen)


CHECK = Check(
    "lacp-roce",
    "warning",
    "RDMA runs on ports of their own, and on no bond that the switch shares out",
    why="a connection stays on one port: half of the rate, or all of it on one",
    source="NVIDIA/deepops; NVIDIA/nccl#2150",
    look=each(r"interface\.(.+)\.bond_mode", _judge),
)
