"""Connections as the readings of hosts tell them, end by end."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from ipaddress import IPv6Address, ip_address

from fabriscope.model.counters import RANK, Connection, Watch

LOOPBACK = "lo"
INDOORS = "a network namespace of the job's"
"""In place of an interface: what did not leave the host from there, no interface of the host need have counted."""
SAME_SHARE = 0.02
"""Two ends of one connection differ by less than this: what one has sent the other may not have read yet."""


@dataclass(frozen=True)
class Flow:
    """One end of a connection: what it moved while the host was watched."""

    host: str
    local: tuple[str, int]
    remote: tuple[str, int]
    sent_bytes: int
    received_bytes: int
    retransmitted_bytes: int
    role: str
    is_loopback: bool
    """Both addresses are the host's own: whatever they are, no cable is used."""
    out_interface: str
    """By which its bytes left: the one that has the local address, unless that did not count them (`rerouted`)."""
    in_interface: str
    open_count: int = 0
    """At how many of the first and the last reading it was alive: bytes went on while the counters were being read."""
    space: str = ""
    """The network namespace of the job's that this end is in; empty for the host's."""
    sent_segments: int | None = None
    """Packets as TCP counts them, those sent again and bare acknowledgements among them; None where it does not."""
    received_segments: int | None = None
    has_time_stamps: bool | None = None
    longer_bytes: int = 0
    """How much longer the headers of its packets may be, for options that nobody counts."""

    @property
    def is_ipv6(self) -> bool:
        """Return whether its packets carry IPv6 headers."""
        return ":" in self.local[0]


class _Tally:
    """One connection; where the kernel's name for it is not known, all that one pair of addresses and ports served."""

    def __init__(self) -> None:
        self.sent = self.received = self.retransmitted = 0
        self.sent_segments: int | None = 0
        self.received_segments: int | None = 0
        self.role = ""
        self.open_count = 0
        self.has_time_stamps: bool | None = None
        self.longer_bytes = 0
        self._base: Connection | None = None
        self._last: Connection | None = None

    def add(self, one: Connection, *, is_first: bool) -> None:
        self.role = self.role if self.role == RANK else one.role or self.role
        self.has_time_stamps, self.longer_bytes = one.has_time_stamps, max(self.longer_bytes, one.longer_bytes)
        if is_first:
            self._base = self._last = None if one.is_closed else one
            self.open_count = int(not one.is_closed)
            return
        last = self._last
        if last is not None and (one.sent_bytes < last.sent_bytes or one.received_bytes < last.received_bytes):
            self.settle()  # another connection by now, whose predecessor's end nobody saw
        self._last = one
        if one.is_closed:
            self.settle()

    @property
    def is_open(self) -> bool:
        """Return whether it was alive when it was seen last."""
        return self._last is not None and not self._last.is_closed

    def settle(self) -> None:
        base, last = self._base, self._last
        if last is not None:
            self.sent += last.sent_bytes - (base.sent_bytes if base else 0)
            self.received += last.received_bytes - (base.received_bytes if base else 0)
            self.sent_segments = _grown(self.sent_segments, base.sent_segments if base else 0, last.sent_segments)
            self.received_segments = _grown(
                self.received_segments, base.received_segments if base else 0, last.received_segments
            )
            before = (base.retransmitted_bytes or 0) if base else 0
            self.retransmitted += max(0, (last.retransmitted_bytes or 0) - before)
        self._base = self._last = None


def _grown(total: int | None, before: int | None, now: int | None) -> int | None:
    """Return a sum with what a count has grown by; None once a part of it is not known."""
    return None if total is None or now is None else total + max(0, now - (before or 0))


def interfaces_by_address(watch: Watch) -> dict[str, str]:
    """Return address to interface; to nothing where several had it, one after the other."""
    found: dict[str, str] = {}
    for name, addresses in watch.addresses.items():
        for address in map(plain, addresses):
            found[address] = name if found.get(address, name) == name else ""
    return found


def flows_of(watch: Watch) -> list[Flow]:
    """Return every connection of a host, with what it moved between the first reading and the last."""
    interfaces = interfaces_by_address(watch)
    tallies: dict[tuple[str, str, int, str, int], dict[int, _Tally]] = {}
    for number, reading in enumerate(watch.readings):
        for one in sorted(reading.connections, key=lambda one: not one.is_closed):
            key = (one.space, plain(one.local_address), one.local_port, plain(one.remote_address), one.remote_port)
            tallies.setdefault(key, {}).setdefault(one.cookie, _Tally()).add(one, is_first=number == 0)
    spaces = {space: {plain(address) for address in every} for space, every in watch.spaces.items()}
    of_job = {address for every in spaces.values() for address in every}
    found = []
    for (space, local, local_port, remote, remote_port), every in tallies.items():
        tally = _sum(every.values())
        is_loopback = _is_loopback(local) or remote in (spaces.get(space, ()) if space else interfaces)
        if space:
            interface = INDOORS if is_loopback or remote in interfaces or remote in of_job else ""
        else:  # an address on loopback may be another machine's goal as well: by what interface it came is not known
            told = interfaces.get(local, "")
            interface = LOOPBACK if is_loopback else "" if told == LOOPBACK else told
        found.append(
            Flow(
                watch.host, (local, local_port), (remote, remote_port), tally.sent, tally.received,
                tally.retransmitted, tally.role, is_loopback, interface, interface, tally.open_count, space,
                tally.sent_segments, tally.received_segments, tally.has_time_stamps, tally.longer_bytes,
            )
        )  # fmt: skip
    return _turned_back(found)


def _turned_back(flows: list[Flow]) -> list[Flow]:
    """Return the flows; those that this host turns back to a socket of its own say so, whatever address they name.

    Routes and rules do that: an address that is local without being any interface's, a transparent proxy. The socket
    that a rule gives a connection to names its other end truly; the one that made it names the host that it asked for.
    """
    ends = {(one.space, one.local, one.remote) for one in flows}
    inside = {  # whose other end nobody has: else it is that one's, and no rule's
        (one.space, one.remote): one
        for one in flows
        if one.is_loopback and (one.space, one.remote, one.local) not in ends
    }
    found = []
    for one in flows:
        taken = None if one.is_loopback else inside.get((one.space, one.local))
        if not one.is_loopback and (one.space, one.remote, one.local) in ends:
            one = _inside(one, INDOORS if one.space else LOOPBACK)
        elif taken and abs(taken.received_bytes - one.sent_bytes) <= SAME_SHARE * one.sent_bytes + 1:
            one = _inside(replace(one, remote=taken.local), taken.out_interface)
        found.append(one)
    return found


def _inside(flow: Flow, interface: str) -> Flow:
    return replace(flow, is_loopback=True, out_interface=interface, in_interface=interface)


def _sum(tallies: Iterable[_Tally]) -> _Tally:
    """Return what one pair of addresses and ports moved, whichever connections it served."""
    total = _Tally()
    for one in tallies:
        total.open_count = min(2, total.open_count + one.open_count + one.is_open)
        one.settle()
        total.sent += one.sent
        total.received += one.received
        total.retransmitted += one.retransmitted
        total.sent_segments = _grown(total.sent_segments, 0, one.sent_segments)
        total.received_segments = _grown(total.received_segments, 0, one.received_segments)
        total.role = total.role if total.role == RANK else one.role or total.role
        total.has_time_stamps, total.longer_bytes = one.has_time_stamps, max(total.longer_bytes, one.longer_bytes)
    return total


def rerouted(flows: list[Flow], routes: Mapping[tuple[str, str], str]) -> list[Flow]:
    """Return the flows with other interfaces: (direction, interface) to the one that truly counted the bytes."""
    return [
        replace(
            one,
            out_interface=routes.get(("out", one.out_interface), one.out_interface),
            in_interface=routes.get(("in", one.in_interface), one.in_interface),
        )
        for one in flows
    ]


def hosts_by_address(watches: Mapping[str, Watch]) -> dict[str, str]:
    """Return address to host, without loopback and without addresses that several hosts have."""
    found: dict[str, str] = {}
    shared: set[str] = set()
    for host, watch in watches.items():
        every = (*watch.addresses.values(), *watch.spaces.values())
        for one in {plain(text) for texts in every for text in texts}:
            if found.setdefault(one, host) != host:
                shared.add(one)
    return {one: host for one, host in found.items() if one not in shared and not _is_loopback(one)}


def plain(address: str) -> str:
    """Return an address without prefix length and zone; IPv4 written as IPv6 becomes IPv4."""
    text = address.partition("/")[0].partition("%")[0]
    try:
        parsed = ip_address(text)
    except ValueError:
        return text
    mapped = parsed.ipv4_mapped if isinstance(parsed, IPv6Address) else None
    return str(mapped or parsed)


def _is_loopback(address: str) -> bool:
    try:
        return ip_address(address).is_loopback
    except ValueError:
        return False
