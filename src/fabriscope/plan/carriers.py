"""What carries a layer's bytes at a placement: which fabrics, and which MPI libraries over each."""

from __future__ import annotations

from collections.abc import Iterator

from fabriscope.model.layers import layer_of
from fabriscope.plan.schema import PlanSection


def carriers(section: PlanSection, placement: str, layer: str) -> Iterator[tuple[str | None, str | None]]:
    """Yield fabric and MPI library of each entry, None where there is none.

    Inside a host no fabric is used, unless `intra_fabrics` names some: then ranks of one host speak TCP to the
    host's own address on each of them, beside MPI's shared memory.
    """
    for fabric in _fabrics(section, placement, layer):
        if layer != "mpi":
            yield fabric, None
            continue
        for stack in section.mpi:
            if stack.fabrics is None or (placement == "inter" and fabric in stack.fabrics):
                yield fabric, stack.name


def _fabrics(section: PlanSection, placement: str, layer: str) -> list[str | None]:
    if placement == "inter":
        return [
            name
            for name, fabric in section.fabrics.items()
            if (fabric.rdma or not layer_of(layer).needs_rdma) and (fabric.layers is None or layer in fabric.layers)
        ]
    addressed: list[str | None] = list(section.intra_fabrics) if layer_of(layer).reaches_itself else []
    return [None, *addressed] if layer == "mpi" or not addressed else addressed
