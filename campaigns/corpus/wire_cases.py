"""Cases of the transport corpus that try to fool a proof by interfaces, addresses and routes that it changes.

What a job makes is in the lab's network namespaces, which end with it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from campaigns.corpus.devices import BOTH, BULK_BYTES, DECOY_BYTES, ETH0, ETH1, SERVE, as_asked, fooling
from campaigns.corpus.nouns import Case, Job

FAMILY = "interfaces and addresses"
SEND = "{python} {tcp} send 7777"
DECOY = f"{SEND} {DECOY_BYTES} {ETH1}"
NETWORKS = {"eth0": "10.10.0", "eth1": "10.11.0"}


def scripted(*steps: str, server: str = "true") -> Job:
    """Return a job of one script on node1, and one on node2 that ends as the corpus's server."""
    script = "; ".join(steps)
    return Job(
        servers=(("node2", f"sh -ec '{server}; exec {{python}} {{tcp}} serve 7777'"),),
        programs=(("node1", f"sh -ec '{script}'"),),
    )


def bulk(address: str) -> str:
    """Return the words that send 40 MB to an address."""
    return f"{SEND} {BULK_BYTES} {address}"


def _with_link(dev: str, number: int, kind: str) -> str:
    """Return the steps that put a link over an interface of host `number`, with an address in a network of its own."""
    make = {
        "macvlan": f"ip link add up0 link {dev} type macvlan mode bridge",
        "vxlan": f"ip link add up0 type vxlan id 7 dstport 4789 dev {dev} remote {NETWORKS[dev]}.{3 - number}",
        "bridge": f"ip link add up0 type bridge; ip link set {dev} master up0",
    }[kind]
    return f"{make}; ip address add 10.50.0.{number}/24 dev up0; ip link set up0 up"


def names() -> Iterator[Case]:
    """Yield jobs that rename, move and make interfaces."""
    rename = "ip link set {} name {}"
    because = "the job renames interfaces while it runs; its words name the addresses, and each has one route"
    away, back = rename.format("eth0", "bulk0"), rename.format("bulk0", "eth0")
    yield fooling("eth0 renamed, bulk over it", FAMILY, because, scripted(away, bulk(ETH0), DECOY))
    yield fooling("eth0 renamed and back, bulk over it", FAMILY, because, scripted(away, bulk(ETH0), DECOY, back))
    made = scripted(away, bulk(ETH0), DECOY, server=away)
    yield fooling("eth0 renamed at both ends, bulk over it", FAMILY, because, made)
    swapped = "; ".join((away, rename.format("eth1", "eth0"), rename.format("bulk0", "eth1")))
    restored = "; ".join((rename.format("eth1", "bulk0"), rename.format("eth0", "eth1"), back))
    swap = "the names of eth0 and eth1 are swapped while the bulk goes over the former eth0, and swapped back after it"
    yield fooling(
        "names swapped for the bulk", FAMILY, swap, scripted(swapped, bulk(ETH0), "sleep 0.2", restored, DECOY)
    )
    own = rename.format("eth1", "rail1")
    yield as_asked(
        "eth1 renamed and back, as asked", FAMILY, because, scripted(own, bulk(ETH1), rename.format("rail1", "eth1"))
    )
    yield as_asked("eth0 renamed, as asked", FAMILY, because, scripted(away, bulk(ETH1)))
    flap = "the job sets eth1 down and up again before it sends"
    made = scripted("ip link set eth1 down", "ip link set eth1 up", "sleep 0.2", bulk(ETH1))
    yield as_asked("eth1 down and up, as asked", FAMILY, flap, made)
    late = "the job makes a macvlan over eth0, sends, deletes it, and does so again; each counts from 0"
    link = _with_link("eth0", 1, "macvlan")
    half = f"{SEND} {BULK_BYTES // 2} 10.50.0.2"
    made = scripted(
        link, half, "ip link del up0", link, half, "ip link del up0", DECOY, server=_with_link("eth0", 2, "macvlan")
    )
    yield fooling("macvlan over eth0 made twice, bulk over it", FAMILY, late, made)


def links() -> Iterator[Case]:
    """Yield jobs that send over links that they put over an interface, made by the job or before it."""
    for kind in ("macvlan", "vxlan", "bridge"):
        for dev, make in (("eth0", fooling), ("eth1", as_asked)):
            because = f"the only route to the address that is named is a {kind} over {dev}, at both ends"
            steps = (bulk("10.50.0.2"), *((DECOY,) if dev == "eth0" else ()))
            ours, theirs = (_with_link(dev, number, kind) for number in (1, 2))
            word = "bulk over eth0" if dev == "eth0" else "as asked"
            yield make(f"{kind} made by the job: {word}", FAMILY, because, scripted(ours, *steps, server=theirs))
            before = (("node1", ours), ("node2", theirs))
            if kind != "bridge":
                yield make(f"{kind} from before: {word}", FAMILY, because, scripted(*steps), prepare=before)


def addresses() -> Iterator[Case]:
    """Yield jobs that add addresses and routes."""
    for dev, make in (("eth0", fooling), ("eth1", as_asked)):
        word = "bulk over eth0" if dev == "eth0" else "as asked"
        decoy = (DECOY,) if dev == "eth0" else ()
        via = f"{NETWORKS[dev]}.2"
        because = f"the job adds an address to {dev} at both ends, in a network of its own"
        made = scripted(
            f"ip address add 10.20.0.1/24 dev {dev}",
            bulk("10.20.0.2"),
            *decoy,
            server=f"ip address add 10.20.0.2/24 dev {dev}",
        )
        yield make(f"a second address: {word}", FAMILY, because, made)
        passing = scripted(
            f"ip address add 10.20.0.1/24 dev {dev}", bulk("10.20.0.2"), f"ip address del 10.20.0.1/24 dev {dev}",
            *decoy,
            server=f"ip address add 10.20.0.2/24 dev {dev}",
        )  # fmt: skip
        yield make(f"a second address for a moment: {word}", FAMILY, because, passing)
        for where, server in (
            ("lo", "ip address add 10.30.0.2/32 dev lo"),
            ("an idle ifb", "ip link add idle0 type ifb; ip link set idle0 up; ip address add 10.30.0.2/32 dev idle0"),
        ):
            because = f"the address is one of {where} on node2, and the only route to it is over {dev}"
            made = scripted(f"ip route add 10.30.0.2/32 via {via}", bulk("10.30.0.2"), *decoy, server=server)
            yield make(f"an address on {where}: {word}", FAMILY, because, made)
        six = f"sysctl -qw net.ipv6.conf.{dev}.disable_ipv6=0; ip -6 address add fd00:20::{{}}/64 dev {dev} nodad"
        because = f"the job adds an address of IPv6 to {dev} at both ends"
        made = scripted(six.format(1), bulk("fd00:20::2"), *decoy, server=six.format(2))
        made = replace(made, servers=tuple((host, f"{words[:-1]} ::'") for host, words in made.servers))
        yield make(f"an IPv6 address made by the job: {word}", FAMILY, because, made)


def routes() -> Iterator[Case]:
    """Yield jobs whose addresses say one interface and whose frames go by the other."""
    lie = "both ends of the connection have addresses of eth1; what node1 sends goes by eth0, as the route says"
    route = f"ip route replace {ETH1}/32 via {ETH0} dev eth0 src 10.11.0.1"
    yield fooling("eth1's addresses routed over eth0", FAMILY, lie, scripted(route, bulk(ETH1)), truth=("tcp eth0",))
    made = scripted(route, bulk(ETH1), f"ip route del {ETH1}/32", DECOY)
    yield fooling("eth1's addresses routed over eth0 for the bulk", FAMILY, lie, made)
    rule = f"ip route add {ETH1}/32 via {ETH0} dev eth0 table 100; ip rule add from 10.11.0.1 table 100"
    bound = f"{{python}} {{senders}} bound 7777 {BULK_BYTES}"
    made = scripted(rule, f"{bound} @{ETH1}@10.11.0.1")
    yield fooling("a rule by source leads eth1's addresses over eth0", FAMILY, lie, made, truth=("tcp eth0",))
    reason = "the socket is bound to eth0, and node2 takes its address of eth1 there"
    for name, decoy, truth in (("all over eth0", (), ("tcp eth0",)), ("bulk over eth0", (DECOY,), BOTH)):
        made = scripted(f"{bound} eth0@{ETH1}", *decoy)
        yield fooling(f"bound to eth0, to eth1's address: {name}", FAMILY, reason, made, truth=truth)
    both = "the socket is bound to eth1, and so are its addresses"
    yield as_asked("bound to eth1, as asked", FAMILY, both, scripted(f"{bound} eth1@{ETH1}@10.11.0.1"))


_SPACE = "unshare -n sleep 15 & P=$!; sleep 0.3"
"""A network namespace that the job may use; its process is $P."""
_PAIR = (_SPACE, "ip link add v0 type veth peer name v1 netns $P", "ip link set v0 up")


def spaces() -> Iterator[Case]:
    """Yield jobs with network namespaces of their own, as containers have."""
    for dev, make in (("eth0", fooling), ("eth1", as_asked)):
        network = NETWORKS[dev]
        word, decoy = ("bulk over eth0", (DECOY,)) if dev == "eth0" else ("as asked", ())
        steps = "ip address add 10.40.0.2/24 dev v1; ip link set v1 up; ip route add default via 10.40.0.1"
        steps = f"{steps}; {bulk(network + '.2')}"
        because = f"a client in a network namespace of its own sends by a veth pair, which node1 routes to {dev}"
        made = scripted(
            *_PAIR, "ip address add 10.40.0.1/24 dev v0",
            "sysctl -qw net.ipv4.ip_forward=1", f'nsenter -t $P -n sh -ec "{steps}"', *decoy, "kill $P",
            server=f"ip route add 10.40.0.0/24 via {network}.1",
        )  # fmt: skip
        yield make(f"namespace behind a route: {word}", FAMILY, because, made)
        steps = f"ip address add {network}.101/16 dev v1; ip link set v1 up; {bulk(network + '.2')}"
        because = f"a client in a network namespace of its own sends by a veth pair, which a bridge joins to {dev}"
        made = scripted(
            *_PAIR, "ip link add br0 type bridge", f"ip link set {dev} master br0",
            "ip link set v0 master br0", "ip link set br0 up", f'nsenter -t $P -n sh -ec "{steps}"',
            *decoy, "kill $P",
        )  # fmt: skip
        yield make(f"namespace behind a bridge: {word}", FAMILY, because, made)
        steps = f"ip address add {network}.101/16 dev m0; ip link set m0 up; {bulk(network + '.2')}"
        because = f"a client in a network namespace of its own has a macvlan over {dev}"
        made = scripted(
            _SPACE, f"ip link add m0 link {dev} type macvlan mode bridge", "ip link set m0 netns $P",
            f'nsenter -t $P -n sh -ec "{steps}"', *decoy, "kill $P",
        )  # fmt: skip
        yield make(f"namespace with a macvlan: {word}", FAMILY, because, made)
    because = "the job moves eth0 to a network namespace of its own and sends there"
    steps = f"ip address add 10.10.0.1/16 dev eth0; ip link set eth0 up; {bulk(ETH0)}"
    moved = (_SPACE, "ip link set eth0 netns $P")
    made = scripted(*moved, f'nsenter -t $P -n sh -ec "{steps}"', DECOY, "kill $P")
    yield fooling("eth0 moved to a namespace, bulk over it", FAMILY, because, made)
    home = f"{steps}; ip link set eth0 netns $$"
    returned = "ip address add 10.10.0.1/16 dev eth0; ip link set eth0 up"
    made = scripted(*moved, f'nsenter -t $P -n sh -ec "{home}"', returned, DECOY, "kill $P")
    yield fooling("eth0 moved to a namespace and back, bulk over it", FAMILY, because, made)


def tunnels() -> Iterator[Case]:
    """Yield jobs whose packets travel in datagrams, or in a connection, of a process in user space."""
    for how in ("udp", "tcp"):
        for dev, make in (("eth0", fooling), ("eth1", as_asked)):
            network = NETWORKS[dev]
            word, decoy = ("bulk over eth0", f"; {DECOY}") if dev == "eth0" else ("as asked", "")
            listen, connect = ("udp", "udp") if how == "udp" else ("tcp-listen", "tcp-connect")
            ends = (
                ("node2", f"{{python}} {{wires}} {listen} 5555 10.70.0.2 {network}.1"),
                ("node1", f"{{python}} {{wires}} {connect} 5555 10.70.0.1 {network}.2"),
            )
            because = (
                f"the address is behind a TUN device; its process sends packets by {how.upper()} to {dev}'s address"
            )
            truth = (f"{how} {dev}", "tcp eth1") if how == "udp" else ("tcp eth0", "tcp eth1")
            inner = Job(servers=(*ends, SERVE), programs=(("node1", f"sh -ec '{bulk('10.70.0.2')}{decoy}'"),))
            if dev == "eth0":
                yield fooling(f"tunnel of the job over {how.upper()}: {word}", FAMILY, because, inner, truth=truth)
                outer = replace(inner, servers=(SERVE,))
                yield fooling(
                    f"tunnel from before over {how.upper()}: {word}", FAMILY, because, outer, truth=truth, beside=ends
                )
            elif how == "tcp":
                yield make(f"tunnel of the job over {how.upper()}: {word}", FAMILY, because, inner)


FAMILIES = (names, links, addresses, routes, spaces, tunnels)
