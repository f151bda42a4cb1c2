"""The lines in which each library tells its transport. One reader a library: from a job's whole output to claims."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

BETWEEN, INSIDE = "between hosts", "inside a host"

TRANSPORTS = {
    # Open MPI's btl, pml and mtl
    "tcp": "tcp", "sm": "shm", "vader": "shm", "self": "self", "openib": "rdma", "usnic": "usnic", "psm2": "psm2",
    # UCX (ucx_info -d); those of the form rc_mlx5 are known by their head
    "rc": "rdma", "dc": "rdma", "ud": "rdma", "posix": "shm", "sysv": "shm", "cma": "shm", "knem": "shm",
    "xpmem": "shm", "mm": "shm",
    # libfabric's providers
    "sockets": "tcp", "verbs": "rdma", "mlx": "rdma", "shm": "shm", "net": "tcp",
}  # fmt: skip
"""How libraries call what carries bytes, to our word for it: `tcp`, `shm`, `self` (a process's talk to itself), `rdma`
where they do not say which kind, or a name of its own. What is missing here tells no transport (`ucx`, `ofi`, `cm`)."""


@dataclass(frozen=True)
class Claim:
    """One thing that a library says of itself."""

    library: str
    scope: str
    """BETWEEN, INSIDE, or empty where it does not say."""
    transport: str
    """`tcp`, `roce`, `ib`, `rdma` (one of its kinds, not said which), `shm`, `self`, or a name of the library's own."""
    name: str
    """Interface or device, where it is said."""
    line: str
    """The line itself, without what stands before the library's own words."""

    def carrier(self) -> str:
        """Return what it claims to be used, in words."""
        return carrier_words(self.transport, self.name)

    def __str__(self) -> str:
        """Return the claim for people."""
        scope = f" {self.scope}" if self.scope else ""
        return f"{self.library}: {self.carrier()}{scope}"


def carrier_words(kind: str, name: str) -> str:
    """Return `tcp over eth0`, `shared memory`, `tcp`."""
    if kind == "shm":
        return "shared memory"
    words = {"roce": "RoCE", "ib": "InfiniBand", "iwarp": "iWARP", "rdma": "RDMA"}.get(kind, kind)
    return f"{words} over {name}" if name else words


def transport_of(word: str) -> str | None:
    """Return our word for a library's (`rc_mlx5`, `vader`); None where that tells no transport."""
    word = word.strip().lower()
    return TRANSPORTS.get(word) or TRANSPORTS.get(word.partition("_")[0])


_MATRIX_SUMMARY = re.compile(r"^\s*(?P<where>on|off)-host:\s+(?:all|most|some) connections are (?P<what>.+?)\s*$", re.M)


def open_mpi_table(text: str) -> Iterator[Claim]:
    """Open MPI 5, `--mca ompi_display_comm mpi_init`: the summary under its table of connections.

    A host with one rank has `self` alone. With pml ucx its lanes are told as UCX's own (`ucx=rc_mlx5;mlx5_2:1`),
    where the library was built to ask UCX.
    """
    for match in _MATRIX_SUMMARY.finditer(text):
        scope = INSIDE if match["where"] == "on" else BETWEEN
        line = match[0].strip()
        for word in re.split(r" or | and ", match["what"]):
            label, _, lanes = word.partition("=")
            if label.startswith("ucx") and lanes:
                yield from _lanes("Open MPI", scope, re.split(r",", lanes), ";", line)
            elif transport := transport_of(word):
                yield Claim("Open MPI", scope, transport, "", line)


_BTL = re.compile(
    r"^.*?\[(?P<own>[^\s\]:]+):\d+\] (?P<line>mca: bml: Using (?P<btl>\w+) btl for send to \[\[.*?\],(?P<peer>\d+)\]"
    r" on node (?P<node>\S+))",
    re.M,
)


def open_mpi_btls(text: str) -> Iterator[Claim]:
    """Open MPI 4 and 5, `--mca btl_base_verbose 1`: which btl each rank takes for each peer, with both hosts' names."""
    for match in _BTL.finditer(text):
        transport = transport_of(match["btl"])
        if transport is not None:
            own, node = match["own"], match["node"]
            is_same = own == node or own.split(".")[0] == node.split(".")[0] or node == "unknown"
            yield Claim("Open MPI", INSIDE if is_same else BETWEEN, transport, "", match["line"])


_UCX = re.compile(
    r"UCX\s+INFO\s+(?P<line>.*?(?:(?P<scope>self|intra-node|inter-node) )?(?:ep_cfg\[\d+\]:|cfg#\d+)\s*"
    r"(?P<uses>(?:\w+\([^)]*\)[;\s]*)+))"
)
_USE = re.compile(r"(?P<use>\w+)\((?P<lanes>[^)]*)\)")
_TAGGED = ("tag", "am", "stream", "rma")
"""What messages are sent by, in the order in which it tells most: MPI's own go by `tag`, or by active messages."""


def ucx(text: str) -> Iterator[Claim]:
    """UCX, `UCX_LOG_LEVEL=info`: the lanes of each kind of endpoint.

    Since 1.14 it says for which peers; before, an endpoint with memory lanes is one to the own process (`self/memory`)
    or inside the host, and of others it cannot be told.
    """
    for match in _UCX.finditer(text):
        uses = {use["use"]: use["lanes"].split() for use in _USE.finditer(match["uses"])}
        lanes = next((uses[use] for use in _TAGGED if use in uses), [])
        kinds = {transport_of(lane.partition("/")[0]) for lane in lanes}
        scope = {"intra-node": INSIDE, "inter-node": BETWEEN}.get(match["scope"] or "", "")
        if match["scope"] == "self" or (not match["scope"] and "self" in kinds):
            continue
        if "shm" in kinds and scope != BETWEEN:  # others stand by, for what is larger than they like
            scope = scope or INSIDE
            lanes = [lane for lane in lanes if transport_of(lane.partition("/")[0]) == "shm"]
        yield from _lanes("UCX", scope, lanes, "/", match["line"].strip())


def _lanes(library: str, scope: str, lanes: list[str], between: str, line: str) -> Iterator[Claim]:
    for lane in lanes:
        kind, _, device = lane.partition(between)
        transport = transport_of(kind)
        if transport is not None:
            yield Claim(library, scope, transport, "" if device == "memory" else device, line)


_INTEL_PROVIDER = re.compile(r"(?P<line>\[\d+\] MPI startup\(\): libfabric provider: (?P<provider>\S+))")
_INTEL_CARDS = re.compile(
    r"MPI startup\(\): Rank +Thread id +Pin nic\s*\n(?P<rows>(?:\[\d+\] MPI startup\(\): +\d+ +\d+ +\S+\s*\n)+)"
)
_INTEL_MEMORY = re.compile(r"(?P<line>\[\d+\] MPI startup\(\): shm segment size .*?\((?P<ranks>\d+) local ranks\).*)")


def intel_mpi(text: str) -> Iterator[Claim]:
    """Intel MPI, `I_MPI_DEBUG=5`: its provider, each rank's network card, and the memory of a host's ranks."""
    cards = {row.split()[-1] for match in _INTEL_CARDS.finditer(text) for row in match["rows"].splitlines()}
    for match in _INTEL_PROVIDER.finditer(text):
        transport = transport_of(match["provider"].partition(";")[0])
        if transport is not None:
            yield from (Claim("Intel MPI", BETWEEN, transport, card, match["line"]) for card in sorted(cards) or [""])
    for match in _INTEL_MEMORY.finditer(text):
        if int(match["ranks"]) > 1:
            yield Claim("Intel MPI", INSIDE, "shm", "", match["line"].strip())


_LIBFABRIC = re.compile(r"^.*?libfabric:(?P<process>\d+):(?:\d+:)?(?:[\w,]*:)?(?P<line>\w+:\w+:.*)$", re.M)
_ADDRESS = re.compile(r"Available addr: (?P<address>\S+), iface name: (?P<interface>[^\s,]+)")
_CHOSEN = re.compile(r"Chosen addr for using: (?P<address>[^\s,]+)")
_PROVIDER = re.compile(r"Using (?P<provider>[\w;-]+) provider")


def libfabric(text: str) -> Iterator[Claim]:
    """libfabric, `FI_LOG_LEVEL=info`: the provider whose fabric was opened, and the address that it chose last."""
    interfaces: dict[tuple[str, str], str] = {}
    chosen: dict[str, str] = {}
    for match in _LIBFABRIC.finditer(text):
        process, line = match["process"], match["line"].strip()
        if found := _ADDRESS.search(line):
            interfaces[process, found["address"]] = found["interface"]
        elif found := _CHOSEN.search(line):
            chosen[process] = interfaces.get((process, found["address"]), "")
        elif found := _PROVIDER.search(line):
            transport = transport_of(found["provider"].partition(";")[0])
            if transport is not None:
                yield Claim("libfabric", "", transport, chosen.get(process, "") if transport == "tcp" else "", line)


_NCCL = re.compile(r"^.*?NCCL INFO (?P<line>.*)$", re.M)
_NCCL_DEVICES = re.compile(r"NET/(?P<net>\w+) ?: Using (?P<devices>\[0\].*?)(?:\s*;\s*OOB.*)?$")
_NCCL_DEVICE = re.compile(r"\[(?P<index>\d+)\](?P<name>[\w.@-]+)(?::(?P<rest>\S+))?")
_NCCL_NETWORK = re.compile(r"Using network (?P<net>\w+)")
_NCCL_CHANNEL = re.compile(r"Channel \S+(?: ?: ?\S+ -> \S+)?.*? via (?P<way>P2P|SHM|NET/\w+)(?:/(?P<index>\d+))?")


def nccl(text: str) -> Iterator[Claim]:
    """NCCL, `NCCL_DEBUG=INFO`: by which way each channel goes; where none is told, which network was chosen.

    The list of devices of a network tells their names alone: sockets are listed for the wiring-up, too.
    """
    said = [match["line"].strip() for match in _NCCL.finditer(text)]
    devices: dict[str, dict[str, tuple[str, str]]] = {}
    for line in said:
        if match := _NCCL_DEVICES.search(line):
            devices[match["net"]] = dict(_nccl_devices(match["net"], match["devices"]))
    channels = [(match, line) for line in said if (match := _NCCL_CHANNEL.search(line))]
    for match, line in channels:
        way, _, net = match["way"].partition("/")
        if way == "NET":
            transport, name = devices.get(net, {}).get(match["index"] or "0", (_nccl_transport(net), ""))
            yield Claim("NCCL", BETWEEN, transport, name, line)
        else:
            yield Claim("NCCL", INSIDE, "shm" if way == "SHM" else "p2p", "", line)
    if not channels:
        yield from _nccl_networks(said, devices)


def _nccl_networks(said: list[str], devices: dict[str, dict[str, tuple[str, str]]]) -> Iterator[Claim]:
    chosen = [(match["net"], line) for line in said if (match := _NCCL_NETWORK.search(line))]
    if not chosen and devices:  # before 2.5 the list itself is the choice, InfiniBand's if there is one
        net = "IB" if "IB" in devices else next(iter(devices))
        chosen = [(net, next((line for line in said if f"NET/{net}" in line), ""))]
    for net, line in chosen:
        for transport, name in devices.get(net, {"0": (_nccl_transport(net), "")}).values():
            yield Claim("NCCL", BETWEEN, transport, name, line)


def _nccl_devices(net: str, text: str) -> Iterator[tuple[str, tuple[str, str]]]:
    for match in _NCCL_DEVICE.finditer(text):
        port, _, kind = (match["rest"] or "").partition("/")
        if net == "Socket":
            yield match["index"], ("tcp", match["name"])
        else:
            transport = {"roce": "roce", "ib": "ib"}.get(kind.lower(), "rdma")
            yield match["index"], (transport, f"{match['name']}:{port}" if port else match["name"])


def _nccl_transport(net: str) -> str:
    return "tcp" if net == "Socket" else "rdma" if net.startswith("IB") else net.lower()


READERS: tuple[Callable[[str], Iterator[Claim]], ...] = (
    open_mpi_table, open_mpi_btls, ucx, intel_mpi, libfabric, nccl,
)  # fmt: skip
