"""All hosts translate DMA alike."""

from __future__ import annotations

from collections.abc import Sequence

from fabriscope.audit.check import Check, agree

_OPTIONS = {
    "off": "intel_iommu=off amd_iommu=off",
    "identity": "iommu=pt",
    "DMA": "iommu.passthrough=0 iommu.strict=1",
    "DMA-FQ": "iommu.passthrough=0 iommu.strict=0",
}
"""How most domains of a host get a kind, in the kernel's parameters."""


def _remedy(_: Sequence[str], usual: str) -> str:
    option = _OPTIONS.get(usual)
    return (
        f"boot with {option} ({usual})" if option else f"boot with the IOMMU options of the others, which have {usual}"
    )


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
        remedy=_remedy,
    ),
)
