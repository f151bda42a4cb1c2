"""Cases of the transport corpus with ordinary programs and shapes: nobody tries to fool anybody."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from campaigns.corpus.devices import BOTH, ETH0, ETH1, SERVE, TO_NODE2
from campaigns.corpus.jobs import GIVEN, TWO, tcp_job
from campaigns.corpus.nouns import LOCAL, Case, Job

from fabriscope.lab.presets import PRESETS
from fabriscope.model.counters import UNDECIDED

FAMILY = "ordinary programs"
SEND = "{python} {tcp} send 7777"


def _asked(name: str, asked: str, carrier: str, job: Job, because: str = GIVEN, family: str = FAMILY) -> Case:
    """Return a case of one carrier, on two fabrics."""
    return Case(name, family, asked, (carrier,), because, job, fabrics=TWO, knows_payload=job.payload is not None)


def iperf3() -> Iterator[Case]:
    """Yield iperf3 in its modes."""
    server = ("node2", "iperf3 -s --forceflush")
    for options, word in (
        ("--bidir", "both directions"), ("-P 8", "8 streams"), ("-Z", "sendfile"), ("-n 20M", "20 MB"),
        ("-M 536", "small segments"), ("-l 100", "100 B at a time"), ("-C reno", "Reno"),
    ):  # fmt: skip
        job = Job(
            servers=(server,),
            programs=(("node1", f"iperf3 -c {ETH1} -b 300M {options}" + ("" if "-n" in options else " -t 1")),),
        )
        yield _asked(f"iperf3, {word}", "tcp eth1", "tcp eth1", job)
    job = Job(programs=(("node1", f"iperf3 -c {ETH1} -t 1 -b 300M"),))
    for asked in ("tcp eth1", "tcp eth0"):
        made = _asked(f"iperf3, a server from before, asked for {asked[4:]}", asked, "tcp eth1", job)
        yield replace(made, beside=(("node2", "iperf3 -s"),))
    job = Job(programs=(("node1", f"iperf3 -c {ETH1} -t 1 -b 300M -R"),))
    yield replace(
        _asked("iperf3 -R, a server from before", "tcp eth1", "tcp eth1", job), beside=(("node2", "iperf3 -s"),)
    )
    job = Job(servers=(server,), programs=(("node1", f"iperf3 -u -c {ETH1} -t 1 -b 300M"),))
    because = "iperf3 -u sends datagrams, and a few words over TCP"
    yield _asked("iperf3 -u, TCP asked", "tcp eth1", "udp eth1", job, because)
    piped = Job(servers=(server,), programs=(("node1", f"sh -c 'iperf3 -c {ETH1} -t 1 -b 300M | tee /dev/null'"),))
    yield _asked("iperf3 into a pipe", "tcp eth1", "tcp eth1", piped)


def downloads() -> Iterator[Case]:
    """Yield curl, wget and Python against http.server, and scp; of a server of the job, or one from before."""
    folder = "/dev/shm"  # noqa: S108 - of a lab's host
    file = (("node2", f"truncate -s 20M {folder}/file"),)
    serving = ("node2", f"sh -c 'echo listening; exec {{python}} -m http.server -d {folder} 8000'")
    clients = {
        "curl": "curl -sS --retry 9 --retry-connrefused --retry-delay 1 -o /dev/null {url}",
        "wget": "wget -q --retry-connrefused --waitretry=1 -O /dev/null {url}",
        "urllib": "{python} -c 'import time, urllib.request as u; time.sleep(1); u.urlopen(\"{url}\").read()'",
    }
    for name, words in clients.items():
        for asked, address in (("tcp eth1", ETH1), ("tcp eth1", ETH0)):
            carrier = "tcp eth1" if address == ETH1 else "tcp eth0"
            job = Job(servers=(serving,), programs=(("node1", words.replace("{url}", f"http://{address}:8000/file")),))
            word = "as asked" if carrier == asked else "over eth0"
            yield replace(_asked(f"{name} and http.server, {word}", asked, carrier, job), prepare=file)
            if name == "curl":
                alone = replace(job, servers=())
                made = _asked(f"{name}, http.server from before, {word}", asked, carrier, alone)
                yield replace(made, prepare=file, beside=(serving,))
    loop = "{python} {services} at-once 7777 20000000"
    for address, asked, truth in ((ETH1, "tcp eth1", "tcp eth1"), (ETH0, "tcp eth1", "tcp eth0")):
        word = "as asked" if asked == truth else "over eth0"
        job = Job(servers=(SERVE,), programs=(("node1", f"{loop} {address}"),))
        yield _asked(f"asyncio, 20 connections, {word}", asked, truth, job)
    yield from _copies()


def _copies() -> Iterator[Case]:
    """Yield scp over an sshd of the lab; keys are in the hosts' own /dev/shm."""
    keys = (
        ("node1", "ssh-keygen -qt ed25519 -N '' -f /dev/shm/key; truncate -s 20M /dev/shm/file"),
        (
            "node2",
            "mount -t tmpfs own /run; mkdir /run/sshd; ssh-keygen -qt ed25519 -N '' -f /dev/shm/host;"
            " cat /proc/[0-9]*/root/dev/shm/key.pub > /dev/shm/allowed",
        ),
    )
    daemon = (
        "sh -c 'exec /usr/sbin/sshd -D -e -p 2222 -h /dev/shm/host -o StrictModes=no -o UsePAM=no -o PidFile=none"
        " -o AuthorizedKeysFile=/dev/shm/allowed -o PermitRootLogin=yes 2>&1'"
    )
    copy = "scp -q -P 2222 -i /dev/shm/key -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null /dev/shm/file"
    before = (("node2", daemon),)
    for address, word in ((ETH1, "as asked"), (ETH0, "over eth0")):
        carrier = "tcp eth1" if address == ETH1 else "tcp eth0"
        alone = Job(programs=(("node1", f"{copy} root@{address}:/dev/shm/copy"),))
        yield replace(_asked(f"scp, sshd from before, {word}", "tcp eth1", carrier, alone), prepare=keys, beside=before)
        job = replace(alone, servers=(("node2", daemon),))
        yield replace(_asked(f"scp, sshd of the job, {word}", "tcp eth1", carrier, job), prepare=keys)
    words = f"sh -ec '{copy} root@{ETH0}:/dev/shm/copy; {SEND} 1000000 {ETH1}'"
    both = Job(servers=(SERVE,), programs=(("node1", words),))
    made = _asked("scp over eth0 and 1 MB over eth1", "tcp eth1", "tcp eth0", both)
    yield replace(made, truth=BOTH, prepare=keys, beside=before)


def shares() -> Iterator[Case]:
    """Yield splits between two fabrics."""
    for share in (0.4, 0.05, 0.03, 0.015, 0.005):
        job = tcp_job(40_000_000, f"{ETH0}={1 - share:g}", f"{ETH1}={share:g}")
        truth = BOTH if share > 0.02 else ("tcp eth0",)
        reason = "the program sends these shares to these addresses" + (
            "" if share > 0.02 else "; 2 % may go elsewhere"
        )
        for asked in ("tcp eth0", "tcp eth1"):
            name = f"{share:.1%} over eth1, asked for {asked[4:]}"
            made = Case(name, "shares", asked, truth, reason, job, fabrics=TWO, knows_payload=False)
            yield made
            if share in (0.03, 0.015):
                yield replace(made, name=f"{name}, payload known", knows_payload=True)
        if share in (0.4, 0.005):
            name = f"{share:.1%} over eth1, any TCP asked"
            yield Case(name, "shares", "tcp", ("tcp",), "all of it is TCP", job, fabrics=TWO, knows_payload=False)


def busy() -> Iterator[Case]:
    """Yield jobs beside others that use the same interface, from a tenth of the job's rate to three times as much."""
    for percent in (10, 50, 100, 300):
        others = (("node2", "iperf3 -s -p 6001"), ("node1", f"iperf3 -c {ETH1} -p 6001 -t 60 -b {percent * 2}M"))
        job = tcp_job(25_000_000, ETH1, options="--pace 25000000")
        made = _asked(f"others use {percent} % of the job's rate", "tcp eth1", "tcp eth1", replace(job, payload=None))
        yield replace(made, family="others beside", beside=others)
        if percent in (100, 300):
            job = replace(tcp_job(25_000_000, ETH0, options="--pace 25000000"), payload=None)
            name = f"others use {percent} % of the job's rate, over what was asked"
            made = _asked(name, "tcp eth1", "tcp eth0", job)
            yield replace(made, family="others beside", beside=others)
    pairs = (
        ("node2", "{python} {tcp} serve 7779"),
        ("node1", f"{{python}} {{tcp}} send 7779 2000000 {ETH0} {ETH1} --rounds 1000 --pause 0.02"),
    )
    made = _asked(
        "others use both interfaces in turns", "tcp eth1", "tcp eth1", replace(tcp_job(25_000_000, ETH1), payload=None)
    )
    yield replace(made, family="others beside", beside=pairs)


def sizes() -> Iterator[Case]:
    """Yield jobs of all lengths and sizes."""
    none = tcp_job(0, ETH1)
    because = "a connection is made, and not a byte is sent over it"
    yield Case(
        "a connection without a byte", "lengths", "tcp eth1", (), because, none, fabrics=TWO, knows_payload=False,
        verdict=UNDECIDED,
    )  # fmt: skip
    for count, options, name in (
        (1, "", "one byte"), (1_000, "", "1 kB"), (200_000, "", "200 kB, some milliseconds"),
        (200_000_000, "", "200 MB"), (6_000_000, "--pace 1000000", "6 s at 1 MB/s"),
        (30_000_000, "--connections 200 --at-once", "200 connections at once"),
        (2_000_000, "--rounds 6 --pause 0.3", "bursts with pauses"),
        (5_000_000, "--connections 500", "500 connections, one after the other"),
        (20_000_000, "--echo", "echoed"), (20_000_000, "--wait 1.5", "begins late"),
    ):  # fmt: skip
        job = replace(tcp_job(count, ETH1, options=options), payload=None)
        yield _asked(f"{name}, payload not known", "tcp eth1", "tcp eth1", job, family="lengths")
        if count in (1_000, 6_000_000, 30_000_000):
            other = replace(tcp_job(count, ETH0, options=options), payload=None)
            yield _asked(f"{name}, over eth0", "tcp eth1", "tcp eth0", other, family="lengths")
    known = tcp_job(1, ETH1)
    yield _asked("one byte, payload known", "tcp eth1", "tcp eth1", known, family="lengths")


def wires() -> Iterator[Case]:
    """Yield wires of other kinds, and interfaces set otherwise."""
    gige = PRESETS["gige"]
    lossy, slow = replace(gige, loss_share=0.01), PRESETS["ethernet-100"]
    for name, spec, count in (("gige, 1 % lost", lossy, 3_000_000), ("100 Mb/s", slow, 5_000_000)):
        job = replace(tcp_job(count, ETH0), payload=None)
        made = Case(
            f"{name}, payload not known", "wires", "tcp eth0", ("tcp eth0",), GIVEN, job, fabrics={"first": spec}
        )
        yield replace(made, knows_payload=False)
        swapped = replace(
            made, name=f"{name}, asked for the other", asked="tcp eth1", fabrics={"first": spec, "second": LOCAL}
        )
        yield replace(swapped, knows_payload=False)
    off = tuple((host, "ethtool -K eth1 tso off gso off gro off") for host in ("node1", "node2"))
    made = _asked("no TSO, GSO and GRO", "tcp eth1", "tcp eth1", replace(tcp_job(20_000_000, ETH1), payload=None))
    yield replace(made, family="wires", prepare=off)
    small = tuple((host, "ip link set eth1 mtu 576") for host in ("node1", "node2"))
    made = _asked("frames of 576 B", "tcp eth1", "tcp eth1", replace(tcp_job(10_000_000, ETH1), payload=None))
    yield replace(made, family="wires", prepare=small)
    plain = tuple((host, "sysctl -qw net.ipv4.tcp_timestamps=0 net.ipv4.tcp_sack=0") for host in ("node1", "node2"))
    made = _asked("no time stamps", "tcp eth1", "tcp eth1", replace(tcp_job(10_000_000, ETH1), payload=None))
    yield replace(made, family="wires", prepare=plain)


def hosts() -> Iterator[Case]:
    """Yield jobs of three and four hosts."""
    three, four = ("node1", "node2", "node3"), ("node1", "node2", "node3", "node4")
    for dev, network in (("eth1", "10.11.0"), ("eth0", "10.10.0")):
        word = "as asked" if dev == "eth1" else "over eth0"
        senders = tuple((host, f"{SEND} 10000000 {network}.4") for host in three)
        job = Job(servers=(("node4", "{python} {tcp} serve 7777"),), programs=senders)
        yield replace(_asked(f"three to one, {word}", "tcp eth1", f"tcp {dev}", job, family="many hosts"), hosts=four)
        known = replace(job, payload={(host, "node4"): 10_000_000 for host in three})
        yield replace(
            _asked(f"three to one, {word}, payload known", "tcp eth1", f"tcp {dev}", known, family="many hosts"),
            hosts=four,
        )
        everyone = tuple((host, "{python} {tcp} serve 7777") for host in three)
        all_pairs = tuple(
            (host, f"{SEND} 5000000 " + " ".join(f"{network}.{to}" for to in (1, 2, 3) if to != number))
            for number, host in enumerate(three, 1)
        )
        job = Job(servers=everyone, programs=all_pairs)
        yield replace(
            _asked(f"all to all, 3 hosts, {word}", "tcp eth1", f"tcp {dev}", job, family="many hosts"), hosts=three
        )
    odd = (("node1", f"{SEND} 10000000 10.11.0.3"), ("node2", f"{SEND} 10000000 10.10.0.3"))
    job = Job(servers=(("node3", "{python} {tcp} serve 7777"),), programs=odd)
    made = replace(_asked("two to one, one of them over eth0", "tcp eth1", "tcp eth1", job), family="many hosts")
    yield replace(made, truth=BOTH, hosts=three)
    yield replace(made, name=f"{made.name}, payload known", truth=BOTH, hosts=three, knows_payload=True, job=replace(
        job, payload={("node1", "node3"): 10_000_000, ("node2", "node3"): 10_000_000}
    ))  # fmt: skip
    both_ways = Job(
        servers=(SERVE, ("node1", "{python} {tcp} serve 7777")),
        programs=(("node1", f"{SEND} 10000000 {ETH1}"), ("node2", f"{SEND} 10000000 10.10.0.1")),
        payload={TO_NODE2: 10_000_000, ("node2", "node1"): 10_000_000},
    )
    made = _asked("one direction over each fabric", "tcp eth1", "tcp eth1", both_ways, family="many hosts")
    yield replace(made, truth=BOTH)
    yield replace(made, name=f"{made.name}, payload not known", truth=BOTH, knows_payload=False)


FAMILIES = (iperf3, downloads, shares, busy, sizes, wires, hosts)
