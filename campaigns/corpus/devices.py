"""Cases of the transport corpus that try to fool a proof: processes and services that hide whose the bytes are.

Most send 40 MB over eth0 by a device and 1 MB over eth1 plainly, and eth1 is asked for; their twins play the same
device over eth1 alone, as they were asked.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from campaigns.corpus.jobs import TWO
from campaigns.corpus.nouns import Case, Job

from fabriscope.model.counters import UNDECIDED

BULK_BYTES, DECOY_BYTES = 40_000_000, 1_000_000
ETH0, ETH1 = "10.10.0.2", "10.11.0.2"
SERVE = ("node2", "{python} {tcp} serve 7777")
BULK_AND_DECOY = f"7777 {BULK_BYTES} {ETH0} {DECOY_BYTES} {ETH1}"
AS_ASKED = f"7777 {BULK_BYTES} {ETH1}"
BOTH = ("tcp eth0", "tcp eth1")
TO_NODE2 = ("node1", "node2")


def job(words: str, *servers: tuple[str, str], byte_count: int | None = None, host: str = "node1") -> Job:
    """Return a job of one program, the corpus's own server on node2 unless others are named, and a payload if known."""
    return Job(
        servers=servers or (SERVE,),
        programs=((host, words),),
        payload=None if byte_count is None else {TO_NODE2: byte_count},
    )


def fooling(name: str, family: str, because: str, made: Job, **more: object) -> Case:
    """Return a case whose bulk goes over eth0 by some device, with a decoy over the eth1 that is asked for."""
    case = Case(name, family, "tcp eth1", BOTH, because, made, fabrics=TWO, knows_payload=made.payload is not None)
    return replace(case, **more)  # type: ignore[arg-type]


def as_asked(name: str, family: str, because: str, made: Job, **more: object) -> Case:
    """Return a case that plays a device, and sends all over the eth1 that is asked for."""
    return fooling(name, family, because, made, **{"truth": ("tcp eth1",), **more})


_HIDING = {
    "environ": ("environment written over", "writes over its environment as redis and nginx do"),
    "title": ("title of a kernel's thread", "calls itself a thread of the kernel and has no command line"),
    "undumpable": ("not dumpable", "may not be looked into by others of its user"),
    "setuid": ("becomes nobody", "becomes nobody"),
    "everything": ("nobody, renamed, no environment", "becomes nobody, renames itself and writes over its environment"),
    "hidden-root": ("empty root folder", "has an empty folder of its own for a root"),
    "setsid": ("child with its own session", "sends from a child with a session of its own"),
    "daemon": ("daemon", "sends from a daemon: two forks, a session of its own, an empty environment"),
    "outlive": (
        "daemon that outlives the job",
        "leaves a daemon that has sent more than half of the bytes when the job ends",
    ),
    "handed": ("SCM_RIGHTS to a child", "hands its connection to a child by SCM_RIGHTS"),
    "exec-thrice": ("three programs by exec", "becomes three programs without environment over one connection"),
    "threads": ("eight threads", "sends from eight threads at once"),
    "storm": ("chain of 20 children", "sends each twentieth from a child of the process that sent the one before"),
    "new-pid": ("PID namespace", "sends from a PID namespace of its own"),
    "new-user": ("user namespace", "sends from a user namespace of its own"),
    "new-all-but-net": ("all namespaces but the network", "sends from namespaces of its own, but for the network's"),
}
_TWINS = (
    "environ",
    "everything",
    "daemon",
    "handed",
    "exec-thrice",
    "threads",
    "storm",
    "new-pid",
    "new-user",
    "setsid",
)
_ALONE = ("environ", "daemon", "new-pid", "setuid")
_KNOWN = ("environ", "daemon", "handed", "storm")


def hiding() -> Iterator[Case]:
    """Yield clients that hide whose they are."""
    family = "hidden processes"
    for trick, (short, what) in _HIDING.items():
        because = f"the client {what}; its words name the addresses, and there is one route to each"
        words = f"{{python}} {{tricks}} {trick}"
        yield fooling(f"{short}: bulk over eth0", family, because, job(f"{words} {BULK_AND_DECOY}"))
        if trick in _TWINS:
            yield as_asked(f"{short}: as asked", family, because, job(f"{words} {AS_ASKED}"))
        if trick in _ALONE:
            made = job(f"{words} 7777 {BULK_BYTES} {ETH0}")
            yield fooling(f"{short}: all over eth0", family, because, made, truth=("tcp eth0",))
        if trick in _KNOWN:
            made = job(f"{words} {BULK_AND_DECOY}", byte_count=BULK_BYTES + DECOY_BYTES)
            yield fooling(f"{short}: bulk over eth0, payload known", family, because, made)


def both_ends() -> Iterator[Case]:
    """Yield jobs whose servers hide as well, or alone, and environments that say something else."""
    family = "hidden processes"
    for trick in ("environ", "daemon", "setuid", "everything"):
        short, what = _HIDING[trick]
        because = f"at each end the program {what}; its words name the addresses"
        server = ("node2", f"{{python}} {{tricks}} {trick} --serve 7777")
        words = f"{{python}} {{tricks}} {trick}"
        yield fooling(
            f"{short}, at both ends: bulk over eth0", family, because, job(f"{words} {BULK_AND_DECOY}", server)
        )
        yield as_asked(f"{short}, at both ends: as asked", family, because, job(f"{words} {AS_ASKED}", server))
    plain = "{python} {tricks} plain"
    server = ("node2", "{python} {tricks} daemon --serve 7777")
    because = "the server is a daemon with an empty environment; the client's words name the addresses"
    yield fooling("daemon for a server: bulk over eth0", family, because, job(f"{plain} {BULK_AND_DECOY}", server))
    yield as_asked("daemon for a server: as asked", family, because, job(f"{plain} {AS_ASKED}", server))
    for name, prefix in _ENVIRONMENTS.items():
        because = f"{name}; the client's words name the addresses"
        made = job(f"{prefix} {plain} {BULK_AND_DECOY}", ("node2", f"{prefix} {{python}} {{tcp}} serve 7777"))
        yield fooling(f"{name}: bulk over eth0", family, because, made)
        made = job(f"{prefix} {plain} {AS_ASKED}", ("node2", f"{prefix} {{python}} {{tcp}} serve 7777"))
        yield as_asked(f"{name}: as asked", family, because, made)


_ENVIRONMENTS = {
    "empty environment at both ends": f"env -C {Path(__file__).parents[2]} -i",
    "both ends are rank 0 of a Slurm step": "env SLURM_PROCID=0 SLURM_JOB_ID=77 SLURM_STEP_ID=0",
    "somebody else's mark at both ends": "env FABRISCOPE_LAUNCH_MARK=00000000000000000000000000000000",
    "an empty mark and a rank of Open MPI": "env FABRISCOPE_LAUNCH_MARK= OMPI_COMM_WORLD_RANK=3",
}


def _service(*words: str, host: str = "node1") -> tuple[tuple[str, str], ...]:
    return tuple((host, f"{{python}} {{services}} {one}") for one in words)


def services() -> Iterator[Case]:
    """Yield jobs whose bytes a service carries that was there before."""
    family = "services from before"
    path = "/dev/shm/s"  # noqa: S108 - of a lab's host
    others_server = (("node2", "{python} {tcp} serve 7777"),)
    ask = f"{{python}} {{services}} ask-{{what}} {path}"

    def asking(what: str, words: str) -> str:
        return f"{ask.replace('{what}', what)} {words}"

    relay = _service(f"relay {path} 7777 {ETH0}")
    because = "the job writes 40 MB to a Unix socket of a service that was there before; it sends them on over eth0"
    unknowable = {"verdict": UNDECIDED, "truth": ("tcp eth1", "a service over eth0")}
    made = job(asking("relay", BULK_AND_DECOY))
    yield fooling(
        "a service from before sends the bulk over eth0 to the job's server", family, because, made, beside=relay
    )
    decoys = job(
        asking("relay", f"7778 {BULK_BYTES} {ETH0} {DECOY_BYTES} {ETH1}"), ("node2", "{python} {tcp} serve 7778")
    )
    yield fooling(
        "services from before have both ends of the bulk over eth0", family, because, decoys,
        beside=(*others_server, *relay), **unknowable,
    )  # fmt: skip
    yield as_asked(
        "a service from before sends the bulk over eth1 as asked", family, because.replace("eth0", "eth1"),
        job(asking("relay", AS_ASKED)), beside=_service(f"relay {path} 7777 {ETH1}"),
    )  # fmt: skip
    for what, because in (
        ("opener", "a service from before hands the job a connection over eth0"),
        ("sender", "the job hands a service from before its connection over eth0"),
    ):
        begun = f"{what} {path} 7777 " if what == "opener" else f"sender {path} "
        made = job(asking(what, BULK_AND_DECOY))
        yield fooling(because, family, because, made, beside=_service(f"{begun}{ETH0}"))
        because = because.replace("eth0", "eth1")
        yield as_asked(because, family, because, job(asking(what, AS_ASKED)), beside=_service(f"{begun}{ETH1}"))


def proxies() -> Iterator[Case]:
    """Yield jobs whose bytes go by a proxy, and such as talk to servers that were there before or come late."""
    family = "services from before"
    plain = "{python} {tricks} plain"
    through = "the job tells a proxy on lo, which tells the server over eth0"
    truth = ("tcp lo", *BOTH)
    words = f"{plain} 7777 {BULK_BYTES} 127.0.0.1 {DECOY_BYTES} {ETH1}"
    proxy = f"{{python}} {{services}} relay 7777 7777 {ETH0}"
    yield fooling(
        "a proxy from before on lo, its server the job's",
        family,
        through,
        job(words),
        truth=truth,
        beside=(("node1", proxy),),
    )
    yield fooling(
        "a proxy from before on lo, payload known", family, through, job(words, byte_count=BULK_BYTES + DECOY_BYTES),
        truth=truth, beside=(("node1", proxy),),
    )  # fmt: skip
    yield fooling("a proxy of the job on lo", family, through, job(words, SERVE, ("node1", proxy)), truth=truth)
    before = (("node2", "{python} {tcp} serve 7777"),)
    idle = (("node2", "{python} {tcp} serve 7778"),)
    met = "the server was there before; the client's words name the addresses"
    yield fooling("the server was there before", family, met, job(f"{plain} {BULK_AND_DECOY}", *idle), beside=before)
    yield as_asked(
        "as asked, the server was there before", family, met, job(f"{plain} {AS_ASKED}", *idle), beside=before
    )
    client_alone = replace(job(f"{plain} {BULK_AND_DECOY}"), servers=())
    yield fooling(
        "the server was there before, and the job is a client alone", family, met, client_alone, beside=before
    )
    client_alone = replace(job(f"{plain} {AS_ASKED}"), servers=())
    yield as_asked("as asked, the job is a client alone", family, met, client_alone, beside=before)
    client_alone = replace(job(f"{plain} 7777 {BULK_BYTES} {ETH0}"), servers=())
    yield fooling(
        "all over eth0, the job is a client alone", family, met, client_alone, truth=("tcp eth0",), beside=before
    )
    yield from _late(family)
    three = ("node1", "node2", "node3")
    by_third = "a proxy of the job on a third host takes 40 MB over eth0 and sends them on over eth0"
    made = job(
        f"{plain} 7777 {BULK_BYTES} 10.10.0.3 {DECOY_BYTES} {ETH1}",
        SERVE,
        ("node3", f"{{python}} {{services}} relay 7777 7777 {ETH0}"),
    )
    yield fooling("a proxy of the job on a third host", family, by_third, made, hosts=three)
    made = replace(made, servers=(SERVE,))
    beside = (("node3", f"{{python}} {{services}} relay 7777 7777 {ETH0}"),)
    yield fooling("a proxy from before on a third host", family, by_third, made, hosts=three, beside=beside)


def _late(family: str) -> Iterator[Case]:
    """Yield jobs whose server a timer starts, which is no child of theirs."""
    flag = "/dev/shm/begun"  # noqa: S108 - of a lab's host
    timer = (("node1", f"{{python}} {{services}} timer {flag} 0.5 {{python}} {{tcp}} send 7777 {BULK_BYTES} {ETH0}"),)
    because = "a timer that was there before starts a client in the job's time: the job's server takes 40 MB over eth0"
    words = f"{{python}} {{services}} begin {flag} 7777 {DECOY_BYTES} {ETH1}"
    made = job(f"sh -ec '{words}; until [ -e {flag}.done ]; do sleep 0.1; done'")
    yield fooling("a timer starts the client of the bulk over eth0", family, because, made, beside=timer)
    local = ("node1", f"{{python}} {{services}} timer {flag} 0.5 {{python}} {{tcp}} serve 7778")
    because = "a timer that was there before starts the server on node1; node2's client sends it 40 MB"
    for address, decoy, make in (("10.10.0.1", "10.11.0.1", fooling), ("10.11.0.1", "", as_asked)):
        pair = f" {DECOY_BYTES} {decoy}" if decoy else ""
        waiting = f"{{python}} {{services}} begin /dev/shm/here 7778 {BULK_BYTES} {address}{pair}"
        made = Job(programs=(("node1", f"sh -ec 'touch {flag}; sleep 1.2'"), ("node2", waiting)))
        name = "a timer starts the server of the bulk" if decoy else "as asked, a timer starts the server"
        yield make(f"{name}", family, because, made, beside=(local,))


FAMILIES = (hiding, both_ends, services, proxies)
