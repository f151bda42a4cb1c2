"""What an audit finds and a setting can change: a fabric of its own, over which it is changed, for each such finding.

Launches over it stand in the same randomised blocks as those over the fabric as it is: what the finding costs is a
comparison like any other.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Container, Iterator, Mapping, Sequence

from fabriscope.audit import alike, auditing
from fabriscope.audit.inventory import value_text
from fabriscope.audit.scene import Scene
from fabriscope.knobs import Knob, knobs
from fabriscope.launch.site import Site
from fabriscope.model.audit import Finding
from fabriscope.model.fabric import Fabric
from fabriscope.model.host import Fact, HostFacts
from fabriscope.model.host_lists import folded
from fabriscope.plan import Plan
from fabriscope.running.strayed import strayed

MOST_CAUSES = 8
"""Findings of a run that are changed, those that the audit names first: each adds the launches of a fabric."""
_KNOWN = {"governor": ("governor", "performance"), "numa-balancing": ("numa_balancing", "0")}
"""Check to setting and value, where hosts are not held against each other."""


@dataclasses.dataclass(frozen=True)
class Cause:
    """A finding, and the setting that would end it."""

    fabric: str
    setting: str
    """Of a host, or of the lab's switch."""
    value: str
    what: str
    name: str
    """Of the fabric over which it is changed."""


_Change = tuple[str, str, str]
"""Setting, value, and the finding in words."""


def of_run(plan: Plan, site: Site, facts: Mapping[str, Sequence[Fact]]) -> list[Cause]:
    """Return what of a run's hosts and of its lab's switches can be changed; raises as reading a host does."""
    return found(site.fabrics, facts, strayed(plan, site))


def found(
    fabrics: Mapping[str, Fabric],
    facts: Mapping[str, Sequence[Fact]],
    strayed: Mapping[str, Sequence[_Change]] | None = None,
) -> list[Cause]:
    """Return what the audit of hosts finds that a setting can change on a fabric, at most MOST_CAUSES.

    First stands what the lab's switch is that the plan does not say: `strayed`, by fabric.
    """
    scene = Scene({name: HostFacts(tuple(told)) for name, told in facts.items()})
    findings = auditing.audit(scene).findings
    causes: dict[tuple[str, str, str], Cause] = {}
    for fabric in fabrics.values():
        changes = (*(strayed or {}).get(fabric.name, ()), *_of_fabric(fabric, findings, scene))
        for setting, value, what in changes:
            cause = Cause(fabric.name, setting, value, what, _name(f"{fabric.name}-{setting}-{value}", fabrics))
            causes.setdefault((fabric.name, setting, value), cause)
    return list(causes.values())[:MOST_CAUSES]


def _name(wanted: str, taken: Container[str]) -> str:
    """Return a name that no fabric of the plan has."""
    more = (f"{wanted}-{number}" for number in itertools.count(2))
    return next(one for one in itertools.chain((wanted,), more) if one not in taken)


def _of_fabric(fabric: Fabric, findings: Sequence[Finding], scene: Scene) -> Iterator[_Change]:
    for finding in findings:
        if finding.check in _KNOWN:
            name, value = _KNOWN[finding.check]
            yield name, value, f"{finding.what} on {folded(finding.hosts)}"
        facts = {witness.fact for witness in finding.witnesses}
        for knob in knobs().values():
            if knob.fact.rpartition(".")[2] not in facts or not knob.fact:
                continue
            interface = fabric.interfaces.get(finding.hosts[0], "")
            if knob.scope != "interface" or finding.path.split(" ")[0] == interface:
                yield from _differing(knob, knob.fact.format(interface=interface), finding.hosts, scene)


def _differing(knob: Knob, fact: str, hosts: Sequence[str], scene: Scene) -> Iterator[_Change]:
    """Yield the usual value of a fact in which hosts differ, and others where no value is usual."""
    group = next((one for one in scene.kinds if hosts[0] in one), [])
    known = [
        one for one in alike.spread(fact, {host: scene.hosts[host] for host in group}).values if one.value is not None
    ]
    for one in known if len(known) > 1 else ():
        odd = [other for other in known if other is not one]
        if len(one.hosts) == len(known[0].hosts) and (value := _setting(knob, one.value)) is not None:
            differs = ", ".join(f"{value_text(other.value)} on {folded(other.hosts)}" for other in odd)
            yield knob.name, value, f"{knob.name} is {differs}, and {value_text(one.value)} elsewhere"


def _setting(knob: Knob, value: str | float | bool | None) -> str | None:
    """Return a fact's value as a plan would write it; None where the setting has no such value."""
    for one in (value, int(value)) if isinstance(value, bool) else (value,):
        try:
            return None if one is None else knob.value(one)
        except ValueError:
            continue
    return None


def begun(fabrics: Mapping[str, Fabric]) -> list[Cause]:
    """Return what a run that has begun changes, of the fabrics in its manifest."""
    return [
        Cause(one.instead_of, name, value, one.cause, one.name)
        for one in fabrics.values()
        if one.instead_of
        for name, value in one.knobs.items()
        if fabrics[one.instead_of].knobs.get(name) != value
    ]


def extended(plan: Plan, causes: Sequence[Cause]) -> Plan:
    """Return a plan with a fabric for each cause, also where MPI libraries are bound to its base."""
    section = plan.section
    fabrics = dict(section.fabrics)
    for one in causes:
        base = section.fabrics[one.fabric]
        fabrics[one.name] = base.model_copy(update={"settings": {**base.settings, one.setting: one.value}})
    stacks = [
        stack if stack.fabrics is None else stack.model_copy(update={"fabrics": _with(stack.fabrics, causes)})
        for stack in section.mpi
    ]
    return dataclasses.replace(plan, section=section.model_copy(update={"fabrics": fabrics, "mpi": tuple(stacks)}))


def _with(names: Sequence[str], causes: Sequence[Cause]) -> tuple[str, ...]:
    return (*names, *(one.name for one in causes if one.fabric in names))


def with_fabrics(fabrics: Mapping[str, Fabric], causes: Sequence[Cause]) -> dict[str, Fabric]:
    """Return fabrics, and those over which something is changed: the same interfaces, and the setting."""
    more = dict(fabrics)
    for one in causes:
        base = fabrics[one.fabric]
        more[one.name] = dataclasses.replace(
            base, name=one.name, knobs={**base.knobs, one.setting: one.value}, instead_of=base.name, cause=one.what
        )
    return more
