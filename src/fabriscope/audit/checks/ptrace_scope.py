"""Ranks of a host may copy from each other's memory."""

from __future__ import annotations

from fabriscope.audit.check import Check, each
from fabriscope.audit.place import Place, Wrong

_ALLOWED = 1
"""A program may let others in (PR_SET_PTRACER), as UCX and Open MPI do; from 2 on root alone may look."""
_UNTIL_BOOT = "echo kernel.yama.ptrace_scope=1 > /etc/sysctl.d/90-ptrace.conf, and boot: a 3 stays until then"


def _judge(place: Place) -> Wrong | None:
    scope = place.number("kernel.ptrace_scope")
    if scope <= _ALLOWED:
        return None
    what = f"kernel.yama.ptrace_scope is {scope:.0f}: no rank may copy from another's memory"
    fix = "sysctl kernel.yama.ptrace_scope=1" if scope == _ALLOWED + 1 else _UNTIL_BOOT
    return Wrong(what, fix, [place.witness("kernel.ptrace_scope", "sysctl kernel.yama.ptrace_scope")])


CHECK = Check(
    "ptrace-scope",
    "warning",
    "ranks of a host may copy from each other's memory (CMA)",
    why="messages inside the host are copied twice, through shared memory, or the transport `cma` fails",
    source="the kernel's admin-guide/LSM/Yama; open-mpi/ompi btl/sm",
    look=each(r"kernel\.ptrace_scope", _judge),
)
