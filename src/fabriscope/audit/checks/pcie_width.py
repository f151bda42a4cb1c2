"""A card has the link that it could have."""

from __future__ import annotations

from fabriscope.audit.check import Check, each
from fabriscope.audit.place import Place, Wrong


def _judge(place: Place) -> Wrong | None:
    lanes, most = place.number("pcie.{0}.lane_count"), place.number("pcie.{0}.most_lane_count")
    rate, most_rate = place.number("pcie.{0}.transfers_per_s"), place.number("pcie.{0}.most_transfers_per_s")
    if lanes >= most and rate >= most_rate:
        return None
    names = ("lane_count", "most_lane_count", "transfers_per_s", "most_transfers_per_s")
    seen = [place.witness(f"pcie.{{0}}.{name}", "cat /sys/class/net/{0}/device/*_link_*") for name in names]
    what = f"{lanes:.0f} of {most:.0f} lanes at {rate / 1e9:g} of {most_rate / 1e9:g} GT/s"
    return Wrong(what, "reseat the card; another slot or riser; BIOS", seen)


CHECK = Check(
    "pcie-width",
    "error",
    "a card has the link that it could have",
    why="the card has a fraction of its bandwidth",
    source="corundum/corundum#162",
    look=each(r"pcie\.(.+)\.lane_count", _judge),
)
