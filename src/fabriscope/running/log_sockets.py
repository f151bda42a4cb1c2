"""Which of our quantities iperf3 and sockperf print: one TCP connection, where all that it rests on is known."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from fabriscope.model.case import SocketOptions
from fabriscope.readers.base import Table, Value
from fabriscope.running.log_labels import Said
from fabriscope.running.log_ours import Definition, Ours

_TIME, _RATE = "latency_ns", "bandwidth_bytes_per_s"
_SENT, _STREAM = "sent_bandwidth_bytes_per_s", "stream_bandwidth_bytes_per_s"
KNOWN: Mapping[tuple[str, str], Ours] = {
    ("iperf3", "TCP stream"): Ours("bandwidth", {_RATE: _STREAM}),
    ("iperf3", "total"): Ours("bandwidth", {_RATE: _STREAM}, of_sender={_RATE: _SENT}),
    ("sockperf", "ping-pong"): Ours("ping_pong", {_TIME: "latency_ns", "latency_ns_mean": "latency_ns_mean"}),
    ("sockperf", "throughput"): Ours("bandwidth", {_SENT: _SENT}),
}
_UNSAID = {
    "size": "the log does not say how long a message was: the label `size` does",
    "nagle": "the log does not say whether Nagle's algorithm was on: the label `nagle` does",
}


def definition_of(ours: Ours, program: str, table: Table, stated: Mapping[str, Value], beside: Said) -> Definition:
    """Return what a stream, or a ping-pong, of one TCP connection is, where all that it rests on is known."""
    said = stated.get("block_size_bytes", stated.get("message_size_bytes"))
    size = beside.size_bytes if said is None else int(said)
    if why := _sockets_unlike(program, table, stated):
        return Definition(why_not=why, size_bytes=size)
    if beside.size_bytes not in (None, size):
        return Definition(why_not=f"the label `size` says {beside.size_bytes} B, and the log {size} B", size_bytes=size)
    if unsaid := [_UNSAID[name] for name, what in (("size", size), ("nagle", beside.has_nagle)) if what is None]:
        return Definition(why_not="; ".join(unsaid), size_bytes=size)
    buffers = int(stated.get("asked_buffer_bytes") or 0) or None
    socket = SocketOptions(buffers, buffers, tcp_nodelay=not beside.has_nagle)
    return Definition(replace(ours, socket=socket), size_bytes=size)


def _sockets_unlike(program: str, table: Table, stated: Mapping[str, Value]) -> str:
    """Return why what a table is of is no single stream from the first host to the second; nothing where it is."""
    protocol = stated.get("protocol", "TCP" if program == "iperf3" else "")
    if protocol != "TCP":
        return f"it went over {protocol}, and ours over TCP" if protocol else "the log does not say that it was TCP"
    if (count := stated.get("stream_count", 1)) != 1:
        return f"{count} connections were used at once, and ours is one"
    if stated.get("reverse") or stated.get("bidirectional") or any("role" in row.values for row in table.rows):
        return "the client received, or both ends sent (-R, --bidir), and in ours the client sends"
    if any(name.startswith("asked_rate") for name in stated):
        return "it was held to a rate"
    has_ends = any(column.name == "reported_by" for column in table.columns)
    is_unsaid = has_ends and not all("reported_by" in row.values for row in table.rows)
    return "the log does not say which end counted" if is_unsaid else ""
