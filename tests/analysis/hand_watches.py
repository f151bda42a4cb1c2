"""Watches made by hand: hosts, what went between them and over what, with the counters that a kernel would show."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from fabriscope.model.counters import OTHER, RANK, Connection, Process, Reading, Watch

HEADERS = 14 + 20 + 20 + 12
SEGMENT = 1448
SECOND = 10**9
SOFT, HARD = "rxe0/1", "mlx5_0/1"


@dataclass
class Host:
    """One host: eth0 and eth1 with addresses, lo, and what was counted while it was watched."""

    name: str
    number: int
    kernel: str = ""
    interfaces: dict[str, dict[str, int]] = field(default_factory=dict)
    rdma: dict[str, dict[str, int]] = field(default_factory=dict)
    protocols: dict[str, int] = field(default_factory=dict)
    connections: list[Connection] = field(default_factory=list)
    before: list[Connection] = field(default_factory=list)
    processes: list[Process] = field(default_factory=list)
    problems: dict[str, str] = field(default_factory=dict)
    mtu_bytes: int = 1500
    late_ns: int = 0

    def __post_init__(self) -> None:
        self.kernel = self.kernel or f"boot-{self.name}"
        for name in ("lo", "eth0", "eth1"):
            self.interfaces[name] = dict.fromkeys(("rx_bytes", "tx_bytes", "rx_packets", "tx_packets"), 0)
        self.protocols = {"Udp.OutDatagrams": 0, "Udp.InDatagrams": 0}

    def address(self, interface: str) -> str:
        """Return the address of an interface: 10.0.0.1 is eth0 of the first host."""
        return "127.0.0.1" if interface == "lo" else f"10.{interface[-1]}.0.{self.number}"

    def count(self, interface: str, way: str, size: int, packets: int) -> None:
        """Let an interface count bytes, headers included."""
        self.interfaces[interface][f"{way}_bytes"] += size
        self.interfaces[interface][f"{way}_packets"] += packets

    def watch(self, seconds: float = 10, start: int = 1_000_000) -> Watch:
        """Return what a collector would say: counters begin at `start`."""
        first = {name: dict.fromkeys(counters, start) for name, counters in self.interfaces.items()}
        last = {name: {key: start + value for key, value in one.items()} for name, one in self.interfaces.items()}
        ports = {name: dict.fromkeys(counters, start) for name, counters in self.rdma.items()}
        ended = {name: {key: start + value for key, value in one.items()} for name, one in self.rdma.items()}
        addresses = {name: (self.address(name),) for name in self.interfaces}
        return Watch(
            self.name,
            self.kernel,
            addresses,
            dict.fromkeys(self.interfaces, self.mtu_bytes),
            (
                Reading(0, 0, 0, first, ports, dict.fromkeys(self.protocols, 0), tuple(self.before)),
                Reading(
                    round(seconds * SECOND), 0, 0, last, ended, dict(self.protocols), tuple(self.connections),
                    tuple(self.processes),
                ),
            ),
            {SOFT: "eth0", HARD: "eth0"},
            dict(self.problems),
            late_ns=self.late_ns,
        )  # fmt: skip


class Scene:
    """Some hosts, and what is done between them."""

    def __init__(self, *names: str, one_kernel: bool = False) -> None:
        kernel = "boot" if one_kernel else ""
        self.hosts = {name: Host(name, number, kernel) for number, name in enumerate(names or ("a", "b"), start=1)}
        self._port = 40_000
        for number, host in enumerate(self.hosts.values()):
            host.processes.append(Process(100 + number, RANK, number, "app"))

    def __getitem__(self, name: str) -> Host:
        return self.hosts[name]

    def tcp(
        self,
        source: str,
        target: str,
        sent: int,
        back: int = 0,
        over: str = "eth0",
        role: str = RANK,
        *,
        counted_by: str | None = None,
        segment: int = SEGMENT,
        was_there: int = 0,
        again: int = 0,
        is_open: bool = False,
        there: str | None = None,
    ) -> None:
        """Let a connection move payload; interfaces count it, with a header for each segment."""
        self._port += 1
        local = source == target
        one, other = self.hosts[source], self.hosts[target]
        ends = (one.address(over), self._port), (other.address(over), 9000)
        for host, near, far, out, into, holder, resent in (
            (one, *ends, sent, back, role, again),
            (other, *ends[::-1], back, sent, there or role, 0),
        ):
            if was_there:
                host.before.append(Connection(*near, *far, was_there, was_there, role=role))
            segments = (-(-(out + resent) // segment), -(-into // segment))
            moved = (was_there + out, was_there + into, *segments, resent)
            host.connections.append(Connection(*near, *far, *moved, role=holder, is_closed=not is_open))
        wire = "lo" if local else counted_by or over
        for way, size in ((("tx", "rx"), sent + again), (("rx", "tx"), back)):
            packets = -(-size // segment)
            header = HEADERS - 14 * local
            for host, letters in ((one, way[0]), (other, way[1])) if not local else ((one, "tx"), (one, "rx")):
                lost = again if letters == "rx" and host is other and not local else 0
                host.count(wire, letters, size - lost + packets * header, packets - lost // segment)

    def udp(
        self,
        source: str,
        target: str,
        size: int,
        over: str = "eth0",
        each: int = 1400,
        version: int = 4,
        options: int = 0,
    ) -> None:
        """Let datagrams move bytes, of whoever: interfaces and the namespaces count them, no connection does."""
        count = -(-size // each)
        family, header = ("Udp6.", 40) if version == 6 else ("Udp.", 20)
        for name, way, key in ((source, "tx", "OutDatagrams"), (target, "rx", "InDatagrams")):
            host = self.hosts[name]
            host.count(over, way, size + count * (14 + header + options + 8), count)
            host.protocols[f"{family}{key}"] = host.protocols.get(f"{family}{key}", 0) + count

    def has_udp(self) -> None:
        """Let every rank have a UDP socket."""
        self._ranks(lambda one: replace(one, datagrams=("udp",)))

    def noise(self, size: int, over: str = "eth0", packets: int = 10) -> None:
        """Let every host's interface count what belongs to nobody."""
        for host in self.hosts.values():
            for way in ("rx", "tx"):
                host.count(over, way, size, packets)

    def soft_roce(self, source: str, target: str, size: int, mtu: int = 1024) -> None:
        """Let Soft RoCE move payload: its packets are counted by the interface."""
        packets = -(-size // mtu)
        wire = size + packets * (14 + 20 + 8 + 12 + 4)
        for name, key, way in ((source, "sent", "tx"), (target, "rcvd", "rx")):
            host = self.hosts[name]
            host.rdma.setdefault(SOFT, {"hw.sent_pkts": 0, "hw.rcvd_pkts": 0})[f"hw.{key}_pkts"] += packets
            host.count("eth0", way, wire, packets)

    def hard_rdma(self, source: str, target: str, size: int) -> None:
        """Let a device of its own move payload: no interface of the kernel sees it."""
        for name, key in ((source, "xmit"), (target, "rcv")):
            port = self.hosts[name].rdma.setdefault(HARD, dict.fromkeys(("port_xmit_data", "port_rcv_data"), 0))
            port[f"port_{key}_data"] += size // 4

    def driver_counted(self, source: str, target: str, size: int, port: str, names: tuple[str, str]) -> None:
        """Let a device move payload whose driver counts bytes under names of its own, out and in."""
        for name, counter in zip((source, target), names, strict=True):
            counters = self.hosts[name].rdma.setdefault(port, {})
            counters.update({one: counters.get(one, 0) for one in names})
            counters[counter] += size

    def idle_port(self, port: str = SOFT) -> None:
        """Give every host an RDMA port that stands still."""
        names = ("hw.sent_pkts", "hw.rcvd_pkts") if port == SOFT else ("port_xmit_data", "port_rcv_data")
        for host in self.hosts.values():
            host.rdma.setdefault(port, dict.fromkeys(names, 0))

    def opens(self, device: str = "/dev/infiniband/uverbs0") -> None:
        """Let every rank open a device."""
        self._ranks(lambda one: replace(one, devices=(*one.devices, device)))

    def shares(self, identity: str = "0:25:77 /dev/shm/seg", size: int = 1 << 22) -> None:
        """Let all ranks share memory."""
        self._ranks(lambda one: replace(one, shared_mappings={**one.shared_mappings, identity: size}))

    def holds(self, *channels: tuple[str, ...]) -> None:
        """Let the ranks of the first host, in order, hold ends of pipes and Unix sockets."""
        host = next(iter(self.hosts.values()))
        ranks = iter(channels)
        host.processes = [replace(one, channels=next(ranks, ())) if one.role == RANK else one for one in host.processes]

    def second_rank(self, name: str) -> None:
        """Let another rank run on a host."""
        host = self.hosts[name]
        host.processes.append(Process(200 + len(host.processes), RANK, 1, "app"))

    def others(self, size: int, over: str = "eth0") -> None:
        """Let somebody else copy a file between the first two hosts."""
        one, other = list(self.hosts)[:2]
        self.tcp(one, other, size, size // 50, over, role=OTHER)

    def watches(self, seconds: float = 10) -> Mapping[str, Watch]:
        """Return what the collectors of all hosts say."""
        return {name: host.watch(seconds) for name, host in self.hosts.items()}

    def _ranks(self, change: Callable[[Process], Process]) -> None:
        for host in self.hosts.values():
            host.processes = [change(one) if one.role == RANK else one for one in host.processes]
