"""What a plan says of something that it does not measure: it is refused, since somebody meant it to count."""

from __future__ import annotations

from collections.abc import Iterator

from fabriscope.model.layers import layer_of
from fabriscope.plan.ranks import Contradiction
from fabriscope.plan.schema import PlanSection

_EXAMPLES = {"hdfs": "hdfs_write: {sizes: [64MiB]}", "hbase": "hbase_get: {sizes: [1000]}"}


def contradictions(plan: PlanSection) -> Iterator[Contradiction]:
    """Yield place, what is wrong, and the fix."""
    if "mpi" in plan.compare and "mpi" not in plan.layers:
        what = "the comparison of MPI libraries is to be decided, and the layer mpi is not measured"
        yield ("compare", plan.compare.index("mpi")), what, "add mpi to layers, or remove it here"
    for name in sorted(plan.services.model_fields_set - set(plan.layers)):
        fix = f"add {name} to layers, and for example `{_EXAMPLES[name]}` to benchmarks, or remove it"
        yield ("services", name), f"the service {name} is described, and the layer {name} is not measured", fix
    yield from _of_carriers(plan)
    yield from _of_cards(plan)


def _of_carriers(plan: PlanSection) -> Iterator[Contradiction]:
    """Yield libraries that are told what carries them over RDMA, where no fabric of theirs speaks it."""
    for index, stack in enumerate(plan.mpi):
        over = [fabric for name, fabric in plan.fabrics.items() if stack.fabrics is None or name in stack.fabrics]
        if stack.over is not None and not any(fabric.rdma for fabric in over):
            what = f"over: {stack.over} is what carries {stack.name} over RDMA, and no fabric of it has `rdma`"
            yield ("mpi", index, "over"), what, "remove it, or add for example `rdma: roce` to a fabric"


def _of_cards(plan: PlanSection) -> Iterator[Contradiction]:
    """Yield layers that need a network card of their own, where all fabrics are of the lab."""
    if not plan.fabrics or any(fabric.lab is None for fabric in plan.fabrics.values()):
        return
    for index, name in enumerate(plan.layers):
        if card := layer_of(name).card:
            what = f"{name} needs {card}, and a lab has none"
            yield ("layers", index), what, "leave the layer out, or name real hosts and their interfaces"
