"""What a job sent by UDP where the kernel counted its control group's packets (docs/counters.md): whoever else has
sockets of UDP, and whatever options headers have, its bytes are known."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from fabriscope.analysis.proof.headers import MOST_PIECES, TCP_BYTES, TIME_STAMP_BYTES, UDP_BYTES
from fabriscope.analysis.proof.line import Line
from fabriscope.analysis.proof.ranks import Ranks
from fabriscope.model.counters import Watch

UDP, RAW, BIRTH = "udp", "raw", "birth"
SHORTER_BYTES = TCP_BYTES + TIME_STAMP_BYTES - UDP_BYTES
"""How much shorter a datagram's headers are than those that the account of the wire takes off a packet it does not
know to be one."""


class Own(NamedTuple):
    """What the job's sockets moved by one interface in one direction, by UDP."""

    packets: int
    size_bytes: int
    option_bytes: int


def counts(watch: Watch, ranks: Ranks) -> dict[tuple[str, str], Own] | None:
    """Return interface and direction to what the job's datagrams moved; None where the kernel did not count them all.

    It sees neither packet sockets, nor whose they are that leave a namespace of the job's through the host. What raw
    sockets move (a ping) has no owner.
    """
    rows = watch.own_datagrams
    if rows is None or watch.ownership != BIRTH or watch.spaces or ranks.datagram_kinds(watch.host) - {UDP, RAW}:
        return None
    ways = (("out", slice(0, 3)), ("in", slice(3, 6)))
    return {(name, way): Own(*row[place]) for name, row in rows.items() for way, place in ways}


def told_apart(lines: Sequence[Line], own: dict[tuple[str, str], Own]) -> list[Line]:
    """Return the account of a host's interfaces with what went by the job's datagrams."""
    return [_line(one, own.get((one.interface, one.direction), Own(0, 0, 0))) for one in lines]


def _line(line: Line, own: Own) -> Line:
    """Return an account with the job's datagrams taken off what nothing else accounts for.

    A queue may have dropped some before the interface counted them: what it did not count is not told, unless it may
    have dropped what TCP sent again instead. What the idle host moved it need not move now: the job's come first.
    """
    if not own.size_bytes:
        return replace(line, is_exact=True)
    packets, known = own.packets, line.datagram_count
    if line.other_packets is not None:  # then those that the kernel cut as they left have their headers (`headers_of`)
        packets, known = min(packets, line.other_packets), known * (MOST_PIECES if line.direction == "out" else 1)
    shorter = SHORTER_BYTES * max(0, packets - known)
    moved = line.rest_bytes + line.background_bytes
    size = min(own.size_bytes, max(0, moved + line.slack_bytes + shorter + line.again_bytes))
    left = max(min(moved, 0), moved + shorter - size - own.option_bytes)
    background = min(max(0, left), line.background_bytes)
    return replace(line, rest_bytes=left - background, background_bytes=background, datagram_bytes=size, is_exact=True)
