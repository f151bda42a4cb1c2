"""What the counters of hosts said while a job ran, and what follows from them: which transport carried its bytes."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import pairwise

from fabriscope.model.limits import Counted64, DurationNs, UnixNs, Whole32

PROVED, REFUTED, UNDECIDED = "proved", "refuted", "undecided"

RANK, JOB, BESIDE, CONFIDANT, OTHER = "rank", "job", "beside", "confidant", "other"
"""Roles of a process: a rank of an MPI job (or the measuring program itself where there is no MPI), what starts ranks
(launchers, daemons, shells), another program that the job started beside its ranks (a copy), somebody else's that the
job talks to by a Unix socket, or somebody else's."""
UNSEEN = "unseen"
"""In place of a role: the job's by the kernel's word, of which process nobody saw; and little, or it is a rank's."""
UNHELD = "unheld"
"""Likewise beside programs of which none is a launcher: a rank's, unless a launcher may have the other end."""

CHANNEL = re.compile(r"((?:pipe|file) [0-9a-f:]+) (read|write)|unix ([0-9]+) to ([0-9]+)")
"""What a process holds an end of: a pipe, with a name or without, an open file (`DEVICE:INODE`), a Unix socket."""


@dataclass(frozen=True)
class Connection:
    """One TCP connection of a host, as the kernel's sock_diag told; seen alive, or when it was closed."""

    local_address: str
    local_port: Whole32
    remote_address: str
    remote_port: Whole32
    sent_bytes: Counted64
    """Payload that the other end acknowledged (tcpi_bytes_acked, without the SYN)."""
    received_bytes: Counted64
    """Payload that arrived in order (tcpi_bytes_received); one byte more where the other end closed, and this one had
    not been seen to have heard that."""
    sent_segments: Counted64 | None = None
    """tcpi_segs_out, retransmissions and bare acknowledgements among them; None where the kernel does not say."""
    received_segments: Counted64 | None = None
    retransmitted_bytes: Counted64 | None = None
    """Payload sent again, or, once it is closed, never acknowledged."""
    role: str = ""
    """RANK, JOB, BESIDE, CONFIDANT or OTHER after the process that holds it, or UNSEEN; empty where no process could be
    found (it was closed before anyone looked)."""
    pid: int | None = None
    is_closed: bool = False
    cookie: Counted64 = 0
    """The kernel's name for the socket: never given twice while it runs. 0 where it is not known."""
    space: str = ""
    """The network namespace that it is in, if that is one that the job made; empty for the host's."""
    has_time_stamps: bool | None = None
    """Whether its packets have TCP's option of time stamps (12 bytes); None where nobody asked."""
    longer_bytes: Whole32 = 0
    """How much longer the headers of its packets may be, for other options, as far as their size tells."""


@dataclass(frozen=True)
class Process:
    """One process of the job on a host, and by what else than sockets it could move bytes."""

    pid: int
    role: str
    rank: int | None = None
    program: str = ""
    shared_mappings: Mapping[str, Counted64] = field(default_factory=dict)
    """Memory shared with others: identity (`DEVICE:INODE NAME` of /proc/PID/maps, one kernel's word) to its bytes."""
    devices: tuple[str, ...] = ()
    """Device files that it holds open: /dev/infiniband/uverbs0, /dev/hfi1_0 ..."""
    datagrams: tuple[str, ...] = ()
    """Kinds of sockets that it had, bound or connected, of which no bytes are counted: `udp`, `raw`, `packet`."""
    channels: tuple[str, ...] = ()
    """Ends of pipes, of connected Unix sockets and of files (CHANNEL): `pipe 77 read`, `unix 78 to 79`."""
    read_bytes: Counted64 = 0
    """What it read by read(2) and its like when it was seen last, from wherever; 0 where that may not be read."""
    written_bytes: Counted64 = 0


@dataclass(frozen=True)
class Reading:
    """All counters of one host at one moment. Counters only grow, unless an interface or a device was made anew."""

    at_ns: UnixNs
    """On the host's monotonic clock."""
    unix_ns: UnixNs
    cost_ns: UnixNs
    """The processor time that the collector took since the reading before, for this reading and what it saw between;
    of the first one, since it began."""
    interfaces: Mapping[str, Mapping[str, Counted64]]
    """Interface to its 64-bit statistics (rx_bytes, tx_bytes, rx_packets, tx_packets, rx_dropped ...), and what
    `ethtool -S` says besides under `driver.NAME`."""
    rdma: Mapping[str, Mapping[str, Counted64]] = field(default_factory=dict)
    """`DEVICE/PORT` to its counters: files of `counters` by their names, those of `hw_counters` as `hw.NAME`."""
    protocols: Mapping[str, int] = field(default_factory=dict)
    """`Tcp.OutSegs`, `Udp.InDatagrams`, `IpExt.OutOctets` ... of /proc/net/snmp, netstat and snmp6."""
    connections: tuple[Connection, ...] = ()
    """Those alive, and those closed since the reading before. Roles are what was found out by the end of the watch."""
    processes: tuple[Process, ...] = ()
    """All of the job that were seen on the host, in the last reading; empty in the others."""


@dataclass(frozen=True)
class DeviceSeries:
    """What an interface or an RDMA port counted over time: a value for each period in which it counted something."""

    device: str
    """`eth1`, or `DEVICE/PORT`."""
    since_unix_ns: UnixNs
    at_unix_ns: tuple[UnixNs, ...]
    """The ends of the periods, by the host's system clock."""
    length_ns: tuple[DurationNs, ...]
    counters: Mapping[str, tuple[Counted64, ...]]
    """By how much each grew, named as in a Reading; of an interface also `rx_pause_frames`, `tx_pause_frames`."""

    def __post_init__(self) -> None:
        """Raise ValueError where a period has no value, or ends no later than the one before."""
        if any(later <= earlier for earlier, later in pairwise(self.at_unix_ns)):
            raise ValueError(f"the periods of {self.device} do not follow each other")
        for name, values in (("length_ns", self.length_ns), *self.counters.items()):
            if len(values) != len(self.at_unix_ns):
                raise ValueError(f"{name} of {self.device} has {len(values)} of {len(self.at_unix_ns)} values")


@dataclass(frozen=True)
class Watch:
    """The readings of one host over one launch: the first before its processes started, the last after they ended."""

    host: str
    kernel: str
    """Boot id: hosts of one kernel (namespaces of a lab, one machine) could share memory."""
    addresses: Mapping[str, tuple[str, ...]]
    """Interface to its addresses."""
    mtu_bytes: Mapping[str, Whole32]
    readings: tuple[Reading, ...]
    rdma_interfaces: Mapping[str, str] = field(default_factory=dict)
    """`DEVICE/PORT` to the interface that it sends over, for RoCE and iWARP."""
    problems: Mapping[str, str] = field(default_factory=dict)
    """What could not be read, and why: an unknown is not a zero."""
    lower_interfaces: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Interface to those beneath it, which count its bytes too (VLAN, VXLAN, macvlan, bond, bridge)."""
    spaces: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Network namespace that the job made to its addresses."""
    doors: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Interface of the host to the namespaces of `spaces` behind it: one end of a veth pair, or the bridge it is in."""
    ownership: str = ""
    """By what it was known whose processes and connections are: `birth`, `group` or `marks` (docs/counters.md); empty
    where nobody said."""
    other_datagrams: tuple[str, ...] | None = None
    """Sockets of UDP that reach other hosts and are not the job's, in words (`port 5353`); None where nobody looked."""
    has_datagrams: bool = False
    """Whether a process of the job had a socket of UDP, be it for a moment in which nobody looked."""
    own_datagrams: Mapping[str, tuple[Counted64, ...]] | None = None
    """Interface to what the job's sockets moved by UDP, from the job's beginning: packets, bytes behind the headers
    of IP and UDP, bytes of options, sent and then received; None where the kernel does not tell of all of them."""
    namespace: str = ""
    """The number of the network namespace that was watched; empty where nobody said."""
    strays: Mapping[str, tuple[str, Counted64]] = field(default_factory=dict)
    """Another one that was there before the job, to which program of the job was in it, and how much its interfaces
    counted meanwhile, in the direction that has more."""
    left: tuple[str, ...] = ()
    """Programs of the job that still ran at the last reading."""
    unsent_bytes: int = 0
    """What the job had left to the kernel that was not sent, or not acknowledged, at the last reading."""
    late_ns: DurationNs = 0
    """By how much the latest of the looks at the job came too late: what lived for less may have been missed."""
    series: tuple[DeviceSeries, ...] = ()
    """Of launches of streams: what the interface and the RDMA port of the fabric counted over time."""


@dataclass(frozen=True)
class Expectation:
    """What a job's bytes were asked to go over, and how many there were."""

    transport: str
    """`tcp`, `udp`, `roce`, `iwarp`, `ib` or `shm`."""
    fabric: str
    """Its name, for people; empty for shared memory."""
    interfaces: Mapping[str, str] = field(default_factory=dict)
    """Host to interface."""
    rdma_ports: Mapping[str, str] = field(default_factory=dict)
    """Host to `DEVICE/PORT`."""
    others_ports: frozenset[tuple[str, str]] = frozenset()
    """Host and `DEVICE/PORT` of those that launches which shared the time were asked to go over."""
    payload_bytes: Mapping[tuple[str, str], int] | None = None
    """(From host, to host) to what the program sent; both may be one host. None where nobody knows (`prove`)."""
    message_count: int | None = None
    """How many messages that was, all together; each may carry a header of the library's own."""
    takes_datagrams: bool = False
    """Of `tcp`: UDP over the same interfaces is as good; an interface was asked for, and no transport."""


@dataclass(frozen=True)
class Carrier:
    """What one way out of a host carried of the job, and of others."""

    host: str
    kind: str
    """`tcp`, `udp`, `roce`, `iwarp`, `ib`, or `shm` (then no counter knows how much)."""
    name: str
    """Interface (`eth0`), RDMA port (`rxe0/1`), or what memory is shared."""
    sent_bytes: int | None
    """Payload of the job; None where it cannot be counted."""
    received_bytes: int | None


@dataclass(frozen=True)
class Ownerless:
    """Bytes that an interface counted and that no connection of the job or of others, and no idle host, explains."""

    host: str
    interface: str
    size_bytes: int
    """In the direction that has more of them."""


@dataclass(frozen=True)
class Books:
    """The verdict on one launch, and the account that it rests on."""

    verdict: str
    """PROVED, REFUTED or UNDECIDED."""
    because: str
    """One clause for people: what carried how much, or why it cannot be told."""
    carried_by: str = ""
    """What carried most of it, in words (`tcp over eth1`, `shared memory`); empty when undecided about that too."""
    carriers: tuple[Carrier, ...] = ()
    closure_error: float | None = None
    """The worst interface's |counted - background - explained| / counted: what no socket, RDMA packet or header
    accounts for. None where nothing was counted."""
    payload_share: float | None = None
    """Payload found on the fabric that was asked for, as a share of what the program sent; None where unknown."""
    found_share: float | None = None
    """What was found on the fabric that was asked for, as a share of all that was found between ranks. None where
    nothing was asked for, or nothing found."""
    ownerless: tuple[Ownerless, ...] = ()
    """Bytes of interfaces that nothing accounts for, where they are too many to be passed over."""
