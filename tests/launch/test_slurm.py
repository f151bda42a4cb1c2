"""The exact words of steps inside a Slurm job; `tests/slurm` runs them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from fabriscope.launch import mpi_jobs, slurm
from fabriscope.launch.slurm import MPI_PLUGINS, Slurm
from fabriscope.model.command import Command
from fabriscope.model.errors import LaunchError
from fabriscope.model.fabric import Fabric
from fabriscope.model.host import HERE, Host
from fabriscope.model.mpi import MpiJob, MpiStack
from fabriscope.registry import discover

PROGRAM = ("/x/engine", "--spec", "-")
HOSTS = {name: Host(name, access=("srun", name)) for name in ("n1", "n2")}
FABRIC = Fabric("net", {"n1": "ib0", "n2": "ib0"})
INTER = Command(PROGRAM, "n1", stdin=b"spec", rank_hosts=("n1", "n2"))
INTRA = Command(PROGRAM, "n2", rank_hosts=("n2", "n2"))
SRUN = (
    "srun --quiet --export ALL --mpi {} --kill-on-bad-exit=1 --nodelist n1,n2 --distribution arbitrary --nodes 2"
    " --ntasks 2 --overlap --overcommit"
)


def stack(kind: str, device: str | None = None) -> MpiStack:
    return MpiStack(kind, kind, "1", "/x/mpirun", None, env={"FROM": "stack"}, device=device)


@pytest.mark.parametrize(
    ("environment", "expected"),
    [
        (
            {"SLURM_JOB_ID": "1"},
            "srun --quiet --export ALL --nodelist n2 --nodes 1 --ntasks 1 --overlap --cpu-bind none --mpi none sh -c",
        ),
        (
            {"SLURM_NTASKS_PER_NODE": "1", "SLURM_LABELIO": "1"},
            "env -u SLURM_NTASKS_PER_NODE -u SLURM_LABELIO srun --quiet --export ALL --nodelist n2 --nodes 1 --ntasks 1"
            " --overlap --cpu-bind none --mpi none sh -c",
        ),
    ],
)
def test_the_words_that_reach_a_node(environment: Mapping[str, str], expected: str) -> None:
    assert Slurm(environment=environment).to("n2") == tuple(expected.split())
    assert Slurm(environment=environment).to_below("n2") == tuple(expected.split())


@pytest.mark.parametrize(
    ("kind", "device", "plugin", "variables"),
    [
        ("mpich", "ch4:ofi", "pmi2", {"MPIR_CVAR_CH4_NETMOD": "ofi", "FI_PROVIDER": "tcp", "FI_TCP_IFACE": "ib0"}),
        ("mpich", "ch4:ucx", "pmi2", {"UCX_TLS": "tcp,self", "UCX_NET_DEVICES": "ib0"}),
        ("intelmpi", None, "pmi2", {"I_MPI_FABRICS": "ofi", "FI_PROVIDER": "tcp", "FI_TCP_IFACE": "ib0"}),
        (
            "openmpi4", None, "pmix",
            {"OMPI_MCA_osc": "pt2pt", "OMPI_MCA_pml": "ob1", "OMPI_MCA_btl": "tcp,self",
             "OMPI_MCA_btl_tcp_if_include": "ib0"},
        ),
        (
            "openmpi5", None, "pmix",
            {"OMPI_MCA_pml": "ob1", "OMPI_MCA_btl": "tcp,self", "OMPI_MCA_btl_tcp_if_include": "ib0",
             "OMPI_MCA_osc": "rdma"},
        ),
    ],
)  # fmt: skip
def test_an_mpi_job_as_a_step(kind: str, device: str | None, plugin: str, variables: dict[str, str]) -> None:
    job = Slurm(starters={kind: "srun"})
    wrapped = mpi_jobs.wrap(INTER, stack(kind, device), HOSTS, FABRIC, None, job)
    assert wrapped.argv == (*SRUN.format(plugin).split(), *PROGRAM)
    assert wrapped.env == {"FROM": "stack", **variables}
    assert (wrapped.host, wrapped.stdin, wrapped.rank_hosts) == (HERE.name, b"spec", ("n1", "n2"))


def test_ranks_of_a_step_go_where_the_job_names_them_and_one_host_is_one_node() -> None:
    job = MpiJob(PROGRAM, ("n2", "n2", "n1", "n1"), "ib0", "tcp", shares_cores=True)
    words = Slurm(starters={"mpich": "srun"}).mpi_argv(job, "mpich")
    assert " ".join(words).endswith(
        "--nodelist n2,n2,n1,n1 --distribution arbitrary --nodes 2 --ntasks 4 --overlap --overcommit --cpu-bind none"
        " /x/engine --spec -"
    )
    for bind, word in (
        ("core", "cores"),
        ("socket", "sockets"),
        ("numa", "ldoms"),
        ("none", "none"),
        ((2, 0), "map_cpu:2,0"),
    ):
        words = Slurm(starters={"mpich": "srun"}).mpi_argv(replace(job, bind=bind), "mpich")
        assert " ".join(words).endswith(f"--overcommit --cpu-bind {word} /x/engine --spec -")
    words = Slurm(starters={"mpich": "srun"}).mpi_argv(replace(job, rank_hosts=("n2", "n2")), "mpich")
    assert "--nodelist n2,n2 --distribution arbitrary --nodes 1 --ntasks 2" in " ".join(words)


@pytest.mark.parametrize(
    ("kind", "device", "inter", "intra"),
    [
        (
            "mpich", "ch4:ofi",
            "/x/mpirun -launcher slurm -hosts n1,n2 -n 2 -ppn 1 -genv MPIR_CVAR_CH4_NETMOD ofi -genv FI_PROVIDER tcp"
            " -genv FI_TCP_IFACE ib0",
            "/x/mpirun -launcher slurm -hosts n2 -n 2 -ppn 2 -genv MPIR_CVAR_CH4_NETMOD ofi -genv FI_PROVIDER tcp",
        ),
        (
            "intelmpi", None,
            "/x/mpirun -bootstrap slurm -hosts n1,n2 -n 2 -ppn 1 -genv I_MPI_FABRICS ofi -genv FI_PROVIDER tcp"
            " -genv FI_TCP_IFACE ib0",
            "/x/mpirun -bootstrap slurm -hosts n2 -n 2 -ppn 2 -genv I_MPI_FABRICS shm",
        ),
        (
            "openmpi5", None,
            "/x/mpirun -H n1:1,n2:1 -np 2 --map-by ppr:1:node:OVERSUBSCRIBE --mca pml ob1 --mca btl tcp,self"
            " --mca btl_tcp_if_include ib0 --mca osc rdma",
            "/x/mpirun -H n2:2 -np 2 --map-by ppr:2:node:OVERSUBSCRIBE --mca pml ob1 --mca btl sm,self"
            " --mca osc sm,rdma",
        ),
    ],
)  # fmt: skip
def test_mpirun_inside_a_job_names_the_hosts_and_takes_slurms_own_way(
    kind: str, device: str | None, inter: str, intra: str
) -> None:
    job = Slurm(environment={"SLURM_NTASKS_PER_NODE": "1"}, starters={kind: "mpirun"})
    unburdened = ("env", "-u", "SLURM_NTASKS_PER_NODE")
    wrapped = mpi_jobs.wrap(INTER, stack(kind, device), HOSTS, FABRIC, "/lab/rsh", job)
    assert wrapped.argv == (*unburdened, *inter.split(), *PROGRAM)
    assert wrapped.host == HERE.name
    wrapped = mpi_jobs.wrap(INTRA, stack(kind, device), HOSTS, None, None, job)
    assert wrapped.argv == (*unburdened, *intra.split(), *PROGRAM)


def test_hydra_would_sort_the_hosts_and_is_refused() -> None:
    backwards = replace(INTER, rank_hosts=("n2", "n1"))
    with pytest.raises(LaunchError, match="would place the ranks on n1,n2, not on n2,n1"):
        mpi_jobs.wrap(backwards, stack("mpich", "ch4:ofi"), HOSTS, FABRIC, None, Slurm())
    assert mpi_jobs.wrap(backwards, stack("openmpi5"), HOSTS, FABRIC, None, Slurm()).argv[2] == "n2:1,n1:1"


def test_every_mpi_has_its_plugin() -> None:
    assert set(discover("launch", "LAUNCHER").plugins) <= set(MPI_PLUGINS)


SRUN_SCRIPT = """#!/bin/sh
case "$*" in *" pmi2 "*) exit 0 ;; esac
echo "srun: error: Couldn't load specified plugin name for mpi/pmix" >&2
exit 1
"""


@pytest.fixture
def srun(tmp_path: Path) -> dict[str, str]:
    """A Slurm that has pmi2 and cannot load pmix; returns the environment."""
    program = tmp_path / "srun"
    program.write_text(SRUN_SCRIPT)
    program.chmod(0o755)
    return {"PATH": f"{tmp_path}:/usr/bin:/bin"}


def test_auto_takes_srun_where_its_plugin_can_be_loaded(srun: dict[str, str]) -> None:
    kinds = ("mpich", "openmpi5")
    assert slurm.here(srun, "auto", kinds).starters == {"mpich": "srun", "openmpi5": "mpirun"}
    assert slurm.here(srun, "mpirun", kinds).starters == {"mpich": "mpirun", "openmpi5": "mpirun"}
    with pytest.raises(LaunchError, match="srun cannot start openmpi5: --mpi=pmix: srun: error: Couldn't load"):
        slurm.here(srun, "srun", kinds)
