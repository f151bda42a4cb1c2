"""Cases of the transport corpus on one host: memory, pipes, Unix sockets and the like, with more or less TCP."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from campaigns.corpus.jobs import BULK, TWO, forced
from campaigns.corpus.nouns import MPICH5, OPENMPI5, Case, Job

from fabriscope.model.counters import UNDECIDED

FAMILY = "inside one host"
WHOLE_BYTES, LITTLE_BYTES = 100_000_000, 1_000_000
HOST = ("node1",)

_MEMORY = {
    "file": "a file of /dev/shm that both map",
    "links": "a file of /dev/shm that they map by two names",
    "deleted": "a file without a name that both map",
    "odd-name": "a file of /dev/shm with a name like those of PMIx's own files",
    "anonymous": "memory without a file that a child inherits",
    "memfd": "a memfd that both map",
    "disk-map": "a file on disk that both map",
    "sysv": "a segment of System V that both attach",
}
_OTHER = {
    "pipe": "a pipe",
    "fifo": "a pipe that has a name",
    "unix-stream": "Unix sockets, as a stream",
    "unix-datagram": "Unix sockets, as datagrams",
    "unix-packet": "Unix sockets, as packets in order",
    "process-vm": "process_vm_readv, by which the child reads the parent's own memory",
    "queue": "a queue of messages of POSIX",
    "tmpfs-file": "a file of /dev/shm that one writes and the other reads",
    "disk-file": "a file on disk that one writes and the other reads",
}


def _case(name: str, asked: str, truth: tuple[str, ...], carrier: str, byte_count: int, tcp: int, known: bool) -> Case:
    """Return a case of two processes on one host: a share by a carrier, the rest by TCP over lo."""
    what = {**_MEMORY, **_OTHER}[carrier]
    because = f"a parent tells its child {byte_count / 1e6:g} MB by {what}, and {tcp / 1e6:g} MB by TCP over lo"
    job = Job(
        programs=(("node1", f"{{python}} {{memory}} {carrier} {byte_count} {tcp}"),),
        payload={("node1", "node1"): byte_count + tcp} if known else None,
    )
    return Case(name, FAMILY, asked, truth, because, job, hosts=HOST, knows_payload=known)


def memory() -> Iterator[Case]:
    """Yield jobs that share memory, and were asked to or not."""
    for carrier, what in _MEMORY.items():
        yield _case(f"{what}: as asked, payload known", "shm", ("shm",), carrier, WHOLE_BYTES, 0, known=True)
        if carrier in ("file", "links", "memfd", "sysv"):
            yield _case(f"{what}: as asked", "shm", ("shm",), carrier, WHOLE_BYTES, 0, known=False)
            both = ("shm", "tcp lo")
            half = WHOLE_BYTES // 2
            yield _case(f"{what}, half by TCP, payload known", "shm", both, carrier, half, half, known=True)
            made = _case(
                f"{what}, 1 % by TCP, which is asked for",
                "tcp lo",
                both,
                carrier,
                WHOLE_BYTES,
                LITTLE_BYTES,
                known=False,
            )
            yield undecidable(made)
        if carrier in ("file", "links"):
            name = f"{what}, 1 % by TCP, payload known"
            yield _case(name, "shm", ("shm",), carrier, WHOLE_BYTES, LITTLE_BYTES, known=True)
            name = f"{what}, 1 % by TCP, which is asked for, payload known"
            yield _case(name, "tcp lo", ("shm", "tcp lo"), carrier, WHOLE_BYTES, LITTLE_BYTES, known=True)


def undecidable(case: Case) -> Case:
    """Return the case with a verdict of undecided: no counter of the kernel has the carrier's bytes."""
    return replace(case, verdict=UNDECIDED)


def others() -> Iterator[Case]:
    """Yield jobs whose bytes go by what no counter has."""
    for carrier, what in _OTHER.items():
        truth = (carrier, "tcp lo")
        name = f"{what}, 1 % by TCP, which is asked for"
        yield undecidable(_case(name, "tcp lo", truth, carrier, WHOLE_BYTES, LITTLE_BYTES, known=False))
        if carrier in ("pipe", "unix-stream", "queue", "disk-file"):
            name = f"{what}, 1 % by TCP, memory asked"
            made = _case(name, "shm", truth, carrier, WHOLE_BYTES, LITTLE_BYTES, known=False)
            yield made if carrier == "disk-file" else undecidable(made)  # no memory in any sense: refuted
    server = ("node1", "{python} {tcp} serve 7777")
    for address, reason in (
        ("127.0.0.1", "its address is lo's"),
        ("10.10.0.1", "a host's way to its own eth0's address is lo"),
    ):
        job = Job(servers=(server,), programs=(("node1", f"{{python}} {{tcp}} send 7777 40000000 {address}"),))
        for asked in ("tcp lo", "tcp eth0", "shm"):
            name = f"TCP to {address}, asked for {asked.removeprefix('tcp ')}"
            yield Case(name, FAMILY, asked, ("tcp lo",), reason, job, hosts=HOST, knows_payload=False)


def with_wire() -> Iterator[Case]:
    """Yield jobs that tell most inside a host, and some to another host."""
    send = ("node1", "{python} {tcp} send 7777 10000000 10.10.0.2")
    because = "of what two hosts tell each other, all goes over eth0: 10 MB; 100 MB never leave node1"
    for carrier in ("file", "links"):
        job = Job(
            servers=(("node2", "{python} {tcp} serve 7777"),),
            programs=(("node1", f"{{python}} {{memory}} {carrier} {WHOLE_BYTES} 0"), send),
        )
        name = f"{_MEMORY[carrier]}, and a tenth as much over eth0"
        yield Case(name, FAMILY, "tcp eth0", ("tcp eth0",), because, job, fabrics=TWO, knows_payload=False)
    settings = {**forced(OPENMPI5, "eth0"), "OMPI_MCA_btl": "tcp,self,sm"}
    job = Job(OPENMPI5, "all_to_all 50 65536", settings, ("node1", "node1", "node2", "node2"))
    because = "ranks of two hosts have TCP over eth0 alone; those of one host tell each other by btl sm, as they may"
    name = "Open MPI 5, 2 ranks on each host, all to all"
    yield Case(name, FAMILY, "tcp eth0", ("tcp eth0",), because, job, knows_payload=False)


def beside_ranks() -> Iterator[Case]:
    """Yield MPI jobs that copy beside their ranks, and such on a host with the name of a library's files."""
    copy = (("node1", "{python} {tcp} send 7777 60000000 10.11.0.2"),)
    server = (("node2", "{python} {tcp} serve 7777"),)
    because = "the ranks are left nothing but TCP over eth0; a program of the same job sends 60 MB to eth1's address"
    for library in (OPENMPI5, MPICH5):
        job = Job(library, BULK, forced(library, "eth0"), servers=server, programs=copy)
        name, both = f"{library} over eth0, and a copy over eth1", ("tcp eth0", "tcp eth1")
        yield Case(name, "beside the ranks", "tcp eth0", both, because, job, fabrics=TWO, knows_payload=False)
    shared = "both ranks are on one host, where the library takes shared memory; its files there have the host's name"
    settings = {"OMPI_MCA_pml": "ob1", "OMPI_MCA_btl": "sm,tcp,self"}
    for host in ("gds1", "pmix-dstore"):
        job = Job(OPENMPI5, BULK, settings, (host, host))
        for asked in ("shm", "tcp eth0"):
            name = f"Open MPI 5 on a host called {host}, asked for {asked.removeprefix('tcp ')}"
            yield Case(name, "beside the ranks", asked, ("shm",), shared, job, hosts=(host, "node2"))


FAMILIES = (memory, others, with_wire, beside_ranks)
