"""Builds what a run runs on: its hosts, fabrics, MPI libraries and engines, real or of the lab."""

from __future__ import annotations

import contextlib
import dataclasses
import os
import shutil
import threading
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from fabriscope import engine_binary
from fabriscope.hosts import access
from fabriscope.launch.site import Site
from fabriscope.model.errors import LabError, PlanError
from fabriscope.model.fabric import Fabric
from fabriscope.model.host import Fact, Host
from fabriscope.model.host_lists import unfolded
from fabriscope.model.lab import RDMA_DRIVERS, LabSpec
from fabriscope.model.mpi import MpiStack
from fabriscope.model.switch_settings import SwitchPlace
from fabriscope.plan import Plan
from fabriscope.plan.schema import FabricSection
from fabriscope.registry import discover
from fabriscope.running import (
    applications,
    library_settings,
    osu_builds,
    rdma_ports,
    real_site,
    services,
    settings,
    switches,
)
from fabriscope.running.real_site import Notice, Parts, RealSite
from fabriscope.running.switches import switch_spec

if TYPE_CHECKING:
    from fabriscope.lab import Lab

__all__ = ["LabSite", "Site", "cores_per_host", "find_stacks", "lab_spec", "planned_fabrics", "prepare", "switch_spec"]


@dataclass(frozen=True, kw_only=True)
class LabSite(Parts):
    """A lab that was built for the run."""

    lab: Lab

    def sweep(self, host_names: Iterable[str]) -> None:
        """End every process that runs on hosts."""
        for name in host_names:
            self.lab.sweep(name)

    def mend(self) -> list[str]:
        """Start again what of the lab has died; return what was wrong."""
        return self.lab.mend()

    def switch_of(self, fabric: Fabric, /) -> SwitchPlace | None:
        """Return where the switch of a fabric is told something; None for one that is a bridge of the kernel's."""
        from fabriscope.lab import switch_process

        while base := fabric.tries or fabric.instead_of:
            fabric = self.fabrics[base]
        attachment = self.lab.state.details["fabrics"][fabric.name]["attachment"]
        return switch_process.place(self.lab.state.folder, self.lab.keeper_words, fabric.name, attachment)

    def confine(self, processors: str, /) -> bool:
        """Let the switch run on these of the machine's processors alone; False without one. Raises LabError."""
        return self.lab.confine_switch(processors)

    def counters(self) -> Mapping[str, object]:
        """Return the switches' counters for each port."""
        return self.lab.counters()

    def switch_series(self, since_unix_ns: int, /) -> Mapping[str, object]:
        """Return what the switch counted over time since then, SwitchSeries; nothing where no fabric is shaped."""
        return self.lab.ask_switch(f"series {since_unix_ns}")

    def consoles(self) -> Mapping[str, str]:
        """Return what each guest's kernel has written so far."""
        return self.lab.consoles()


@contextlib.contextmanager
def prepare(
    plan: Plan,
    notice: Notice,
    known: Mapping[str, list[Fact]] | None = None,
    cancel: threading.Event | None = None,
) -> Iterator[Site]:
    """Build what the plan runs on, and take it down again; `notice` is told what takes time.

    `known` are the facts of the hosts from the time when the run began, for one that goes on: then a host that cannot
    be reached is `absent`, and where all can be done without it nothing is raised.
    Raises LabError, HostError, ToolMissing, LaunchError or PlanError.
    """
    engine = str(engine_binary.find_engine())
    wanted = _wanted_programs(plan)
    programs = {name: path for name in wanted if (path := shutil.which(name)) is not None}
    programs |= services.classes(plan)
    stacks = find_stacks(plan)
    mpi_engines = _mpi_engines(stacks, notice, cancel)
    npb = applications.kernels(plan, stacks, notice, cancel)
    profilers = applications.profilers(plan, stacks, cancel)
    osu = osu_builds.of_plan(plan, stacks, notice, cancel)
    fabrics = planned_fabrics(plan)
    parts = dict(vars(Parts({}, fabrics, stacks, engine, mpi_engines, programs, npb=npb, profilers=profilers, osu=osu)))
    if not plan.uses_lab:
        with real_site.prepare(plan, RealSite(**parts, wanted_programs=wanted), notice, known) as site:
            yield site
        return
    from fabriscope import lab

    notice("the lab")
    built = lab.up(lab_spec(plan), notice=lambda stuck: notice(f"the lab, though one is left over: {stuck}"))
    try:
        _break(plan, built)
        hosts = {host.name: host for host in built.hosts}
        fabrics = rdma_ports.found(fabrics, hosts)
        parts |= {"hosts": hosts, "fabrics": fabrics, "remote_shell": str(built.remote_shell)}
        yield LabSite(**parts, lab=built)
    finally:
        built.down()


def _mpi_engines(stacks: Mapping[str, MpiStack], notice: Notice, cancel: threading.Event | None) -> dict[str, str]:
    found = {}
    for name, stack in stacks.items():
        notice(f"the engine for {name} (compiled once, then kept)")
        found[name] = str(engine_binary.build_mpi_engine(stack, cancel))
    return found


def _break(plan: Plan, built: Lab) -> None:
    """Plant the faults that a plan has, which end with the lab. Raises LabError."""
    from fabriscope.lab.broken import FAULTS

    for index, (name, section) in enumerate(plan.section.fabrics.items()):
        for fault, hosts in section.lab.broken.items() if section.lab is not None else ():
            chosen = FAULTS[fault]
            if chosen.setting is None:
                built.change(name, dict(chosen.switch), () if chosen.is_of_fabric else unfolded(hosts))
                continue
            _, path, value = chosen.setting
            words = ("sh", "-c", 'printf "%s\\n" "$2" > "$1"', "sh", path.format(interface=f"eth{index}"), value)
            for host in unfolded(hosts):
                said = access.run(built.host(host), words, access.READ_TIMEOUT_S)
                if said.exit_status != 0:
                    raise LabError(f"the fault {fault} cannot be planted: {said.last_words}", where=f"host {host}")


def planned_fabrics(plan: Plan) -> dict[str, Fabric]:
    """Return the plan's fabrics; those of the lab are eth0, eth1 ... in the plan's order. Raises PlanError."""
    fabrics = {}
    if plan.uses_lab:
        lab_spec(plan)
    for index, (name, section) in enumerate(plan.section.fabrics.items()):
        if section.lab is None:
            fabrics[name] = Fabric(
                name,
                _interfaces(section, plan),
                line_rate_bits_per_s=section.line_rate,
                knobs=settings.values_of(section),
                **_verbs(section),
            )
            continue
        switch = switch_spec(section.lab)
        as_built = Fabric(
            name,
            dict.fromkeys(plan.hosts, f"eth{index}"),
            line_rate_bits_per_s=switch.rate_bits_per_s or None,
            mtu_bytes=switch.mtu_bytes,
            settings={key: str(value) for key, value in dataclasses.asdict(switch).items()},
            **_verbs(section),
        )
        fabrics[name] = settings.with_knobs(as_built, settings.values_of(section))
    return fabrics


def lab_spec(plan: Plan) -> LabSpec:
    """Return the lab that the plan asks for; raises PlanError if no lab can be so."""
    from fabriscope.lab import limits

    wired = {name: switch_spec(section.lab) for name, section in plan.section.fabrics.items() if section.lab}
    drivers = {name: RDMA_DRIVERS[section.rdma] for name, section in plan.section.fabrics.items() if section.rdma}
    spec = LabSpec(plan.hosts, wired, guests=plan.guests, rdma=drivers, cpu_shares=plan.cpu_shares)
    for one in limits.problems(spec):
        place = ("fabrics", one.fabric, "lab", one.key) if one.fabric else ("hosts",)
        raise PlanError(one.what, where=plan.where(*place), fix=one.fix)
    switches.check_settings(plan)
    return spec


def _verbs(section: FabricSection) -> dict[str, Any]:
    """Return what a fabric that speaks verbs has beside its interfaces; its ports are found once hosts stand."""
    transport = {None: "tcp", "soft-roce": "roce"}.get(section.rdma, section.rdma)
    return {
        "transport": transport,
        "service_level": section.service_level,
        "traffic_class": section.traffic_class,
        "lossless_priority": section.lossless_priority,
    }


def find_stacks(plan: Plan) -> dict[str, MpiStack]:
    """Return the plan's MPI libraries by their names.

    Raises ToolMissing for one that is not there, and PlanError for a setting that counts in no launch of theirs.
    """
    found = {}
    for index, wanted in enumerate(plan.section.mpi):
        stack = library_settings.installed(plan, index)
        env, knobs = {**stack.env, **wanted.env}, settings.values_of(wanted)
        found[wanted.name] = dataclasses.replace(
            stack, name=wanted.name, env=env, bind=wanted.bind, over=wanted.over, knobs=knobs
        )
    transports = {name: _verbs(section)["transport"] for name, section in plan.section.fabrics.items()}
    library_settings.check(plan, found, transports)
    return found


def _wanted_programs(plan: Plan) -> frozenset[str]:
    """Return the programs that the plan's instruments start; a missing one fails its launches, with that reason."""
    room = discover("adapters", "ADAPTER")
    return frozenset(
        name for instrument in services.instruments(plan) for name in getattr(room.get(instrument), "programs", ())
    )


def _interfaces(section: FabricSection, plan: Plan) -> dict[str, str]:
    if isinstance(section.interface, str):
        return dict.fromkeys(plan.hosts, section.interface)
    return dict(section.interface or {})


def cores_per_host(hosts: Iterable[Host] = (), known: Mapping[str, list[Fact]] | None = None) -> int | None:
    """Return how many cores every one of the hosts has at least: what `half` and `all` in a plan count.

    On this machine, and so on every host of a lab, that is the processors that we may use; on a remote host what the
    `known` facts say, None where they do not.
    """
    counts: list[object] = [len(os.sched_getaffinity(0))]
    for host in hosts:
        if host.is_remote:
            told = {fact.name: fact.value for fact in (known or {}).get(host.name, [])}
            counts.append(told.get("cpu.core_count") or told.get("cpu.thread_count"))
    numbers = [count for count in counts if isinstance(count, int)]
    remote = numbers[1:] or numbers
    return min(remote) if len(numbers) == len(counts) else None
