"""What else the machine is doing."""

from __future__ import annotations

import re

from fabriscope.hosts.access import Reading
from fabriscope.hosts.facts._reading import Group
from fabriscope.model.host import Fact

_BACKLOGS = "/proc/net/softnet_stat"


def _facts(reading: Reading) -> list[Fact]:
    return [
        reading.fact("load.mean_1min", "/proc/loadavg", lambda text: float(text.split()[0])),
        reading.fact("load.mean_15min", "/proc/loadavg", lambda text: float(text.split()[2])),
        reading.fact("load.running_count", "/proc/loadavg", lambda text: int(text.split()[3].split("/")[0])),
        reading.fact("load.cpu_pressure_10s_percent", "/proc/pressure/cpu", _some_avg10),
        reading.fact("load.backlog_drop_count", _BACKLOGS, _backlog_drops),
        reading.fact("load.stolen_ticks", "/proc/stat", lambda text: int(text.split("\n")[0].split()[8])),
    ]


def _some_avg10(text: str) -> float:
    """Return 1.25 from `some avg10=1.25 avg60=...`: the share of time in which somebody waited for a processor."""
    match = re.search(r"some avg10=([\d.]+)", text)
    if match is None:
        raise ValueError("no avg10")
    return float(match[1])


def _backlog_drops(text: str) -> int:
    """Return how many frames found a processor's queue full since boot: the second column, in hexadecimal."""
    return sum(int(line.split()[1], 16) for line in text.splitlines())


FACTS = Group("load", _facts, globs=("/proc/loadavg", "/proc/pressure/cpu", "/proc/stat", _BACKLOGS))
