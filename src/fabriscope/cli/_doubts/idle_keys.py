"""What keys of a plan say that changes nothing: of a benchmark, of its fabrics, and of how it is started."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import TYPE_CHECKING

from fabriscope.model.benchmarks import kind_of
from fabriscope.model.counting import listed

if TYPE_CHECKING:
    from fabriscope.cli._doubts.oddities import Doubt
    from fabriscope.plan import Plan
    from fabriscope.plan.schema import FabricSection

FORCED = frozenset(
    (
        *(f"OMPI_MCA_{name}" for name in ("btl", "pml", "mtl", "osc", "btl_tcp_if_include")),
        *("UCX_TLS", "UCX_NET_DEVICES", "I_MPI_FABRICS", "I_MPI_OFI_PROVIDER", "FI_PROVIDER", "FI_TCP_IFACE"),
    )
)
"""Variables that say what carries a library, which each launch sets by its fabric (launch/)."""
DSCPS = (26, 34, 46)
"""As they are often meant by a traffic class, whose lowest two bits are of ECN."""
_OF_VERBS = ("service_level", "lossless_priority")


def oddities(plan: Plan) -> Iterator[Doubt]:
    """Yield place and sentence of each."""
    yield from (*_of_benchmarks(plan), *_of_sharpening(plan), *_of_fabrics(plan))
    yield from (*_of_environments(plan), *_of_twins(plan), *_of_launchers(plan))


def _of_benchmarks(plan: Plan) -> Iterator[Doubt]:
    hosts, section = len(plan.hosts), plan.section
    for name, one in section.benchmarks.items():
        kind, given = kind_of(name), one.model_fields_set
        place = ("benchmarks", name)
        if "sizes" in given and not kind.has_size:
            yield (*place, "sizes"), f"{name}: sizes do nothing: it has no message; leave them out"
        if "sizes" in given and kind.is_of_one_element:
            yield (*place, "sizes"), f"{name}: sizes do nothing: its message is one element; leave them out"
        if "in_flight_limit" in given and not kind.has_window:
            what = f"{name}: in_flight_limit does nothing: it has one operation under way at a time"
            yield (*place, "in_flight_limit"), f"{what}; leave it out"
        is_pair = section.ranks == (2,) and not section.ranks_per_host
        if name in ("incast", "one_to_many") and is_pair and hosts > 2 and "inter" in section.placements:
            key = ("ranks",) if "ranks" in section.model_fields_set else place
            yield key, f"{name}: with 2 of {hosts} hosts it is one stream; write `ranks: all`, or a count"


def _of_sharpening(plan: Plan) -> Iterator[Doubt]:
    benchmarks = plan.section.benchmarks.items()
    counts = [len(one.sizes) for name, one in benchmarks if kind_of(name).has_size]
    if plan.section.sharpen and max(counts, default=0) < 2:
        what = "sharpen: further sizes lie between two of a benchmark, and none has two"
        yield ("sharpen",), f"{what}; add sizes, or leave it out"


def _of_fabrics(plan: Plan) -> Iterator[Doubt]:
    speaks_verbs = any(fabric.rdma for fabric in plan.section.fabrics.values())
    for name, fabric in plan.section.fabrics.items():
        for key in _OF_VERBS if not speaks_verbs else ():
            if key in fabric.model_fields_set:
                what = f"{name}: {key} is of what verbs send, and no fabric has `rdma`; leave it out"
                yield ("fabrics", name, key), what
        if fabric.traffic_class in DSCPS:
            what = f"{name}: a traffic_class of {fabric.traffic_class} has ECN's lowest two bits"
            what += f"; the DSCP {fabric.traffic_class} is the class {fabric.traffic_class << 2}"
            yield ("fabrics", name, "traffic_class"), what
        if not plan.section.tune and not fabric.settings:
            yield from ((("fabrics", name, "lab", key), f"{name}: {what}") for key, what in _of_lab(fabric))


def _of_lab(fabric: FabricSection) -> Iterator[tuple[str, str]]:
    """Yield key and sentence of what a switch of the lab is told, and has no use for."""
    from fabriscope.running.site import switch_spec

    if fabric.lab is None:
        return
    switch, given = switch_spec(fabric.lab), fabric.lab.model_fields_set
    if "rx_coalesce_frames" in given and not switch.rx_coalesce_ns:
        yield "rx_coalesce_frames", "rx_coalesce_frames does nothing: no frame waits without rx_coalesce_time"
    if "rx_coalesce_time" in given and switch.rx_coalesce_ns and switch.rx_coalesce_frames == 1:
        what = "rx_coalesce_time does nothing: the first frame is handed over at once"
        yield "rx_coalesce_time", f"{what}; write how many it waits for, as `rx_coalesce_frames: 15`"
    by_chance = (switch.loss_share, switch.reorder_share, switch.queues.ecn_min_bytes, switch.flap_period_ns)
    if "fault_seed" in given and not any((*by_chance, switch.drop_every, fabric.lab.broken)):
        yield "fault_seed", "fault_seed does nothing: nothing happens by chance without `loss` or `reorder`"
    if 2 * switch.flap_down_ns > switch.flap_period_ns:
        down = f"{switch.flap_down_ns / 1e6:g} of each {switch.flap_period_ns / 1e6:g} ms"
        yield "flap_down", f"links are down for {down}, so that TCP mostly waits for time-outs; 50ms of 1s is usual"


def _of_environments(plan: Plan) -> Iterator[Doubt]:
    """Yield variables by which a library would be carried by something else than its fabric."""
    for at, stack in enumerate(plan.section.mpi):
        for name in sorted(FORCED & stack.env.keys()):
            what = f"{stack.name}: {name} says what carries it, and so does each launch, by its fabric"
            yield ("mpi", at, "env", name), f"{what}; leave it out, or name another fabric, or `over`"


def _of_twins(plan: Plan) -> Iterator[Doubt]:
    """Yield libraries between which nothing differs but their names."""
    alike: dict[str, list[str]] = {}
    places = {one.name: at for at, one in enumerate(plan.section.mpi)}
    for one in plan.section.mpi:
        library = one.library or one.path or one.name
        key = one.model_dump_json(exclude={"name", "library", "path"})
        alike.setdefault(f"{library} {key}", []).append(one.name)
    for names in alike.values():
        if len(names) > 1:
            what = f"nothing differs between {listed(names)}: the same library is compared with itself"
            yield ("mpi", places[names[1]]), what


def _of_launchers(plan: Plan) -> Iterator[Doubt]:
    section = plan.section
    is_srun = section.launcher == "srun" and "mpi" in section.layers
    if is_srun and plan.uses_lab:
        yield ("launcher",), "launcher: srun starts jobs of Slurm, and hosts of a lab are in none; leave it out"
    elif is_srun and not (plan.wants_allocation or section.submit.model_fields_set or "SLURM_JOB_ID" in os.environ):
        what = "launcher: srun starts jobs of Slurm, and this plan is in none"
        yield ("launcher",), f"{what}; write `hosts: slurm`, or leave it out"
