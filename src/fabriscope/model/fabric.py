"""What users compare: a way for bytes from host to host, with its settings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated

from fabriscope.model.limits import DurationNs, Ordinal, Whole32, Within

RDMA_TRANSPORTS = ("roce", "iwarp", "ib")
"""What verbs may be carried by: UDP (RoCE), TCP (iWARP), or InfiniBand itself."""


@dataclass(frozen=True)
class RdmaPort:
    """One host's end of a fabric that speaks verbs: what `ib_send_lat -d DEVICE -i PORT -x GID_INDEX` is told."""

    device: str
    """As ibv_devices lists it: `rxe0`, `siw0`, `mlx5_0`."""
    hca_port: Whole32 = 1
    """Port of the device; counted from 1."""
    gid_index: Whole32 | None = None
    """Entry of the port's table of addresses (RoCE); None where a connection manager must find the way (iWARP)."""
    gid: str = ""
    """That entry, as `0000:0000:0000:0000:0000:ffff:0a0a:0001`; empty when unknown."""
    gid_type: str = ""
    """`RoCE v2`, `IB/RoCE v1` ...; empty when unknown."""
    mtu_bytes: Ordinal | None = None
    """Payload of one packet (active_mtu); None when unknown."""
    chosen_because: str = ""
    """Why this device, port and entry, in words."""


@dataclass(frozen=True)
class Fabric:
    """One fabric: a transport over one interface of every host."""

    name: str
    interfaces: Mapping[str, str]
    """Host name to interface name."""
    transport: str = "tcp"
    """`tcp`, or one of RDMA_TRANSPORTS: then it speaks verbs, and TCP works on its interfaces beside it."""
    line_rate_bits_per_s: Annotated[int, Within(1, 10**18)] | None = None
    """Bits per second on the wire, preamble and gaps included; None when unknown, 0 never."""
    mtu_bytes: Ordinal | None = None
    """Largest IP packet; None when unknown."""
    settings: Mapping[str, str] = field(default_factory=dict)
    """What was set for this fabric, for the report (delay, buffer, coalescing ...)."""
    knobs: Mapping[str, str] = field(default_factory=dict)
    """What is set on hosts for the launches over it and put back afterwards: knob to value (`knobs/`)."""
    instead_of: str = ""
    """The fabric that it is but for `knobs`, where an audit's finding is changed to see what it costs."""
    cause: str = ""
    """That finding, in words."""
    tries: str = ""
    """The fabric that it is but for `knobs`, where a tuning tries a configuration."""
    rdma_ports: Mapping[str, RdmaPort] = field(default_factory=dict)
    """Host name to its end, for a fabric that speaks verbs; empty otherwise."""
    service_level: Annotated[int, Within(0, 15)] = 0
    """Of what is sent (`sl`)."""
    traffic_class: Annotated[int, Within(0, 255)] = 0
    """Of what is sent (the IP header's DSCP and ECN bits)."""
    lossless_priority: Annotated[int, Within(0, 7)] | None = None
    """The priority that its RDMA traffic is meant to have, without loss; None where the plan does not say."""
    delay_ns: DurationNs | None = None
    """Least time of a signal one way, where somebody says it; None when unknown, and in a lab, whose switch knows."""
