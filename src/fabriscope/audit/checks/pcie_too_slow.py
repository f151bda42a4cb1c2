"""A slot feeds its card."""

from __future__ import annotations

from fabriscope.audit.check import Check, each
from fabriscope.audit.place import Place, Wrong


def _judge(place: Place) -> Wrong | None:
    rate = place.number("pcie.{0}.transfers_per_s")
    encoding = 128 / 130 if rate >= 8e9 else 0.8
    usable = place.number("pcie.{0}.lane_count") * rate * encoding * 0.85
    speed = place.number("interface.{0}.speed_bits_per_s")
    if usable >= speed:
        return None
    seen = [place.witness("pcie.{0}.transfers_per_s", "cat /sys/class/net/{0}/device/current_link_speed"),
            place.witness("interface.{0}.speed_bits_per_s", "ethtool {0}")]  # fmt: skip
    what = f"a slot of about {usable / 1e9:.0f} Gb/s for a link of {speed / 1e9:.0f} Gb/s"
    return Wrong(what, "move the card to a wider or newer slot", seen)


CHECK = Check(
    "pcie-too-slow",
    "warning",
    "a slot feeds its card",
    why="the link is faster than the slot",
    source="PCI Express encoding: 8b/10b below 8 GT/s, 128b/130b from there on",
    look=each(r"pcie\.(.+)\.transfers_per_s", _judge),
)
