"""What the counters of hosts say while a job runs.

One small script, fed to a host's own `python3`, takes a reading before the job starts, one at each interval, and
one when the job has ended. A reading holds:

- every interface of the host's network namespace: 64-bit statistics of /proc/net/dev, and in the first and last reading
  what the driver counts (`ethtool -S`) as `driver.NAME`, without the counters of single queues;
- every port of an RDMA device: `counters` and `hw_counters` of /sys/class/infiniband as they stand there (port data
  counters are in units of 4 octets), and what `rdma statistic` tells besides;
- IP, TCP and UDP of the namespace: /proc/net/snmp, netstat and snmp6;
- every TCP connection, by sock_diag, also those that were closed meanwhile: the kernel tells their last counters;
- the processes of the job, in the last reading: whether they are ranks, what memory they share with others, which
  devices they have open, and whether sockets that send datagrams.

Only processes that began after the first reading can be the job's. See docs/counters.md.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path

from fabriscope.hosts import access
from fabriscope.hosts.counters.parsing import parse
from fabriscope.model.command import Command
from fabriscope.model.foreign import BEGIN
from fabriscope.model.host import Host

__all__ = ("INTERVAL_S", "READY", "commands", "parse", "program")

INTERVAL_S = 1.0
READY = BEGIN.decode() + '{"kind":"ready"}'
SELF_VARIABLE = "FABRISCOPE_COUNTERS"
"""By which collectors know each other: they are nobody's job."""
_FILES = (
    "_proc",
    "_births",
    "_diag",
    "_datagrams",
    "_connection",
    "_sockets",
    "_links",
    "_namespaces",
    "_memories",
    "_processes",
    "_devices",
    "_moments",
    "_collector",
)


def program() -> str:
    """Return the text whose `main(order)` reads a host's counters; plain Python 3.6."""
    texts = (Path(__file__).with_name(f"{name}.py").read_text() for name in _FILES)
    return "\n".join([f"BEGIN = {BEGIN!r}", *texts])


def commands(
    hosts: Iterable[Host],
    interval_s: float = INTERVAL_S,
    mark: str = "",
    *,
    sys_folder: str = "/sys",
    devices: Mapping[str, Mapping[str, str]] | None = None,
) -> list[Command]:
    """Return the commands that read the hosts' counters, for as long as they are let.

    They are servers, ready once they have taken the first reading. What carries the `mark` (the value of
    FABRISCOPE_LAUNCH_MARK, or how it begins) belongs to the job; if none is given, the collector's own. `devices` has
    by host the `interface` and the RDMA `port` (`rxe0/1`) of which it is also told when they counted what.
    """
    order = {"interval_s": interval_s, "mark": mark, "sys_folder": sys_folder}
    hosts = list(hosts)
    orders = {host.name: {**order, "moments": dict((devices or {}).get(host.name, {}))} for host in hosts}
    text, found = program(), []
    for host in hosts:
        argv, stdin = access.python_program(host, text, f"main(json.loads({json.dumps(orders[host.name])!r}))")
        found.append(Command(argv, host.name, {SELF_VARIABLE: "1"}, stdin=stdin, ready_pattern=READY, is_server=True))
    return found
