"""Cases of the transport corpus that an attack found: whoever devised them knew the docs, and not the code."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import replace

from campaigns.corpus.devices import BOTH, ETH0, ETH1, SERVE
from campaigns.corpus.jobs import BULK, GIVEN, ONE_HOST, TWO, forced
from campaigns.corpus.nouns import MPICH4, MPICH5, OPENMPI5, Case, Job

from fabriscope.model.counters import UNDECIDED

FAMILY = "found by an attack"
SEND = "{python} {tcp} send 7777"
OLD_SERVER = ("node2", "{python} {tcp} serve 7777")
SMALL = f"{SEND} 1000000 {ETH1}"
SHELL = "exec 3<>/dev/tcp/{address}/7777; head -c 20000000 /dev/zero >&3; exec 3>&-; sleep 0.3"


def _case(name: str, asked: str, truth: tuple[str, ...], because: str, job: Job, **more: object) -> Case:
    return replace(Case(name, FAMILY, asked, truth, because, job, fabrics=TWO, knows_payload=False), **more)  # type: ignore[arg-type]


def shells() -> Iterator[Case]:
    """Yield shells that open connections themselves, without a program."""
    because = "bash opens the connection, to this address"
    for address, asked, truth in ((ETH1, "tcp eth1", ("tcp eth1",)), (ETH0, "tcp eth1", ("tcp eth0",))):
        for server, word in ((Job(servers=(SERVE,)), "the job's"), (Job(), "from before")):
            job = replace(server, programs=(("node1", f"bash -c '{SHELL.format(address=address)}'"),))
            name = f"bash alone over {address}, a server {word}"
            yield _case(name, asked, truth, because, job, beside=() if server.servers else (OLD_SERVER,))
    job = Job(programs=(("node1", f"bash -c '{SHELL.format(address=ETH0)}; {SMALL}'"),))
    yield _case("bash over eth0, a program over eth1", "tcp eth1", BOTH, because, job, beside=(OLD_SERVER,))
    job = Job(MPICH5, BULK, settings=forced(MPICH5, "eth1"))
    job = replace(job, programs=(("node1", f"bash -c '{SHELL.format(address=ETH0)}'"),))
    yield _case("bash over eth0 beside MPICH 5 over eth1", "tcp eth1", BOTH, because, job, beside=(OLD_SERVER,))


def names() -> Iterator[Case]:
    """Yield programs that are called like launchers."""
    because = "a copy of Python sends most of it over eth0, whatever it is called"
    for name in ("mpirun", "hydra_pmi_proxy", "orted", "srun"):
        copied = f"cp $(readlink -f {{python}}) /dev/shm/{name}; /dev/shm/{name} {{tcp}} send 7777 20000000 {ETH0}"
        job = Job(programs=(("node1", f"sh -ec '{copied}; {SMALL}'"),))
        yield _case(f"Python as {name} over eth0", "tcp eth1", BOTH, because, job, beside=(OLD_SERVER,))


def services() -> Iterator[Case]:
    """Yield services of before on the job's own host that carry on what it tells them, or do as it asks."""
    by_relay = "a relay of before carries on over {name} what it gets; whose that is, no counter tells"
    for name, address in (("eth0", ETH0), ("eth1", ETH1)):
        others = (OLD_SERVER, ("node1", f"{{python}} {{services}} relay 9900 7777 {address}"))
        job = Job(programs=(("node1", f"sh -ec '{{python}} {{tcp}} send 9900 20000000 127.0.0.1; {SMALL}'"),))
        because, truth = by_relay.format(name=name), ("tcp lo", *(BOTH if name == "eth0" else ("tcp eth1",)))
        verdict = UNDECIDED if name == "eth0" else ""
        if name == "eth0":
            yield _case(
                f"a relay on lo from before over {name}",
                "tcp eth1",
                truth,
                because,
                job,
                beside=others,
                verdict=verdict,
            )
        alone = Job(programs=(("node1", "{python} {tcp} send 9900 20000000 127.0.0.1"),))
        yield _case(
            f"a relay on lo from before over {name}, nothing else",
            "tcp eth1",
            truth,
            because,
            alone,
            beside=others,
            verdict=UNDECIDED,
        )
    asked = "a service of before sends it over eth0, after the job asked it to by a byte on lo"
    for wait_s in (0, 1):
        ask = f"{{python}} {{services}} word 9900 {wait_s}"
        job = Job(programs=(("node1", f"sh -ec '{ask}; {SEND} 1000000 {ETH1} --pace 1000000'"),))
        others = (OLD_SERVER, ("node1", f"{{python}} {{services}} sends 9900 7777 {ETH0} 20000000"))
        yield _case(
            f"a service that is asked by one byte on lo, held for {wait_s} s",
            "tcp eth1",
            BOTH,
            asked,
            job,
            beside=others,
            verdict=UNDECIDED,
        )


def ranks() -> Iterator[Case]:
    """Yield jobs of MPI with something else beside, or with no MPI in them."""
    shared = {"UCX_TLS": "posix,sysv,self"}
    job = Job(MPICH4, BULK, settings=shared, rank_hosts=ONE_HOST, programs=(("node1", f"{SEND} 20000000 {ETH0}"),))
    because = "UCX has nothing but memory for the ranks; a copy goes over eth0"
    yield _case("MPICH 4 by memory, a copy over eth0", "shm", ("shm", "tcp eth0"), because, job, beside=(OLD_SERVER,))
    four = ("node1", "node1", "node2", "node2")
    job = Job(MPICH4, BULK, settings={"UCX_TLS": "tcp,sm,self", "UCX_NET_DEVICES": "eth1"}, rank_hosts=four)
    because = "ranks r and r + 2 talk, on different hosts, over the only interface that UCX is given"
    yield _case("MPICH 4, 2 ranks on each host, memory inside", "tcp eth1", ("tcp eth1",), because, job)
    for library in (OPENMPI5, MPICH5):
        for address, truth in ((ETH1, "tcp eth1"), (ETH0, "tcp eth0")):
            job = Job(library, words=f"{SEND} 10000000 {address}", rank_hosts=("node1", "node3"))
            made = _case(f"{library} starts programs without MPI, over {truth[4:]}", "tcp eth1", (truth,), GIVEN, job)
            yield replace(made, hosts=("node1", "node2", "node3"), beside=(OLD_SERVER,))


def broken_off() -> Iterator[Case]:
    """Yield connections that one end closes while the other still sends."""
    server = ("node2", "iperf3 -s")
    job = Job(programs=(("node1", f"iperf3 -c {ETH1} -t 1 -P 4 --bidir"),))
    yield _case("iperf3 --bidir, 4 streams, no limit", "tcp eth1", ("tcp eth1",), GIVEN, job, beside=(server,))
    serving = ("node2", "sh -c 'truncate -s 50M /dev/shm/file; exec {python} -m http.server -d /dev/shm 8000'")
    for count, what in ((1, "3 MB of one download"), (40, "200 kB of 40 downloads each")):
        size = 3_000_000 if count == 1 else 200_000
        words = f"for i in $(seq {count}); do curl -s http://{ETH1}:8000/file | head -c {size} > /dev/null; done"
        job = Job(programs=(("node1", f"bash -c '{words}; true'"),))
        yield _case(f"{what}, then broken off", "tcp eth1", ("tcp eth1",), GIVEN, job, beside=(serving,))


TURNED = (
    'nft add table ip turned; nft add chain ip turned out "{{ type nat hook output priority -100; }}"; '
    "nft add rule ip turned out tcp dport 8888 redirect to :9900; "
    "{{python}} {{services}} relay 9900 7777 {address} & sleep 0.5; "
    "{{python}} {{tcp}} send 8888 20000000 {named}; {small}; kill $!"
)
LOCAL_ROUTE = "ip route add local {address}/32 dev lo; {{python}} {{tcp}} serve 7778 {address} & sleep 0.5; "
CONTAINER = (
    "unshare -Urn sleep 20 & p=$!; sleep 0.5; slirp4netns -c $p tap0 & s=$!; sleep 1; "
    "nsenter -t $p -U -n --preserve-credentials {{python}} {{tcp}} send 7777 20000000 {address}; {small}; kill $s $p"
)
FRAMES = """import fcntl, os, select, socket, struct, subprocess, time
tap = os.open("/dev/net/tun", os.O_RDWR)
fcntl.ioctl(tap, 0x400454CA, struct.pack("16sH22x", b"tap9", 0x1002))
subprocess.run(["ip", "link", "set", "tap9", "up"], check=True)
child = os.fork()
if child == 0:
    with socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0) as sender:
        sender.bind(("tap9", 0))
        for number in range(8000):
            sender.send(bytes(12) + bytes((0x88, 0xb5)) + bytes(1400))
            if number % 20 == 0: time.sleep(0.001)
    os._exit(0)
while os.waitpid(child, os.WNOHANG) == (0, 0):
    if select.select([tap], [], [], 0.1)[0]: os.read(tap, 2000)"""


def turned_back() -> Iterator[Case]:
    """Yield what a host turns back to itself: by a rule, by a route, or for a container without root."""
    by_rule = "a rule turns it to a relay of the job's, which sends it over {name}: lo and {name} counted it"
    for name, address, named in (("eth1", ETH1, ETH0), ("eth0", ETH0, ETH1)):
        job = Job(programs=(("node1", f"sh -c '{TURNED.format(address=address, named=named, small=SMALL)}'"),))
        truth = ("tcp eth1",) if name == "eth1" else BOTH
        because = by_rule.format(name=name)
        yield _case(f"a transparent proxy over {name}", "tcp eth1", truth, because, job, beside=(OLD_SERVER,))
        job = Job(programs=(("node1", f"sh -c '{CONTAINER.format(address=address, small=SMALL)}'"),))
        because = f"slirp4netns of the job's sends it over {name}"
        yield _case(f"a container without root over {name}", "tcp eth1", truth, because, job, beside=(OLD_SERVER,))
    stays = f"{LOCAL_ROUTE.format(address='10.10.0.9')} {{python}} {{tcp}} send 7778 5000000 10.10.0.9"
    stays = f"{stays}; {SEND} 12000000 {ETH1}"
    job = Job(programs=(("node1", f"sh -c '{stays}; kill $!'"),))
    because = "a route keeps the address on its host; the rest goes over eth1"
    yield _case(
        "an address that a route makes local, the rest over eth1",
        "tcp eth1",
        ("tcp eth1",),
        because,
        job,
        beside=(OLD_SERVER,),
    )
    stays = f"{LOCAL_ROUTE.format(address=ETH1)} {{python}} {{tcp}} send 7778 30000000 {ETH1}"
    job = Job(programs=(("node1", f"sh -c '{stays}; kill $!'"),))
    yield _case("node2's address, which a route makes local", "tcp eth1", ("tcp lo",), because, job)


def answered() -> Iterator[Case]:
    """Yield what comes back through a container, too."""
    words = CONTAINER.format(address=ETH1, small="true").replace(f"20000000 {ETH1}", f"20000000 {ETH1} --echo")
    job = Job(programs=(("node1", f"sh -c '{words}'"),))
    because = "slirp4netns of the job's sends it over eth1, and has it back"
    yield _case(
        "a container without root, echoed over eth1", "tcp eth1", ("tcp eth1",), because, job, beside=(OLD_SERVER,)
    )


def small() -> Iterator[Case]:
    """Yield small datagrams beside 2.2 and 1 % of TCP elsewhere: their headers decide."""
    six = "sysctl -qw net.ipv6.conf.eth1.disable_ipv6=0; ip -6 address add fd00:20::{}/64 dev eth1 nodad"
    prepare = (("node1", six.format(1)), ("node2", six.format(2)))
    for version, address, taker in ((4, ETH1, "take-udp"), (6, "fd00:20::2", "take-udp6")):
        for size, share in ((675_000, "2.2"), (300_000, "1")):
            words = f"{{python}} {{senders}} small-udp 9000 30000000 {address}; {SEND} {size} {ETH0}"
            servers = (("node2", f"{{python}} {{senders}} {taker} 9000"),)
            job = Job(servers=servers, programs=(("node1", f"sh -ec '{words}'"),))
            truth = ("udp eth1", "tcp eth0") if share == "2.2" else ("udp eth1",)  # below 2 % is nothing
            made = _case(f"UDP of 100 B over IPv{version} and {share} % of TCP", "udp eth1", truth, GIVEN, job)
            yield replace(made, prepare=prepare, beside=(OLD_SERVER,))


def launchers() -> Iterator[Case]:
    """Yield what launchers tell each other: that ranks have begun, and what these print."""
    for library in (OPENMPI5, MPICH5):
        loud = f"sh -c '{SEND} 1000000 {ETH1}; head -c 3000000 /dev/zero | base64'"
        job = Job(library, words=loud)
        because = "each rank prints 4 MB, which the launcher carries over mgmt0"
        truth = ("tcp eth1", "tcp mgmt0")
        yield _case(
            f"{library}, ranks that print much",
            "tcp eth1",
            truth,
            because,
            job,
            beside=(OLD_SERVER,),
            verdict=UNDECIDED,
        )
        job = Job(library, words="hostname")
        yield _case(f"{library} starts hostname", "tcp eth1", (), "ranks send nothing", job, verdict=UNDECIDED)


def moved() -> Iterator[Case]:
    """Yield what leaves the job's control group, its environment, name and parent, as containers do."""
    moving = (
        "mkdir /dev/shm/groups; mount -t cgroup2 none /dev/shm/groups; mkdir /dev/shm/groups/moved-$$; "
        'setsid -f env -i PYTHONHOME={home} bash -c "echo \\$\\$ > /dev/shm/groups/moved-$$/cgroup.procs; '
        'exec -a kworker {{python}} {{tcp}} send 7777 20000000 {address}"; sleep 2; {small}; '
        "rmdir /dev/shm/groups/moved-$$; umount /dev/shm/groups"
    )
    because = "a process that the job moved to a control group of its own sends it to this address"
    for name, address in (("eth0", ETH0), ("eth1", ETH1)):
        words = moving.format(address=address, small=SMALL, home=sys.base_prefix)
        job = Job(programs=(("node1", f"bash -c '{words}'"),))
        truth = BOTH if name == "eth0" else ("tcp eth1",)
        yield _case(f"a control group of its own, over {name}", "tcp eth1", truth, because, job, beside=(OLD_SERVER,))


def past_the_inside() -> Iterator[Case]:
    """Yield programs that are to stay inside their host."""
    lo = "{python} {tcp} send 7778 1000000 127.0.0.1"
    servers = ("node1", "{python} {tcp} serve 7778 127.0.0.1")
    job = Job(servers=(servers,), programs=(("node1", f"sh -ec '{lo}; {SEND} 20000000 {ETH0}'"),))
    yield _case(
        "lo asked for, most leaves the host", "tcp lo", ("tcp lo", "tcp eth0"), GIVEN, job, beside=(OLD_SERVER,)
    )
    because = "frames of a TAP device that the job makes and removes; nobody counts them afterwards"
    script = f'{lo}; exec {{python}} -c "$0"'
    job = Job(servers=(servers,), programs=(("node1", f"sh -ec '{script}' '{FRAMES}'"),))
    yield _case(
        "lo asked for, frames by a TAP device", "tcp lo", ("tcp lo", "frames tap9"), because, job, verdict=UNDECIDED
    )


FAMILIES = (turned_back, answered, small, launchers, moved, past_the_inside, shells, names, services, ranks, broken_off)
