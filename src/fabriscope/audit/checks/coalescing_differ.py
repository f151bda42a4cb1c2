"""Interfaces of one name coalesce interrupts alike."""

from __future__ import annotations

from collections.abc import Sequence

from fabriscope.audit.check import Check, agree

_OPTIONS = {
    "rx_coalesce_us": "rx-usecs",
    "rx_coalesce_frames": "rx-frames",
    "rx_coalesce_adaptive": "adaptive-rx",
    "tx_coalesce_us": "tx-usecs",
    "tx_coalesce_frames": "tx-frames",
}
"""Of ethtool."""


_WORDS = {"yes": "on", "no": "off"}


def _remedy(parts: Sequence[str], usual: str) -> str:
    return f"ethtool -C {parts[0]} {_OPTIONS[parts[1]]} {_WORDS.get(usual, usual)}"


CHECK = Check(
    "coalescing-differ",
    "warning",
    "interfaces of one name coalesce interrupts alike",
    why="latency grows by the time that a frame waits for company",
    source="luigirizzo/netmap#892, mtorromeo/r8168#68",
    look=agree(
        r"interface\.((?!lo\.).+)\.(rx_coalesce_us|rx_coalesce_frames|rx_coalesce_adaptive|tx_coalesce_us|tx_coalesce_frames)",
        "coalescing",
        told_by="ethtool -c {0}",
        remedy=_remedy,
    ),
)
