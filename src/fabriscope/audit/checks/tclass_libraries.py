"""UCX and NCCL mark traffic alike."""

from __future__ import annotations

from fabriscope.audit.check import Check, each
from fabriscope.audit.place import Place, Wrong


def _judge(place: Place) -> Wrong | None:
    ucx, nccl = place.text("environment.UCX_IB_TRAFFIC_CLASS"), place.get("environment.NCCL_IB_TC")
    if nccl is None or str(nccl) == ucx or "auto" in (ucx, nccl):
        return None
    seen = [place.witness(f"environment.{name}", f"echo ${name}") for name in ("UCX_IB_TRAFFIC_CLASS", "NCCL_IB_TC")]
    return Wrong(f"UCX marks {ucx}, NCCL {nccl}", f"export NCCL_IB_TC={ucx}", seen)


CHECK = Check(
    "tclass-libraries",
    "warning",
    "UCX and NCCL mark traffic alike",
    why="one of them leaves the lossless class",
    source="NVIDIA/nccl#1194, openucx/ucx#10325",
    look=each(r"environment\.UCX_IB_TRAFFIC_CLASS", _judge),
)
