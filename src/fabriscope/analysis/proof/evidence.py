"""What the watches of a job's hosts hold for and against the fabric that was asked for."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property

from fabriscope.analysis.proof import datagrams as books_datagrams
from fabriscope.analysis.proof.expected import port_kind
from fabriscope.analysis.proof.flows import LOOPBACK, Flow, flows_of, hosts_by_address, rerouted
from fabriscope.analysis.proof.found import Found
from fabriscope.analysis.proof.line import LEAST_COUNTED_BYTES, OWNERLESS_SHARE, Line
from fabriscope.analysis.proof.mirrors import with_unlisted
from fabriscope.analysis.proof.ports import is_of_others, used_by
from fabriscope.analysis.proof.ranks import Ranks, memory_text
from fabriscope.analysis.proof.routes import resent_to, routed, routes_of, through_doors
from fabriscope.analysis.proof.transfers import OTHERS, OUTWARD, RANKS, UNCLEAR, Transfer, not_the_jobs, transfers_of
from fabriscope.analysis.proof.unplaced import places_of, spread, without_unplaced
from fabriscope.analysis.proof.wire import Meter, Port, disturbances, lines_of, without_ip
from fabriscope.analysis.words import bytes_text
from fabriscope.model.counters import BESIDE, CONFIDANT, JOB, Expectation, Ownerless, Watch
from fabriscope.model.fabric import RDMA_TRANSPORTS

MEMORY = "shared memory"
LEAST_PORT_BYTES = 4_096
"""A port that moved less did nothing but its own management; where the payload is known, its 2 % are the limit."""
FOUND_SHARE = 0.98
"""The share of the payload to be found on the fabric that was asked for: all but the closure error's 2 %."""
ELSEWHERE_SHARE = 1 - FOUND_SHARE
"""What is elsewhere is nothing below this share: addresses being exchanged, a probe of another way."""
WIRE_UP_BYTES = 128 << 10
"""The most that ranks tell each other before and after their messages; below it bytes alone tell no payload."""
MOST_OPTION_BYTES = 40
"""An IPv4 header may be this much longer than without options."""
FILE_BYTES = 1 << 20
FILE_SHARE = 0.1
"""What programs write and read besides, logs and libraries, is less, or it makes no difference."""
MOST_NAMED = 2
FEW_BYTES = 128 << 10
"""What a program tells others besides its work: fewer of them make no traffic between hosts of what goes on inside."""


class Evidence:
    """Connections, accounts of interfaces, ports, and memory of all hosts of one launch."""

    def __init__(self, watches: Mapping[str, Watch], expected: Expectation, idle: Mapping[str, Watch]) -> None:
        self.watches, self.expected = watches, expected
        self.ranks = Ranks(watches)
        self.meters = {host: Meter(watch, idle.get(host)) for host, watch in watches.items()}
        self.disturbed = {host: disturbances(watch) for host, watch in watches.items()}
        flows = with_unlisted({host: flows_of(watch) for host, watch in watches.items()}, watches)
        self.lines, self.ports = list[Line](), list[Port]()
        for host, meter in self.meters.items():
            peers = [one for other in flows for one in flows[other] if other != host]
            lines, ports = _account(meter, flows[host], peers)
            flows[host] = routed(lines, flows[host], peers)
            lines, ports = _account(meter, flows[host], peers)
            if routes := {**routes_of(lines), **places_of(lines, flows[host])}:
                flows[host] = rerouted(flows[host], routes)
                lines, ports = _account(meter, flows[host], peers)
            lines = without_unplaced(lines, flows[host])
            lines = books_datagrams.told_apart(lines, meter, self.ranks)
            self.lines += [one for one in lines if one.interface not in self.disturbed[host]]
            self.ports += [one for one in without_ip(ports, lines) if one.name not in self.disturbed[host]]
        self._own_ports = used_by(self.ranks, self.ports)
        self.lines = books_datagrams.at_both_ends(self.lines, self.meters)
        every = list(transfers_of(flows, hosts_by_address(watches), is_parallel=self.ranks.is_parallel))
        if self.ranks.is_parallel and not self._talk(every):  # programs without MPI, one from each rank
            self.ranks.is_parallel = False
            every = list(transfers_of(flows, hosts_by_address(watches), is_parallel=False))
        every = spread([self._as_iwarp(one) for one in every], self.lines)
        every += books_datagrams.transfers(self.lines, self.ranks)
        self.transfers = [one for one in every if one.kind not in (BESIDE, CONFIDANT, JOB, OTHERS)]
        self._drop_carried_again()
        self.aside = [one for one in every if one.kind in (BESIDE, CONFIDANT, JOB)]
        """What the job moved, or those that it talks to, though not from rank to rank."""
        if self.asks_for_what_stays and not self.is_between_hosts:  # what leaves the host is past that
            self.aside += [replace(one, kind=BESIDE) for one in self.transfers if one.source != one.target]

    def _talk(self, transfers: Sequence[Transfer]) -> bool:
        """Return whether ranks that a launcher numbered told each other anything, or may have."""
        by_others = self.ranks.opened or self.ranks.may_share_inside or self.ranks.datagrams
        return bool(by_others) or any(one.kind in (RANKS, UNCLEAR) and one.size_bytes for one in transfers)

    def _as_iwarp(self, one: Transfer) -> Transfer:
        """Return a connection that the kernel holds itself as what it is, where ranks speak verbs to siw over it."""
        asked = self.expected.transport
        if asked not in RDMA_TRANSPORTS or one.kind != UNCLEAR or not self.have_verbs:
            return one
        for host, name in ((one.source, one.out_interface), (one.target, one.in_interface)):
            over = {port.interface for port in self.ports if port.host == host and port.is_connections}
            # Readings of before do not tell what siw is over.
            if name is not None and name not in over and not (asked == "iwarp" and "" in over):
                return one
        return replace(one, kind=RANKS, carrier="iwarp")

    def _drop_carried_again(self) -> None:
        """Leave out what went by a tunnel that a rank carries on itself, if as much left by its other connections.

        A network namespace of the job's whose bytes no interface of the host counted is behind such a tunnel too
        (slirp4netns).
        """
        through = [one for one in self.transfers if self._is_by_tunnel(one) or self._is_uncounted_by_its_host(one)]
        if not through or not any("/dev/net/tun" in one.devices for _, one in self.ranks.all):
            return
        others = [one for one in self.transfers if one not in through and one.source != one.target]
        # By a tunnel some bytes more come back: what closes a connection, or a word of a library.
        if sum(one.size_bytes for one in others) >= FOUND_SHARE * sum(one.size_bytes for one in through):
            self.transfers = [one for one in self.transfers if one not in through]

    def _is_by_tunnel(self, one: Transfer) -> bool:
        """Return whether a program carries on what an interface got (TUN): by what, the kernel cannot tell."""
        ends = ((one.source, one.out_interface), (one.target, one.in_interface))
        lower = {host: watch.lower_interfaces for host, watch in self.watches.items()}
        return any(name and lower.get(host, {}).get(name) == () for host, name in ends)

    @staticmethod
    def _is_uncounted_by_its_host(one: Transfer) -> bool:
        return bool(one.space) and "" in (one.out_interface, one.in_interface)

    @cached_property
    def worst_error(self) -> float | None:
        """Return the worst error of any interface."""
        return max((one.error for one in self.lines if one.error is not None), default=None)

    @cached_property
    def is_between_hosts(self) -> bool:
        """Return whether what is judged went from host to host, or stayed on one.

        Of a program whose processes are all on one host, it is what left that host, if it is more than a few words.
        """
        payload = self.expected.payload_bytes
        if payload is not None:
            return any(source != target and size for (source, target), size in payload.items())
        holders = set(self.ranks.hosts) or set(self.watches)
        if len(holders) > 1:
            return True
        if self.asks_for_what_stays:
            return False
        left = sum(one.size_bytes for one in self.transfers if one.source != one.target)
        stayed = sum(one.size_bytes for one in self.transfers if one.source == one.target)
        return left >= FEW_BYTES or left > stayed

    @property
    def asks_for_what_stays(self) -> bool:
        """Return whether it was asked for what does not leave a host."""
        return self.expected.transport == "shm" or LOOPBACK in self.expected.interfaces.values()

    @cached_property
    def uncounted(self) -> str:
        """Return what a rank has open without anything that counts its data; an unknown is not a zero."""
        for host, one in self.ranks.all:
            opened = self.ranks.verbs_device(one)
            if opened is None:
                continue
            ports = self.meters[host].ports()
            lacking = [one.name for one in ports if not one.is_counted] + ([] if ports else [opened])
            why = [f"{name} of {host} has no counters of data" for name in lacking]
            known = self.watches[host].readings[0].rdma
            why += [f"{name} of {host}: {text}" for name, text in self.disturbed[host].items() if name in known]
            if why:
                return f"{why[0]}, and a {self.ranks.noun} has {opened} open"
        return ""

    @cached_property
    def shared(self) -> list[str]:
        """Return what memory ranks share: of one host, or, where hosts are judged, ranks of several hosts."""
        return [
            identity
            for identity, who in self.ranks.memory
            if len({host for host, _ in who} if self.is_between_hosts else who) > 1
        ]

    @cached_property
    def inside(self) -> str:
        """Return what ranks of one host told each other without leaving it, in words; empty if nothing shows that."""
        if not self.is_between_hosts:
            return ""
        kinds = (RANKS,) if self.ranks.is_parallel else (RANKS, OUTWARD)
        size = sum(one.size_bytes for one in self.transfers if one.source == one.target and one.kind in kinds)
        parts = [f"{bytes_text(size)} by connections"] if size else []
        if self.ranks.memory_inside:
            parts.append(f"an unknown amount through {memory_text(self.ranks.memory_inside)}")
        if not self.ranks.is_parallel and self.ranks.channel:
            parts.append(f"an unknown amount elsewhere ({self.ranks.channel})")
        return f"; inside hosts stayed {' and '.join(parts)}" if parts else ""

    @cached_property
    def parties(self) -> str:
        """Return between whom the judged bytes went, in words."""
        judged = [one for one in self.transfers if self.is_judged(one) and one.size_bytes]
        unseen = {host for one in judged for host in (one.source, one.target)} - {*self.ranks.hosts}
        if self.ranks.all and not self.ranks.is_parallel:  # of some ends nobody saw the holder
            ends = [(one, host) for one in judged for host in {one.source, one.target} & unseen if not one.with_whom]
            judged += [replace(one, kind=OUTWARD, with_whom=self._unseen_name(host)) for one, host in ends]
        whom = list(dict.fromkeys(one.with_whom for one in judged if one.kind == OUTWARD))
        if not whom:
            return f"{self.ranks.nouns} of different hosts" if self.inside else self.ranks.parties
        more = f" and {len(whom) - MOST_NAMED} others" if len(whom) > MOST_NAMED else ""
        return f"the job and {' and '.join(whom[:MOST_NAMED])}{more}"

    def _unseen_name(self, host: str) -> str:
        return not_the_jobs(host) if host in self.watches else f"{host} (not watched)"

    @cached_property
    def may_share(self) -> bool:
        """Return whether bytes may have gone through memory: on one host always, between hosts where it was seen."""
        return not self.is_between_hosts or bool(self.shared)

    @cached_property
    def could_share(self) -> bool:
        """Return whether nothing rules memory out: on one kernel, where not all that ranks have mapped was seen."""
        kernels = {watch.kernel for watch in self.watches.values()}
        is_unseen = not self.ranks.all or any(not one.shared_mappings for _, one in self.ranks.all)
        return self.may_share or (len(kernels) == 1 and "" not in kernels and is_unseen)

    @cached_property
    def asked_name(self) -> str:
        """Return what was asked for, in words: `tcp over eth0`, `roce over rxe0/1`, `shared memory`."""
        asked = self.expected
        if asked.transport == "shm":
            return MEMORY
        ends = asked.rdma_ports if asked.transport in RDMA_TRANSPORTS else asked.interfaces
        judged = [one for one in self.transfers if self.is_judged(one) and one.size_bytes]
        if not ends and asked.transport in ("tcp", books_datagrams.UDP):  # over any interface: what it was
            every = [one.out_interface or one.in_interface for one in judged if one.carrier == asked.transport]
            names = list(dict.fromkeys(name for name in every if name))
            return f"{asked.transport} over {' and '.join(names)}" if names else asked.transport
        hosts = {host for pair in asked.payload_bytes or () for host in pair} or set(self.watches)
        if not ends and asked.transport in RDMA_TRANSPORTS:  # any device: what it was
            moving = [one for one in self.ports if self.is_asked_port(one) and self.moved_by(one) >= LEAST_PORT_BYTES]
            ends = {f"{one.host} {one.name}": one.name for one in moving}
            hosts = {*ends}
        names = list(dict.fromkeys(ends[host] for host in ends if host in hosts))
        what = asked.transport or "any transport"
        if asked.takes_datagrams:
            kinds = {one.carrier for one in judged if self.is_on_fabric(one)} or {what}
            what = " and ".join(sorted(kinds))
        return f"{what} over {' and '.join(names)}" if names else what

    @cached_property
    def found(self) -> Found:
        """Return where the bytes between the judged hosts are."""
        found = Found()
        for one in self.transfers:
            if self.is_judged(one):
                self._take(found, one)
        for port in self.ports:
            self._take_port(found, port)
        if sum(found.unplaced.values()) > self._room():
            for name, size in found.unplaced.items():  # what the interface did not count did not go by it
                found.elsewhere[name] = found.elsewhere.get(name, 0) + size
                found.unclear[name] -= size
            found.unclear = {name: size for name, size in found.unclear.items() if size}
            found.unplaced = {}
        return found

    def _room(self) -> float:
        """Return how many bytes the interfaces that were asked for can have carried at most, both directions added."""
        asked = self.expected.interfaces
        lines = [one for one in self.lines if one.interface == asked.get(one.host)]
        if not asked or {one.host for one in lines} != set(self.watches):
            return math.inf
        return sum(max(0, one.counted_bytes - one.tcp_bytes) for one in lines) / FOUND_SHARE

    def _take(self, found: Found, one: Transfer) -> None:
        is_asked, is_kernels = self._is_asked_carrier(one), one.kind == UNCLEAR
        if self.is_asked(one) and not (is_kernels and self.expected.payload_bytes is None):
            found.asked[one.source, one.target] = found.asked.get((one.source, one.target), 0) + one.size_bytes
            return
        name, is_unplaced = carrier_name(one), is_asked and self._is_unplaced(one)
        if is_unplaced:
            found.unplaced[name] = found.unplaced.get(name, 0) + one.size_bytes
        elif is_kernels and is_asked and self.is_on_fabric(one):
            found.unclear_asked_bytes += one.size_bytes
        into = found.unclear if is_kernels or is_unplaced else found.elsewhere
        into[name] = into.get(name, 0) + one.size_bytes

    def _is_asked_carrier(self, one: Transfer) -> bool:
        is_datagrams = one.carrier == books_datagrams.UDP and self.expected.takes_datagrams
        return one.carrier == self.expected.transport or is_datagrams

    def is_asked(self, one: Transfer) -> bool:
        """Return whether a transfer went by what was asked for."""
        return self._is_asked_carrier(one) and self.is_on_fabric(one)

    def _take_port(self, found: Found, port: Port) -> None:
        if not self.have_verbs or port.is_connections or self._is_others(port):
            return
        if self.is_asked_port(port):
            found.asked_out[port.host] = found.asked_out.get(port.host, 0) + port.sent_bytes
            found.asked_in[port.host] = found.asked_in.get(port.host, 0) + port.received_bytes
        elif max(port.sent_bytes, port.received_bytes) >= self._least_port_bytes:
            name = port_words(port)
            found.elsewhere[name] = found.elsewhere.get(name, 0) + port.sent_bytes

    @cached_property
    def have_verbs(self) -> bool:
        """Return whether the job may have used RDMA: it was seen to have a device open, or queue pairs."""
        return self.ranks.have_verbs or any(one.jobs_count for one in self.ports)

    def _is_others(self, port: Port) -> bool:
        """Return whether a port is somebody else's: others use it, and the job was seen to use another one."""
        return is_of_others(port, self._own_ports, self.expected.others_ports)

    def is_asked_port(self, port: Port) -> bool:
        """Return whether a port is what was asked for: by its name, or because it speaks that."""
        if self.expected.transport not in RDMA_TRANSPORTS:
            return False
        named = self.expected.rdma_ports.get(port.host)
        return named == port.name if named else port_kind(port.name, self.watches[port.host]) == self.expected.transport

    @cached_property
    def again_bytes(self) -> int:
        """Return as much as was perhaps sent twice or more, of what went over the Soft RoCE that was asked for."""
        ports = [one for one in self.ports if one.is_software and self.is_asked_port(one) and self.have_verbs]
        lost = sum(one.sent_bytes for one in ports) - sum(one.received_bytes for one in ports)
        again = sum(min(one.received_bytes, one.again_bytes) for one in ports)
        return again + max(0, lost) if again else 0

    @cached_property
    def option_bytes(self) -> int:
        """Return how much less the job's datagrams may have carried by what was asked for: what options (RFC 791) add
        no counter tells."""
        may_be = self.expected.takes_datagrams or self.expected.transport == books_datagrams.UDP
        lines = [one for one in self.lines if one.datagram_bytes and not one.is_exact and one.direction == "out"]
        here = [one for one in lines if may_be and self.is_over(one.host, one.interface)]
        return sum(min(one.datagram_bytes, MOST_OPTION_BYTES * one.datagram_count) for one in here)

    @property
    def doubled_bytes(self) -> int:
        """Return how much of what went over what was asked for may be no payload."""
        return self.again_bytes + self.option_bytes

    @cached_property
    def datagram_slack_bytes(self) -> int:
        """Return how much more or less the job's datagrams may have carried."""
        return books_datagrams.slack_bytes(self.lines, self.meters)

    @cached_property
    def others_ports(self) -> list[Port]:
        """Return the ports of RDMA that others used too: a port counts for its whole host."""
        ports = self.ports if self.have_verbs else []
        ports = [one for one in ports if not self._is_others(one)]
        return [one for one in ports if one.others_count or one.idle_share > OWNERLESS_SHARE]

    @property
    def _least_port_bytes(self) -> int:
        payload = self.expected.payload_bytes
        return LEAST_PORT_BYTES if payload is None else max(1, min(LEAST_PORT_BYTES, sum(payload.values()) // 50))

    def is_judged(self, one: Transfer) -> bool:
        """Return whether a transfer went between hosts that are judged, or inside the one that is."""
        if (one.source != one.target) != self.is_between_hosts and (
            self.expected.transport or len(self.ranks.hosts) > 1 or one.kind == UNCLEAR
        ):
            return False  # where nothing was expected, all that one host's program moved is told
        payload = self.expected.payload_bytes
        if payload is None or (one.source, one.target) in payload:
            return True
        # Of datagrams one end alone is known.
        is_open_goal = one.carrier == books_datagrams.UDP and one.target == books_datagrams.ELSEWHERE
        return is_open_goal and any(one.source == source != target for source, target in payload)

    def is_on_fabric(self, one: Transfer) -> bool:
        """Return whether both ends of a transfer used the interfaces that were asked for."""
        ends = ((one.source, one.out_interface), (one.target, one.in_interface))
        return all(self.is_over(host, name) for host, name in ends if name is not None)

    def is_over(self, host: str, name: str) -> bool:
        """Return whether an interface is what was asked for, or stands on it and nothing else (VLAN, VXLAN)."""
        asked = self.expected.interfaces.get(host, name)
        lower = self.watches[host].lower_interfaces if host in self.watches else {}
        passed = {name}
        while name != asked and len(beneath := lower.get(name, ())) == 1 and beneath[0] not in passed:
            name = beneath[0]
            passed.add(name)
        return name == asked

    def _is_unplaced(self, one: Transfer) -> bool:
        """Return whether it may have used the fabric all the same: by no interface's address, or a VLAN over it."""
        asked = self.expected.interfaces
        ends = ((one.source, one.out_interface), (one.target, one.in_interface))
        return self._is_by_tunnel(one) or any(
            name == "" or (name is not None and host in asked and name.startswith(f"{asked[host]}."))
            for host, name in ends
        )

    def unexplained_bytes(self, *, on_fabric: bool = False) -> int:
        """Return the most payload that may be hidden in what nothing accounts for, one way.

        It can only be UDP's, or a device's that the kernel does not know: every TCP connection is listed. Where the
        host counts datagrams, they are the limit. `on_fabric` asks for the interfaces of the fabric alone, and for
        everything that was counted there.
        """
        total = 0
        for host, meter in self.meters.items():
            asked = self.expected.interfaces
            lines = [one for one in self.lines if one.host == host and one.direction == "out"]
            if on_fabric:
                total += sum(max(0, one.rest_bytes) for one in lines if one.interface == asked.get(host))
                continue
            rest = sum(max(0, one.rest_bytes) for one in lines if (one.interface == LOOPBACK) != self.is_between_hosts)
            limit = meter.udp_bytes()
            total += rest if limit is None else min(rest, limit)
        return total

    @cached_property
    def ownerless(self) -> dict[tuple[str, str], int]:
        """Return host and interface to the bytes that nothing accounts for, in the direction that has more of them."""
        found: dict[tuple[str, str], int] = {}
        told = self.found.asked_bytes + self.found.elsewhere_bytes or LEAST_COUNTED_BYTES / OWNERLESS_SHARE
        for line in self.lines:
            least = min(LEAST_COUNTED_BYTES, max(OWNERLESS_SHARE * told, line.housekeeping_bytes))
            if line.rest_bytes > max(OWNERLESS_SHARE * line.counted_bytes, least):
                key = line.host, line.interface
                found[key] = max(found.get(key, 0), line.rest_bytes)
        for port in self.ports:  # where the kernel tells who has queue pairs, what went by nobody's has no owner
            size, is_anybodys = self.moved_by(port), port.others_count + port.old_count > 0
            if not (self.have_verbs or port.jobs_count is None or is_anybodys) and size >= LEAST_COUNTED_BYTES:
                found[port.host, port.name] = size
        return found

    @property
    def unsent_bytes(self) -> int:
        """Return what the job had left to be sent when its hosts were read last."""
        return sum(watch.unsent_bytes for watch in self.watches.values())

    def ownerless_lines(self) -> tuple[Ownerless, ...]:
        """Return `ownerless`, the most first."""
        most_first = sorted(self.ownerless.items(), key=lambda item: (-item[1], item[0]))
        return tuple(Ownerless(host, interface, size) for (host, interface), size in most_first)

    @cached_property
    def found_share(self) -> float | None:
        """Return what was found on what was asked for, of all that was found between ranks; None for no answer."""
        if not self.expected.transport or self.expected.transport == "shm":
            return None
        asked = self.found.asked_bytes + self.found.unclear_asked_bytes
        unclear = sum(self.found.unclear.values()) - self.found.unclear_asked_bytes
        every = asked + self.found.elsewhere_bytes + unclear
        return asked / every if every and self.found.asked_bytes + self.found.elsewhere_bytes else None

    @cached_property
    def pinned(self) -> str:
        """Return how much memory was pinned, in words, if processes of one host may have told each other a part of what
        is judged by that; empty where it is too little, or the kernel does not count it."""
        total = self.found.asked_bytes + self.found.elsewhere_bytes
        hosts = self.ranks.hosts or list(self.watches)
        size = max((self.meters[host].pinned_bytes() or 0 for host in hosts), default=0)
        if len(self.ranks.all) < 2 or size < max(FEW_BYTES, OWNERLESS_SHARE * total):
            return ""
        return f"{bytes_text(size)} of memory were read by other processes (process_vm_readv) or by devices"

    @cached_property
    def by_files(self) -> str:
        """Return what ranks of one host wrote and read beside their connections, in words; empty for too little.

        They may have told each other that much: a file is closed again before anybody sees it.
        """
        least = max(FILE_BYTES, FILE_SHARE * (self.found.asked_bytes + self.found.elsewhere_bytes))
        for host in self.ranks.hosts:
            here = [one for name, one in self.ranks.all if name == host]
            sent = sum(one.size_bytes for one in self.transfers if one.source == host)
            came = sum(one.size_bytes for one in self.transfers if one.target == host)
            written = sum(one.written_bytes for one in here) - sent
            read = sum(one.read_bytes for one in here) - came
            if len(here) > 1 and min(written, read) >= least:
                return f"{self.ranks.nouns} of {host} also wrote {bytes_text(written)} and read {bytes_text(read)}"
        return ""

    @cached_property
    def datagrams(self) -> str:
        """Return which rank had a socket for datagrams, and why it is not known what went by it; empty for neither."""
        why = (books_datagrams.because(host, self.meters[host], self.ranks) for host in self.ranks.hosts)
        first = next(filter(None, why), "")
        had = self.ranks.datagrams or self.ranks.short_datagrams
        had = had or ("somebody had a UDP socket for a moment" if self.datagram_bytes else "")
        return f"{had} ({first})" if first else had

    @cached_property
    def datagram_bytes(self) -> int:
        """Return the most that ranks with sockets for datagrams can have sent by them: their bytes nobody counts."""
        return sum(
            books_datagrams.most_hidden(self.meters[host], self.ranks, self._lines_for_datagrams(host))
            for host in self.ranks.hosts
        )

    def _lines_for_datagrams(self, host: str) -> list[Line]:
        """Return by what a host's datagrams may have gone past what was asked for."""
        lines = [one for one in self.lines if one.host == host and one.direction == "out"]
        may_carry = self.expected.takes_datagrams or self.expected.transport == "udp"
        asked = self.expected.interfaces.get(host) if may_carry else None
        return [one for one in lines if (one.interface == LOOPBACK) != self.is_between_hosts and one.interface != asked]

    def moved_by(self, port: Port) -> int:
        """Return what a port moved in the direction that has more of it; of siw, the kernel's connections tell."""
        if not port.is_connections:
            return max(port.sent_bytes, port.received_bytes)
        ways = [0, 0]
        for one in self.transfers:
            for way, host, name in ((0, one.source, one.out_interface), (1, one.target, one.in_interface)):
                if one.carrier == "iwarp" and host == port.host and name == (port.interface or name):
                    ways[way] += one.size_bytes
        return max(ways)


def _account(meter: Meter, flows: Sequence[Flow], peers: Sequence[Flow]) -> tuple[list[Line], list[Port]]:
    """Return the account of a host's interfaces, and its ports; `peers` are the connections of other hosts."""
    lines, ports = lines_of(meter, flows, resent_to(flows, peers))
    return through_doors(lines, flows, meter.watch.doors), ports


def port_words(port: Port) -> str:
    """Return what was not asked for and moved by an RDMA port, in words."""
    return f"RDMA over {port.name}"


def carrier_name(one: Transfer) -> str:
    """Return the carrier of a transfer in words."""
    if one.out_interface and one.in_interface and one.out_interface != one.in_interface:
        return f"{one.carrier} from {one.out_interface} to {one.in_interface}"
    return f"{one.carrier} over {one.out_interface or one.in_interface or 'an unknown interface'}"
