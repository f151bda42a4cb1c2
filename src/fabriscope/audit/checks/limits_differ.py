"""All hosts have one limit of locked memory."""

from __future__ import annotations

from collections.abc import Sequence

from fabriscope.audit.check import Check, agree, every

_FILE = "/etc/security/limits.d/fabric.conf"


def _remedy(parts: Sequence[str], usual: str) -> str:
    if parts[0] == "open_files":
        return f"echo '* - nofile {usual}' >> {_FILE}"
    kib = str(int(usual) >> 10) if usual.isdecimal() else usual
    return f"echo '* - memlock {kib}' >> {_FILE}; of services LimitMEMLOCK={'infinity' if kib == usual else usual}"


CHECK = Check(
    "limits-differ",
    "warning",
    "all hosts have one limit of locked memory, open files and mappings",
    why="registration fails on some hosts",
    source="ai4d-iasc/trixie#81",
    look=every(
        agree(r"limit\.(locked_bytes|open_files)", "the limit", told_by="cat /proc/self/limits", remedy=_remedy),
        agree(
            r"limit\.(mapping_count)",
            "the limit",
            told_by="sysctl vm.max_map_count",
            remedy="sysctl vm.max_map_count={usual}",
        ),
    ),
)
