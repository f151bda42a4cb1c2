"""By which interface connections truly went, as the accounts of the wire tell: routes and rules go past addresses."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from fabriscope.analysis.proof.flows import INDOORS, LOOPBACK, Flow
from fabriscope.analysis.proof.headers import TIME_STAMP_BYTES
from fabriscope.analysis.proof.line import LEAST_COUNTED_BYTES, Line
from fabriscope.analysis.proof.wire import DIRECTIONS

ROUTE_SHARE = 0.5
"""An interface that counted less than this share of what its addresses sent was not the one they left by."""
PLACED_SHARE = 0.98
"""The share of what is looked for that an interface must have counted without an owner."""


def through_doors(lines: Sequence[Line], flows: Sequence[Flow], doors: Mapping[str, Sequence[str]]) -> list[Line]:
    """Return the account less what the job's network namespaces passed on to others by interfaces of this host.

    What left a namespace came in by the interface before it, and went out by another, which must have an owner of it.
    """
    found = []
    for line in lines:
        behind = [one for one in flows if one.space in doors.get(line.interface, ()) and one.out_interface != INDOORS]
        is_in = line.direction == "in"
        passed = sum(one.sent_bytes + one.retransmitted_bytes if is_in else one.received_bytes for one in behind)
        explained = max(0, min(line.rest_bytes, round(passed / PLACED_SHARE)))
        found.append(replace(line, rest_bytes=line.rest_bytes - explained))
    return found


def resent_to(flows: Sequence[Flow], peers: Iterable[Flow]) -> dict[str, int]:
    """Return interface of a host to what its peers may have sent it again: of some the other end is not known."""
    ends = {(one.remote, one.local): one.in_interface for one in flows}
    found, unknown = dict.fromkeys(ends.values(), 0), 0
    for one in peers:
        name = ends.get((one.local, one.remote))
        if name is None:
            unknown += one.retransmitted_bytes
        else:
            found[name] += one.retransmitted_bytes
    return {name: size + unknown for name, size in found.items()}


def routed(lines: Sequence[Line], flows: Sequence[Flow], peers: Iterable[Flow]) -> list[Flow]:
    """Return the flows, each with the interface that truly counted its bytes, as far as the accounts tell.

    Of the connections of one address, a route may send some by another interface: the one that has the address then
    counted as much too little, and the other one as much that has no owner. What was sent again hides that: on its way
    out a host may have dropped it, and what came in may have come twice. Then what has no owner must be as large as the
    connection. Of two that are as large, a rule sent the one elsewhere whose other end nobody knows by its addresses.
    """
    found, peers = list(flows), list(peers)
    resent, ends = resent_to(flows, peers), {(one.remote, one.local) for one in peers}
    for direction, _ in DIRECTIONS:
        is_out = direction == "out"
        here = [one for one in lines if one.direction == direction and one.interface != LOOPBACK]
        room = {one.interface: one.rest_bytes for one in here}
        loose = {one.interface: one.lost_bytes if is_out else resent.get(one.interface, 0) for one in here}
        unsure = {one.interface: TIME_STAMP_BYTES * one.packet_count for one in here}  # of all packets, or of none
        sizes = [one.sent_bytes + one.retransmitted_bytes if is_out else one.received_bytes for one in found]
        order = [
            (-round(math.log(size) / (1 - PLACED_SHARE)), (one.local, one.remote) in ends, -size, number)
            for number, (one, size) in enumerate(zip(found, sizes, strict=True))
            if size >= LEAST_COUNTED_BYTES
        ]
        for *_, number in sorted(order):
            size = sizes[number]
            own = found[number].out_interface if is_out else found[number].in_interface
            goal = max(room, key=lambda other: room[other], default=own)
            if own not in room:
                continue
            least = {name: max(size / 2, PLACED_SHARE * size - unsure[name]) for name in (own, goal)}
            fits = abs(room[goal] - size) <= (1 - PLACED_SHARE) * size
            lacks = -room[own] + (loose[own] if fits else 0)
            if lacks >= least[own] and room[goal] >= least[goal]:
                hidden = min(loose[own], max(0, size + room[own]))
                loose[own] -= hidden
                one = found[number]
                found[number] = replace(one, out_interface=goal) if is_out else replace(one, in_interface=goal)
                room[own] += size - hidden
                room[goal] -= size
    return found


def routes_of(lines: Sequence[Line]) -> dict[tuple[str, str], str]:
    """Return (direction, interface) of one host to the interface that truly counted the bytes of its addresses.

    That is so where many small connections lack on the first one, of which `routed` does not tell one by one.
    """
    found = {}
    for line in lines:
        if line.interface == LOOPBACK or line.tcp_bytes < LEAST_COUNTED_BYTES:
            continue
        if line.counted_bytes >= ROUTE_SHARE * line.tcp_bytes:
            continue
        lacking = line.tcp_bytes - max(0, line.counted_bytes)
        others = [
            one
            for one in lines
            if one.direction == line.direction and one.interface != line.interface and one.rest_bytes >= lacking / 2
        ]
        if others:
            largest = max(others, key=lambda one: one.rest_bytes)
            found[line.direction, line.interface] = largest.interface
    return found
