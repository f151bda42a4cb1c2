"""Programs may lock memory without limit where there is RDMA."""

from __future__ import annotations

from fabriscope.audit.check import Check, each
from fabriscope.audit.place import NothingThere, Place, Wrong


def _judge(place: Place) -> Wrong | None:
    if place.get("rdma.hcas") is None:
        raise NothingThere
    limit = place.text("limit.locked_bytes")
    if limit == "unlimited":
        return None
    fix = "LimitMEMLOCK=infinity of the service that starts jobs (slurmd, sshd), and limits.conf for logins"
    seen = [place.witness("limit.locked_bytes", "ulimit -l"), place.witness("rdma.hcas", "ls /sys/class/infiniband")]
    return Wrong(f"{limit} B may be locked by what is started here", fix, seen)


CHECK = Check(
    "memlock",
    "error",
    "programs may lock memory without limit where there is RDMA",
    why="memory is not registered, and queue pairs are not made: cannot allocate memory",
    source="ai4d-iasc/trixie#81, openucx/ucx#8229",
    look=each(r"limit\.locked_bytes", _judge),
)
