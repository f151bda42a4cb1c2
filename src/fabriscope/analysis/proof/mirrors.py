"""The other end of a connection, as the readings of its host tell it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from fabriscope.analysis.proof.flows import SAME_SHARE, Flow

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
    """Yield ends of one connection whose address a host translates for a container: they name each other otherwise.

    One is in a network namespace of the job's; the other one names that namespace's host. They moved the same.
    """
    lonely: dict[tuple[str, tuple[str, int]], list[Flow]] = {}
    for key, one in ends.items():
        if not (one.space or one.is_loopback or key in known):
            lonely.setdefault((one.host, one.local), []).append(one)
    for key, one in ends.items():
        if not one.space or one.is_loopback or key in known:
            continue
        alike = lonely.get((hosts.get(one.remote[0], ""), one.remote), [])
        other = next((other for other in alike if hosts.get(other.remote[0]) == one.host and _same(one, other)), None)
        if other is not None:
            alike.remove(other)
            yield one, other


def _same(one: Flow, other: Flow) -> bool:
    moved = ((one.sent_bytes, other.received_bytes), (other.sent_bytes, one.received_bytes))
    return all(abs(sent - received) <= SAME_SHARE * max(sent, received) + 1 for sent, received in moved)
