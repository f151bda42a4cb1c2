"""The other end of a connection, as the readings of its host tell it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from fabriscope.analysis.proof.flows import SAME_SHARE, Flow

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
