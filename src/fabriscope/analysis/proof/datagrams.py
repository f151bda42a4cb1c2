"""What a job sent by UDP. No socket of it is counted: what interfaces counted beyond everything else is the job's where
nobody else has a socket that could have sent it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from fabriscope.analysis.proof import own_datagrams
from fabriscope.analysis.proof.flows import LOOPBACK
from fabriscope.analysis.proof.headers import MOST_PIECES
from fabriscope.analysis.proof.line import HOUSEKEEPING_BYTES, LEAST_COUNTED_BYTES, OWNERLESS_SHARE, Line
from fabriscope.analysis.proof.own_datagrams import SHORTER_BYTES
from fabriscope.analysis.proof.ranks import Ranks
from fabriscope.analysis.proof.segments import LARGEST_PACKET_BYTES
from fabriscope.analysis.proof.transfers import OUTWARD, Transfer
from fabriscope.analysis.proof.wire import LARGEST_DATAGRAM_BYTES, Meter
from fabriscope.model.counters import BESIDE

UDP = "udp"
PARTS = {"out": "Ip.FragCreates", "in": "Ip.ReasmReqds"}
"""How the kernel counts packets that are parts of a datagram."""
ELSEWHERE = ""
"""Stands for the host that datagrams went to: no counter tells."""
WHOM = "whoever its datagrams reached"
MATCHED_SHARE = 1.02
"""The two ends count headers and fragments otherwise."""
MANY = 100
"""Of fewer datagrams each is taken to be one packet; a kernel that cuts them later counts one for up to 64 KiB."""


def because(host: str, meter: Meter, ranks: Ranks) -> str:
    """Return why it cannot be told what a host's ranks sent by datagrams; empty where it can, or there is nothing."""
    kinds = ranks.datagram_kinds(host)
    if own_datagrams.counts(meter.watch, ranks) is not None:
        return ""
    if not kinds or kinds != {UDP}:
        return f"{' and '.join(sorted(kinds - {UDP}))} sockets have no counter" if kinds else ""
    others = meter.watch.other_datagrams
    if others is None:
        return "it was not looked at who else had such sockets"
    return f"others had such sockets too ({', '.join(others[:3])})" if others else ""


def told_apart(lines: Sequence[Line], meter: Meter, ranks: Ranks) -> list[Line]:
    """Return the account of a host's interfaces with what went by the job's datagrams, where that can be told."""
    host = meter.watch.host
    if (own := own_datagrams.counts(meter.watch, ranks)) is not None:
        return own_datagrams.told_apart(lines, own)
    if not ranks.datagram_kinds(host) or because(host, meter, ranks):
        return list(lines)
    sizes = {way: _sizes([one for one in lines if one.direction == way], way, meter) for way in ("out", "in")}
    found = []
    for line in lines:
        size = sizes[line.direction].get(line.interface, 0)
        found.append(replace(line, rest_bytes=line.rest_bytes - min(line.rest_bytes, size), datagram_bytes=size))
    return found


def _sizes(lines: Sequence[Line], direction: str, meter: Meter) -> dict[str, int]:
    """Return interface to what the job's datagrams moved by it in one direction; nothing where that is open.

    What went past IP is nobody's datagrams: of a frame of somebody's own IP counts nothing. Where several interfaces
    have more than IP counted beside TCP, it is not known which have such frames.
    """
    count = meter.udp_counts().get(direction, 0)
    rests = sum(max(0, one.rest_bytes) for one in lines)
    left = max(0, count - sum(one.datagram_count for one in lines))
    most = meter.beside_tcp_bytes(direction, sum(one.tcp_bytes for one in lines))
    found = {}
    for line in lines if count else ():
        if line.rest_bytes > 0:
            shorter = SHORTER_BYTES * min(round(left * line.rest_bytes / rests), line.packet_count)
            # The rest is the least that it can be: its middle is told of what is known to be the job's.
            size = min(line.rest_bytes + line.slack_bytes + shorter, most)
            if size >= HOUSEKEEPING_BYTES and _is_possible(size, count, line, meter):
                found[line.interface] = size
    return found if sum(found.values()) <= MATCHED_SHARE * most else {}


def most_hidden(meter: Meter, ranks: Ranks, lines: Sequence[Line]) -> int:
    """Return the most that ranks with sockets for datagrams can have sent by these ways, beside what was told apart."""
    host, counts = meter.watch.host, meter.udp_counts()
    kinds = ranks.datagram_kinds(host)
    if own_datagrams.counts(meter.watch, ranks) is not None:
        return 0
    if not kinds and meter.watch.other_datagrams != ():
        return 0  # else they are of somebody who was not seen: a socket may be open for a moment
    if not because(host, meter, ranks):
        told = sum(one.datagram_bytes for one in lines)
        mtu_bytes = max((meter.watch.mtu_bytes.get(one.interface, 0) for one in lines), default=0)
        ways = {one.direction for one in lines}
        sent = sum(counts.get(way, 0) for way in ways)
        parts = sum(meter.protocol(PARTS[way]) or 0 for way in ways)
        others = min(MOST_PIECES * sent, sum(one.other_packets or 0 for one in lines))
        return min(sum(one.unsure_bytes for one in lines), max(0, max(sent + parts, others) * mtu_bytes - told))
    count = max(counts.values(), default=None) if kinds == {UDP} else None
    rest = 0
    for line in lines:
        # The account of the wire took TCP's headers off datagrams too, which have shorter ones.
        packets = line.packet_count if count is None else min(count, line.packet_count)
        # What the idle host moved it need not move now.
        moved = line.rest_bytes + line.background_bytes
        rest += max(0, moved + SHORTER_BYTES * max(0, packets - line.datagram_count))
        rest += max(line.again_bytes, line.unsure_bytes)
    return rest if count is None else min(rest, count * LARGEST_DATAGRAM_BYTES)


def hidden_beside(lines: Sequence[Line], meters: Mapping[str, Meter], ranks: Ranks) -> int:
    """Return the most that the job's datagrams may have carried by these ways beside what is told of them.

    Somebody's connection that was open all the time hides it.
    """
    total = 0
    for line in lines:
        meter = meters[line.host]
        is_told = line.is_exact or line.datagram_bytes
        if line.slack_bytes and not is_told and UDP in ranks.datagram_kinds(line.host):
            total += min(line.slack_bytes, LARGEST_DATAGRAM_BYTES * meter.udp_counts().get(line.direction, 0))
    return total


def slack_bytes(lines: Sequence[Line], meters: Mapping[str, Meter]) -> int:
    """Return how much more or less the job's datagrams of all hosts may have carried.

    Readings are not of one moment, idle hosts not always as idle, and packets of other protocols or hosts may be as
    large as any.
    """
    loose = []
    ways = ("out",) if len(meters) > 1 else ("out", "in")  # what came to a host from others that are watched they sent
    for line in lines:
        if line.datagram_bytes and line.direction in ways and not line.is_exact:
            meter = meters[line.host]
            strange = line.stranger_count * meter.watch.mtu_bytes.get(line.interface, 0)
            strange += LARGEST_PACKET_BYTES * meter.forwarded_count()
            idle = round(OWNERLESS_SHARE * line.background_bytes)
            loose.append(idle + line.slack_bytes + line.longer_bytes + min(line.datagram_bytes, strange))
    return sum(size for size in loose if size > LEAST_COUNTED_BYTES)


def _is_possible(size: int, count: int, line: Line, meter: Meter) -> bool:
    """Return whether the datagrams of a host, `count` of them, may have carried these bytes by one interface.

    Few carry little, and what is cut has more packets.
    """
    if line.other_packets is None or count >= MANY:
        return True
    parts = meter.protocol(PARTS[line.direction]) or 0
    return size <= (count + parts) * meter.watch.mtu_bytes.get(line.interface, 0)


def at_both_ends(lines: Sequence[Line], meters: Mapping[str, Meter]) -> list[Line]:
    """Return the account of all hosts with what of the job's datagrams came to others there, or came from them.

    At one end they are the job's; what has no owner at the other end, and is not more, is the same: first what is as
    much.
    """
    found = list(lines)
    for mine, theirs in (("out", "in"), ("in", "out")):
        looked_for = {host: _unmatched(found, host, mine, theirs) for host in {one.host for one in found}}
        order = sorted(enumerate(found), key=lambda one: abs(one[1].rest_bytes - looked_for[one[1].host]))
        for place, line in order:
            is_open = line.direction == theirs and line.interface != LOOPBACK and not line.datagram_bytes
            size = min(line.rest_bytes, round(MATCHED_SHARE * _unmatched(found, line.host, mine, theirs)))
            if is_open and size >= HOUSEKEEPING_BYTES:
                found[place] = replace(line, rest_bytes=line.rest_bytes - size, datagram_bytes=size)
    return [_without_flooded(one, found, meters[one.host]) for one in found]


def _without_flooded(line: Line, lines: Sequence[Line], meter: Meter) -> Line:
    """Return an account less what a switch sent to every port, since it did not know the one that was meant.

    What came in for the hardware address of another host IP does not count.
    """
    known = sum(one.datagram_bytes for one in lines if one.host != line.host and one.direction == "out")
    by_ip = meter.beside_tcp_bytes("in", 0)
    is_flooded = line.direction == "in" and line.interface != LOOPBACK and by_ip < line.rest_bytes / 2
    return replace(line, rest_bytes=0) if is_flooded and line.rest_bytes <= MATCHED_SHARE * known else line


def _unmatched(lines: Sequence[Line], host: str, mine: str, theirs: str) -> int:
    """Return which datagrams of the job's, of other hosts, have no known end: it may be at this host."""
    wires = [one for one in lines if one.interface != LOOPBACK]
    known = sum(one.datagram_bytes for one in wires if one.host != host and one.direction == mine)
    ends = sum(one.datagram_bytes for one in wires if one.host != host and one.direction == theirs)
    own = sum(
        max(0, one.rest_bytes) + one.datagram_bytes for one in wires if one.host == host and one.direction == mine
    )
    here = sum(one.datagram_bytes for one in wires if one.host == host and one.direction == theirs)
    return known - max(0, ends - own) - here


def transfers(lines: Sequence[Line], ranks: Ranks) -> Iterator[Transfer]:
    """Yield what went by datagrams: each host's part that left, and of what came in that which no other one sent.

    Where the kernel counted them and no rank was seen with a socket, they are others' of the job.
    """
    for one in _transfers(lines):
        host = one.source or one.target
        is_aside = ranks.is_parallel and not ranks.datagram_kinds(host)
        yield replace(one, kind=BESIDE) if is_aside and _is_exact(lines, host) else one


def _is_exact(lines: Sequence[Line], host: str) -> bool:
    return any(one.is_exact for one in lines if one.host == host)


def _transfers(lines: Sequence[Line]) -> Iterator[Transfer]:
    for line in lines:
        if line.datagram_bytes and line.interface == LOOPBACK and line.direction == "out":
            yield Transfer(line.host, line.host, line.datagram_bytes, LOOPBACK, LOOPBACK, OUTWARD, True, WHOM, UDP)
    wires = [one for one in lines if one.interface != LOOPBACK and one.datagram_bytes]
    out = [one for one in wires if one.direction == "out"]
    into = [one for one in wires if one.direction == "in"]
    for line in out:
        yield Transfer(line.host, ELSEWHERE, line.datagram_bytes, line.interface, None, OUTWARD, False, WHOM, UDP)
    for line, size in _from_elsewhere(out, into):
        yield Transfer(ELSEWHERE, line.host, size, None, line.interface, OUTWARD, False, WHOM, UDP)


def _from_elsewhere(out: Sequence[Line], into: Sequence[Line]) -> Iterator[tuple[Line, int]]:
    """Yield how much came in by each way that no watched host sent: what a host sent it did not get itself."""
    came, left = _by_host(into), _by_host(out)
    all_came, all_left = sum(came.values()), sum(left.values())
    least = {host: max(0, size - (all_left - left.get(host, 0))) for host, size in came.items()}
    # The most that can be set against what was sent, each host's against that of the others alone.
    matched = min(all_left, *(all_came - came[host] + all_left - left.get(host, 0) for host in came), all_came)
    spare, open_bytes = all_came - matched - sum(least.values()), sum(came[host] - least[host] for host in came)
    for line in into:
        more = spare * (came[line.host] - least[line.host]) / open_bytes if open_bytes else 0.0
        yield line, round(line.datagram_bytes * (least[line.host] + more) / came[line.host])


def _by_host(lines: Sequence[Line]) -> dict[str, int]:
    return {host: sum(one.datagram_bytes for one in lines if one.host == host) for host in {one.host for one in lines}}
