"""The hosts of the batch job that a plan runs in, before there is one."""

from __future__ import annotations

from fabriscope.plan import ranks
from fabriscope.plan.schema import PlanSection

ALLOCATION = ("@allocation", "slurm", "pbs", "lsf", "flux")
"""What stands for the hosts of the batch job that the plan runs in."""
_MOST_SUPPOSED = 64
"""Hosts of a job that nobody has asked for."""


def hosts_to_come(count: int) -> tuple[str, ...]:
    """Return names for the hosts of a batch job that has yet to begin."""
    return tuple(f"node-{number}-of-the-job" for number in range(1, count + 1))


def supposed(section: PlanSection) -> tuple[str, ...]:
    """Return the hosts of the job that `submit` asks for; where it names no number, as few as the plan can have."""
    return hosts_to_come(section.submit.nodes or _fewest(section))


def _fewest(section: PlanSection) -> int:
    copies = {"hdfs": section.services.hdfs.replication, "hbase": section.services.hbase.replication}
    started = [layer for layer in section.layers if layer in copies and not section.services.runs_already(layer)]
    needs = [section.services.least_hosts(section.layers), *(1 + copies[layer] for layer in started)]
    least = max(needs) if "inter" in section.placements else 1
    most = max([least, *(int(count) for count in section.ranks if count != "all")])
    for count in range(least, min(most, _MOST_SUPPOSED) + 1):
        if all(place[0] != "ranks" for place, _, _ in ranks.contradictions(section, hosts_to_come(count))):
            return count
    return least
