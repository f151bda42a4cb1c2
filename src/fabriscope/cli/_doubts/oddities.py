"""What keys of a plan say together that is possible and hardly meant: what has no effect, or stops a fabric."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from fabriscope.cli._doubts import switch_oddities
from fabriscope.model.counting import counted, listed
from fabriscope.model.host_lists import twice
from fabriscope.model.layers import layer_of

if TYPE_CHECKING:
    from fabriscope.model.lab import SwitchSpec
    from fabriscope.plan import Plan
    from fabriscope.plan.yaml_places import Place

Doubt = tuple[tuple[str | int, ...], str]
"""Where it stands in the plan, nowhere for the whole of it, and a sentence."""
MOST_LAB_BITS_PER_S = 10 * 10**9
"""Every frame costs the switch some microseconds: beyond this a lab cannot be expected to keep the rate."""
MOST_LOSS = 0.01
"""With more, TCP waits for time-outs most of the time."""
LONG_DELAY_NS = 100_000_000
"""From host to host: no two places on earth are farther apart on a cable."""
LEAST_FRAMES_TO_A_LOSS = 100
LEAST_LINE_RATE_BITS_PER_S = 10**6
USUAL_PERTURBATION = 3
"""Of NetPIPE, in bytes."""
LEAST_CASE_TIMEOUT_NS = 200_000_000
"""A program that does well may say nothing for this long, on a busy machine."""


def oddities(plan: Plan) -> Iterator[Doubt]:
    """Yield place and sentence of each."""
    from fabriscope.cli._plan_words import switches

    for name, switch in switches(plan).items():
        yield from _of_switch(name, switch)
    for name, sentence in switch_oddities.oddities(plan):
        yield ("fabrics", name), sentence
    yield from (*_of_interfaces(plan), *_of_hosts(plan), *_of_processors(plan), *_of_nothing(plan))
    yield from (*_of_comparisons(plan), *_of_sweeps(plan), *_of_launchers(plan), *_of_targets(plan))
    yield from _of_the_unused(plan)
    for name, fabric in plan.section.fabrics.items():
        if (rate := fabric.line_rate or LEAST_LINE_RATE_BITS_PER_S) < LEAST_LINE_RATE_BITS_PER_S:
            what = f"{name}: a line_rate of {rate} b/s; a number without a unit is in bits a second: write 10Gb/s"
            yield ("fabrics", name, "line_rate"), what
    if (timeout := plan.section.case_timeout) < LEAST_CASE_TIMEOUT_NS:
        what = f"case_timeout: launches that do well may say nothing for {timeout / 1e6:g} ms; write 1s or more"
        yield ("case_timeout",), what


def _of_switch(name: str, switch: SwitchSpec) -> Iterator[Doubt]:
    if switch.rate_bits_per_s > MOST_LAB_BITS_PER_S:
        what = f"{name}: a lab's switch does not keep up with {switch.rate_bits_per_s / 1e9:g} Gb/s"
        yield ("fabrics", name, "lab", "rate"), f"{what}; `fabriscope lab selftest` says what it reaches"
    if switch.loss_share > MOST_LOSS:
        lost = f"{100 * switch.loss_share:.4g} % of all frames are lost"
        yield ("fabrics", name, "lab", "loss"), f"{name}: {lost}, so that TCP mostly waits for time-outs"
    if switch.delay_ns >= LONG_DELAY_NS:
        delay = f"{switch.delay_ns / 1e9:g} s"
        what = f"{name}: a delay of {delay} from host to host; a number without a unit is in seconds"
        yield ("fabrics", name, "lab", "delay"), what
    if 0 < switch.drop_every < LEAST_FRAMES_TO_A_LOSS:
        what = f"{name}: one frame in {switch.drop_every} is lost, so that TCP mostly waits for time-outs"
        yield ("fabrics", name, "lab", "drop_every"), what


def _of_interfaces(plan: Plan) -> Iterator[Doubt]:
    """Yield hosts that are none of the plan's, and fabrics between which nothing differs."""
    as_set = _as_set(plan)
    alike: dict[str, list[str]] = {}
    for name, fabric in plan.section.fabrics.items():
        if isinstance(fabric.interface, dict):
            strangers = [host for host in fabric.interface if host not in plan.hosts]
            if strangers:
                few = counted(len(strangers), "host")
                what = f"{name}: interface names {few} that the plan has not: {listed(strangers[:4])}"
                yield ("fabrics", name, "interface", strangers[0]), f"{what}; add to hosts, or leave out here"
        alike.setdefault(as_set[name], []).append(name)
    for names in alike.values():
        if len(names) > 1:
            what = f"nothing differs between {listed(names)}: the same network is compared with itself"
            yield ("fabrics", names[1]), what


def _as_set(plan: Plan) -> dict[str, str]:
    """Return each fabric as text: of the lab's its switch as settings make it, whatever they were written as."""
    from fabriscope.model.switch_settings import SWITCH_SETTINGS
    from fabriscope.running.switches import variants

    made = {one.fabric: one.spec for one in variants(plan) if not one.tuned}
    texts = {}
    for name, fabric in plan.section.fabrics.items():
        others = {key: value for key, value in sorted(fabric.settings.items()) if key not in SWITCH_SETTINGS}
        beside = fabric.model_dump_json(exclude={"line_rate", "lab", "settings"})
        lab = fabric.lab.model_dump_json(include={"preset", "second_switch", "broken"}) if fabric.lab else ""
        texts[name] = f"{beside} {lab} {made.get(name)} {others}"
    return texts


def _of_hosts(plan: Plan) -> Iterator[Doubt]:
    """Yield names of hosts that elsewhere say something else: of a batch job's hosts, and how many ranks they have."""
    from fabriscope.plan.job_hosts import ALLOCATION

    counts = [name for name in plan.hosts if name.count(":") == 1 and name.partition(":")[2].isdigit()]
    if counts:
        what = f"hosts: {counts[0]} is the name of a host here; how many ranks a host has is said by ranks_per_host"
        if "@" in counts[0]:
            port = counts[0].partition(":")[2]
            what = f"hosts: {counts[0]} is the name of a host here; ports are said to ssh, as `ssh: ssh -p {port}`"
        yield ("hosts",), what
    if len(plan.hosts) > 1 and (again := twice([plan.section.hosts])):
        what = f"hosts: {listed(list(again[:4]))} {'is' if len(again) == 1 else 'are'} named more than once"
        yield ("hosts",), f"{what}, and counted once; leave one out, or add another host"
    for name in ALLOCATION if len(plan.hosts) > 1 else ():
        if name in plan.hosts and not plan.wants_allocation:
            what = f"hosts: {name} is a host's name here; the hosts of a batch job are meant where it stands alone"
            yield ("hosts",), what


def _of_processors(plan: Plan) -> Iterator[Doubt]:
    """Yield processors that two ranks of a machine are to share."""
    from fabriscope.model.processors import numbers

    wishes: list[tuple[Place, str, object]] = [((), "bind", plan.section.bind)]
    wishes += [(("fabrics", name), f"{name}: bind", one.bind) for name, one in plan.section.fabrics.items()]
    wishes += [(("mpi", at), f"{one.name}: bind", one.bind) for at, one in enumerate(plan.section.mpi)]
    for place, where, wish in wishes:
        lists = [set(numbers(str(one))) for one in wish] if isinstance(wish, tuple) else []
        pairs = [(at, other) for at in range(len(lists)) for other in range(at) if lists[at] & lists[other]]
        if pairs:
            second, first = pairs[0]
            both = min(lists[first] & lists[second])
            what = f"{where}: ranks {first + 1} and {second + 1} of a machine share the processor {both}"
            yield (*place, "bind"), what


def _of_nothing(plan: Plan) -> Iterator[Doubt]:
    """Yield keys of a switch behind which nothing stands: they are as the preset has them."""
    for name, fabric in plan.section.fabrics.items():
        lab = fabric.lab
        if lab is not None and (empty := sorted(key for key in lab.model_fields_set if getattr(lab, key) is None)):
            what = f"{name}: nothing stands behind {listed(empty)}: as in the preset {lab.preset}"
            yield ("fabrics", name, "lab", empty[0]), what


def _of_comparisons(plan: Plan) -> Iterator[Doubt]:
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
            what = f"compare: the plan has one {kind}, so that there is nothing to compare it with"
            yield ("compare",), what


def _of_the_unused(plan: Plan) -> Iterator[Doubt]:
    """Yield what of a plan nothing asks: how hosts of a lab are reached, and RDMA that no layer speaks."""
    section = plan.section
    if plan.uses_lab and "ssh" in section.model_fields_set:
        yield ("ssh",), "ssh: hosts of a lab are not reached by it; leave it out"
    for name, fabric in section.fabrics.items():
        layers = set(fabric.layers or section.layers) & set(section.layers)
        carried = {layer_of(layer).carried_by("roce", is_inter=True) for layer in layers}
        if fabric.rdma and fabric.lossless_priority is None and carried <= {"tcp", "shm"}:
            what = f"{name}: rdma: {fabric.rdma} does nothing: no layer over it speaks RDMA"
            yield ("fabrics", name, "rdma"), f"{what}; add verbs or mpi to layers, or leave it out"


def _of_launchers(plan: Plan) -> Iterator[Doubt]:
    """Yield a launcher of MPI jobs that starts nothing."""
    if "launcher" in plan.section.model_fields_set and "mpi" not in plan.section.layers:
        what = f"launcher: {plan.section.launcher} starts MPI jobs, and the layer mpi is not measured"
        yield ("launcher",), what


def _of_targets(plan: Plan) -> Iterator[Doubt]:
    """Yield that fabrics which all reach a target rate have one throughput, which is what verdicts are of."""
    target = plan.section.services.hbase.target
    if target and "hbase" in plan.section.layers and len(plan.section.fabrics) > 1:
        yield (
            ("services", "hbase"),
            f"services.hbase: verdicts are of the throughput, which is {target}/s wherever the target is reached; the "
            "report's tables have the latencies, and without a target the fabrics tell themselves apart",
        )


def _of_sweeps(plan: Plan) -> Iterator[Doubt]:
    """Yield sweeps whose perturbation is beyond their own sizes."""
    from fabriscope.model.units import parse_size_bytes

    said = plan.document.data.get("benchmarks", {}) if plan.document is not None else {}
    for name in plan.section.benchmarks:
        sizes = (said.get(name) or {}).get("sizes")
        if isinstance(sizes, dict) and "perturbation" in sizes:
            first, last, around = (parse_size_bytes(sizes[key]) for key in ("from", "to", "perturbation"))
            if around >= last > 1:
                what = f"{name}: a perturbation of {around} B is not less than the last size, {last} B; 3 is usual"
                yield ("benchmarks", name, "sizes"), what
                continue
            steps = [2**power for power in range(last.bit_length()) if first <= 2**power]
            below = sum(size < around for size in steps)
            if around > USUAL_PERTURBATION and 2 * below > len(steps):
                what = f"{name}: a perturbation of {around} B is more than {below} of {len(steps)} sizes; 3 is usual"
                yield ("benchmarks", name, "sizes"), what
