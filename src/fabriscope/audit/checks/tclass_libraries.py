"""UCX and NCCL mark traffic alike."""

from __future__ import annotations

from fabriscope.audit.check import Check, each
from fabriscope.audit.place import NothingThere, Place, Wrong

_USUAL = {"UCX_IB_TRAFFIC_CLASS": "auto", "NCCL_IB_TC": "0"}
"""What the libraries take where nobody sets it."""


def _judge(place: Place) -> Wrong | None:
    if not all(any(name.startswith(f"environment.{one}_") for name in place.known.values) for one in ("UCX", "NCCL")):
        raise NothingThere  # only one of them is used
    ucx, nccl = (place.text_or(f"environment.{name}", usual) for name, usual in _USUAL.items())
    if nccl == ucx or "auto" in (ucx, nccl):
        return None
    seen = [place.witness(f"environment.{name}", f"echo ${name}") for name in _USUAL]
    return Wrong(f"UCX marks {ucx}, NCCL {nccl}", f"export NCCL_IB_TC={ucx}", seen)


CHECK = Check(
    "tclass-libraries",
    "warning",
    "UCX and NCCL mark traffic alike",
    why="one of them leaves the lossless class",
    source="NVIDIA/nccl#1194, openucx/ucx#10325",
    look=each(r"environment\.(?:UCX_IB_TRAFFIC_CLASS|NCCL_IB_TC)", _judge),
)
