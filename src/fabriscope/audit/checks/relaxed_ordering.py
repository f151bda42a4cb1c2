"""Writes of a card beside GPUs may pass each other."""

from __future__ import annotations

from fabriscope.audit.check import Check, each
from fabriscope.audit.place import NothingThere, Place, Wrong


def _judge(place: Place) -> Wrong | None:
    if place.get("virtualisation.is_guest") is True:
        raise NothingThere  # its hypervisor's business
    if place.value("pcie.{0}.relaxed_ordering") is True:
        return None
    if not place.number("pcie.gpu_count"):
        raise NothingThere
    address = place.text("pcie.{0}.address")
    seen = [place.witness("pcie.{0}.relaxed_ordering", f"lspci -vvs {address}")]
    fix = f"setpci -s {address} CAP_EXP+8.w=0010:0010 (after each boot, or in the BIOS)"
    return Wrong("relaxed ordering is off", fix, seen)


CHECK = Check(
    "relaxed-ordering",
    "warning",
    "writes of a card beside GPUs may pass each other",
    why="RDMA to GPUs in both directions at once reaches little more than half of its rate",
    source="mghpcc/aicr-benchmarks; PCI Express, Device Control register",
    look=each(r"pcie\.(.+)\.relaxed_ordering", _judge),
)
