"""Cases of the transport corpus that try to fool a proof by the way in which the bytes are sent."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from campaigns.corpus.devices import (
    AS_ASKED,
    BULK_AND_DECOY,
    BULK_BYTES,
    DECOY_BYTES,
    ETH0,
    ETH1,
    SERVE,
    TO_NODE2,
    as_asked,
    fooling,
    job,
)
from campaigns.corpus.nouns import Case, Job

from fabriscope.model.counters import UNDECIDED

FAMILY = "ways to send"
SEND = "{python} {senders}"
WHOLE = BULK_BYTES + DECOY_BYTES

_STREAMS = {
    "splice": "moves pages from a pipe into the socket",
    "sendfile": "lets the kernel send a file",
    "zerocopy": "sends without a copy (MSG_ZEROCOPY)",
    "fastopen": "sends the first bytes of each connection with its SYN (MSG_FASTOPEN)",
    "short": "opens 200 connections of some milliseconds",
    "kept": "leaves its connection open, with a child that outlives the job",
}


def streams() -> Iterator[Case]:
    """Yield TCP that is sent otherwise than by send()."""
    for way, what in _STREAMS.items():
        because = f"the client {what}; its words name the addresses, and there is one route to each"
        servers = (SERVE,)
        if way == "fastopen":
            servers = (("node2", f"sh -ec 'sysctl -qw net.ipv4.tcp_fastopen=3; exec {SEND} fast 7777'"),)
        yield fooling(f"{way}: bulk over eth0", FAMILY, because, job(f"{SEND} {way} {BULK_AND_DECOY}", *servers))
        yield as_asked(f"{way}: as asked", FAMILY, because, job(f"{SEND} {way} {AS_ASKED}", *servers))
        if way in ("short", "kept"):
            made = job(f"{SEND} {way} {BULK_AND_DECOY}", *servers, byte_count=WHOLE)
            yield fooling(f"{way}: bulk over eth0, payload known", FAMILY, because, made)
            made = replace(job(f"{SEND} {way} {BULK_AND_DECOY}"), servers=())
            yield fooling(f"{way}: bulk over eth0, a server from before", FAMILY, because, made, beside=(SERVE,))
    ring = "the client's socket is a direct descriptor of an io_uring, in no table of descriptors; it names the address"
    words = "{python} {rings} uring"
    yield fooling("io_uring: bulk over eth0", FAMILY, ring, job(f"{words} {BULK_AND_DECOY}"))
    yield fooling(
        "io_uring: bulk over eth0, payload known", FAMILY, ring, job(f"{words} {BULK_AND_DECOY}", byte_count=WHOLE)
    )
    yield as_asked("io_uring: as asked", FAMILY, ring, job(f"{words} {AS_ASKED}"))
    made = replace(job(f"{words} {BULK_AND_DECOY}"), servers=())
    yield fooling("io_uring: bulk over eth0, a server from before", FAMILY, ring, made, beside=(SERVE,))
    yield from _questions()
    yield from _mptcp()


def _questions() -> Iterator[Case]:
    """Yield clients that ask for bytes and close their half."""
    because = "the client asks for so many bytes and closes its half; they come from the address that it was given"
    giving = ("node2", f"{SEND} give 7778")
    question = f"{SEND} question 7778 {BULK_BYTES}"
    decoy = ("node1", f"{{python}} {{tcp}} send 7777 {DECOY_BYTES} {ETH1}")
    made = job(f"{question} {ETH0}", giving, SERVE)
    made = replace(made, programs=(*made.programs, decoy))
    yield fooling("half closed, bulk comes over eth0", FAMILY, because, made)
    known = replace(made, payload={("node2", "node1"): BULK_BYTES, TO_NODE2: DECOY_BYTES})
    yield fooling("half closed, bulk comes over eth0, payload known", FAMILY, because, known)
    yield as_asked("half closed, as asked", FAMILY, because, job(f"{question} {ETH1}", giving))
    yield fooling(
        "half closed, bulk comes over eth0 from a server from before", FAMILY, because,
        replace(made, servers=(SERVE,)), beside=(giving,),
    )  # fmt: skip


def _mptcp() -> Iterator[Case]:
    """Yield connections of MPTCP, with one path or two."""
    server = ("node2", f"{SEND} take-mptcp 7777")
    one = "MPTCP with no further path: it takes that of its only address"
    words = f"{SEND} mptcp 7777 {BULK_BYTES}"
    yield as_asked("MPTCP, one path, as asked", FAMILY, one, job(f"{words} {ETH1}", server))
    yield fooling("MPTCP, one path, all over eth0", FAMILY, one, job(f"{words} {ETH0}", server), truth=("tcp eth0",))
    other = "the bulk goes by MPTCP to eth0's address, which has no further path, and the decoy over eth1 by TCP"
    made = job(f"{words} {ETH0} {DECOY_BYTES} {ETH1}", server)
    yield fooling("MPTCP, one path, bulk over eth0", FAMILY, other, made)
    paths = (
        (
            "node1",
            "ip mptcp limits set subflow 2 add_addr_accepted 2; ip mptcp endpoint add 10.10.0.1 dev eth0 subflow",
        ),
        ("node2", "ip mptcp limits set subflow 2 add_addr_accepted 2; ip mptcp endpoint add 10.10.0.2 dev eth0 signal"),
    )
    backup = ("node1", "ip mptcp endpoint add 10.11.0.1 dev eth1 backup; ip mptcp limits show")
    two = "MPTCP begins over eth1, a second path is over eth0, and that over eth1 is a mere reserve"
    slow = job(f"{words} {ETH1}".replace("mptcp", "two-paths"), server)
    yield fooling("MPTCP, eth1 is its reserve", FAMILY, two, slow, truth=("tcp eth0",), prepare=(*paths, backup))


_DATAGRAMS = {
    "udp": ("take-udp", "UDP"),
    "large-udp": ("take-udp", "UDP in fragments"),
    "cut-udp": ("take-udp", "UDP that the kernel cuts (UDP_SEGMENT)"),
    "brief-udp": ("take-udp", "UDP from 200 sockets, each open for a moment"),
    "quic": ("take-quic", "UDP with confirmations and resends, as QUIC has"),
    "lite": ("take-lite", "UDP-Lite"),
    "raw": ("take-raw", "packets of an IP protocol of its own"),
    "multicast": ("take-udp", "UDP to a group"),
}


def datagrams() -> Iterator[Case]:
    """Yield jobs whose bulk is no stream."""
    for way, (taker, what) in _DATAGRAMS.items():
        because = f"the client sends 40 MB of {what} to eth0's address, and 1 MB of TCP to eth1's"
        truth = (f"{way} eth0", "tcp eth1")
        servers = (SERVE, ("node2", f"{SEND} {taker} 7777"))
        made = job(f"{SEND} {way} {BULK_AND_DECOY}", *servers)
        nobody_counts = UNDECIDED if way == "raw" else ""
        yield fooling(f"{what}: bulk over eth0", FAMILY, because, made, truth=truth, verdict=nobody_counts)
        if way in ("udp", "quic", "raw"):
            known = replace(made, payload={TO_NODE2: WHOLE})
            yield fooling(f"{what}: bulk over eth0, payload known", FAMILY, because, known, truth=truth)
            same = job(f"{SEND} {way} 7777 {BULK_BYTES} {ETH0} {DECOY_BYTES} {ETH0}", *servers)
            yield fooling(
                f"{what}: bulk and the TCP that was asked for, both over eth0", FAMILY, because.replace("eth1", "eth0"),
                same, asked="tcp eth0", truth=(f"{way} eth0", "tcp eth0"), verdict=nobody_counts,
            )  # fmt: skip
        if way in ("udp", "quic", "brief-udp"):
            alone = job(f"{SEND} {way} 7777 {BULK_BYTES} {ETH1}", servers[1])
            because = f"the client sends {what} to eth1's address, and no TCP"
            yield fooling(f"{what}, TCP asked", FAMILY, because, alone, truth=(f"{way} eth1",))
    frames = "the client sends frames of a type of its own by eth0"
    for name, words in (("packet socket", f"{SEND} packets"), ("AF_XDP", "{python} {rings} xdp")):
        made = job(f"{words} 7777 {BULK_BYTES} eth0 {DECOY_BYTES} {ETH1}", SERVE, ("node2", f"{SEND} take-packets 1"))
        truth = ("frames eth0", "tcp eth1")
        yield fooling(f"{name}: bulk over eth0", FAMILY, frames, made, truth=truth, verdict=UNDECIDED)
        known = replace(made, payload={TO_NODE2: WHOLE})
        yield fooling(f"{name}: bulk over eth0, payload known", FAMILY, frames, known, truth=truth)


def crowd() -> Iterator[Case]:
    """Yield jobs beside which others fill the interface that was asked for, or look just like the job."""
    filling = (("node2", f"{SEND} take-udp 9999"), ("node1", f"{SEND} udp 9999 4000000000 {ETH1}"))
    because = "the client's words name the addresses; somebody else's UDP, 100 MB/s of it, is over eth1"
    plain = "{python} {tricks} plain"
    for trick in ("plain", "daemon", "environ"):
        made = job(f"{{python}} {{tricks}} {trick} {BULK_AND_DECOY}")
        yield fooling(f"{trick}, bulk over eth0, others' UDP over eth1", FAMILY, because, made, beside=filling)
    made = job(f"{SEND} udp {BULK_AND_DECOY}", SERVE, ("node2", f"{SEND} take-udp 7777"))
    yield fooling(
        "UDP, bulk over eth0, others' UDP over eth1", FAMILY, f"{because}; nobody counts datagrams by socket", made,
        beside=filling, truth=("udp eth0", "tcp eth1"), verdict=UNDECIDED,
    )  # fmt: skip
    yield as_asked(
        "plain, as asked, others' UDP over eth1", FAMILY, because, job(f"{plain} {AS_ASKED}"), beside=filling
    )
    away, second = "ip route add 10.10.0.3/32 via 10.11.0.2 dev eth1", "ip address add 10.10.0.3/16 dev eth0"
    routed = (("node1", away), ("node2", second))
    half = "half of the bytes go to a second address of eth0's network, of which the only route is over eth1"
    made = job(f"{plain} 7777 {BULK_BYTES} {ETH0} {BULK_BYTES} 10.10.0.3")
    others = (("node2", f"{SEND} take-udp 9999"), ("node1", f"{SEND} udp 9999 4000000000 {ETH0}"))
    for name, beside in (("", ()), (", others' UDP over eth0", others)):
        title = f"half of eth0's bytes routed over eth1{name}"
        yield fooling(title, FAMILY, half, made, asked="tcp eth0", prepare=routed, beside=beside)
    alike = (
        ("node2", f"{{python}} {{tcp}} serve 7777 {ETH0}"),
        ("node1", f"{{python}} {{tcp}} send 7777 20000000 {ETH0} --rounds 1000 --pause 0.05"),
    )
    same = "somebody else runs the same programs with the same port over eth0; the job's words name eth1's address"
    own = ("node2", f"{{python}} {{tcp}} serve 7777 {ETH1}")
    mine = Job(servers=(own,), programs=(("node1", f"{{python}} {{tcp}} send 7777 20000000 {ETH1}"),))
    for known in (False, True):
        told = replace(mine, payload={TO_NODE2: 20_000_000}) if known else mine
        word = ", payload known" if known else ""
        yield as_asked(f"somebody else's job is just alike{word}", FAMILY, same, told, beside=alike)
        yield fooling(
            f"somebody else's job is just alike, over what was asked{word}", FAMILY, same, told,
            asked="tcp eth0", truth=("tcp eth1",), beside=alike,
        )  # fmt: skip


FAMILIES = (streams, datagrams, crowd)
