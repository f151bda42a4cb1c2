"""The counters of a launch's hosts: their collectors run beside its commands, and before the first launch alone."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterable, Mapping, Sequence

from fabriscope.hosts import counters
from fabriscope.launch import processes
from fabriscope.launch.site import Site
from fabriscope.model.benchmark_kind import BESIDE, OF_STREAMS
from fabriscope.model.benchmarks import kind_of
from fabriscope.model.command import Command, Outcome
from fabriscope.model.counters import Watch
from fabriscope.model.errors import HostError, LabError
from fabriscope.model.host import HERE
from fabriscope.model.measurement import Launch
from fabriscope.model.switch_series import SwitchSeries
from fabriscope.store import shapes

IDLE_S = 1.0
"""How long the hosts are watched before the first launch, while nothing of ours runs on them."""
_SPARE_S = 60.0


def watchers(site: Site, host_names: Iterable[str], launch: Launch | None = None) -> list[Command]:
    """Return the collectors of hosts, one each; those of a launch of streams also tell of its fabric over time."""
    hosts = [site.hosts[name] for name in dict.fromkeys(host_names)]
    return counters.commands(hosts, devices=_devices(site, launch) if launch is not None else None)


def _devices(site: Site, launch: Launch) -> dict[str, dict[str, str]]:
    """Return host to the interface and the RDMA port of a launch's fabric; nothing where it has no streams."""
    fabric = site.fabrics.get(launch.entry.fabric or "")
    if fabric is None or not is_told_over_time(launch):
        return {}
    found = {host: {"interface": name} for host, name in fabric.interfaces.items()}
    for host, port in fabric.rdma_ports.items():
        found.setdefault(host, {})["port"] = f"{port.device}/{port.hca_port}"
    return found


def watches(site: Site, outcomes: Sequence[Outcome]) -> dict[str, Watch]:
    """Return host to what its collector said; a host that was lost meanwhile is swept, as after a broken launch."""
    lost = [one.command.host for one in outcomes if one.is_lost]
    if lost:
        with contextlib.suppress(LabError, HostError):  # a host that is gone has nothing left to end
            site.sweep(lost)
    return {watch.host: watch for watch in map(counters.parse, outcomes)}


def idle(site: Site, cancel: threading.Event) -> Mapping[str, Watch]:
    """Return what all hosts count while nothing of ours runs, all at once; nothing where that cannot be found out."""
    collectors = watchers(site, [name for name in site.hosts if name not in site.absent])
    nothing = Command(("sleep", str(IDLE_S)), HERE.name)
    hosts = {HERE.name: HERE, **site.hosts}
    try:
        outcomes = processes.run_commands(
            [nothing], hosts, timeout_s=IDLE_S + _SPARE_S, cancel=cancel, watchers=collectors
        )
        return watches(site, outcomes[: len(collectors)])
    except Exception:  # whatever it is, the first launch meets it too, and says so
        return {}


def is_told_over_time(launch: Launch) -> bool:
    """Return whether it matters when a switch was full, and not only whether."""
    patterns = {kind_of(case.benchmark).pattern for case in launch.cases}
    return launch.entry.fabric is not None and not patterns.isdisjoint((*OF_STREAMS, BESIDE))


def series_of(answer: Mapping[str, object], fabric: str | None, until_unix_ns: int) -> SwitchSeries | None:
    """Return what a switch told of a fabric until then; None where it has none of that name.

    Raises ValueError for what no switch of ours says.
    """
    if not answer:
        return None
    series = shapes.decode(answer, SwitchSeries)
    ports = tuple(port.until(until_unix_ns) for port in series.ports if port.fabric == fabric)
    return SwitchSeries(series.period_ns, series.since_unix_ns, ports) if ports else None
