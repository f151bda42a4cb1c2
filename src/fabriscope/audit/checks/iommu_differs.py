"""All hosts translate DMA alike."""

from __future__ import annotations

from fabriscope.audit.check import Check, agree

CHECK = Check(
    "iommu-differs",
    "warning",
    "all hosts translate DMA alike",
    why="cards of some hosts are slower",
    source="NVIDIA/nccl#257, #667",
    look=agree(
        r"pcie\.iommu",
        "the IOMMU",
        told_by="cat /sys/kernel/iommu_groups/*/type",
        remedy="boot with iommu=pt, as the others do",
    ),
)
