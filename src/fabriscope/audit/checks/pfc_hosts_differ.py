"""Interfaces of one name have PFC on the same priorities."""

from __future__ import annotations

from fabriscope.audit import commands
from fabriscope.audit.check import Check, agree
from fabriscope.model.priorities import priorities

CHECK = Check(
    "pfc-hosts-differ",
    "error",
    "interfaces of one name have PFC on the same priorities",
    why="frames of the lossless class are lost where one host does not pause",
    source="Azure LLDP-DCBX guide",
    look=agree(
        r"dcb\.(.+)\.pfc_priorities",
        "PFC",
        told_by="dcb pfc show dev {0}",
        remedy=lambda parts, usual: commands.host_pfc(parts[0], priorities(usual)),
    ),
)
