"""A ring that loses frames is as large as it can be."""

from __future__ import annotations

from fabriscope.audit.check import Check, each
from fabriscope.audit.place import Place, Wrong


def _judge(place: Place) -> Wrong | None:
    missed = place.number("link.{0}.rx_missed_count")
    if not missed:
        return None
    size, most = place.number("interface.{0}.rx_ring_frames"), place.number("link.{0}.rx_ring_most_frames")
    if size >= most:
        return None
    seen = [place.witness("link.{0}.rx_missed_count", "cat /sys/class/net/{0}/statistics/rx_missed_errors"),
            place.witness("interface.{0}.rx_ring_frames", "ethtool -g {0}")]  # fmt: skip
    what = f"frames were missed, with a ring of {size:.0f} of {most:.0f}"
    return Wrong(what, f"ethtool -G {place.parts[0]} rx {most:.0f} (the link goes down for a moment)", seen)


CHECK = Check(
    "rings-small",
    "warning",
    "a ring that loses frames is as large as it can be",
    why="frames are lost before the processor sees them",
    source="LibreQoE/LibreQoS#417, redhat-performance/tuned#660",
    look=each(r"link\.(.+)\.rx_missed_count", _judge),
)
