"""The exact words by which every MPI library is forced onto an RDMA port."""

from __future__ import annotations

import os
import subprocess
from dataclasses import replace

import pytest
from tests.launch.test_launchers import CYCLIC, FABRIC, LAB_HOSTS, LAB_INTER, PROGRAM, stack

from fabriscope.launch import mpi_jobs
from fabriscope.model.command import Command
from fabriscope.model.errors import LaunchError
from fabriscope.model.fabric import RdmaPort
from fabriscope.model.mpi import MpiJob
from fabriscope.registry import discover

ROCE = replace(
    CYCLIC, rank_hosts=("a", "b"), transport="roce", rdma_port=RdmaPort("rxe0", 1, 3), service_level=2, traffic_class=96
)
IWARP = replace(ROCE, transport="iwarp", rdma_port=RdmaPort("siw0"), service_level=0, traffic_class=0)
IB = replace(IWARP, transport="ib", rdma_port=RdmaPort("mlx5_0", 2))
UCX = ["UCX_TLS=rc,self", "UCX_NET_DEVICES=rxe0:1", "UCX_IB_GID_INDEX=0", "UCX_IB_SL=2", "UCX_IB_TRAFFIC_CLASS=96"]
OFI = ["FI_PROVIDER=verbs;ofi_rxm", "FI_VERBS_IFACE=eth0", "FI_UNIVERSE_SIZE=2", "FI_OFI_RXM_MSG_TX_SIZE=128"]
OFI.append("FI_OFI_RXM_MSG_RX_SIZE=128")
ON_A_AND_B = {
    "openmpi4": "/x/mpirun -H a:1,b:1 -np 2 --map-by ppr:1:node",
    "openmpi5": "/x/mpirun -H a:1,b:1 -np 2 --map-by ppr:1:node",
    "intelmpi": "/x/mpirun -bootstrap ssh -hosts a,b -n 2 -ppn 1",
}
BY_CM = " --mca pml cm --mca mtl ofi --mca mtl_ofi_provider_include verbs;ofi_rxm --mca btl self"
OVER_RDMA = [
    ("openmpi4", None, ROCE, " --mca pml ucx --mca osc ucx", UCX),
    ("openmpi5", None, ROCE, " --mca pml ucx --mca osc ucx", UCX),
    ("openmpi5", None, IB, " --mca pml ucx --mca osc ucx", ["UCX_TLS=rc,self", "UCX_NET_DEVICES=mlx5_0:2"]),
    (
        "openmpi5", None, replace(IB, transport="roce", rdma_port=RdmaPort("mlx5_0", 1, 3)),
        " --mca pml ucx --mca osc ucx", ["UCX_TLS=rc,self", "UCX_NET_DEVICES=mlx5_0:1", "UCX_IB_GID_INDEX=3"],
    ),
    ("openmpi4", None, IWARP, f"{BY_CM} --mca osc pt2pt", OFI),
    ("openmpi5", None, IWARP, BY_CM, OFI),
    ("openmpi5", None, replace(IB, over="libfabric"), BY_CM, OFI),
    ("openmpi4", None, replace(IWARP, transport="roce", over="libfabric"), f"{BY_CM} --mca osc pt2pt", OFI),
    ("openmpi4", None, replace(ROCE, over="ucx"), " --mca pml ucx --mca osc ucx", UCX),
    ("mpich", "ch4:ucx", ROCE, "", UCX),
    ("mpich", "ch4:ucx,ofi", ROCE, "", ["MPIR_CVAR_CH4_NETMOD=ucx", *UCX]),
    ("mpich", "ch4:ucx,ofi", replace(IB, over="libfabric"), "", ["MPIR_CVAR_CH4_NETMOD=ofi", *OFI]),
    ("mpich", "ch4:ucx,ofi", IWARP, "", ["MPIR_CVAR_CH4_NETMOD=ofi", *OFI]),
    ("mpich", "ch4:ofi", IB, "", ["MPIR_CVAR_CH4_NETMOD=ofi", *OFI]),
    ("intelmpi", None, IB, "", ["I_MPI_FABRICS=ofi", *OFI]),
    ("mvapich", "ch4:ucx", ROCE, "", UCX),
    ("mvapich", "ch4:ofi", IWARP, "", OFI),
    (
        "mvapich2", "ch3:mrail", replace(ROCE, traffic_class=0), "",
        ["MV2_IBA_HCA=rxe0", "MV2_DEFAULT_PORT=1", "MV2_DEFAULT_GID_INDEX=3", "MV2_DEFAULT_SERVICE_LEVEL=2",
         "MV2_USE_RoCE=1"],
    ),
    (
        "mvapich2", "ch3:mrail", IWARP, "", ["MV2_IBA_HCA=siw0", "MV2_DEFAULT_PORT=1", "MV2_USE_RDMA_CM=1"],
    ),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "device", "job", "words", "variables"), OVER_RDMA)
def test_a_job_over_an_rdma_port(kind: str, device: str | None, job: MpiJob, words: str, variables: list[str]) -> None:
    launcher = discover("launch", "LAUNCHER").get(kind)
    head = ON_A_AND_B.get(kind, "/x/mpirun -launcher ssh -hosts a,b -n 2 -ppn 1")
    if kind.startswith("openmpi"):
        exports = [word for variable in variables for word in ("-x", variable)]
    else:
        exports = [word for variable in variables for word in ("-genv", *variable.split("=", 1))]
    assert launcher.argv(job, stack(kind, device)) == (*(head + words).split(), *exports, *PROGRAM)
    assert (
        dict(variable.split("=", 1) for variable in variables).items()
        <= launcher.variables(job, stack(kind, device)).items()
    )


@pytest.mark.parametrize(
    ("kind", "device", "job", "says"),
    [
        ("mpich", "ch3:nemesis", ROCE, "no way over roce: it was built on neither UCX nor libfabric"),
        ("mpich", "ch4:ucx", IWARP, "no way over iwarp: it was built on ucx"),
        ("mpich", "ch4:ofi", replace(IB, over="ucx"), "no way over ib by ucx: it was built on libfabric"),
        ("openmpi5", None, replace(IWARP, over="ucx"), "no way over iwarp by ucx"),
        ("intelmpi", None, replace(IB, over="ucx"), "no way over ib by ucx"),
        ("mvapich2", "ch3:mrail", replace(IB, over="ucx"), "by itself, and not by ucx"),
        ("intelmpi", None, ROCE, "takes no service level or traffic class"),
        ("mvapich2", "ch3:mrail", ROCE, "takes no traffic class"),
    ],
)
def test_what_cannot_be_forced_onto_an_rdma_port(kind: str, device: str | None, job: MpiJob, says: str) -> None:
    with pytest.raises(LaunchError, match=says):
        discover("launch", "LAUNCHER").get(kind).argv(job, stack(kind, device))


def test_a_fabric_of_verbs_gives_its_port_between_hosts() -> None:
    port = RdmaPort("rxe0", 1, 3, gid_type="RoCE v2", chosen_because="it is the only one")
    fabric = replace(FABRIC, transport="roce", rdma_ports={"a": port, "b": port}, service_level=2, traffic_class=96)
    command = Command(PROGRAM, "a", rank_hosts=("a", "b"))
    job = mpi_jobs.job_of(command, LAB_HOSTS, fabric, "/lab/rsh")
    assert job == replace(
        LAB_INTER, transport="roce", rdma_port=RdmaPort("rxe0", 1, 3), service_level=2, traffic_class=96
    )
    inside = mpi_jobs.job_of(replace(command, rank_hosts=("a", "a")), LAB_HOSTS, fabric, None)
    assert (inside.transport, inside.rdma_port) == ("tcp", None)  # to the host's own address
    with pytest.raises(LaunchError, match="no RDMA port is known for host 'b'"):
        mpi_jobs.job_of(command, LAB_HOSTS, replace(fabric, rdma_ports={"a": port}), None)


def test_a_rank_finds_the_rdma_port_of_its_host() -> None:
    ports = {"a": RdmaPort("mlx5_0", 2, 3), "b": RdmaPort("rxe0", 1, 1)}
    fabric = replace(FABRIC, transport="roce", rdma_ports=ports)
    hosts = {"a": LAB_HOSTS["a"], "b": replace(LAB_HOSTS["b"], node_name=os.uname().nodename)}
    said = (
        "echo $UCX_NET_DEVICES $UCX_IB_GID_INDEX $FI_VERBS_IFACE $MV2_IBA_HCA $MV2_DEFAULT_PORT $MV2_DEFAULT_GID_INDEX"
    )
    job = mpi_jobs.job_of(Command(("sh", "-c", said), "a", rank_hosts=("a", "b")), hosts, fabric, None)
    done = subprocess.run(job.argv, capture_output=True, text=True, timeout=60, check=False)
    assert done.stdout == "rxe0:1 0 eth0 rxe0 1 1\n", done.stderr
