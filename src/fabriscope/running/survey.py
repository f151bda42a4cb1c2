"""The facts of hosts, asked all at once: those of a plan, of a list, of a lab that stands, or of this machine."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from fabriscope import store
from fabriscope.hosts import facts
from fabriscope.launch import ssh
from fabriscope.model.errors import HostError
from fabriscope.model.fabric import Fabric
from fabriscope.model.host import HERE, Fact, Host, HostFacts
from fabriscope.model.host_lists import unfolded
from fabriscope.running import fleet, real_site
from fabriscope.running.site import planned_fabrics

if TYPE_CHECKING:
    from fabriscope.plan import Plan

_MOST_AT_ONCE = 16
Notice = Callable[[str], None]


@dataclass(frozen=True)
class Survey:
    """What hosts said of themselves."""

    hosts: Mapping[str, HostFacts]
    problems: Mapping[str, str] = field(default_factory=dict)
    """Host that could not be asked to the reason."""
    plan: Plan | None = None
    fabrics: Mapping[str, Fabric] = field(default_factory=dict)
    """Those of the plan, or of the run."""


def survey(*, plan: Path | None, hosts: str | None, lab: str | None, ssh_words: str | None, notice: Notice) -> Survey:
    """Ask the hosts of a plan, of a list, or of a standing lab (an empty name: the only one); else this machine.

    Of a run's folder in place of a plan nobody is asked: what its hosts said then is stored there. Raises StoreError,
    PlanError for a plan that is wrong, HostError for a list that is none, LabError for a lab that is not there.
    """
    if lab is not None:
        return _of_lab(lab, unfolded(hosts) if hosts else ())
    if plan is not None and plan.is_dir():
        manifest = store.open_run(plan).read().manifest
        return Survey(manifest.hosts, fabrics=manifest.fabrics)
    read = _plan(plan) if plan is not None else None
    names = unfolded(hosts) if hosts else read.hosts if read is not None else (HERE.name,)
    words = real_site.ssh_of(read) if read is not None else ssh.chosen()
    if ssh_words:
        words = dataclasses.replace(words, command=ssh.split(ssh_words))
    near = [name for name in names if real_site.is_here(name)]
    far = [name for name in names if name not in near]
    known = {name: HostFacts(tuple(facts.collect(Host(name)))) for name in near}
    problems: dict[str, str] = {}
    if far:
        notice(f"asking {len(far)} hosts over ssh")
        with fleet.connected(words) as opened:
            opened.look(far)
            known |= {name: HostFacts(tuple(seen.facts)) for name, seen in opened.seen.items()}
            problems = dict(opened.problems)
    told = {name: known[name] for name in names if name in known}
    return Survey(told, problems, read, planned_fabrics(read) if read is not None else {})


def _plan(path: Path) -> Plan:
    from fabriscope import plan as plans
    from fabriscope.running.vocabulary import vocabulary

    plan = plans.load(path, vocabulary())
    if plan.uses_lab:
        fix = "build it with `fabriscope lab up`, and give --lab"
        raise HostError("its hosts are made by the lab, and stand only while it runs", where=str(path), fix=fix)
    plans.refuse_others(plan)
    return plan


def _of_lab(name: str, wanted: Sequence[str]) -> Survey:
    from fabriscope import lab

    standing = lab.find(name or None)
    hosts = [standing.check_host(one) for one in wanted or [host.name for host in standing.hosts]]
    with ThreadPoolExecutor(_MOST_AT_ONCE) as pool:
        found = dict(zip([host.name for host in hosts], pool.map(facts.collect, hosts), strict=True))
    problems = {name: why for name, told in found.items() if (why := _unread(told)) is not None}
    return Survey({name: HostFacts(tuple(told)) for name, told in found.items() if name not in problems}, problems)


def _unread(told: Sequence[Fact]) -> str | None:
    """Return why a host told nothing at all."""
    return told[0].unknown_because if told and all(fact.name.endswith(".reading") for fact in told) else None
