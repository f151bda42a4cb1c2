"""Cases of the transport corpus in which packets are lost: what TCP sends again looks like bytes of somebody else.

A rule of nft loses the packets: on the sender as they leave, before its interface has counted them (`host`), or on the
receiver, behind both counters (`wire`).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from campaigns.corpus.devices import BOTH, ETH0, ETH1, SERVE
from campaigns.corpus.jobs import TWO
from campaigns.corpus.nouns import Case, Job

FAMILY = "losses"
SEND = "{python} {tcp} send"
MANY = f"{SEND} 7777 2250000 {ETH1} --connections 50 --at-once"
OTHERS = (
    ("node2", "{python} {tcp} serve 9999"),
    ("node1", f"{{python}} {{tcp}} send 9999 4000000000 {ETH0} --pace 5000000"),
)
HOOKS = {"host": ("node1", "egress"), "wire": ("node2", "ingress")}


def _losing(where: str, percent: int, name: str = "eth1", port: int = 7777) -> tuple[str, str]:
    """Return the host and the script by which it loses data to a port of TCP."""
    host, hook = HOOKS[where]
    chain = f'nft add chain netdev lossy {name} "{{ type filter hook {hook} device {name} priority 0; }}"'
    rule = f"tcp dport {port} meta length gt 200 numgen random mod 100 lt {percent} drop"
    return host, f"nft add table netdev lossy; {chain}; nft add rule netdev lossy {name} {rule}"


def _case(name: str, truth: tuple[str, ...], because: str, words: str, *servers: tuple[str, str]) -> Case:
    job = Job(servers=(SERVE, *servers), programs=(("node1", f"sh -ec '{words}'"),))
    return Case(name, FAMILY, "tcp eth1", truth, because, job, fabrics=TWO, knows_payload=False)


def datagrams() -> Iterator[Case]:
    """Yield TCP beside datagrams of the same program, where TCP sends again what was lost."""
    server = ("node2", "{python} {senders} take-udp 9000")
    for where, percent, byte_count in (
        ("host", 50, 1_400_000), ("host", 20, 280_000), ("wire", 25, 840_000), ("wire", 1, 300_000), ("", 0, 250_000),
    ):  # fmt: skip
        words = f"{{python}} {{senders}} udp 9000 {byte_count} {ETH1} & {MANY}; wait"
        because = "2.25 MB by TCP and the datagrams go to one address"
        lost = f"{percent} % lost, {where}" if where else "nothing lost"
        truth = ("tcp eth1", "udp eth1")
        case = _case(f"{byte_count // 1000} kB of datagrams beside TCP, {lost}", truth, because, words, server)
        yield replace(case, prepare=(_losing(where, percent),) if where else ())


def routes() -> Iterator[Case]:
    """Yield connections that a rule by their port sends elsewhere, beside losses and others' bytes."""
    rule = f"ip rule add dport 7778 lookup 99; ip route add {ETH1}/32 via {ETH0} dev eth0 table 99"
    words = f"{MANY}; {{python}} {{senders}} bound 7778 1500000 @{ETH1}@10.11.0.1; sleep 0.5"
    because = "a rule of before sends what goes to port 7778 over eth0"
    for where, percent, others in (("wire", 35, OTHERS), ("wire", 35, ()), ("host", 30, OTHERS), ("", 0, OTHERS)):
        lost = f"{percent} % lost, {where}" if where else "nothing lost"
        name = f"a rule by port, {lost}, {'others beside' if others else 'nobody beside'}"
        prepare = (("node1", rule), *((_losing(where, percent),) if where else ()))
        case = _case(name, BOTH, because, words, ("node2", "{python} {tcp} serve 7778"))
        yield replace(case, prepare=prepare, beside=others)


def as_asked() -> Iterator[Case]:
    """Yield what loses packets and still goes where it was asked to."""
    because = "the only address that is named is eth1's"
    for where, percent, others in (("wire", 30, ()), ("host", 30, ()), ("wire", 30, OTHERS)):
        name = f"all over eth1, {percent} % lost, {where}, {'others beside' if others else 'nobody beside'}"
        case = _case(name, ("tcp eth1",), because, MANY)
        yield replace(case, prepare=(_losing(where, percent),), beside=others)


def little() -> Iterator[Case]:
    """Yield programs that send a small part elsewhere: no library, no addresses to tell."""
    because = "the program is given both addresses"
    words = f"{MANY}; {SEND} 7777 {{}} {ETH0}"
    for byte_count in (60_000, 100_000):
        name = f"{byte_count // 1000} kB of 2.3 MB over eth0"
        yield _case(name, BOTH, because, words.replace("{}", str(byte_count)))


FAMILIES = (datagrams, routes, as_asked, little)
