"""How the libraries below MPI (UCX, libfabric) are told an RDMA port, and how each rank finds that of its own host.

The words for UCX, and for libfabric's `verbs;ofi_rxm`, are those with which Open MPI 4.1 and MPICH 4.0 ran between two
guests over Soft RoCE; what is not forced falls back to TCP without a word (docs/mpi.md).
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence

from fabriscope.model.errors import LaunchError
from fabriscope.model.fabric import RdmaPort
from fabriscope.model.mpi import MpiJob

PROVIDER = "verbs;ofi_rxm"


def port_of(job: MpiJob) -> RdmaPort:
    """Return the RDMA port of the job's first host; raises LaunchError where the fabric names none."""
    if job.rdma_port is None:
        raise LaunchError(f"the transport {job.transport} needs the name of an RDMA device", fix="name it in the plan")
    return job.rdma_port


def below(job: MpiJob, there: Sequence[str]) -> str:
    """Return what carries the job over RDMA, `ucx` or `libfabric`: what the plan names, or the first that speaks it.

    `there` is what the library was built on, by preference. Raises LaunchError where none of it will do.
    """
    speaking = [one for one in there if one != "ucx" or job.transport != "iwarp"]
    chosen = next((one for one in speaking if job.over in (None, one)), None)
    if chosen is None:
        asked = f" by {job.over}" if job.over else ""
        built_on = " and ".join(there) or "neither UCX nor libfabric"
        raise LaunchError(
            f"it has no way over {job.transport}{asked}: it was built on {built_on}",
            fix="leave out `over`" if job.over and speaking else None,
        )
    return chosen


def ucx(job: MpiJob) -> dict[str, str]:
    """Return UCX's variables: reliable connections of this port, and nothing else between two ranks."""
    port = port_of(job)
    chosen = {"UCX_TLS": "rc,self", "UCX_NET_DEVICES": f"{port.device}:{port.hca_port}"}
    if (gid_index := _ucx_gid_index(port)) is not None:
        chosen["UCX_IB_GID_INDEX"] = str(gid_index)
    if job.service_level:
        chosen["UCX_IB_SL"] = str(job.service_level)
    if job.traffic_class:
        chosen["UCX_IB_TRAFFIC_CLASS"] = str(job.traffic_class)
    return chosen


def _ucx_gid_index(port: RdmaPort) -> int | None:
    """Return the GID that UCX is told: the chosen one, but of Soft RoCE's the first, which is link-local.

    UCX 1.13 finds its peers by datagrams (UD), and over an IPv4 GID of rxe none of them is ever answered.
    """
    return 0 if port.device.startswith("rxe") else port.gid_index


def libfabric(job: MpiJob) -> dict[str, str]:
    """Return libfabric's variables; it finds the device by its interface, and sets up memory for this many peers.

    Queues of 128 entries: with its own 1,024 Soft RoCE's limits are exceeded.
    """
    port_of(job)
    if job.service_level or job.traffic_class:
        raise LaunchError(
            "libfabric's verbs provider takes no service level or traffic class",
            fix="leave sl and traffic_class out of the fabric, or use an MPI on UCX",
        )
    return {
        "FI_PROVIDER": PROVIDER,
        "FI_VERBS_IFACE": job.fabric_interface or "",
        "FI_UNIVERSE_SIZE": str(len(job.rank_hosts)),
        "FI_OFI_RXM_MSG_TX_SIZE": "128",
        "FI_OFI_RXM_MSG_RX_SIZE": "128",
    }


def own_port(ports: Mapping[str, tuple[str, RdmaPort]]) -> tuple[str, ...]:
    """Return words before a rank's program that name the port of the host it finds itself on (see own_interface)."""
    cases = []
    for node, (interface, port) in ports.items():
        gid, ucx_gid = ("" if one is None else str(one) for one in (port.gid_index, _ucx_gid_index(port)))
        words = f"i={shlex.quote(interface)} d={shlex.quote(port.device)} p={port.hca_port} g={gid} u={ucx_gid}"
        cases.append(f"{shlex.quote(node)}) {words} ;;")
    lost = 'echo "no RDMA port of the fabric is named for a host that calls itself $(uname -n)" >&2; exit 3'
    exports = "export UCX_NET_DEVICES=$d:$p FI_VERBS_IFACE=$i MV2_IBA_HCA=$d MV2_DEFAULT_PORT=$p"
    gids = '[ -z "$g" ] || export UCX_IB_GID_INDEX=$u MV2_DEFAULT_GID_INDEX=$g'
    script = f'case $(uname -n) in {" ".join(cases)} *) {lost} ;; esac; {exports}; {gids}; exec "$@"'
    return ("/bin/sh", "-c", script, "sh")
