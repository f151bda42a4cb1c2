"""Verbs are not asked to be safe for fork on kernels that need it not."""

from __future__ import annotations

from fabriscope.audit.check import Check, each
from fabriscope.audit.place import Place, Wrong


def _judge(place: Place) -> Wrong | None:
    release = [*place.text("kernel.release").split("."), ""]
    if not (release[0].isdecimal() and release[1].isdecimal() and (int(release[0]), int(release[1])) >= (5, 12)):
        return None
    seen = [
        place.witness("environment.RDMAV_FORK_SAFE", "echo $RDMAV_FORK_SAFE"),
        place.witness("kernel.release", "uname -r"),
    ]
    return Wrong("RDMAV_FORK_SAFE is set, and the kernel copies on fork", "unset RDMAV_FORK_SAFE", seen)


CHECK = Check(
    "fork-safe-cost",
    "note",
    "verbs are not asked to be safe for fork on kernels that need it not",
    why="every registration costs a system call more",
    source="aws/aws-ofi-nccl#37; rdma-core ibv_fork_init(3)",
    look=each(r"environment\.RDMAV_FORK_SAFE", _judge),
)
