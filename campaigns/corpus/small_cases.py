"""Cases of the transport corpus in which what matters is small, comes late, or is told by headers to the byte."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from campaigns.corpus.devices import BOTH, ETH0, ETH1, SERVE
from campaigns.corpus.jobs import TWO
from campaigns.corpus.nouns import Case, Job

from fabriscope.model.counters import UNDECIDED

FAMILY = "small and late"
SEND = "{python} {tcp} send 7777"
UDP, SMALL_UDP, RAW = (f"{{python}} {{senders}} {way} 9000" for way in ("udp", "small-udp", "raw"))
TAKES_UDP, TAKES_RAW = ("node2", "{python} {senders} take-udp 9000"), ("node2", "{python} {senders} take-raw 9000")
OLD_SERVER = ("node2", "{python} {tcp} serve 7777")


def _case(
    name: str, asked: str, truth: tuple[str, ...], because: str, words: str, *servers: tuple[str, str], **more: Any
) -> Case:
    job = Job(servers=(SERVE, *servers), programs=(("node1", f"sh -ec '{words}'"),))
    made = Case(name, FAMILY, asked, truth, because, job, fabrics=TWO, knows_payload=False)
    return replace(made, **more)


def tiny() -> Iterator[Case]:
    """Yield 9 kB of datagrams or raw packets beside 60 to 300 kB: too few to tell, and too many to be nothing."""
    because = "the program is given both addresses"
    for size in (60_000, 200_000, 300_000):
        words = f"{SEND} {size} {ETH1}; {UDP} 9000 {ETH0}"
        truth = ("tcp eth1", "udp eth0")
        yield _case(
            f"{size // 1000} kB, 9 kB of datagrams over eth0", "tcp eth1", truth, because, words, TAKES_UDP,
            verdict=UNDECIDED,
        )  # fmt: skip
    words = f"{SEND} 200000 {ETH1}; {UDP} 9000 {ETH1}"
    truth = ("tcp eth1", "udp eth1")
    yield _case("200 kB, 9 kB of datagrams beside", "tcp eth1", truth, because, words, TAKES_UDP, verdict=UNDECIDED)
    words = f"{SEND} 60000 {ETH1}; {RAW} 9000 {ETH0}"
    truth = ("tcp eth1", "raw eth0")
    yield _case("60 kB, 9 kB of raw packets over eth0", "tcp eth1", truth, because, words, TAKES_RAW, verdict=UNDECIDED)
    words = f"{SEND} 3200000 {ETH1}; {SEND} 50000 {ETH0}; {UDP} 60000 {ETH1}"
    three = ("tcp eth1", "tcp eth0", "udp eth1")
    yield _case("1.5 % by TCP over eth0, 1.8 % of datagrams", "tcp eth1", three, because, words, TAKES_UDP)


def late() -> Iterator[Case]:
    """Yield what is sent when nobody looks often any more, or after the program has ended."""
    because = "the program is given both addresses"
    words = f"{SEND} 4000000 {ETH1} --pace 1000000; {UDP} 400000 {ETH0}; sleep 1"
    yield _case(
        "400 kB of datagrams over eth0 after 4 s", "tcp eth1", ("tcp eth1", "udp eth0"), because, words, TAKES_UDP
    )
    slow = ("node1", "tc qdisc add dev {name} root tbf rate 6mbit burst 16k limit 200k")
    ways: tuple[tuple[str, str, tuple[str, ...]], ...] = (("eth0", ETH0, BOTH), ("eth1", ETH1, ("tcp eth1",)))
    for name, address, truth in ways:
        words = f"{SEND} 3000000 {ETH1}; {{python}} {{senders}} left 7777 1500000 {address}"
        case = _case(
            f"1.5 MB left in the send buffer of a slow {name}", "tcp eth1", truth, "the kernel sends it after the end",
            words, beside=(OLD_SERVER,), prepare=((slow[0], slow[1].format(name=name)),),
        )  # fmt: skip
        yield replace(case, job=replace(case.job, servers=()))


def nowhere() -> Iterator[Case]:
    """Yield connections whose addresses are on loopback, and two routes to them."""
    prepare = tuple(
        (
            f"node{here}",
            f"ip address add 172.16.0.{here}/32 dev lo; ip route add 172.16.0.{there}/32 src 172.16.0.{here} "
            f"nexthop via 10.10.0.{there} dev eth0 nexthop via 10.11.0.{there} dev eth1; "
            "echo 1 > /proc/sys/net/ipv4/fib_multipath_hash_policy",
        )
        for here, there in ((1, 2), (2, 1))
    )
    words = f"{SEND} 12000000 172.16.0.2 --connections 24; {UDP} 1 {ETH0}"
    because = "routes by two interfaces, of which the ports decide"
    yield _case("24 connections by two routes, addresses on lo", "tcp", ("tcp",), because, words, prepare=prepare)
    yield _case("24 connections by two routes, eth1 asked", "tcp eth1", BOTH, because, words, prepare=prepare)


def headers() -> Iterator[Case]:
    """Yield small datagrams beside connections whose headers change, and IPv6 beside IPv4."""
    off = "echo 0 > /proc/sys/net/ipv4/tcp_timestamps"
    words = f"{SEND} 2000000 {ETH1}; {off}; {SEND} 2000000 {ETH1}; {SMALL_UDP} 160000 {ETH1}"
    because = "time stamps go off in the middle; 3.8 % are datagrams"
    yield _case(
        "time stamps off in the middle, 3.8 % of datagrams",
        "tcp eth1",
        ("tcp eth1", "udp eth1"),
        because,
        words,
        TAKES_UDP,
    )
    prepare = tuple(
        (
            f"node{number}",
            f"echo 0 > /proc/sys/net/ipv6/conf/eth1/disable_ipv6; ip -6 address add fd00::{number}/64 dev eth1 nodad",
        )
        for number in (1, 2)
    )
    words = f"{SMALL_UDP} 2000000 fd00::2; {SMALL_UDP} 90000 {ETH0}"
    because = "datagrams of IPv6 over eth1, 4.3 % of IPv4 over eth0"
    yield _case(
        "small datagrams of IPv6, 4.3 % of IPv4 over eth0",
        "udp eth1",
        ("udp eth1", "udp eth0"),
        because,
        words,
        TAKES_UDP,
        prepare=prepare,
    )


def translated() -> Iterator[Case]:
    """Yield connections whose goal a rule on the way out translates."""
    table = "nft add table ip turn"
    chains = (
        'nft add chain ip turn out "{ type nat hook output priority -100; }"',
        f"nft add rule ip turn out ip daddr {ETH1} tcp dport 7778 dnat to {ETH0}:7777",
        'nft add chain ip turn post "{ type nat hook postrouting priority 100; }"',
        "nft add rule ip turn post oifname eth0 masquerade",
    )
    prepare = (("node1", "; ".join((table, *chains))),)
    because = "a rule turns what goes to port 7778 to eth0's address"
    for size, truth in ((70_000, ("tcp eth1",)), (3_000_000, BOTH)):
        words = f"{SEND} 6000000 {ETH1}; {{python}} {{tcp}} send 7778 {size} {ETH1}"
        name = f"{size // 1000} kB of 6 MB that a rule turns to eth0"
        yield _case(name, "tcp eth1", truth, because, words, prepare=prepare)


def passed_on() -> Iterator[Case]:
    """Yield a host that passes others' packets on while its job has one socket of UDP."""
    quiet = "for name in all eth0; do echo 0 > /proc/sys/net/ipv4/conf/$name/send_redirects; done"
    prepare = (
        ("node1", f"{quiet}; echo 1 > /proc/sys/net/ipv4/ip_forward; ip route add 192.0.2.1/32 via 10.10.0.2 dev eth0"),
        ("node3", "ip route add 192.0.2.1/32 via 10.10.0.1 dev eth0"),
    )
    others = ("node3", "{python} {senders} udp 9001 4000000000 192.0.2.1")
    words = f"{SEND} 6000000 {ETH1} --pace 2000000; {UDP} 40 {ETH1}"
    case = _case(
        "a question by UDP on a host that passes others' packets on", "tcp eth1", ("tcp eth1",),
        "others' datagrams leave by eth0", words, TAKES_UDP, prepare=prepare, beside=(others,),
        hosts=("node1", "node2", "node3"),
    )  # fmt: skip
    yield case


FAMILIES = (tiny, late, nowhere, headers, translated, passed_on)
