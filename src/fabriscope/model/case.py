"""A case is one point of an experiment, fully explicit; an entry is what is launched and compared."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, fields
from functools import cached_property, lru_cache

from fabriscope.model.counting import listed
from fabriscope.model.layers import layer_of
from fabriscope.model.limits import Ordinal, SizeBytes, Whole32
from fabriscope.model.ranks import beside, layout_from, layout_of, to_one


@dataclass(frozen=True)
class SocketOptions:
    """TCP socket options of a case; None leaves the system's default."""

    send_buffer_bytes: SizeBytes | None = None
    receive_buffer_bytes: SizeBytes | None = None
    tcp_nodelay: bool = True
    busy_poll_us: Whole32 | None = None
    congestion_control: str | None = None
    interface: str | None = None
    """Interface that the socket is bound to (SO_BINDTODEVICE)."""

    def label(self) -> str:
        """Return what differs from the defaults, e.g. `sndbuf 64 KiB`; empty when nothing does."""
        parts = []
        if self.send_buffer_bytes is not None:
            parts.append(f"send buffer {self.send_buffer_bytes} B")
        if self.receive_buffer_bytes is not None:
            parts.append(f"receive buffer {self.receive_buffer_bytes} B")
        if not self.tcp_nodelay:
            parts.append("Nagle on")
        if self.busy_poll_us is not None:
            parts.append(f"busy poll {self.busy_poll_us} us")
        if self.congestion_control is not None:
            parts.append(self.congestion_control)
        if self.interface is not None:
            parts.append(f"bound to {self.interface}")
        return ", ".join(parts)


@dataclass(frozen=True)
class Entry:
    """What one launch runs: one instrument over one layer of one fabric, at one placement of its ranks."""

    layer: str
    """`tcp`, `mpi`, `shm`, another transport of the engine, or `null` (the instrument's floor)."""
    fabric: str | None
    """Fabric name; None for shm and null, which use none."""
    placement: str
    """`inter` (ranks on several hosts) or `intra` (all on one)."""
    hosts: tuple[str, ...]
    """Host of each rank."""
    mpi: str | None = None
    """Name of the MPI stack, for the layer mpi."""
    instrument: str = "engine"
    twin: bool = False
    """Whether it is another entry once more: the A/A control."""
    victim: bool = False
    """Whether ranks 0 and 1 are a bystander of many to one among the others."""
    receivers: Ordinal = 1
    """Of many to many: how many ranks receive, the first ones; each from an equal share of the others."""

    @property
    def beside(self) -> str:
        """Return what it measures beside what the plan asks about; nothing of most entries."""
        return "the instrument's floor (null)" if self.layer == "null" else "the A/A control" if self.twin else ""

    @cached_property
    def ranks(self) -> str:
        """Return how many ranks there are and where, where that is not the usual two: `8x2`, `8x2.cyclic`."""
        if self.receivers > 1:
            return to_one(len(self.hosts) - self.receivers, len(set(self.hosts)), self.receivers).label()
        found = beside(self.hosts) if self.victim else None
        return found.label() if found else ranks_label(self.hosts)

    @cached_property
    def entry_id(self) -> str:
        """Return a name that is unique in a run and readable: `gige.mpi.mpich.inter`, `gige.mpi.mpich.inter.8x2`."""
        parts = [self.fabric, self.layer, self.mpi, self.placement, self.ranks]
        if self.instrument != "engine":
            parts.append(self.instrument)
        parts.append("again" if self.twin else None)
        return ".".join(part for part in parts if part)

    def label(self) -> str:
        """Return how reports call it: `gige · MPI (mpich)`, `gige · MPI (mpich), 8 ranks, 2 on each host`."""
        layer = layer_of(self.layer).label
        layer = f"{layer} ({self.mpi})" if self.mpi else layer
        name = f"{self.fabric} · {layer}" if self.fabric else layer
        name = name if self.instrument == "engine" else f"{name} by {self.instrument}"
        ranks = f"{len(self.hosts)} hosts" if layer_of(self.layer).instrument else layout_from(self.ranks).text()
        parts = [name, ranks if self.ranks else "", "again" if self.twin else ""]
        return ", ".join(part for part in parts if part)


def ranks_label(rank_hosts: tuple[str, ...]) -> str:
    """Return `Entry.ranks` of these hosts; raises ValueError for a layout that is neither block nor cyclic."""
    return "" if len(rank_hosts) <= 2 else layout_of(rank_hosts).label()


@lru_cache(maxsize=64)
def _content(entry: Entry) -> Mapping[str, object]:
    """Return an entry as the ids of its cases have it: what came later is absent where it is unset."""
    left_out = {name for name in ("twin", "victim") if not getattr(entry, name)}
    left_out |= {"receivers"} if entry.receivers == 1 else set()
    return {name: value for name, value in asdict(entry).items() if name not in left_out}


@dataclass(frozen=True)
class Case:
    """One point: what is measured (benchmark, size, window, options) by which entry."""

    entry: Entry
    benchmark: str
    """`ping_pong`, `bandwidth`, `allreduce`, `empty` ... (`model/benchmarks.py`)."""
    message_size_bytes: SizeBytes
    window_size: Ordinal = 1
    """Messages in flight; 1 for ping_pong."""
    series: str = ""
    """What tells the curves of one entry and benchmark apart when options are swept, e.g. `send buffer 16384 B`;
    the window belongs to it only where the plan sweeps windows (large messages may have a smaller one)."""
    socket: SocketOptions = field(default_factory=SocketOptions)
    parameters: tuple[tuple[str, str], ...] = ()
    """What the benchmark itself is told: datatype, reduction, root, timing ...; names and values, as the plan gives
    them. What is absent is the benchmark's default."""

    @cached_property
    def case_id(self) -> str:
        """Return the first 12 hex digits of the SHA-256 of the case's content."""
        content = {one.name: getattr(self, one.name) for one in fields(self)}
        content |= {"entry": _content(self.entry), "socket": asdict(self.socket)}
        if not self.parameters:
            del content["parameters"]  # cases without them keep the ids that they had before there were any
        text = json.dumps(content, sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(text.encode()).hexdigest()[:12]

    @property
    def parameter_map(self) -> Mapping[str, str]:
        """Return the parameters by their names."""
        return dict(self.parameters)


def beside_words(entries: Iterable[Entry]) -> str:
    """Return how many launches are of what is measured beside: `4 of the A/A control`; nothing where none is."""
    counts = Counter(entry.beside for entry in entries if entry.beside)
    return listed([f"{count} of {what}" for what, count in counts.items()])
