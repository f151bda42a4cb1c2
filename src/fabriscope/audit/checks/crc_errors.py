"""No frame came damaged."""

from __future__ import annotations

from fabriscope.audit.check import Check, each
from fabriscope.audit.place import Place, Wrong


def _judge(place: Place) -> Wrong | None:
    count = place.number("link.{0}.rx_crc_error_count")
    if not count:
        return None
    seen = [place.witness("link.{0}.rx_crc_error_count", "cat /sys/class/net/{0}/statistics/rx_crc_errors")]
    what = "frames came damaged since the driver was loaded"
    return Wrong(what, "look whether the counter grows; then replace the cable", seen)


CHECK = Check(
    "crc-errors",
    "warning",
    "no frame came damaged",
    why="a cable or module damages frames, which are lost",
    source="InfiniBand perfquery; IEEE 802.3",
    look=each(r"link\.(.+)\.rx_crc_error_count", _judge),
)
