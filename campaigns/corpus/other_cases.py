"""Cases of the transport corpus that are about what else goes on, and about jobs of every shape."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from campaigns.corpus.jobs import BULK, FORCED, GIVEN, NO_RDMA, ONE_HOST, TINY, TWO, forced, tcp_job
from campaigns.corpus.nouns import INTEL, LIBRARIES, LOCAL, MPICH4, MPICH5, NODES, OPENMPI4, OPENMPI5, Case, Job

from fabriscope.lab.presets import PRESETS
from fabriscope.model.counters import UNDECIDED


def split() -> Iterator[Case]:
    """Yield jobs of which both fabrics carried a share."""
    striped = "the library is told both interfaces and stripes large messages over them"
    for library in (OPENMPI4, OPENMPI5):
        job = Job(library, "ping_pong 20 2097152", forced(library, "eth0,eth1"))
        yield Case(
            f"{library}, striped over both",
            "two fabrics",
            "tcp eth0",
            ("tcp eth0", "tcp eth1"),
            striped,
            job,
            fabrics=TWO,
        )
    both = "the program sends these shares to the addresses of each fabric"
    for share in (0.5, 0.3, 0.1):
        words = (f"10.10.0.2={1 - share:g}", f"10.11.0.2={share:g}")
        for known in (True, False):
            name = f"plain TCP, {share:.0%} over eth1" + ("" if known else ", payload not known")
            yield Case(
                name,
                "two fabrics",
                "tcp eth0",
                ("tcp eth0", "tcp eth1"),
                both,
                tcp_job(10_000_000, *words),
                fabrics=TWO,
                knows_payload=known,
            )


_IPERF = {
    "TCP on the same fabric": (("node2", "iperf3 -s -p 6001"), ("node1", "iperf3 -c 10.10.0.2 -p 6001 -t 60 -b 200M")),
    "TCP on the other fabric": (("node2", "iperf3 -s -p 6001"), ("node1", "iperf3 -c 10.11.0.2 -p 6001 -t 60 -b 200M")),
    "UDP on the same fabric": (
        ("node2", "iperf3 -s -p 6001"),
        ("node1", "iperf3 -u -c 10.10.0.2 -p 6001 -t 60 -b 100M"),
    ),
    "unlimited TCP on the same fabric": (
        ("node2", "iperf3 -s -p 6001"),
        ("node1", "iperf3 -c 10.10.0.2 -p 6001 -t 60"),
    ),
}


def beside() -> Iterator[Case]:
    """Yield jobs beside which somebody else uses the network."""
    for number, (what, others) in enumerate(_IPERF.items()):
        for library in (OPENMPI5, MPICH5) if number < 3 else (OPENMPI4,):
            job = Job(library, BULK, forced(library, "eth0"))
            made = Case(
                f"{library}, {what}",
                "other traffic",
                "tcp eth0",
                ("tcp eth0",),
                FORCED,
                job,
                fabrics=TWO,
                beside=others,
            )
            yield replace(made, knows_payload=library != MPICH5)
    other = _IPERF["TCP on the same fabric"]
    job = Job(MPICH5, BULK, forced(MPICH5, "eth1"))
    yield Case(
        "MPICH 5 over eth1, somebody else's TCP on eth0",
        "other traffic",
        "tcp eth0",
        ("tcp eth1",),
        FORCED,
        job,
        fabrics=TWO,
        beside=other,
    )
    job = Job(MPICH4, BULK, {"UCX_TLS": "tcp,sm,self"}, ONE_HOST)
    shared = "both ranks are on one host, and UCX takes shared memory there"
    yield Case(
        "MPICH 4 on one host, somebody else's TCP on eth0",
        "other traffic",
        "tcp eth0",
        ("shm",),
        shared,
        job,
        fabrics=TWO,
        beside=other,
    )
    yield Case(
        "plain TCP, somebody else's TCP on the same fabric",
        "other traffic",
        "tcp eth0",
        ("tcp eth0",),
        GIVEN,
        tcp_job(10_000_000, "10.10.0.2"),
        beside=other,
    )


def tiny() -> Iterator[Case]:
    """Yield jobs of a few messages, which drown in what starting a job takes."""
    for library in LIBRARIES:
        job = Job(library, TINY, forced(library, "eth0"))
        yield Case(f"{library}, 3 messages of 8 B", "tiny", "tcp eth0", ("tcp eth0",), FORCED, job, fabrics=TWO)
    for library in (OPENMPI5, MPICH5):
        job = Job(library, "one_way 1 8", forced(library, "eth1"))
        yield Case(
            f"{library}, 1 message of 8 B over eth1", "tiny", "tcp eth0", ("tcp eth1",), FORCED, job, fabrics=TWO
        )
        job = Job(library, "one_way 10 8", forced(library, "eth0"))
        yield Case(
            f"{library}, 10 messages of 8 B, payload not known",
            "tiny",
            "tcp eth0",
            ("tcp eth0",),
            FORCED,
            job,
            fabrics=TWO,
            knows_payload=False,
        )
    yield Case("plain TCP, 100 B", "tiny", "tcp eth0", ("tcp eth0",), GIVEN, tcp_job(100, "10.10.0.2"))
    silent = Job(programs=(("node1", "sleep 1"), ("node2", "sleep 1")))
    yield Case(
        "programs that send nothing",
        "tiny",
        "tcp eth0",
        (),
        "nothing was sent: there is nothing to prove",
        silent,
        knows_payload=False,
        verdict=UNDECIDED,
    )


def _plain(name: str, job: Job, **more: Any) -> Case:
    """Return a program without MPI, told to use eth0."""
    return Case(name, "plain TCP", "tcp eth0", ("tcp eth0",), GIVEN, job, **more)


def _shape(name: str, reason: str, job: Job, **more: Any) -> Case:
    """Return a job whose bytes go over eth0 by TCP, for a reason that is told."""
    return Case(name, "shapes", "tcp eth0", ("tcp eth0",), reason, job, **more)


def plain() -> Iterator[Case]:
    """Yield programs without MPI."""
    for options, name in (("", "iperf3"), (" -P 4", "iperf3, 4 streams"), (" -R", "iperf3, reverse")):
        job = Job(
            servers=(("node2", "iperf3 -s --forceflush"),),
            programs=(("node1", f"iperf3 -c 10.10.0.2 -t 2 -b 400M{options}"),),
        )
        yield _plain(name, job, knows_payload=False)
    job = Job(servers=(("node2", "iperf3 -s --forceflush"),), programs=(("node1", "iperf3 -c 10.11.0.2 -t 2 -b 400M"),))
    yield Case(
        "iperf3, the other fabric", "plain TCP", "tcp eth0", ("tcp eth1",), GIVEN, job, fabrics=TWO, knows_payload=False
    )
    job = Job(
        programs=(
            ("node2", "NPtcp -u 2048"),
            ("node1", "sh -c 'sleep 0.5; exec NPtcp -h 10.10.0.2 -u 2048 -o /dev/null'"),
        )
    )
    yield _plain("NPtcp", job, knows_payload=False)
    yield _plain("plain TCP, echo", tcp_job(5_000_000, "10.10.0.2", options="--echo"))
    yield _plain("plain TCP, one direction", tcp_job(50_000_000, "10.10.0.2"))
    yield _plain("plain TCP, 40 connections", tcp_job(8_000_000, "10.10.0.2", options="--connections 40"))
    yield _plain("plain TCP, begins after 3 s", tcp_job(5_000_000, "10.10.0.2", options="--wait 3"))
    yield Case("plain TCP, RDMA asked", "plain TCP", "roce", ("tcp",), NO_RDMA, tcp_job(5_000_000, "10.10.0.2"))
    six = tuple(
        (host, f"sysctl -qw net.ipv6.conf.eth0.disable_ipv6=0; ip -6 address add fd00:10::{number}/64 dev eth0 nodad")
        for number, host in enumerate(NODES, 1)
    )
    yield _plain("plain TCP over IPv6", tcp_job(5_000_000, "fd00:10::2"), prepare=six)
    job = Job(
        servers=(("node2", "iperf3 -s --forceflush"),), programs=(("node1", "iperf3 -6 -c fd00:10::2 -t 2 -b 300M"),)
    )
    yield _plain("iperf3 over IPv6, payload not known", job, prepare=six, knows_payload=False)


def shapes() -> Iterator[Case]:
    """Yield jobs of other shapes: more hosts, one-way, late, over large frames and over bad wires."""
    three = ("node1", "node2", "node3")
    for library in (OPENMPI4, OPENMPI5, MPICH4, MPICH5):
        job = Job(library, "all_to_all 20 65536", forced(library, "eth0"), three)
        yield _shape(f"{library}, 3 hosts, all to all", FORCED, job, hosts=three, knows_payload=library != MPICH4)
    four = (*three, "node4")
    job = Job(MPICH5, "ring 50 65536", forced(MPICH5, "eth1"), four)
    yield Case(
        "MPICH 5, 4 hosts, ring over eth1", "shapes", "tcp eth0", ("tcp eth1",), FORCED, job, hosts=four, fabrics=TWO
    )
    job = Job(
        OPENMPI5,
        "ping_pong 100 65536",
        {"OMPI_MCA_pml": "ob1", "OMPI_MCA_btl_tcp_if_include": "eth0"},
        ("node1", "node1", "node2", "node2"),
    )
    yield _shape(
        "Open MPI 5, 2 ranks on each host",
        "ranks r and r + 2 talk, on different hosts, over the only btl between hosts",
        job,
    )
    for library in (OPENMPI4, MPICH4, MPICH5, INTEL):
        job = Job(library, "one_way 200 65536", forced(library, "eth0"))
        yield _shape(f"{library}, one way", FORCED, job, knows_payload=library != MPICH4)
    for library in (OPENMPI5, MPICH5):
        job = Job(library, f"{BULK} 3000", forced(library, "eth0"))
        yield _shape(f"{library}, begins after 3 s", FORCED, job)
    job = Job(MPICH5, "ping_pong 40 1024 0 50", forced(MPICH5, "eth0"))
    yield _shape("MPICH 5, pauses between messages", FORCED, job)
    jumbo = {"first": replace(LOCAL, mtu_bytes=9000)}
    job = Job(MPICH5, BULK, forced(MPICH5, "eth0"))
    yield _shape("MPICH 5, MTU 9000", FORCED, job, fabrics=jumbo)
    gige = PRESETS["gige"]
    yield _shape("MPICH 5, gige, MTU 9000", FORCED, job, fabrics={"first": replace(gige, mtu_bytes=9000)})
    yield _shape("MPICH 5, gige", FORCED, job, fabrics={"first": gige}, knows_payload=False)
    lossy = {"first": replace(gige, loss_share=0.01)}
    yield _shape(
        "Open MPI 5, gige, 1 % of the frames lost",
        FORCED,
        Job(OPENMPI5, "ping_pong 20 65536", forced(OPENMPI5, "eth0")),
        fabrics=lossy,
    )
    worse = {"first": replace(gige, loss_share=0.05)}
    yield _shape("plain TCP, gige, 5 % of the frames lost", GIVEN, tcp_job(1_000_000, "10.10.0.2"), fabrics=worse)
    slow = {"first": PRESETS["ethernet-100"]}
    yield _shape("plain TCP, 100 Mb/s", GIVEN, tcp_job(10_000_000, "10.10.0.2"), fabrics=slow, knows_payload=False)
