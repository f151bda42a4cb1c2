"""A card has the link that it could have."""

from __future__ import annotations

from fabriscope.audit.check import Check, each
from fabriscope.audit.place import Place, Wrong


def _judge(place: Place) -> Wrong | None:
    lanes, most = place.number("pcie.{0}.lane_count"), place.number("pcie.{0}.most_lane_count")
    rate, most_rate = place.number("pcie.{0}.transfers_per_s"), place.number("pcie.{0}.most_transfers_per_s")
    if lanes >= most and rate >= most_rate:
        return None
    most = min(most, place.number("pcie.{0}.slot_most_lane_count"))
    most_rate = min(most_rate, place.number("pcie.{0}.slot_most_transfers_per_s"))
    if lanes >= most and rate >= most_rate:
        return None  # the card could do more, and its slot could not
    names = ("lane_count", "most_lane_count", "slot_most_lane_count",
             "transfers_per_s", "most_transfers_per_s", "slot_most_transfers_per_s")  # fmt: skip
    seen = [
        place.witness(f"pcie.{{0}}.{name}", "cd /sys/class/net/{0}/device; grep . *_link_* ../*_link_*")
        for name in names
    ]
    what = f"{lanes:.0f} of {most:.0f} lanes at {rate / 1e9:g} of {most_rate / 1e9:g} GT/s"
    return Wrong(what, "reseat the card; another slot or riser; BIOS", seen)


CHECK = Check(
    "pcie-width",
    "error",
    "a card has the link that it and its slot could have",
    why="the card has a fraction of its bandwidth",
    source="corundum/corundum#162",
    look=each(r"pcie\.(.+)\.lane_count", _judge),
)
