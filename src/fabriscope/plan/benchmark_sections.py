"""What a plan may say of its benchmarks, and of who takes part in many to one."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BeforeValidator, Field

from fabriscope.model.benchmarks import PARAMETERS
from fabriscope.plan.section import Section
from fabriscope.plan.sizes import parse_sizes
from fabriscope.plan.stream_counts import StreamCounts
from fabriscope.plan.strict import StreamDuration, Truth
from fabriscope.plan.values import (
    HostList,
    Layers,
    Parameter,
    SizeBytes,
    Sizes,
    Swept,
    SweptAckTimeout,
    SweptBool,
    SweptCompletion,
    SweptCongestionControl,
    SweptInline,
    SweptMicroseconds,
    SweptRequests,
    SweptSocketBuffer,
    SweptWindow,
    or_one,
    parameter_field,
    unique_names,
)


class SocketSection(Section):
    """TCP socket options; a list of values is swept. `default` leaves the system's own value."""

    send_buffer: SweptSocketBuffer = Field((None,), description="SO_SNDBUF in bytes")
    receive_buffer: SweptSocketBuffer = Field((None,), description="SO_RCVBUF in bytes")
    tcp_nodelay: SweptBool = Field((True,), description="false leaves Nagle's algorithm on")
    busy_poll_us: SweptMicroseconds = Field((None,), description="SO_BUSY_POLL in microseconds")
    congestion_control: SweptCongestionControl = Field((None,), description="TCP_CONGESTION, e.g. reno or cubic")
    placements: Annotated[tuple[Literal["inter", "intra"], ...], BeforeValidator(unique_names), or_one] = Field(
        ("inter", "intra"), description="where they are set; elsewhere the system's own values are measured"
    )
    bind_to_interface: Truth = Field(False, description="bind the sockets to the fabric's interface (SO_BINDTODEVICE)")


class VerbsSection(Section):
    """What the layer verbs is told of its queue pairs; a list is swept. `default` leaves it to the program."""

    inline_limit: SweptInline = Field(
        (None,), description="messages up to this many bytes travel in the request itself"
    )
    signal_every: SweptRequests = Field((None,), description="sends for each completion")
    queue_depth: SweptRequests = Field((None,), description="requests that either queue holds")
    ack_timeout: SweptAckTimeout = Field(
        (None,), description="n: what is not acknowledged for 4.096 us times 2^n is sent again; 0: never"
    )
    completion: SweptCompletion = Field((None,), description="a completion is polled for, or its event is waited for")


class BenchmarkSection(Section):
    """One benchmark and its sweep."""

    sizes: Sizes = Field(
        parse_sizes("1..1MiB"), description="message sizes: powers of two, a list, or from-to-perturbation"
    )
    window: SweptWindow = Field((64,), description="messages in flight; not used by ping_pong and empty; of incast 1")
    layers: Layers | None = Field(None, description="those of the plan's layers that it is measured at; absent: all")
    in_flight_limit: SizeBytes = Field(
        4 << 20, description="the window of large messages is cut so that at most this many bytes are in flight", gt=0
    )
    socket: SocketSection = Field(SocketSection(), description="socket options of the layer tcp")
    verbs: VerbsSection = Field(VerbsSection(), description="queues of the layer verbs")
    datatype: Annotated[Swept, Parameter("datatype")] = parameter_field("datatype")
    reduction: Annotated[Swept, Parameter("reduction")] = parameter_field("reduction")
    root: Annotated[Swept, Parameter("root")] = parameter_field("root")
    timing: Annotated[Swept, Parameter("timing")] = parameter_field("timing")
    buffers: Annotated[Swept, Parameter("buffers")] = parameter_field("buffers")
    pairing: Annotated[Swept, Parameter("pairing")] = parameter_field("pairing")
    mode: Annotated[Swept, Parameter("mode")] = parameter_field("mode")
    duration: StreamDuration | None = Field(
        None, description="how long the streams of many_to_one and many_to_many are sent; 300ms"
    )
    congestion: Annotated[Swept, Parameter("congestion")] = parameter_field("congestion")
    incast_size: Annotated[SizeBytes, Field(ge=1, le=16 << 20)] | None = Field(
        None, description="message size of the incast beside a victim; 64KiB"
    )
    victim_traffic_class: Annotated[int, Field(ge=0, le=255)] | None = Field(
        None, description="DSCP and ECN bits of what a victim sends, where the incast's are others"
    )
    compute: Annotated[Swept, Parameter("compute")] = parameter_field("compute")
    synchronization: Annotated[Swept, Parameter("synchronization")] = parameter_field("synchronization")
    window_memory: Annotated[Swept, Parameter("window_memory")] = parameter_field("window_memory")
    far_check: Annotated[Swept, Parameter("far_check")] = parameter_field("far_check")

    def parameters(self) -> dict[str, tuple[str, ...]]:
        """Return the parameters that are given, each with its values."""
        given = {name: values for name in PARAMETERS if (values := getattr(self, name))}
        if self.duration is not None:
            given["duration_ms"] = (str(self.duration // 10**6),)
        if self.incast_size is not None:
            given["incast_size_bytes"] = (str(self.incast_size),)
        if self.victim_traffic_class is not None:
            given["victim_traffic_class"] = (str(self.victim_traffic_class),)
        return given


class VictimSection(Section):
    """A flow beside many to one: what it suffers is measured."""

    source: HostList = Field(alias="from", description="the host that sends and measures")
    to: HostList = Field(description="the host that answers")


class ManyToManySection(Section):
    """Who receives and who sends, and how many streams each of those who receive has."""

    to: HostList | None = Field(
        None, description="who receives; absent: the first of the plan's hosts (of many_to_many it must be told)"
    )
    sources: HostList | None = Field(
        None, alias="from", description="the hosts that send; absent: all others of the plan"
    )
    streams: StreamCounts = Field(
        (),
        description="streams to each host that receives, dealt out over the hosts that send: a count, a list, 1..10;"
        " absent: 1 to those hosts",
    )


class ManyToOneSection(ManyToManySection):
    """One host receives; and a flow beside it."""

    victim: VictimSection | None = Field(
        None, description="two hosts whose flow victim_latency and victim_bandwidth measure with and without it"
    )
