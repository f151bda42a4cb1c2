"""Cards of one name have slots alike."""

from __future__ import annotations

from fabriscope.audit.check import Check, agree

CHECK = Check(
    "slot-differs",
    "warning",
    "cards of one name have slots alike",
    why="one host has half the bandwidth",
    source="corundum/corundum#162",
    look=agree(
        r"pcie\.(.+)\.(lane_count|transfers_per_s|most_lane_count|most_transfers_per_s)",
        "the slot",
        told_by="lspci -vvv",
        remedy="move the card to a slot like the others' ({1} {usual}), or reseat it",
    ),
)
