"""Variables of message libraries are the same on all hosts."""

from __future__ import annotations

import shlex
from collections.abc import Sequence

from fabriscope.audit.check import NOT_SET, Check, agree

_OF_DEVICES = r"\w*(?:NET_DEVICES|_IB_HCA|_IBA_HCA|_SOCKET_IFNAME|_if_(?:in|ex)clude|_IFACE|_HFI_SELECT)"
"""Variables that name devices, which may have other names on each host."""


def _remedy(parts: Sequence[str], usual: str) -> str:
    return f"unset {parts[0]}" if usual == NOT_SET else f"export {parts[0]}={shlex.quote(usual)} from the launcher"


CHECK = Check(
    "env-differs",
    "warning",
    "variables of message libraries are the same on all hosts",
    why="ranks behave differently",
    source="openucx/ucx#10325",
    look=agree(
        rf"environment\.((?!variables$|{_OF_DEVICES}$).+)",
        "the variable",
        told_by="env",
        remedy=_remedy,
        unset_by="environment.variables",
    ),
)
