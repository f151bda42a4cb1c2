"""What a plan's services need of this machine and of its hosts, before the first launch."""

from __future__ import annotations

from collections.abc import Mapping

from fabriscope import plan as plans
from fabriscope.adapters.base import AdapterContext
from fabriscope.adapters.ycsb import ZOOKEEPER_HEAP_BYTES
from fabriscope.hosts import facts, java_apps
from fabriscope.launch import processes
from fabriscope.launch.site import Site
from fabriscope.model.case import Case
from fabriscope.model.errors import LaunchError
from fabriscope.model.host import HERE, Fact
from fabriscope.model.layers import layer_of
from fabriscope.model.measurement import Launch
from fabriscope.model.ycsb_workloads import WORKLOADS
from fabriscope.plan import Plan, Schedule
from fabriscope.registry import discover

STORED_PER_LOADED = 3
"""About how much HBase keeps of a record's bytes, in a copy: names beside values, and the log beside the files."""
LOOK_LIMIT_S = 120.0
"""The time that a service which runs gets to say whether it can be used, the start of Java included."""
JVM_BYTES = 96 << 20
"""About what a Java process has beside its heap: classes, compiled code, threads."""


def instruments(plan: Plan) -> list[str]:
    """Return the instruments of a plan: those that it names, and those of its services and applications."""
    own = [layer_of(layer).instrument for layer in plan.section.layers]
    of_plan = (*plan.section.instruments, *plans.instruments(plan.section))
    return list(dict.fromkeys([*of_plan, *filter(None, own)]))


def classes(plan: Plan) -> dict[str, str]:
    """Return what adapters know as `NAME classes` of each application that services need.

    Raises ToolMissing or LaunchError.
    """
    room = discover("adapters", "ADAPTER")
    apps = [app for name in instruments(plan) for app in getattr(room.get(name), "java_apps", ())]
    if apps:
        java_apps.program("java")
    homes = plan.section.services.homes
    own = {app: java_apps.classpath_of(app, home) for app, home in homes.items() if app in apps}
    return {f"{app} classes": own.get(app) or java_apps.classpath(app) for app in dict.fromkeys(apps)}


def check(schedule: Schedule, site: Site, *, in_lab: bool) -> None:
    """Raise LaunchError where services cannot be started, or those that run already cannot be used."""
    check_memory(schedule, site, in_lab=in_lab)
    for launch in schedule.launches:
        if launch.block == 1 and layer_of(launch.entry.layer).instrument:
            _check_running(launch, site)


def _check_running(launch: Launch, site: Site) -> None:
    """Ask a service that runs already whether it can be used; a client's host that is gone tells so in its launches."""
    entry, adapter = launch.entry, discover("adapters", "ADAPTER").get(launch.entry.instrument)
    fabric = site.fabrics[entry.fabric] if entry.fabric else None
    context = AdapterContext(hosts=site.hosts, fabric=fabric, programs=site.programs)
    command = adapter.look(launch, context) if hasattr(adapter, "look") else None
    if command is None or entry.hosts[0] in site.absent:
        return
    (outcome,) = processes.run_commands([command], site.hosts, timeout_s=LOOK_LIMIT_S)
    reason = adapter.refused(outcome)
    if reason is not None:
        where = f"{launch.cases[0].parameter_map['at']} as {command.host} sees it"
        raise LaunchError(reason, where=where, fix="docs/bigdata.md tells what it needs")


def check_memory(schedule: Schedule, site: Site, *, in_lab: bool) -> None:
    """Raise LaunchError, with the sum, where a host has too little memory for what a launch starts there.

    The hosts of a lab share this machine's memory. What is not known of a host is not checked.
    """
    for launch in schedule.launches:
        if launch.block > 1 or not layer_of(launch.entry.layer).start_ns:
            continue
        needs = needed_bytes(launch.cases)
        if in_lab:
            _check("this machine", sum(needs.values()), facts.collect(HERE))
            continue
        for host, needed in needs.items():
            _check(host, needed, site.facts.get(host, []))


def needed_bytes(cases: tuple[Case, ...]) -> Mapping[str, int]:
    """Return how much memory each host of a launch needs at most, by its service."""
    of_layer = {"hdfs": _of_hdfs, "hbase": _of_hbase}
    return of_layer[cases[0].entry.layer](cases)


def _of_hbase(cases: tuple[Case, ...]) -> Mapping[str, int]:
    told = cases[0].parameter_map
    first, *others = cases[0].entry.hosts
    if "at" in told:
        return {first: int(told["client_heap"]) + JVM_BYTES}
    heaps = (told["hdfs_heap"], told["master_heap"], told["client_heap"])
    needs = {first: sum(map(int, heaps)) + ZOOKEEPER_HEAP_BYTES + 4 * JVM_BYTES}
    loaded = int(told["records"]) * sum({case.message_size_bytes for case in cases})
    written = int(told["operations"]) * (1 + int(told["runs"])) * sum(map(_written_bytes, cases))
    copied = round((loaded + written) * STORED_PER_LOADED) * int(told["replication"])
    kept = copied if told["data"] == "memory" else 0
    return needs | dict.fromkeys(
        others, int(told["hdfs_heap"]) + int(told["heap"]) + 2 * JVM_BYTES + kept // len(others)
    )


def _written_bytes(case: Case) -> float:
    """Return how many bytes an operation of a workload writes on average, were each of its writes a whole record."""
    workload = WORKLOADS[case.benchmark.removeprefix("hbase_")]
    return case.message_size_bytes * workload.written_share if not workload.is_load else 0.0


def _of_hdfs(cases: tuple[Case, ...]) -> Mapping[str, int]:
    told = cases[0].parameter_map
    first, *others = cases[0].entry.hosts
    if "at" in told:
        return {first: int(told["client_heap"]) + JVM_BYTES}
    needs = {first: int(told["heap"]) + int(told["client_heap"]) + 2 * JVM_BYTES}
    copied = max(int(told["files"]) * case.message_size_bytes for case in cases) * int(told["replication"])
    kept = copied if told["data"] == "memory" else 0
    return needs | dict.fromkeys(others, int(told["heap"]) + JVM_BYTES + kept // len(others))


def _check(where: str, needed: int, known: list[Fact]) -> None:
    available = next((fact.value for fact in known if fact.name == "memory.available_bytes"), None)
    if isinstance(available, int) and available < needed:
        raise LaunchError(
            f"the services need {needed >> 20} MiB of memory, and {available >> 20} MiB are available",
            where=where,
            fix="smaller heaps or files, fewer hosts, or `data: disk` (services: in the plan)",
        )
