"""Cases of the transport corpus that are about what MPI libraries do, asked or not."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from campaigns.corpus.jobs import BULK, FORCED, NO_RDMA, ONE_HOST, TINY, TWO, forced, tcp_job
from campaigns.corpus.nouns import INTEL, LIBRARIES, MPICH4, MPICH5, NODES, OPENMPI4, OPENMPI5, Case, Job

from fabriscope.lab.network import hardware_address


def honest() -> Iterator[Case]:
    """Yield jobs that do what they were asked."""
    for library in LIBRARIES:
        made = Case(
            f"{library}, TCP as asked",
            "as asked",
            "tcp eth0",
            ("tcp eth0",),
            FORCED,
            Job(library, BULK, forced(library, "eth0")),
        )
        yield made
        yield replace(made, name=f"{made.name}, payload not known", knows_payload=False)
    for library, traffic in (
        (OPENMPI5, "ping_pong 1000 1"),
        (MPICH5, "ping_pong 1000 1024"),
        (MPICH4, "ring 10 1048576"),
    ):
        job = Job(library, traffic, forced(library, "eth0"))
        yield Case(f"{library}, {traffic}", "as asked", "tcp eth0", ("tcp eth0",), FORCED, job)
    for library, traffic in ((OPENMPI5, "reduce 200 8192"), (MPICH5, "reduce 200 8192")):
        job = Job(library, traffic, forced(library, "eth0"))
        yield Case(f"{library}, all-reduce", "as asked", "tcp eth0", ("tcp eth0",), FORCED, job, knows_payload=False)
    put = Job(MPICH5, "put 50 65536", forced(MPICH5, "eth0"))
    yield Case("MPICH 5, one-sided put", "as asked", "tcp eth0", ("tcp eth0",), FORCED, put)


_FALLBACKS = (
    ("FI_PROVIDER=verbs, which this MPICH ignores", MPICH4, {"FI_PROVIDER": "verbs"}),
    ("FI_PROVIDER=verbs, which its UCX ignores", MPICH5, {"FI_PROVIDER": "verbs"}),
    ("btl openib,tcp,self", OPENMPI4, {"OMPI_MCA_btl": "openib,tcp,self"}),
    ("UCX_TLS=rc", OPENMPI4, {"UCX_TLS": "rc"}),
    ("UCX_TLS=rc", OPENMPI5, {"UCX_TLS": "rc"}),
    ("UCX_TLS=rc,tcp,self", MPICH5, {"UCX_TLS": "rc,tcp,self"}),
    ("UCX_TLS=rc,tcp,self", MPICH4, {"UCX_TLS": "rc,tcp,self"}),
    ("I_MPI_FABRICS=shm:dapl", INTEL, {"I_MPI_FABRICS": "shm:dapl"}),
    ("MPIR_CVAR_NETMOD=ofi, which is no variable", MPICH5, {"MPIR_CVAR_NETMOD": "ofi", "FI_PROVIDER": "verbs"}),
    ("mtl ofi with verbs, pml left alone", OPENMPI4, {"OMPI_MCA_mtl_ofi_provider_include": "verbs"}),
    ("mtl ofi with verbs, pml left alone", OPENMPI5, {"OMPI_MCA_mtl_ofi_provider_include": "verbs"}),
    ("UCX_TLS=rc,ud,tcp,sm,self", MPICH4, {"UCX_TLS": "rc,ud,tcp,sm,self"}),
    ("FI_PROVIDER=verbs,tcp", INTEL, {"FI_PROVIDER": "verbs,tcp"}),
)


def fallbacks() -> Iterator[Case]:
    """Yield jobs that were asked to use RDMA, end well, and never did."""
    for number, (how, library, settings) in enumerate(_FALLBACKS):
        made = Case(f"{library}, {how}", "silent fallback", "roce", ("tcp",), NO_RDMA, Job(library, BULK, settings))
        yield made
        if number < 9:
            yield replace(made, name=f"{made.name}, payload not known", knows_payload=False)
    tiny = Job(MPICH4, TINY, {"FI_PROVIDER": "verbs"})
    yield Case("MPICH 4, FI_PROVIDER=verbs, 3 messages", "silent fallback", "roce", ("tcp",), NO_RDMA, tiny)


def one_host() -> Iterator[Case]:
    """Yield TCP baselines, and others, of which both ranks are on one host."""
    shared = "both ranks are on one host, and the library takes shared memory there whatever its network is"
    for library in LIBRARIES:
        network = {key: value for key, value in forced(library, "eth0").items() if "btl" not in key[-4:]}
        more = {"I_MPI_FABRICS": "shm:ofi"} if library == INTEL else {}
        more |= {"UCX_TLS": "tcp,sm,self"} if library == MPICH4 else {}
        job = Job(library, BULK, {**network, **more}, ONE_HOST)
        made = Case(f"{library}, TCP baseline, one host", "shared memory", "tcp eth0", ("shm",), shared, job)
        yield made
        if library in (OPENMPI5, MPICH5):
            yield replace(made, name=f"{made.name}, payload not known", knows_payload=False)
        yield replace(made, name=f"{library}, shared memory as asked", asked="shm")
    for library in (MPICH4, MPICH5):
        settings = {"MPIR_CVAR_NOLOCAL": "1"}
        job = Job(library, BULK, settings, ONE_HOST)
        why = "both ranks are on one host; MPIR_CVAR_NOLOCAL leaves UCX its shared memory"
        yield Case(f"{library}, MPIR_CVAR_NOLOCAL=1", "shared memory", "tcp eth0", ("shm",), why, job)
    own = "both ranks are on one host, and btl tcp,self is all that there is: a host's way to itself is loopback"
    for library in (OPENMPI4, OPENMPI5):
        job = Job(library, BULK, forced(library, "eth0"), ONE_HOST)
        made = Case(
            f"{library}, btl tcp,self, one host", "shared memory", "tcp eth0", ("tcp lo",), own, job
        )  # fmt: skip
        yield made
        yield replace(made, name=f"{library}, TCP inside one host as asked", asked="tcp lo")
    job = Job(OPENMPI5, BULK, forced(OPENMPI5, "eth0"), ONE_HOST)
    yield Case("Open MPI 5, shared memory asked, TCP forced", "shared memory", "shm", ("tcp lo",), own, job)
    job = Job(OPENMPI4, BULK, forced(OPENMPI4, "eth0"))
    yield Case("Open MPI 4, shared memory asked, two hosts", "shared memory", "shm", ("tcp eth0",), FORCED, job)
    job = Job(MPICH5, TINY, forced(MPICH5, "eth0"), ONE_HOST)
    yield Case("MPICH 5, TCP baseline, one host, 3 messages", "shared memory", "tcp eth0", ("shm",), shared, job)


_SAME_MEMORY = {MPICH4: {"UCX_NET_DEVICES": "eth0"}, MPICH5: {"MPIR_CVAR_CH4_NETMOD": "ucx", "UCX_NET_DEVICES": "eth0"}}
"""Settings with which UCX may take whatever it thinks best."""


def same_memory() -> Iterator[Case]:
    """Yield two "hosts" that are network namespaces alone, so that shared memory joins them."""
    shared = (
        "eth0 leads nowhere (its neighbours have wrong addresses) and no other interface is allowed: memory was left"
    )
    nowhere = tuple(
        (
            host,
            "for a in 1 2; do ip neigh replace 10.10.0.$a lladdr 02:00:00:00:00:99 dev eth0 nud permanent; done; true",
        )
        for host in NODES
    )
    alive = "the same settings end well over an eth0 that leads nowhere: the library prefers memory"
    for library, settings in _SAME_MEMORY.items():
        job = Job(library, BULK, settings)
        made = Case(
            f"{library}, hosts that share memory", "shared memory", "tcp eth0", ("shm",), alive, job, shares_memory=True
        )
        yield made
        yield replace(made, name=f"{made.name}, eth0 leads nowhere", because=shared, prepare=nowhere)
        yield replace(made, name=f"{made.name}, payload not known", knows_payload=False)
    for library in (OPENMPI4, MPICH4):
        job = Job(library, BULK, forced(library, "eth0"))
        yield Case(
            f"{library}, hosts that share memory, TCP forced",
            "shared memory",
            "tcp eth0",
            ("tcp eth0",),
            FORCED,
            job,
            shares_memory=True,
        )


def wrong_interface() -> Iterator[Case]:
    """Yield jobs on two fabrics that took the other one, and such that took the right one of two."""
    for library in LIBRARIES:
        made = Case(
            f"{library}, eth1 instead of eth0", "wrong interface", "tcp eth0", ("tcp eth1",), FORCED,
            Job(library, BULK, forced(library, "eth1")), fabrics=TWO,
        )  # fmt: skip
        yield made
        yield replace(
            made, name=f"{library}, eth1 as asked", asked="tcp eth1", knows_payload=library in (OPENMPI4, MPICH5)
        )
    job = Job(OPENMPI5, BULK, forced(OPENMPI5, "mgmt0"))
    yield Case("Open MPI 5, the management network instead", "wrong interface", "tcp eth0", ("tcp mgmt0",), FORCED, job)
    job = Job(MPICH5, BULK, forced(MPICH5, "mgmt0"))
    yield Case(
        "MPICH 5, the management network instead",
        "wrong interface",
        "tcp eth0",
        ("tcp mgmt0",),
        FORCED,
        job,
        knows_payload=False,
    )
    route = tuple(
        (
            host,
            f"ip route replace 10.10.0.{other}/32 dev eth1;"
            f" ip neigh replace 10.10.0.{other} lladdr {hardware_address(11, other - 1)} dev eth1 nud permanent;"
            " sysctl -qw net.ipv4.conf.all.rp_filter=0",
        )
        for host, other in zip(NODES, (2, 1), strict=True)
    )
    job = tcp_job(20_000_000, "10.10.0.2")
    yield Case(
        "plain TCP, eth0's addresses routed over eth1",
        "wrong interface",
        "tcp eth0",
        ("tcp eth1",),
        "the only route to eth0's network leads over eth1",
        job,
        fabrics=TWO,
        prepare=route,
    )
