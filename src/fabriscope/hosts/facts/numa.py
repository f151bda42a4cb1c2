"""Which processors are near which memory."""

from __future__ import annotations

import re

from fabriscope.hosts.access import Reading
from fabriscope.hosts.facts._reading import Group
from fabriscope.model.host import Fact

_NODES = "/sys/devices/system/node"


def _facts(reading: Reading) -> list[Fact]:
    nodes = [name for name in reading.names_under(_NODES) if re.fullmatch(r"node\d+", name)]
    name, why = "numa.node_count", f"{_NODES} lists no node"
    count = Fact(name, len(nodes)) if nodes else Fact(name, None, why, is_offered=False)
    facts = [count]
    for node in nodes:
        facts.append(reading.fact(f"numa.{node}.cpus", f"{_NODES}/{node}/cpulist"))
        facts.append(reading.fact(f"numa.{node}.distances", f"{_NODES}/{node}/distance"))
    facts.append(
        reading.fact("numa.balancing", "/proc/sys/kernel/numa_balancing", lambda flag: flag != "0"),
    )
    return facts


FACTS = Group(
    "numa",
    _facts,
    globs=(f"{_NODES}/node*/cpulist", f"{_NODES}/node*/distance", "/proc/sys/kernel/numa_balancing"),
)
