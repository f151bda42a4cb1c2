"""Forward error correction has corrected every block."""

from __future__ import annotations

from fabriscope.audit.check import Check, each
from fabriscope.audit.place import Place, Wrong


def _judge(place: Place) -> Wrong | None:
    lost = place.number("link.{0}.fec_uncorrectable_count")
    if not lost:
        return None
    seen = [place.witness("link.{0}.fec_uncorrectable_count", "ethtool -I --show-fec {0}")]
    return Wrong(f"{lost:.0f} blocks could not be corrected", "clean or replace the cable or the module", seen)


CHECK = Check(
    "fec-uncorrected",
    "error",
    "forward error correction has corrected every block",
    why="each such block is lost frames: stalls and retries at random",
    source="ROCm/device-metrics-exporter#393",
    look=each(r"link\.(.+)\.fec_uncorrectable_count", _judge),
)
