"""Why nothing can be told of a launch, or not what its books say: what was not read, not counted, or hidden."""

from __future__ import annotations

from collections.abc import Mapping

from fabriscope.analysis.proof.aside import beside, confided, handed_on, launched, little_beside
from fabriscope.analysis.proof.evidence import ELSEWHERE_SHARE, MEMORY, WIRE_UP_BYTES, Evidence, port_words
from fabriscope.analysis.proof.flows import LOOPBACK
from fabriscope.analysis.proof.line import LEAST_COUNTED_BYTES
from fabriscope.analysis.proof.missing import (
    CAME_AND_WENT,
    gone_because,
    loose_because,
    ownerless_because,
    strayed_because,
    unsent_because,
)
from fabriscope.analysis.proof.ranks import memory_text
from fabriscope.analysis.proof.room import passed_by
from fabriscope.analysis.proof.transfers import OUTWARD, RANKS, UNCLEAR
from fabriscope.analysis.words import bytes_text
from fabriscope.model.counters import BESIDE, PROVED, REFUTED, UNDECIDED, Books, Expectation, Watch
from fabriscope.model.fabric import RDMA_TRANSPORTS

HARMLESS_PROBLEMS = ("ethtool", "driver", "statistic", CAME_AND_WENT)
"""Parts of names of what could not be read and no verdict rests on."""
LAST_WORDS = "closed connections"
"""Names the problem that last counts of some are missing: no harm where interfaces are explained all the same."""
LATE_NS = 100_000_000
"""A look that is this late was missed: a pipe or a Unix socket may have lived and gone."""


_OF_A_PROOF = (
    little_beside, ownerless_because, loose_because, gone_because, strayed_because, confided, launched,
)  # fmt: skip
"""What may be the job's and went elsewhere, each a reason not to believe that all was found where it was asked for."""


def wire_up_bytes(evidence: Evidence) -> int:
    """Return how much of a job may be addresses alone: without a parallel library nobody has any to tell."""
    has_library = evidence.ranks.is_parallel or evidence.expected.transport in RDMA_TRANSPORTS
    return WIRE_UP_BYTES if has_library else LEAST_COUNTED_BYTES


def unfit_because(watches: Mapping[str, Watch], expected: Expectation) -> str:
    """Return why nothing can be told from these watches; empty if something can."""
    payload = expected.payload_bytes
    named = {host for pair in payload for host in pair} if payload is not None else {*expected.interfaces}
    missing = sorted(named - watches.keys())
    if missing or not watches:
        return f"{', '.join(missing) or 'no host'} was not watched" if missing else "no host was watched"
    places: dict[tuple[str, str], str] = {}
    for host, watch in watches.items():
        if watch.namespace and (other := places.setdefault((watch.kernel, watch.namespace), host)) != host:
            return f"{other} and {host} are one machine: what they tell each other leaves by no interface"
        if len(watch.readings) < 2:
            return f"the counters of {host} were not read both before and after"
        for name, why in watch.problems.items():
            if name != LAST_WORDS and not any(word in name.lower() for word in HARMLESS_PROBLEMS):
                return f"on {host}, {name}: {why}"
    return ""


def spoilt_because(evidence: Evidence) -> str:
    """Return what happened to the counters of the fabric, or what hides them; empty if nothing did."""
    expected = evidence.expected
    for host, happened in evidence.disturbed.items():
        asked = {expected.interfaces.get(host), expected.rdma_ports.get(host)}
        used = {one.out_interface for one in evidence.transfers if one.source == host}
        used |= {one.in_interface for one in evidence.transfers if one.target == host}
        for name, text in happened.items():
            if name in asked | used:
                return f"{name} of {host}: {text}"
    error = evidence.worst_error
    for host, watch in evidence.watches.items():
        if LAST_WORDS in watch.problems and (error is None or error > ELSEWHERE_SHARE):
            return f"on {host}, {LAST_WORDS}: {watch.problems[LAST_WORDS]}"
    hidden, asked_bytes = evidence.unexplained_bytes(on_fabric=True), evidence.found.asked_bytes
    # Soft RoCE's bytes are told by what is left, and an RDMA port that was asked for and stood still hides nothing.
    known = evidence.found.elsewhere_bytes + sum(evidence.found.unplaced.values())
    is_tcp = expected.transport == "tcp" and evidence.is_between_hosts
    if is_tcp and hidden > max(asked_bytes, WIRE_UP_BYTES, known):
        job = bytes_text(asked_bytes)
        whose = f"; {evidence.datagrams}" if evidence.datagrams else ""
        return f"{bytes_text(hidden)} on the interface asked for have no known owner, more than the job's {job}{whose}"
    return ""


def doubt_about(judged: Books, evidence: Evidence) -> str:
    """Return why a verdict does not stand; empty if it does, or decides nothing anyway."""
    if judged.verdict == UNDECIDED:
        return ""
    expected = evidence.expected
    # What a program sent and its connections are known to have carried needs no other counter.
    is_told = expected.payload_bytes is not None and expected.transport != "shm"
    if unsent := unsent_because(judged, evidence):
        return unsent
    if evidence.uncounted and not (judged.verdict == PROVED and is_told):
        return evidence.uncounted
    if not evidence.is_between_hosts and expected.payload_bytes is None and (channel := _channel(judged, evidence)):
        return channel
    if not is_told and (others := _others_at_ports(judged, evidence)):
        return others
    datagrams = datagrams_because(judged, evidence)
    if datagrams and not (judged.verdict == PROVED and is_told):
        return datagrams
    if judged.verdict == REFUTED and not is_told and expected.transport in RDMA_TRANSPORTS:
        ports = {one.name for one in evidence.ports}
        if ownerless := ownerless_because(evidence, ports):
            return ownerless
    if judged.verdict == REFUTED and not is_told and (by_others := handed_on(evidence)):
        return by_others
    if judged.verdict == PROVED and not is_told:
        for doubt in _OF_A_PROOF:
            if why := doubt(evidence):
                return why
    if expected.transport != "tcp":
        return ""
    unplaced = sum(evidence.found.unplaced.values())
    if judged.verdict == REFUTED and unplaced and unplaced >= ELSEWHERE_SHARE * (unplaced + evidence.found.asked_bytes):
        names = " and ".join(evidence.found.unplaced)
        return f"{bytes_text(unplaced)} went by {names}: whether that was {evidence.asked_name} is not known"
    return _lacking(evidence) or _astray(evidence) if judged.verdict == PROVED else ""


def datagrams_because(judged: Books, evidence: Evidence) -> str:
    """Return that the job's own datagrams, of which nobody counts the bytes, may be a part of what is judged.

    Empty where no rank had a socket for them, where all of them are too little, or where what was found elsewhere
    refutes whatever they carried, or the interface asked for has no room for it.
    """
    hidden, found = evidence.datagram_bytes, evidence.found
    payload = evidence.expected.payload_bytes
    elsewhere = found.elsewhere_bytes + sum(found.unclear.values())
    every = found.asked_bytes + elsewhere + hidden
    is_memory = MEMORY in judged.carried_by
    least = WIRE_UP_BYTES if is_memory else ELSEWHERE_SHARE * every
    if payload:
        least = ELSEWHERE_SHARE * sum(payload.values())
    is_past = judged.verdict == PROVED and evidence.expected.transport  # both are not what was asked for
    aside = hidden + (found.elsewhere_bytes if is_past else 0)
    if not hidden or aside < least or (judged.verdict == REFUTED and passed_by(evidence)):
        return ""
    may_be_asked = evidence.expected.transport == "udp" or evidence.expected.takes_datagrams
    if judged.verdict == REFUTED and not is_memory and not may_be_asked and elsewhere >= ELSEWHERE_SHARE * every:
        return ""
    return f"{evidence.datagrams}, and up to {bytes_text(hidden)} may have gone by it, which nothing counts"


def _others_at_ports(judged: Books, evidence: Evidence) -> str:
    """Return that somebody else uses an RDMA port that decides: it counts for its host, and says not whose bytes."""
    found = evidence.found
    ports = evidence.others_ports
    disputed = sum(evidence.moved_by(one) for one in ports)
    least = ELSEWHERE_SHARE * (found.asked_bytes + found.elsewhere_bytes)
    if not ports or disputed < least:
        return ""
    others = sum(size for name, size in found.elsewhere.items() if name not in {port_words(one) for one in ports})
    if judged.verdict == REFUTED and others >= least:
        return ""
    names = " and ".join(dict.fromkeys(one.name for one in ports))
    hosts = " and ".join(dict.fromkeys(one.host for one in ports))
    return f"others on {hosts} use {names} too, whose counters do not say whose bytes they counted"


def _channel(judged: Books, evidence: Evidence) -> str:
    """Return what without a counter may have carried what is judged: a pipe, a Unix socket, memory that was read.

    Memory that was seen to be shared is another carrier, and what the job moved beside its ranks refutes whatever a
    channel held: little of it leaves the rest elsewhere, and much of it is elsewhere itself.
    """
    if judged.verdict == REFUTED and (judged.carried_by == MEMORY or beside(evidence)):
        return ""
    if evidence.ranks.channel:
        return f"{judged.because}; but {evidence.ranks.channel}, and that has no counter"
    if evidence.pinned and not (judged.carried_by == MEMORY and judged.verdict == PROVED):
        return f"{judged.because}; but {evidence.pinned}, which may be the job's"
    if evidence.by_files and judged.carried_by != MEMORY:
        return f"{judged.because}; but {evidence.by_files}, which no interface counts"
    if judged.carried_by != MEMORY and (lone := _lone_memory(evidence)):
        return f"{judged.because}; but {lone}, and the other one may have it too"
    if judged.verdict == REFUTED and evidence.expected.transport == "shm" and evidence.ranks.lone_pair:
        return f"{judged.because}; but {evidence.ranks.lone_pair}"
    late_ns = max((evidence.watches[host].late_ns for host in evidence.ranks.hosts), default=0)
    if late_ns > LATE_NS and judged.carried_by != MEMORY:
        missed = f"a look came {late_ns / 1e9:.1f} s late on this busy machine"
        return f"{judged.because}; but {missed}, and pipes or Unix sockets of the meantime were not seen"
    return ""


def _lone_memory(evidence: Evidence) -> str:
    """Return what memory the only process of a host has mapped that was seen, in words, though two talked there."""
    for host in {one.source for one in evidence.transfers if one.kind == RANKS and one.source == one.target}:
        here = {(host, one.pid) for name, one in evidence.ranks.all if name == host}
        mapped = [name for name, who in evidence.ranks.memory if here & who]
        if len(here) == 1 and mapped:
            return f"the only {evidence.ranks.noun} of {host} that was seen has {memory_text(mapped[0])} mapped"
    return ""


def _lacking(evidence: Evidence) -> str:
    """Return which interface counted less than its connections carried: something else moved their bytes."""
    used = {(one.source, one.out_interface, "out") for one in evidence.transfers if one.size_bytes}
    used |= {(one.target, one.in_interface, "in") for one in evidence.transfers if one.size_bytes}
    for line in evidence.lines:
        carried = line.tcp_bytes - line.again_bytes
        lacks = -(line.rest_bytes + line.header_bytes) - line.again_bytes
        if (line.host, line.interface, line.direction) in used and lacks > max(
            ELSEWHERE_SHARE * carried, LEAST_COUNTED_BYTES
        ):
            return (
                f"{line.interface} of {line.host} counted {bytes_text(lacks)} less than its connections carried "
                f"({bytes_text(carried)})"
            )
    return ""


def _astray(evidence: Evidence) -> str:
    """Return what an interface did not count of the job's connections, which sent some bytes twice, where others' bytes
    elsewhere could hide it: the host dropped it, or a rule of the routes sent it there.
    """
    of_job = (RANKS, OUTWARD, UNCLEAR, BESIDE)
    used = {(one.source, one.out_interface) for one in evidence.transfers if one.size_bytes and one.kind in of_job}
    out = [one for one in evidence.lines if one.direction == "out" and one.interface != LOOPBACK]
    for line in out:
        elsewhere = [one for one in out if one.host == line.host and one.interface != line.interface]
        hides = {one.interface: max(0, one.rest_bytes) + one.unsure_bytes for one in elsewhere}
        size = min(line.lost_bytes, sum(hides.values()))
        carried = line.tcp_bytes - line.again_bytes
        if (line.host, line.interface) in used and size > max(ELSEWHERE_SHARE * carried, LEAST_COUNTED_BYTES):
            return (
                f"connections over {line.interface} of {line.host} sent {bytes_text(line.lost_bytes)} more than it "
                f"counted, and beside others' bytes on {max(hides, key=lambda name: hides[name])} up to "
                f"{bytes_text(size)} of it may have gone unseen"
            )
    return ""
