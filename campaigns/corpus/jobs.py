"""Jobs of the transport corpus, and what makes true what is said of them."""

from __future__ import annotations

from collections.abc import Mapping

from campaigns.corpus.nouns import LOCAL, MPICH4, MPICH5, OPENMPI4, OPENMPI5, Job

TWO = {"first": LOCAL, "second": LOCAL}
BULK, TINY = "ping_pong 100 65536", "ping_pong 3 8"
ONE_HOST = ("node1", "node1")

FORCED = "the library is told this interface and TCP by name, and has nothing else"
NO_RDMA = "no host of the lab has an RDMA device, so TCP carried it"
GIVEN = "the program is given this address"


def forced(library: str, interface: str) -> Mapping[str, str]:
    """Return the settings that leave a library nothing but TCP over one interface, between hosts."""
    if library in (OPENMPI4, OPENMPI5):
        return {"OMPI_MCA_pml": "ob1", "OMPI_MCA_btl": "tcp,self", "OMPI_MCA_btl_tcp_if_include": interface}
    if library == MPICH4:
        return {"UCX_TLS": "tcp,self", "UCX_NET_DEVICES": interface}
    own = {"MPIR_CVAR_CH4_NETMOD": "ofi"} if library == MPICH5 else {"I_MPI_FABRICS": "ofi"}
    return {**own, "FI_PROVIDER": "tcp", "FI_TCP_IFACE": interface}


def tcp_job(byte_count: int, *addresses: str, options: str = "", to: str = "node2") -> Job:
    """Return a plain TCP job: what is sent to which addresses, with shares."""
    family = "::" if ":" in addresses[0] else "0.0.0.0"  # noqa: S104 - of a lab's host
    payload = {("node1", to): byte_count} | ({(to, "node1"): byte_count} if "--echo" in options else {})
    server = (to, "{python} {tcp} serve 7777 " + family)
    client = ("node1", "{python} {tcp} send 7777 " + " ".join([str(byte_count), *addresses, options]).strip())
    return Job(servers=(server,), programs=(client,), payload=payload)
