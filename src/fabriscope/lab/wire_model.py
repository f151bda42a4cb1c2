"""What the switch is asked to be, as formulas, written apart from the switch so that it can be held against them.

A frame of f bytes (without its check sequence) occupies a wire of rate R for w = 8 (max(f, 60) + 24) / R. It crosses
its uplink, is stored, crosses the downlink, and arrives `delay` later. docs/lab.md derives the rest.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from fabriscope.model.lab import SwitchSpec

HEADER_BYTES = 14 + 20 + 8
"""Ethernet, IPv4 and UDP."""
MAX_PAYLOAD_BYTES = 1472
"""Of a datagram that is one frame at an MTU of 1500."""
_MIN_FRAME_BYTES = 60
_WIRE_OVERHEAD_BYTES = 24


def frame_bytes(payload_bytes: int) -> int:
    """Return the size of the frame of one datagram."""
    return HEADER_BYTES + payload_bytes


def wire_ns(switch: SwitchSpec, frame_size_bytes: int) -> float:
    """Return how long a frame occupies a wire."""
    if switch.rate_bits_per_s == 0:
        return 0.0
    return (max(frame_size_bytes, _MIN_FRAME_BYTES) + _WIRE_OVERHEAD_BYTES) * 8e9 / switch.rate_bits_per_s


def payloads(message_size_bytes: int) -> list[int]:
    """Return the payloads of the datagrams that carry a message."""
    whole, rest = divmod(message_size_bytes, MAX_PAYLOAD_BYTES)
    return [MAX_PAYLOAD_BYTES] * whole + [rest] * (rest > 0)


def arrivals_ns(switch: SwitchSpec, payload_sizes: Sequence[int]) -> list[float]:
    """Return when each datagram of a train, all of which are ready at 0, reaches the other host's card."""
    uplink_ns = downlink_ns = 0.0
    arrivals = []
    for size_bytes in payload_sizes:
        one_ns = wire_ns(switch, frame_bytes(size_bytes))
        uplink_ns += one_ns
        downlink_ns = max(uplink_ns, downlink_ns) + one_ns
        arrivals.append(downlink_ns + switch.delay_ns)
    return arrivals


def hand_overs_ns(switch: SwitchSpec, payload_sizes: Sequence[int]) -> list[float]:
    """Return when the other host's kernel gets each datagram of a train: its arrival, and waiting for company."""
    return list(_coalesced(arrivals_ns(switch, payload_sizes), switch))


def message_ns(switch: SwitchSpec, message_size_bytes: int) -> float:
    """Return how long a message takes from host to host: until its last datagram is handed over."""
    return hand_overs_ns(switch, payloads(message_size_bytes))[-1]


def buffered_frames(switch: SwitchSpec, payload_bytes: int) -> int:
    """Return how many frames of one size an output buffer holds."""
    return switch.buffer_bytes // frame_bytes(payload_bytes)


def _coalesced(arrivals: Sequence[float], switch: SwitchSpec) -> Iterator[float]:
    if switch.rx_coalesce_ns == 0:
        yield from arrivals
        return
    first = 0
    while first < len(arrivals):
        release_ns = arrivals[first] + switch.rx_coalesce_ns
        enough = first + switch.rx_coalesce_frames - 1
        if enough < len(arrivals):
            release_ns = min(release_ns, arrivals[enough])
        while first < len(arrivals) and arrivals[first] <= release_ns:
            yield release_ns
            first += 1
