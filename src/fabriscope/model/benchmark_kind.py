"""What is known of one benchmark; `benchmarks.py` has the table of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

PAIR, PAIRS, GROUP, STREAMS, SERVICE, APPLICATION = "pair", "pairs", "group", "streams", "service", "application"
BESIDE, TO_MANY = "beside", "to_many"
"""Patterns: two ranks; every rank with a partner, all pairs at once; all ranks at once; all others to rank 0, which is
alone on its host; a client, and a service on all other hosts; a program that solves a problem; two ranks, and beside
them rank 2 with all others; several ranks, each with an equal share of the others."""
OF_STREAMS = (STREAMS, TO_MANY)
"""Those whose numbers are of what arrived when."""
DATATYPE_BYTES = {"byte": 1, "int32": 4, "int64": 8, "float": 4, "double": 8}


@dataclass(frozen=True)
class BenchmarkKind:
    """One benchmark."""

    name: str
    title: str
    """How a sentence calls it: `ping-pong`, `allreduce`."""
    pattern: str = PAIR
    parameters: tuple[str, ...] = ()
    """Names of the case's parameters that it takes, in the order of labels."""
    metrics: tuple[str, ...] = ("operation_time_ns",)
    """The metrics that its operations are turned into, the one that is compared first."""
    has_window: bool = False
    window: int | None = None
    """Messages in flight unless a plan says; None: as a plan has it for all benchmarks."""
    has_size: bool = True
    """Without a size (barrier, applications) there is one case, of 0 bytes."""
    least_size: int = 0
    """Below it there is nothing to time: MPI returns at once from a collective of 0 bytes."""
    is_of_one_element: bool = False
    """Its only size is that of an element."""
    datatype: str = "byte"
    """Its element type unless a case names one."""
    is_reduction: bool = False
    needs_mpi: bool = False
    layer: str = ""
    """Of a service: the only layer that it is of."""
    instruments: tuple[str, ...] = ()
    """Of an application: the only instruments that run it."""
    needs_verbs: bool = False
    """One rank works on the other's memory by RDMA."""
    unchecked_metrics: tuple[str, ...] = ()
    """With `far_check=0`: until the origin was told that its operation is complete, wherever the data are by then."""

    def element_bytes(self, parameters: Mapping[str, str]) -> int:
        """Return the size of one element: messages are whole elements."""
        return DATATYPE_BYTES[parameters.get("datatype", self.datatype)]
