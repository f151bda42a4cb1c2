"""What keys of a plan say together that is possible and hardly meant: what has no effect, or stops a fabric."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from fabriscope.cli import _plan_switch_oddities
from fabriscope.model.counting import counted, listed

if TYPE_CHECKING:
    from fabriscope.model.lab import SwitchSpec
    from fabriscope.plan import Plan

LONG_DELAY_NS = 100_000_000
"""From host to host: no two places on earth are farther apart on a cable."""
LEAST_FRAMES_TO_A_LOSS = 100
LEAST_LINE_RATE_BITS_PER_S = 10**6
LEAST_CASE_TIMEOUT_NS = 200_000_000
"""A program that does well may say nothing for this long, on a busy machine."""


def oddities(plan: Plan) -> Iterator[str]:
    """Yield a sentence for each."""
    from fabriscope.cli._plan_words import switches

    for name, switch in switches(plan).items():
        yield from _of_switch(name, switch)
    yield from _plan_switch_oddities.oddities(plan)
    yield from (*_of_interfaces(plan), *_of_hosts(plan), *_of_processors(plan), *_of_nothing(plan))
    yield from (*_of_comparisons(plan), *_of_sweeps(plan), *_of_launchers(plan), *_of_targets(plan))
    speaks_verbs = any(fabric.rdma for fabric in plan.section.fabrics.values())
    for name, fabric in plan.section.fabrics.items():
        if fabric.service_level and not speaks_verbs:
            yield f"{name}: service_level is of what verbs send, and no fabric has `rdma`; leave it out"
        if (rate := fabric.line_rate or LEAST_LINE_RATE_BITS_PER_S) < LEAST_LINE_RATE_BITS_PER_S:
            yield f"{name}: a line_rate of {rate} b/s; a number without a unit is in bits a second: write 10Gb/s"
    if (timeout := plan.section.case_timeout) < LEAST_CASE_TIMEOUT_NS:
        yield f"case_timeout: launches that do well may say nothing for {timeout / 1e6:g} ms; write 1s or more"


def _of_switch(name: str, switch: SwitchSpec) -> Iterator[str]:
    if switch.delay_ns >= LONG_DELAY_NS:
        delay = f"{switch.delay_ns / 1e9:g} s"
        yield f"{name}: a delay of {delay} from host to host; a number without a unit is in seconds"
    if 0 < switch.drop_every < LEAST_FRAMES_TO_A_LOSS:
        yield f"{name}: one frame in {switch.drop_every} is lost, so that TCP mostly waits for time-outs"


def _of_interfaces(plan: Plan) -> Iterator[str]:
    """Yield hosts that are none of the plan's, and fabrics between which nothing differs."""
    alike: dict[str, list[str]] = {}
    for name, fabric in plan.section.fabrics.items():
        if isinstance(fabric.interface, dict):
            strangers = [host for host in fabric.interface if host not in plan.hosts]
            if strangers:
                few = counted(len(strangers), "host")
                yield f"{name}: interface names {few} that the plan has not: {listed(strangers[:4])}"
        alike.setdefault(fabric.model_dump_json(), []).append(name)
    for names in alike.values():
        if len(names) > 1:
            yield f"nothing differs between {listed(names)}: the same network is compared with itself"


def _of_hosts(plan: Plan) -> Iterator[str]:
    """Yield names of hosts that elsewhere say something else: of a batch job's hosts, and how many ranks they have."""
    from fabriscope.plan.load import ALLOCATION

    counts = [name for name in plan.hosts if name.count(":") == 1 and name.partition(":")[2].isdigit()]
    if counts:
        yield f"hosts: {counts[0]} is the name of a host here; how many ranks a host has is said by ranks_per_host"
    for name in ALLOCATION if len(plan.hosts) > 1 else ():
        if name in plan.hosts and not plan.wants_allocation:
            yield f"hosts: {name} is a host's name here; the hosts of a batch job are meant where it stands alone"


def _of_processors(plan: Plan) -> Iterator[str]:
    """Yield processors that two ranks of a machine are to share."""
    from fabriscope.model.processors import numbers

    wishes: list[tuple[str, object]] = [("bind", plan.section.bind)]
    wishes += [(f"{name}: bind", one.bind) for name, one in plan.section.fabrics.items()]
    wishes += [(f"{one.name}: bind", one.bind) for one in plan.section.mpi]
    for where, wish in wishes:
        lists = [set(numbers(str(one))) for one in wish] if isinstance(wish, tuple) else []
        pairs = [(at, other) for at in range(len(lists)) for other in range(at) if lists[at] & lists[other]]
        if pairs:
            second, first = pairs[0]
            both = min(lists[first] & lists[second])
            yield f"{where}: ranks {first + 1} and {second + 1} of a machine share the processor {both}"


def _of_nothing(plan: Plan) -> Iterator[str]:
    """Yield keys of a switch behind which nothing stands: they are as the preset has them."""
    for name, fabric in plan.section.fabrics.items():
        lab = fabric.lab
        if lab is not None and (empty := sorted(key for key in lab.model_fields_set if getattr(lab, key) is None)):
            yield f"{name}: nothing stands behind {listed(empty)}: as in the preset {lab.preset}"


def _of_comparisons(plan: Plan) -> Iterator[str]:
    """Yield kinds of comparison that are to be decided, and of which the plan has one thing alone."""
    section = plan.section
    counts = {
        "fabric": len(section.fabrics),
        "layer": len(section.layers),
        "mpi": len(section.mpi),
        "placement": len(section.placements),
        "instrument": len(section.instruments),
    }
    for kind in section.compare if section.tune is None and not section.intervene else ():
        if counts.get(kind, 2) < 2:
            yield f"compare: the plan has one {kind}, so that there is nothing to compare it with"


def _of_launchers(plan: Plan) -> Iterator[str]:
    """Yield a launcher of MPI jobs that starts nothing."""
    if "launcher" in plan.section.model_fields_set and "mpi" not in plan.section.layers:
        yield f"launcher: {plan.section.launcher} starts MPI jobs, and the layer mpi is not measured"


def _of_targets(plan: Plan) -> Iterator[str]:
    """Yield that fabrics which all reach a target rate have one throughput, which is what verdicts are of."""
    target = plan.section.services.hbase.target
    if target and "hbase" in plan.section.layers and len(plan.section.fabrics) > 1:
        yield (
            f"services.hbase: verdicts are of the throughput, which is {target}/s wherever the target is reached; the "
            "report's tables have the latencies, and without a target the fabrics tell themselves apart"
        )


def _of_sweeps(plan: Plan) -> Iterator[str]:
    """Yield sweeps whose perturbation is beyond their own sizes."""
    from fabriscope.model.units import parse_size_bytes

    said = plan.document.data.get("benchmarks", {}) if plan.document is not None else {}
    for name in plan.section.benchmarks:
        sizes = (said.get(name) or {}).get("sizes")
        if isinstance(sizes, dict) and "perturbation" in sizes:
            last, around = (parse_size_bytes(sizes[key]) for key in ("to", "perturbation"))
            if around >= last > 1:
                yield f"{name}: a perturbation of {around} B is not less than the last size, {last} B; 3 is usual"
