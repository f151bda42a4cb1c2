"""No frame finds a processor's queue full."""

from __future__ import annotations

from fabriscope.audit.check import Check, each
from fabriscope.audit.place import NothingThere, Place, Wrong

_LIMIT = "tcp.core_netdev_max_backlog"


def _judge(place: Place) -> Wrong | None:
    if not any(name.startswith("link.") for name in place.known.values):
        raise NothingThere  # no card: what the machine below loses is not this host's
    count = place.number("load.backlog_drop_count")
    if not count:
        return None
    limit = place.number(_LIMIT)
    seen = [place.witness("load.backlog_drop_count", "cat /proc/net/softnet_stat"),
            place.witness(_LIMIT, "sysctl net.core.netdev_max_backlog")]  # fmt: skip
    what = f"{count:.0f} frames were dropped before TCP saw them, since the host booted"
    return Wrong(what, f"sysctl net.core.netdev_max_backlog={2 * limit:.0f}", seen)


CHECK = Check(
    "tcp-backlog",
    "note",
    "no frame finds a processor's queue full",
    why="TCP takes it for congestion and slows down",
    source="the kernel's networking/scaling and admin-guide/sysctl/net",
    look=each(r"load\.backlog_drop_count", _judge),
)
