"""The other end of a connection, as the readings of its host tell it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import product

from fabriscope.analysis.proof.flows import LOOPBACK, SAME_SHARE, Flow, hosts_by_address, interfaces_by_address
from fabriscope.model.counters import OTHER, Watch

_MOST_ASKED = 100
"""Ends without a common port are looked through up to this many: each costs all others."""
Key = tuple[str | None, tuple[str, int], tuple[str, int], str]
"""Host, its own address and port, the other's, and the network namespace of the job's."""


def key_of(one: Flow) -> Key:
    """Return what tells an end from all others."""
    return one.host, one.local, one.remote, one.space


def mirrors_of(ends: Mapping[Key, Flow], hosts: Mapping[str, str]) -> dict[Key, Flow]:
    """Return an end to the other one, where that was seen; `hosts` is address to host."""
    spaces = {one.space for one in ends.values()}
    found: dict[Key, Flow] = {}
    for key, one in ends.items():
        peer = one.host if one.is_loopback else hosts.get(one.remote[0])
        for space in (one.space,) if one.is_loopback else spaces:
            mirror = ends.get((peer, one.remote, one.local, space))
            if mirror is not None:
                found.setdefault(key, mirror)
    for one, other in _translated(ends, found, hosts):
        found[key_of(one)], found[key_of(other)] = other, one
    return found


def with_unlisted(flows: Mapping[str, Sequence[Flow]], watches: Mapping[str, Watch]) -> dict[str, list[Flow]]:
    """Return the connections of hosts with those ends that none of them lists, though the other end is known.

    The kernel lists no socket that was shut down and is not closed, none of its own, and none of another network
    namespace. What its other end moved this one did, by the interface that has its address.
    """
    ends = {key_of(one): one for every in flows.values() for one in every}
    hosts, found = hosts_by_address(watches), {host: [*every] for host, every in flows.items()}
    known = mirrors_of(ends, hosts)
    alone = [one for key, one in ends.items() if not (one.is_loopback or one.space or key in known)]
    interfaces = {host: interfaces_by_address(watch) for host, watch in watches.items()}
    moved = Counter((one.sent_bytes, one.received_bytes) for one in alone)
    for one in alone:
        peer = hosts.get(one.remote[0], one.host)
        name = interfaces[peer].get(one.remote[0], "") if peer != one.host else ""
        # One that moved the same elsewhere may be its other end, to which a host between them translates addresses.
        twins = sum(
            moved[one.received_bytes + more, one.sent_bytes + less] for more, less in product((-1, 0, 1), repeat=2)
        )
        if name not in ("", LOOPBACK) and not twins:
            found[peer].append(
                replace(
                    one, host=peer, local=one.remote, remote=one.local, sent_bytes=one.received_bytes,
                    received_bytes=one.sent_bytes, retransmitted_bytes=0, role=OTHER, out_interface=name,
                    in_interface=name, sent_segments=one.received_segments, received_segments=one.sent_segments,
                )
            )  # fmt: skip
    return found


def _translated(
    ends: Mapping[Key, Flow], known: Mapping[Key, Flow], hosts: Mapping[str, str]
) -> Iterator[tuple[Flow, Flow]]:
    """Yield ends of one connection whose addresses or ports a host translates: they name each other otherwise.

    Each names an address of the other's host, or of the host of a network namespace of the job's, and they moved the
    same. Those that kept a port are asked first.
    """
    lonely: dict[tuple[str, str], list[Flow]] = {}
    for key, one in ends.items():
        peer = hosts.get(one.remote[0])
        if peer is not None and not (one.is_loopback or key in known):
            lonely.setdefault((one.host, peer), []).append(one)
    for (host, peer), mine in lonely.items():
        theirs = lonely.get((peer, host), []) if host < peer else []
        ports: dict[int, list[Flow]] = {}
        for other in theirs:
            ports.setdefault(other.remote[1], []).append(other)
            ports.setdefault(other.local[1], []).append(other)
        taken: set[Key] = set()
        for one in mine:
            alike = [*ports.get(one.local[1], ()), *ports.get(one.remote[1], ()), *theirs[:_MOST_ASKED]]
            match = next((other for other in alike if key_of(other) not in taken and _same(one, other)), None)
            if match is not None:
                taken.add(key_of(match))
                yield one, match


def _same(one: Flow, other: Flow) -> bool:
    moved = ((one.sent_bytes, other.received_bytes), (other.sent_bytes, one.received_bytes))
    return all(abs(sent - received) <= SAME_SHARE * max(sent, received) + 1 for sent, received in moved)
