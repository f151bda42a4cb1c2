"""Whose an RDMA port is: it counts for its whole host."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from fabriscope.analysis.proof.ranks import Ranks
from fabriscope.analysis.proof.wire import Port


def used_by(ranks: Ranks, ports: Sequence[Port]) -> set[tuple[str, str]]:
    """Return host and name of the ports on which the job was seen to have queue pairs, or whose device it had open."""
    opened = {(host, name) for host, one in ranks.all for name in one.devices}
    return {(one.host, one.name) for one in ports if one.jobs_count or (one.host, one.file) in opened}


def is_of_others(port: Port, own: Collection[tuple[str, str]], in_turns: Collection[tuple[str, str]]) -> bool:
    """Return whether a port is somebody else's: others use it, and the job was seen to use another one.

    `in_turns` are those of the launches that shared the job's time. What one end of the job uses, the other uses too,
    so that of these it is enough to have seen the job at one end.
    """
    name = port.host, port.name
    if name in own:
        return False
    if name in in_turns:
        return bool(own)
    return any(host == port.host for host, _ in own) and port.others_count + port.old_count > 0
