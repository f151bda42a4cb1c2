"""Cases of the transport corpus over software RDMA, between two guests (`rdma_place.py`)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from campaigns.corpus.nouns import GUESTS, INTEL, MPICH4, MPICH5, OPENMPI5, Case, Job

from fabriscope.model.counters import PROVED, REFUTED, UNDECIDED

BULK, SMALL, LARGE = "ping_pong 150 65536", "ping_pong 1000 64", "one_way 8 2097152"
KB, MB = 1 << 10, 1 << 20
ADDRESSES = {"rxe0": "10.10.0.2", "siw1": "10.11.0.2", "rxe2": "10.12.0.2"}
INTERFACES = {"rxe0": "eth0", "siw1": "eth1", "rxe2": "eth2"}
TRUTHS = {"rxe0": "roce rxe0", "siw1": "iwarp siw1", "rxe2": "roce rxe2"}

VERBS = "the program speaks verbs to this device, and sends its payload by nothing else"
LEFT = "the library is left this device and nothing else between hosts"
NO_DEVICE = "the device that is named is not there, and TCP over this interface is all that is left"
BOTH = "one program of the job speaks verbs, and another TCP; each sends so many bytes"

Ends = tuple[tuple[str, str], tuple[str, str]]
"""Host and words of a server, and of its client."""


def perftest(program: str, device: str, size: int, count: int, port: int = 18515, options: str = "") -> Ends:
    """Return the two ends of a test of perftest, which sends `count` times `size` bytes."""
    way = "-R" if device.startswith("siw") else "-x 1"
    words = f"{program} -d {device} {way} -F -s {size} -p {port} {options or f'-n {count}'}"
    address = ADDRESSES[device]
    return ("g2", f"sh -c 'echo listening; exec {words}'"), ("g1", f"sh -c 'sleep 1; exec {words} {address}'")


def tcp(byte_count: int, address: str = "10.10.0.2", port: int = 7777, options: str = "") -> Ends:
    """Return the two ends of a plain TCP transfer."""
    client = f"{{python}} {{tcp}} send {port} {byte_count} {address} {options}".strip()
    return ("g2", f"{{python}} {{tcp}} serve {port}"), ("g1", client)


def job_of(*ends: Ends, payload: int | None = None) -> Job:
    """Return the job of such programs, and how much it sends from g1 to g2, where that is known."""
    servers, clients = zip(*ends, strict=True)
    known = {GUESTS: payload} if payload is not None else None
    return Job(servers=tuple(servers), programs=tuple(clients), payload=known, rank_hosts=GUESTS)


def engine(transport: str, benchmark: str, size: int, device: str = "rxe0", budget_ms: int = 700) -> Job:
    """Return our engine's two ranks; the first says how much they sent."""
    head = f"fabriscope-spec 1\\nseed 1\\nbudget_ns {budget_ms}000000"
    window = 1 if "ping_pong" in benchmark else 8
    point = f"benchmark={benchmark} message_size_bytes={size} window_size={window}"
    spec = f"{head}\\ncase id=0011223344556677 {point}\\nend\\n"
    device_words = f"--rdma-device {device} " if transport == "verbs" else ""
    start = f"FABRISCOPE_TOKEN=corpus {{engine}} --transport {transport} --rendezvous tcp {device_words}--rank-count 2"
    address = ADDRESSES[device]
    first = f'printf "{spec}" | {start} --rank 0 --listen 10.9.0.1:7800 --data-address {address[:-1]}1 --spec -'
    second = f"{start} --rank 1 --connect 10.9.0.1:7800 --data-address {address}"
    return Job(programs=(("g1", f"sh -c '{first}'"), ("g2", f"sh -c '{second}'")), rank_hosts=GUESTS)


def mpi(library: str, settings: Mapping[str, str], traffic: str = BULK) -> Job:
    """Return an MPI job of one rank on each guest."""
    return Job(library, traffic, settings, GUESTS)


def ucx(device: str, library: str) -> dict[str, str]:
    """Return the settings that leave a library UCX's reliable connections over one device."""
    chosen = {"UCX_TLS": "rc,self", "UCX_NET_DEVICES": f"{device}:1", "UCX_IB_GID_INDEX": "0"}
    more = {MPICH5: {"MPIR_CVAR_CH4_NETMOD": "ucx"}, OPENMPI5: {"OMPI_MCA_pml": "ucx", "OMPI_MCA_osc": "ucx"}}
    return {**more.get(library, {}), **chosen}


def ucx_falling_back(library: str) -> dict[str, str]:
    """Return settings that ask UCX for a device that is not there, and TCP."""
    if library == OPENMPI5:  # its pml ucx gives up, and pml ob1 takes over
        ob1 = {"OMPI_MCA_btl": "tcp,self", "OMPI_MCA_btl_tcp_if_include": "eth0"}
        return {**ob1, "UCX_TLS": "rc,self", "UCX_NET_DEVICES": "mlx5_0:1"}
    return {**ucx("rxe0", library), "UCX_TLS": "rc,tcp,self", "UCX_NET_DEVICES": "mlx5_0:1,eth0"}


def libfabric(device: str, library: str) -> dict[str, str]:
    """Return the settings that leave a library libfabric's verbs over one device."""
    more: dict[str, dict[str, str]] = {
        MPICH5: {"MPIR_CVAR_CH4_NETMOD": "ofi"},
        INTEL: {"I_MPI_FABRICS": "ofi", "FI_PROVIDER_PATH": "{prefix}/lib"},
        OPENMPI5: {
            "OMPI_MCA_pml": "cm", "OMPI_MCA_mtl": "ofi", "OMPI_MCA_btl": "self",
            "OMPI_MCA_mtl_ofi_provider_include": "verbs;ofi_rxm",
        },
    }  # fmt: skip
    queues = {f"FI_{name}_SIZE": "128" for name in ("OFI_RXM_TX", "OFI_RXM_RX", "VERBS_TX", "VERBS_RX")}
    chosen = {"FI_PROVIDER": "verbs;ofi_rxm", "FI_VERBS_IFACE": INTERFACES[device], "FI_UNIVERSE_SIZE": "2"}
    return {**more[library], **chosen, **queues}


def case(name: str, family: str, asked: str, truth: tuple[str, ...], because: str, job: Job, **more: Any) -> Case:
    """Return a case between the guests: proved where all that carried it is what was asked for, by kind or by name."""
    fits = all(asked in (one, one.partition(" ")[0]) for one in truth)
    more = {"verdict": PROVED if truth and fits else REFUTED, "knows_payload": job.payload is not None, **more}
    return Case(name, family, asked, truth, because, job, hosts=GUESTS, fabrics={}, **more)


def _over(name: str, family: str, asked: str, device: str, job: Job, because: str = VERBS, **more: Any) -> Case:
    return case(name, family, asked, (TRUTHS[device],), because, job, **more)


def as_asked() -> Iterator[Case]:
    """Yield jobs that use the device that was asked for."""
    family = "guests: RDMA as asked"
    made = _over("engine over rxe0, stream of 64 KiB", family, "roce rxe0", "rxe0", engine("verbs", "bandwidth", 65536))
    yield replace(made, knows_payload=True)
    yield replace(made, name="engine over rxe0, stream of 64 KiB, payload not known", asked="roce")
    small = engine("verbs", "ping_pong", 1024, budget_ms=2500)
    yield _over("engine over rxe0, ping-pong of 1 KiB", family, "roce rxe0", "rxe0", small, knows_payload=True)
    warp = engine("verbs", "bandwidth", 65536, "siw1")
    yield _over("engine over siw1, stream of 64 KiB", family, "iwarp siw1", "siw1", warp, knows_payload=True)
    for program, device, asked, size, count in (
        ("ib_write_bw", "rxe0", "roce rxe0", 64 * KB, 200),
        ("ib_write_bw", "rxe0", "roce", MB, 12),
        ("ib_send_lat", "rxe0", "roce rxe0", 64, 2000),
        ("ib_read_bw", "rxe0", "roce", 64 * KB, 100),
        ("ib_write_bw", "siw1", "iwarp", 64 * KB, 200),
        ("ib_send_lat", "siw1", "iwarp siw1", 4 * KB, 500),
    ):
        name = f"{program} over {device}, {count} times {size} B"
        yield _over(name, family, asked, device, job_of(perftest(program, device, size, count)))


def libraries() -> Iterator[Case]:
    """Yield MPI jobs over UCX and libfabric that were asked for RDMA, and use it."""
    family = "guests: MPI over RDMA"
    for library in (MPICH4, MPICH5, OPENMPI5):
        job = mpi(library, ucx("rxe0", library))
        made = _over(f"{library}, UCX over rxe0", family, "roce rxe0", "rxe0", job, LEFT, knows_payload=True)
        yield made
        yield replace(made, name=f"{made.name}, payload not known", asked="roce", knows_payload=False)
    for traffic in (SMALL, LARGE):
        job = mpi(MPICH4, ucx("rxe0", MPICH4), traffic)
        yield _over(f"MPICH 4, UCX over rxe0, {traffic}", family, "roce", "rxe0", job, LEFT, knows_payload=True)
    for library, device in ((MPICH5, "rxe0"), (INTEL, "rxe0"), (OPENMPI5, "siw1")):
        job, asked = mpi(library, libfabric(device, library)), TRUTHS[device]
        made = _over(f"{library}, libfabric over {device}", family, asked, device, job, LEFT, knows_payload=True)
        yield made
        asked = asked.partition(" ")[0]
        yield replace(made, name=f"{made.name}, payload not known", asked=asked, knows_payload=False)


def not_as_asked() -> Iterator[Case]:
    """Yield jobs over RDMA of which TCP, another device or another kind of RDMA was asked."""
    family = "guests: RDMA instead"
    write = job_of(perftest("ib_write_bw", "rxe0", 64 * KB, 200))
    for asked in ("tcp", "tcp eth0", "roce rxe2", "iwarp"):
        yield _over(f"ib_write_bw over rxe0, {asked} asked", family, asked, "rxe0", write)
    warp = job_of(perftest("ib_write_bw", "siw1", 64 * KB, 200))
    yield _over("ib_write_bw over siw1, roce asked", family, "roce", "siw1", warp)
    stream = engine("verbs", "bandwidth", 65536)
    for asked in ("tcp eth0", "roce rxe2"):
        name = f"engine over rxe0, {asked} asked"
        yield _over(name, family, asked, "rxe0", stream, knows_payload=True)
    made = _over("MPICH 4, UCX over rxe0, tcp asked", family, "tcp", "rxe0", mpi(MPICH4, ucx("rxe0", MPICH4)), LEFT)
    yield replace(made, knows_payload=True)
    yield replace(made, name=f"{made.name}, payload not known")


def falling_back() -> Iterator[Case]:
    """Yield jobs that were asked for RDMA, end well and went by TCP, with a device of RDMA beside it."""
    family, truth = "guests: TCP instead", ("tcp eth0",)
    for library in (MPICH4, MPICH5, OPENMPI5):
        job = mpi(library, ucx_falling_back(library))
        made = case(f"{library}, UCX asked for a device that is not there", family, "roce", truth, NO_DEVICE, job)
        yield replace(made, knows_payload=True)
        yield replace(made, name=f"{made.name}, payload not known")
    for library, own in ((MPICH5, {"MPIR_CVAR_CH4_NETMOD": "ofi"}), (INTEL, {"I_MPI_FABRICS": "ofi"})):
        settings = {**own, "FI_PROVIDER": "tcp", "FI_TCP_IFACE": "eth0", "FI_VERBS_IFACE": "eth0"}
        why = "libfabric is left TCP over this interface"
        yield case(f"{library}, libfabric, tcp", family, "roce", truth, why, mpi(library, settings), knows_payload=True)
    settings = {"I_MPI_FABRICS": "ofi", "FI_PROVIDER": "verbs,tcp", "FI_TCP_IFACE": "eth0"}
    why = "without FI_PROVIDER_PATH its libfabric has no verbs, and ends where that alone is named"
    made = case("Intel MPI, FI_PROVIDER=verbs,tcp", family, "roce", truth, why, mpi(INTEL, settings))
    yield replace(made, knows_payload=True)
    yield replace(made, name=f"{made.name}, payload not known")
    why = "the program speaks TCP to this address"
    yield case("engine by TCP", family, "roce", truth, why, engine("tcp", "bandwidth", 65536), knows_payload=True)
    yield case("plain TCP, a RoCE device asked", family, "roce rxe0", truth, why, job_of(tcp(20 * MB)))
    yield case("plain TCP, iWARP asked", family, "iwarp", ("tcp eth1",), why, job_of(tcp(20 * MB, "10.11.0.2")))


def mixed() -> Iterator[Case]:
    """Yield jobs that send a part by RDMA, and a part by TCP."""
    family = "guests: both at once"
    write, size = perftest("ib_write_bw", "rxe0", 64 * KB, 240), 240 * 64 * KB
    for percent, asked, verdict in (
        (50, "roce", REFUTED),
        (50, "tcp", REFUTED),
        (95, "roce rxe0", REFUTED),
        (99, "roce rxe0", PROVED),
        (99, "tcp", REFUTED),
    ):
        beside = tcp(round(size * (100 - percent) / percent))
        truth = (f"{percent} % roce rxe0", "the rest tcp eth0")
        name = f"{percent} % over rxe0, the rest by TCP, {asked} asked"
        yield case(name, family, asked, truth, BOTH, job_of(write, beside), verdict=verdict)
    warp = perftest("ib_write_bw", "siw1", 64 * KB, 240)
    job = job_of(warp, tcp(size, "10.11.0.2"))
    truth = ("50 % iwarp siw1", "the rest tcp eth1")
    yield case("50 % over siw1, the rest by TCP beside it, iwarp asked", family, "iwarp", truth, BOTH, job)
    job = job_of(write, perftest("ib_write_bw", "rxe2", 64 * KB, 60, 18600))
    truth = ("roce rxe0", "roce rxe2")
    yield case("80 % over rxe0, the rest over rxe2", family, "roce rxe0", truth, BOTH, job, verdict=REFUTED)
    yield case("80 % over rxe0, the rest over rxe2, roce asked", family, "roce", truth, BOTH, job)


def two_jobs() -> Iterator[Case]:
    """Yield jobs beside which somebody else's run."""
    family = "guests: two jobs at once"
    write, roce = job_of(perftest("ib_write_bw", "rxe0", 64 * KB, 600)), perftest
    tcp_beside = tcp(400 * MB, port=7999, options=f"--pace {4 * MB}")
    slow = "-D 60 --rate_limit=0.03 --rate_limit_type=SW --rate_units=g"
    others = {device: roce("ib_write_bw", device, 8 * KB, 0, 18700, slow) for device in ("rxe0", "rxe2")}
    yield _over("RoCE, others by TCP", family, "roce rxe0", "rxe0", write, beside=tcp_beside)
    by_tcp, why = job_of(tcp(20 * MB)), "the program speaks TCP to this address"
    yield case("TCP, others by RoCE", family, "tcp eth0", ("tcp eth0",), why, by_tcp, beside=others["rxe0"])
    yield case("TCP, RoCE asked, others by RoCE", family, "roce", ("tcp eth0",), why, by_tcp, beside=others["rxe0"])
    opened, (host, words) = "9</dev/infiniband/uverbs0", tcp(20 * MB)[1]
    holding = replace(by_tcp, programs=((host, f"sh -c 'exec {words} {opened}'"),))
    name = "TCP by a program that has a device open, RoCE asked, others by RoCE"
    yield case(name, family, "roce", ("tcp eth0",), why, holding, beside=others["rxe0"])
    unclear = "ports count for the whole host: whose the bytes of one that others use were, nothing tells"
    yield _over(
        "RoCE, others by the same device", family, "roce rxe0", "rxe0", write, unclear, beside=others["rxe0"],
        verdict=UNDECIDED,
    )  # fmt: skip
    yield _over("RoCE, others by another device", family, "roce rxe0", "rxe0", write, beside=others["rxe2"])


def lossy() -> Iterator[Case]:
    """Yield jobs over a switch that loses 1 % of all frames."""
    family, size = "guests: 1 % lost", 64 * KB
    write = perftest("ib_write_bw", "rxe2", size, 100)
    yield _over("ib_write_bw over rxe2, 1 % lost", family, "roce rxe2", "rxe2", job_of(write))
    stream = engine("verbs", "bandwidth", 16384, "rxe2")
    yield _over("engine over rxe2, 1 % lost", family, "roce rxe2", "rxe2", stream, knows_payload=True)
    job = mpi(MPICH4, ucx("rxe2", MPICH4), "ping_pong 40 16384")
    yield _over("MPICH 4, UCX over rxe2, 1 % lost", family, "roce", "rxe2", job, LEFT)
    yield _over("ib_write_bw over rxe2, 1 % lost, tcp asked", family, "tcp", "rxe2", job_of(write))
    why = "the program speaks TCP to this address"
    by_tcp = job_of(tcp(4 * MB, "10.12.0.2"))
    yield case("plain TCP, 1 % lost, RoCE asked", family, "roce", ("tcp eth2",), why, by_tcp)
    for percent in (90, 97):
        job = job_of(write, tcp(100 * size * (100 - percent) // percent, "10.12.0.2"))
        truth = (f"{percent} % roce rxe2", "the rest tcp eth2")
        yield case(f"{percent} % over rxe2, the rest by TCP, 1 % lost", family, "roce rxe2", truth, BOTH, job)


FAMILIES = (as_asked, libraries, not_as_asked, falling_back, mixed, two_jobs, lossy)


def cases() -> list[Case]:
    """Return all cases between guests."""
    return [one for family in FAMILIES for one in family()]
