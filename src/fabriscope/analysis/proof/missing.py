"""Bytes of which it is not known whose they are: without an owner, lost from sight, or still to be sent."""

from __future__ import annotations

from collections.abc import Container

from fabriscope.analysis.proof import datagrams
from fabriscope.analysis.proof.evidence import ELSEWHERE_SHARE, MOST_NAMED, WIRE_UP_BYTES, Evidence
from fabriscope.analysis.proof.flows import LOOPBACK
from fabriscope.analysis.proof.line import HOUSEKEEPING_BYTES, LEAST_COUNTED_BYTES, OWNERLESS_SHARE
from fabriscope.analysis.words import bytes_text
from fabriscope.model.counters import PROVED, REFUTED, Books

CAME_AND_WENT = "came and went"
"""Names the problem that interfaces lived between two readings: no harm where no socket of the job needs no address."""


def ownerless_because(evidence: Evidence, among: Container[str] | None = None) -> str:
    """Return which interfaces moved bytes that nothing accounts for, too many to be nothing beside the job's."""
    found = evidence.found
    is_memory = evidence.expected.transport == "shm"  # of which no counter knows how much it carried
    least = WIRE_UP_BYTES if is_memory else ELSEWHERE_SHARE * (found.asked_bytes + found.elsewhere_bytes)
    large = {key: size for key, size in evidence.ownerless.items() if size > least}
    large = {key: size for key, size in large.items() if among is None or key[1] in among}
    names = [f"{bytes_text(size)} on {name} of {host}" for (host, name), size in large.items()]
    return f"{', '.join(names)} have no known owner: they may be the job's" if names else ""


def loose_because(evidence: Evidence) -> str:
    """Return what has no owner on all interfaces together, if with what was found elsewhere it is too much.

    Each by itself may be too little to be named.
    """
    found, loose = evidence.found, _loose_bytes(evidence)
    if not loose or evidence.expected.transport == "shm":
        return ""
    elsewhere = found.elsewhere_bytes if evidence.expected.transport else 0
    if loose + elsewhere < ELSEWHERE_SHARE * (loose + found.asked_bytes + found.elsewhere_bytes):
        return ""
    beside = f", and {bytes_text(elsewhere)} went elsewhere" if elsewhere else ""
    return f"{bytes_text(loose)} on all interfaces together have no known owner and may be the job's{beside}"


def _loose_bytes(evidence: Evidence) -> int:
    """Return how much may have gone past what was asked for, of which nothing accounts for any.

    Beside others' connections an interface's 2 % are what readings of different moments differ by.
    """
    jobs = _moved_by_job(evidence)
    sums = {"out": 0, "in": 0}
    for line in evidence.lines:
        is_asked = evidence.expected.takes_datagrams and evidence.is_over(line.host, line.interface)
        if is_asked or (line.interface == LOOPBACK) == evidence.is_between_hosts:
            continue
        others = line.tcp_bytes - jobs.get((line.host, line.interface, line.direction), 0)
        if line.rest_bytes > max(OWNERLESS_SHARE * others, line.housekeeping_bytes):
            sums[line.direction] += line.rest_bytes
    return max(sums.values())


def _moved_by_job(evidence: Evidence) -> dict[tuple[str, str | None, str], int]:
    """Return host, interface and direction to what the job's connections moved there."""
    found: dict[tuple[str, str | None, str], int] = {}
    for one in evidence.transfers:
        ends = ((one.source, one.out_interface, "out"), (one.target, one.in_interface, "in"))
        for end in ends if one.carrier == "tcp" else ():
            found[end] = found.get(end, 0) + one.size_bytes
    return found


def gone_because(evidence: Evidence) -> str:
    """Return which interface or port was lost from sight: what it carried since is not known.

    It has an address, or the job had sockets that need none (packet sockets).
    """
    for host, happened in evidence.disturbed.items():
        needs_none = evidence.ranks.datagram_kinds(host) - {"udp"}
        for name, text in happened.items():
            if name in evidence.watches[host].doors:  # to a namespace of the job's: what left the host by others counts
                continue
            addresses = evidence.watches[host].addresses.get(name, ())
            if needs_none or any(not one.lower().startswith("fe80:") for one in addresses):
                return f"{name} of {host}: {text}; what it carried may be the job's"
    for host, watch in evidence.watches.items():
        removed = [text for name, text in watch.problems.items() if CAME_AND_WENT in name]
        if removed and evidence.ranks.datagram_kinds(host) - {"udp"}:
            return f"{removed[0]} of {host} came and went; what it carried may be the job's"
    return ""


def strayed_because(evidence: Evidence) -> str:
    """Return what may be the job's in a network namespace that was there before it and is no watched host's."""
    watched = {watch.namespace for watch in evidence.watches.values()}
    told = evidence.found.asked_bytes + evidence.found.elsewhere_bytes
    for host, watch in evidence.watches.items():
        for number, (program, size) in watch.strays.items():
            if number not in watched and size > max(HOUSEKEEPING_BYTES, ELSEWHERE_SHARE * (told + size)):
                there = f"a network namespace of {host} that was there before"
                return f"{program} of the job was in {there}, and {bytes_text(size)} of that one's may be the job's"
    return ""


def left_running(evidence: Evidence) -> str:
    """Return which programs of the job still ran when it was judged, as the end of a sentence."""
    names = sorted({name for watch in evidence.watches.values() for name in watch.left})
    if not names:
        return ""
    return f"; {' and '.join(names[:MOST_NAMED])} of the job still ran: what came later is not in this"


def unsent_because(judged: Books, evidence: Evidence) -> str:
    """Return how much the job had left to be sent when it was read last, if that may turn the verdict."""
    found, unsent = evidence.found, evidence.unsent_bytes
    elsewhere = found.elsewhere_bytes if evidence.expected.transport else 0
    past = elsewhere + (unsent if judged.verdict == PROVED else 0)
    every = found.asked_bytes + found.elsewhere_bytes + unsent
    if not unsent or evidence.expected.payload_bytes is not None:
        return ""
    if evidence.expected.transport == "shm" and unsent < LEAST_COUNTED_BYTES:  # as little decides nothing anyway
        return ""
    if (past >= ELSEWHERE_SHARE * every) == (judged.verdict == REFUTED):
        return ""
    return f"{bytes_text(unsent)} of the job's were still unsent or unacknowledged after it had ended"


def hidden_there(evidence: Evidence) -> str:
    """Return how much more datagrams may have carried by what was asked for, as the end of a sentence."""
    may_be = evidence.expected.takes_datagrams or evidence.expected.transport == datagrams.UDP
    out = [one for one in evidence.lines if one.direction == "out" and evidence.is_over(one.host, one.interface)]
    hidden = datagrams.hidden_beside(out, evidence.meters, evidence.ranks) if may_be else 0
    if hidden < ELSEWHERE_SHARE * evidence.found.asked_bytes:
        return ""
    return f"; datagrams may have carried up to {bytes_text(hidden)} more, which others' connections hide"
