"""The IOMMU does not translate what RDMA cards read and write."""

from __future__ import annotations

from fabriscope.audit.check import Check, each
from fabriscope.audit.place import NothingThere, Place, Wrong


def _judge(place: Place) -> Wrong | None:
    if place.get("rdma.hcas") is None:
        raise NothingThere
    mode = place.text("pcie.iommu")
    if not mode.startswith("DMA"):
        return None
    seen = place.witness("pcie.iommu", "cat /sys/kernel/iommu_groups/*/type")
    return Wrong(f"the IOMMU translates ({mode})", "boot with iommu=pt", [seen])


CHECK = Check(
    "iommu-mode",
    "warning",
    "the IOMMU does not translate what RDMA cards read and write",
    why="transfers between cards and GPUs are slow or fail, and registering memory costs more",
    source="NVIDIA/nccl#257, #667, NVIDIA/nccl-tests#115",
    look=each(r"pcie\.iommu", _judge),
)
