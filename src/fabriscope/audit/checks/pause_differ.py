"""Interfaces of one name honour pause frames alike."""

from __future__ import annotations

from collections.abc import Sequence

from fabriscope.audit.check import Check, agree


def _remedy(parts: Sequence[str], usual: str) -> str:
    return f"ethtool -A {parts[0]} {parts[1].removesuffix('_pause')} {'on' if usual == 'yes' else 'off'}"


CHECK = Check(
    "pause-differ",
    "warning",
    "interfaces of one name honour pause frames alike",
    why="a host that does not pause loses frames, and one that does holds others up",
    source="openucx/ucx#948",
    look=agree(
        r"interface\.((?!lo\.).+)\.(rx_pause|tx_pause)",
        "pause",
        told_by="ethtool -a {0}",
        remedy=_remedy,
    ),
)
