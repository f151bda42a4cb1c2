"""The layers that are measured and compared: one table of what is known of each, and what holds for a plug-in's."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from fabriscope.model.fabric import RDMA_TRANSPORTS

INTER, INTRA = "inter", "intra"
"""Placements: ranks on several hosts, ranks on one."""


class Carrier(Enum):
    """What must carry the bytes of a layer, where its fabric leaves a choice."""

    NOTHING = "it moves none"
    MEMORY = "shared memory"
    TCP = "TCP"
    FABRIC = "what the fabric speaks"
    CARD = "a card that the fabric's ports stand for, and what it speaks where that is known"
    ANY = "RDMA or sockets, as it likes, where the fabric speaks RDMA; else TCP"


class Headers(Enum):
    """What stands before a layer's payload on the wire."""

    UNKNOWN = "unknown: the wire bounds it only by its delay"
    TCP = "TCP's; what a layer adds of its own is not known and not subtracted"
    RDMA = "those of the RDMA transport that the fabric speaks"


@dataclass(frozen=True)
class Layer:
    """What is known of one layer; the defaults are those of a layer that a plug-in adds."""

    name: str
    label: str
    """How reports call it."""
    transport: str
    """How the engine calls it; several layers may be of one transport."""
    provider: str | None = None
    """Of libfabric: an option of the case."""
    rendezvous: str = "tcp"
    """How the engine's ranks find each other: `tcp`, `mpi`, or `threads` of one process."""
    placements: tuple[str, ...] = (INTER, INTRA)
    carrier: Carrier = Carrier.ANY
    is_memory_alone: bool = False
    """Whether it is memory that carries its bytes where it has no fabric."""
    headers: Headers = Headers.UNKNOWN
    inter_copying_threads: int = 0
    """How many threads copy different parts of one message at the same time between hosts, at most; 0: a network card
    or a kernel's own threads may copy it, so that there is no limit."""
    intra_copying_threads: int = 0
    """The same inside one host."""
    needs_rdma: bool = False
    """Whether its fabric must speak verbs."""
    reaches_itself: bool = False
    """Whether ranks of one host can go to the host's own address on a fabric."""
    card: str = ""
    """The network card that alone it can use; empty for any."""
    takes_address: bool = True
    """Whether the engine tells it the host's address on the fabric."""
    takes_rdma_port: bool = True
    """Whether the engine tells it device, port and GID, where the fabric has them."""
    takes_socket_options: bool = False
    takes_queue_options: bool = False
    instrument: str = ""
    """Of a service that a launch starts: the only instrument that measures it. Empty: plans name them."""
    start_ns: int = 0
    """About how long a service takes to start; 0 for what is none."""

    def carried_by(self, fabric_transport: str | None, *, is_inter: bool) -> str:
        """Return what must carry its bytes: `shm`, `tcp`, an RDMA transport; empty where anything may.

        `fabric_transport` is what its fabric speaks, None without a fabric. `ib` stands for the ports of any card that
        libfabric drives.
        """
        if self.carrier is Carrier.MEMORY or (self.is_memory_alone and fabric_transport is None):
            return "shm"
        if self.carrier is Carrier.TCP or fabric_transport is None or not is_inter:
            return "tcp"
        if self.carrier is Carrier.FABRIC:
            return fabric_transport
        speaks_rdma = fabric_transport in RDMA_TRANSPORTS
        if self.carrier is Carrier.CARD:
            return fabric_transport if speaks_rdma else "ib"
        return "" if speaks_rdma else "tcp"

    def copying_threads(self, placement: str) -> int:
        """Return how many threads copy parts of one message at once, at most; 0 where that bounds nothing."""
        return self.inter_copying_threads if placement == INTER else self.intra_copying_threads


LIBFABRIC = "libfabric"


def _libfabric(
    provider: str, *, placements: tuple[str, ...] = (INTER,), carrier: Carrier = Carrier.CARD,
    headers: Headers = Headers.UNKNOWN, needs_rdma: bool = False, reaches_itself: bool = False,
    takes_address: bool = True, card: str = "",
) -> Layer:  # fmt: skip
    """Return the layer of one of libfabric's providers (`fi_info -l`): each is another way for the bytes."""
    return Layer(
        f"{LIBFABRIC}-{provider}", f"{LIBFABRIC} ({provider})", LIBFABRIC, provider, placements=placements,
        carrier=carrier, headers=headers, needs_rdma=needs_rdma, reaches_itself=reaches_itself,
        takes_address=takes_address, takes_rdma_port=False, card=card,
    )  # fmt: skip


# Of TCP and of our shared memory either end copies the whole payload. Of MPI one end may copy straight out of the
# other's memory, and each end half of it; between hosts it may go past the processors.
LAYERS = {
    layer.name: layer
    for layer in (
        Layer(
            "tcp", "TCP", "tcp", carrier=Carrier.TCP, headers=Headers.TCP, inter_copying_threads=1,
            intra_copying_threads=1, reaches_itself=True, takes_rdma_port=False, takes_socket_options=True,
        ),
        Layer(
            "mpi", "MPI", "mpi", rendezvous="mpi", carrier=Carrier.FABRIC, is_memory_alone=True, headers=Headers.TCP,
            intra_copying_threads=2, reaches_itself=True,
        ),
        Layer(
            "shm", "shared memory", "shm", placements=(INTRA,), carrier=Carrier.MEMORY, intra_copying_threads=1,
            takes_address=False, takes_rdma_port=False,
        ),
        Layer(
            "verbs", "verbs", "verbs", carrier=Carrier.FABRIC, headers=Headers.RDMA, needs_rdma=True,
            takes_queue_options=True,
        ),
        Layer("null", "null", "null", rendezvous="threads", carrier=Carrier.NOTHING),
        _libfabric(
            "tcp", placements=(INTER, INTRA), carrier=Carrier.TCP, headers=Headers.TCP, reaches_itself=True,
        ),
        _libfabric("shm", placements=(INTRA,), carrier=Carrier.MEMORY, takes_address=False),
        _libfabric("verbs", headers=Headers.RDMA, needs_rdma=True),
        _libfabric("efa", card="Amazon's Elastic Fabric Adapter"),
        _libfabric("cxi", card="HPE's Slingshot"),
        _libfabric("opx", card="Omni-Path"),
        Layer(
            "hdfs", "HDFS", "hdfs", placements=(INTER,), carrier=Carrier.TCP, takes_address=False,
            takes_rdma_port=False, instrument="testdfsio", start_ns=15_000_000_000,
        ),
        Layer(
            "hbase", "HBase", "hbase", placements=(INTER,), carrier=Carrier.TCP, takes_address=False,
            takes_rdma_port=False, instrument="ycsb", start_ns=40_000_000_000,
        ),
    )
}  # fmt: skip
"""In the order in which reports show them."""


def layer_of(name: str) -> Layer:
    """Return what is known of a layer; of one that a plug-in adds, the defaults."""
    return LAYERS.get(name) or Layer(name, name, name)


def layers_over(transport: str) -> tuple[str, ...]:
    """Return the names of the layers that are of one of the engine's transports."""
    return tuple(name for name, layer in LAYERS.items() if layer.transport == transport) or (transport,)
