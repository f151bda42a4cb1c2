"""The exact command line of every MPI launcher, and how a command becomes an MPI job."""

from __future__ import annotations

import os
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from fabriscope.launch import mpi_jobs
from fabriscope.model.command import Command
from fabriscope.model.errors import FabriscopeError, LaunchError
from fabriscope.model.fabric import Fabric
from fabriscope.model.host import Host
from fabriscope.model.mpi import MpiJob, MpiStack
from fabriscope.registry import discover

PROGRAM = ("/x/engine", "--spec", "-")
LAB_INTER = MpiJob(
    PROGRAM, ("a", "b"), "eth0", "tcp", management_interface="mgmt0", remote_shell="/lab/rsh", shares_cores=True
)
LAB_INTRA = MpiJob(PROGRAM, ("a", "a"), None, "shm", shares_cores=True)
REAL_INTER = MpiJob(PROGRAM, ("a", "a", "b", "b"), "eth0", "tcp", env={"K": "v"})
CYCLIC = MpiJob(PROGRAM, ("a", "b", "a", "b"), "eth0", "tcp")


def stack(kind: str, device: str | None = None) -> MpiStack:
    return MpiStack(kind, kind, "3.0", "/x/mpirun", None, device=device)


COMMAND_LINES = [
    (
        "openmpi4", None, LAB_INTER,
        "/x/mpirun --mca plm_rsh_agent /lab/rsh --mca oob_tcp_if_include mgmt0 -H a:1,b:1 -np 2"
        " --map-by ppr:1:node --bind-to none --mca mpi_yield_when_idle 1 --mca pml ob1 --mca btl tcp,self"
        " --mca btl_tcp_if_include eth0 --mca osc pt2pt",
    ),
    (
        "openmpi4", None, LAB_INTRA,
        "/x/mpirun -H localhost:2 -np 2 --map-by slot:OVERSUBSCRIBE --bind-to none"
        " --mca mpi_yield_when_idle 1 --mca pml ob1 --mca btl vader,self",
    ),
    (
        "openmpi4", None, REAL_INTER,
        "/x/mpirun -H a:2,b:2 -np 4 --map-by ppr:2:node --mca pml ob1 --mca btl tcp,self"
        " --mca btl_tcp_if_include eth0 --mca osc pt2pt -x K=v",
    ),
    (
        "openmpi4", None, CYCLIC,
        "/x/mpirun -H a:2,b:2 -np 4 --map-by node --mca pml ob1 --mca btl tcp,self"
        " --mca btl_tcp_if_include eth0 --mca osc pt2pt",
    ),
    (
        "openmpi5", None, LAB_INTER,
        "/x/mpirun --mca plm_ssh_agent /lab/rsh --prtemca oob_tcp_if_include mgmt0 -H a:1,b:1 -np 2"
        " --map-by ppr:1:node --bind-to none --mca mpi_yield_when_idle 1 --mca pml ob1 --mca btl tcp,self"
        " --mca btl_tcp_if_include eth0 --mca osc rdma",
    ),
    (
        "openmpi5", None, LAB_INTRA,
        "/x/mpirun -H localhost:2 -np 2 --map-by slot:OVERSUBSCRIBE --bind-to none"
        " --mca mpi_yield_when_idle 1 --mca pml ob1 --mca btl sm,self --mca osc sm,rdma",
    ),
    (
        "openmpi5", None, REAL_INTER,
        "/x/mpirun -H a:2,b:2 -np 4 --map-by ppr:2:node --mca pml ob1 --mca btl tcp,self"
        " --mca btl_tcp_if_include eth0 --mca osc rdma -x K=v",
    ),
    (
        "openmpi5", None, CYCLIC,
        "/x/mpirun -H a:2,b:2 -np 4 --map-by node --mca pml ob1 --mca btl tcp,self"
        " --mca btl_tcp_if_include eth0 --mca osc rdma",
    ),
    (
        "mpich", "ch4:ofi", CYCLIC,
        "/x/mpirun -launcher ssh -hosts a,b -n 4 -ppn 1 -genv MPIR_CVAR_CH4_NETMOD ofi -genv FI_PROVIDER tcp"
        " -genv FI_TCP_IFACE eth0",
    ),
    (
        "mpich", "ch4:ucx,ofi", LAB_INTER,
        "/x/mpirun -launcher rsh -launcher-exec /lab/rsh -iface mgmt0 -hosts a,b -n 2 -ppn 1 -bind-to none"
        " -genv MPIR_CVAR_CH4_NETMOD ofi -genv FI_PROVIDER tcp -genv FI_TCP_IFACE eth0",
    ),
    (
        "mpich", "ch4:ofi", LAB_INTRA,
        "/x/mpirun -n 2 -bind-to none -genv MPIR_CVAR_CH4_NETMOD ofi -genv FI_PROVIDER tcp",
    ),
    (
        "mpich", "ch4:ucx", LAB_INTER,
        "/x/mpirun -launcher rsh -launcher-exec /lab/rsh -iface mgmt0 -hosts a,b -n 2 -ppn 1 -bind-to none"
        " -genv UCX_TLS tcp,self -genv UCX_NET_DEVICES eth0",
    ),
    ("mpich", "ch4:ucx", LAB_INTRA, "/x/mpirun -n 2 -bind-to none -genv UCX_TLS sm,self"),
    (
        "mpich", "ch3:nemesis", REAL_INTER,
        "/x/mpirun -launcher ssh -hosts a,b -n 4 -ppn 2 -genv MPIR_CVAR_NEMESIS_TCP_NETWORK_IFACE eth0 -genv K v",
    ),
    (
        "intelmpi", None, LAB_INTER,
        "/x/mpirun -bootstrap rsh -bootstrap-exec /lab/rsh -iface mgmt0 -hosts a,b -n 2 -ppn 1 -genv I_MPI_PIN off"
        " -genv I_MPI_WAIT_MODE 1"
        " -genv I_MPI_FABRICS ofi -genv FI_PROVIDER tcp -genv FI_TCP_IFACE eth0",
    ),
    ("intelmpi", None, LAB_INTRA, "/x/mpirun -n 2 -genv I_MPI_PIN off -genv I_MPI_WAIT_MODE 1 -genv I_MPI_FABRICS shm"),
    (
        "intelmpi", None, REAL_INTER,
        "/x/mpirun -bootstrap ssh -hosts a,b -n 4 -ppn 2 -genv I_MPI_FABRICS ofi -genv FI_PROVIDER tcp"
        " -genv FI_TCP_IFACE eth0 -genv K v",
    ),
    (
        "intelmpi", None, CYCLIC,
        "/x/mpirun -bootstrap ssh -hosts a,b -n 4 -ppn 1 -genv I_MPI_FABRICS ofi -genv FI_PROVIDER tcp"
        " -genv FI_TCP_IFACE eth0",
    ),
    (
        "mvapich", "ch4:ofi", LAB_INTER,
        "/x/mpirun -launcher rsh -launcher-exec /lab/rsh -iface mgmt0 -hosts a,b -n 2 -ppn 1"
        " -genv MVP_ENABLE_AFFINITY 0 -genv FI_PROVIDER tcp -genv FI_TCP_IFACE eth0",
    ),
    ("mvapich", "ch4:ofi", LAB_INTRA, "/x/mpirun -n 2 -genv MVP_ENABLE_AFFINITY 0 -genv FI_PROVIDER tcp"),
    (
        "mvapich", "ch4:ucx", REAL_INTER,
        "/x/mpirun -launcher ssh -hosts a,b -n 4 -ppn 2 -genv UCX_TLS tcp,self -genv UCX_NET_DEVICES eth0 -genv K v",
    ),
    (
        "mvapich2", "ch3:nemesis", REAL_INTER,
        "/x/mpirun -launcher ssh -hosts a,b -n 4 -ppn 2 -genv MPIR_CVAR_NEMESIS_TCP_NETWORK_IFACE eth0 -genv K v",
    ),
    (
        "mvapich2", "ch3:mrail", LAB_INTRA,
        "/x/mpirun -n 2 -genv MV2_ENABLE_AFFINITY 0 -genv MV2_USE_SHARED_MEM 1",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "device", "job", "expected"), COMMAND_LINES)
def test_command_line(kind: str, device: str | None, job: MpiJob, expected: str) -> None:
    launcher = discover("launch", "LAUNCHER").get(kind)
    assert launcher.argv(job, stack(kind, device)) == (*expected.split(), *PROGRAM)


def test_every_launcher_has_its_line() -> None:
    assert set(discover("launch", "LAUNCHER").plugins) == {line[0] for line in COMMAND_LINES}


OWN_PROCESSOR = 'case $OMPI_COMM_WORLD_LOCAL_RANK in 0) p=3 ;; 1) p=1 ;; esac; exec taskset -c "$p" "$@"'
BOUND = replace(CYCLIC, rank_hosts=("a", "a"), transport="shm", fabric_interface=None)
BINDINGS = {
    "openmpi4": {
        "core": "/x/mpirun -H localhost:2 -np 2 --bind-to core --mca pml ob1 --mca btl vader,self",
        "socket": "/x/mpirun -H localhost:2 -np 2 --bind-to socket --mca pml ob1 --mca btl vader,self",
        "numa": "/x/mpirun -H localhost:2 -np 2 --bind-to numa --mca pml ob1 --mca btl vader,self",
        "none": "/x/mpirun -H localhost:2 -np 2 --bind-to none --mca pml ob1 --mca btl vader,self",
        (3, 1): "/x/mpirun -H localhost:2 -np 2 --bind-to none --mca pml ob1 --mca btl vader,self /bin/sh -c SCRIPT sh",
    },
    "openmpi5": {
        "core": "/x/mpirun -H localhost:2 -np 2 --bind-to core --mca pml ob1 --mca btl sm,self --mca osc sm,rdma",
        "socket": "/x/mpirun -H localhost:2 -np 2 --bind-to package --mca pml ob1 --mca btl sm,self --mca osc sm,rdma",
        "numa": "/x/mpirun -H localhost:2 -np 2 --bind-to numa --mca pml ob1 --mca btl sm,self --mca osc sm,rdma",
        "none": "/x/mpirun -H localhost:2 -np 2 --bind-to none --mca pml ob1 --mca btl sm,self --mca osc sm,rdma",
        (3, 1): "/x/mpirun -H localhost:2 -np 2 --bind-to none --mca pml ob1 --mca btl sm,self --mca osc sm,rdma"
        " /bin/sh -c SCRIPT sh",
    },
    "mpich": {
        "core": "/x/mpirun -n 2 -bind-to core",
        "socket": "/x/mpirun -n 2 -bind-to socket",
        "numa": "/x/mpirun -n 2 -bind-to numa",
        "none": "/x/mpirun -n 2 -bind-to none",
        (3, 1): "/x/mpirun -n 2 -bind-to user:3,1",
    },
    "intelmpi": {
        "core": "/x/mpirun -n 2 -genv I_MPI_PIN on -genv I_MPI_PIN_DOMAIN core -genv I_MPI_FABRICS shm",
        "socket": "/x/mpirun -n 2 -genv I_MPI_PIN on -genv I_MPI_PIN_DOMAIN socket -genv I_MPI_FABRICS shm",
        "numa": "/x/mpirun -n 2 -genv I_MPI_PIN on -genv I_MPI_PIN_DOMAIN numa -genv I_MPI_FABRICS shm",
        "none": "/x/mpirun -n 2 -genv I_MPI_PIN off -genv I_MPI_FABRICS shm",
        (3, 1): "/x/mpirun -n 2 -genv I_MPI_PIN on -genv I_MPI_PIN_PROCESSOR_LIST 3,1 -genv I_MPI_FABRICS shm",
    },
    "mvapich": {
        "core": "/x/mpirun -n 2 -genv MVP_ENABLE_AFFINITY 1 -genv MVP_CPU_BINDING_POLICY BUNCH"
        " -genv MVP_CPU_BINDING_LEVEL core",
        "socket": "/x/mpirun -n 2 -genv MVP_ENABLE_AFFINITY 1 -genv MVP_CPU_BINDING_POLICY SCATTER"
        " -genv MVP_CPU_BINDING_LEVEL socket",
        "numa": "/x/mpirun -n 2 -genv MVP_ENABLE_AFFINITY 1 -genv MVP_CPU_BINDING_POLICY SCATTER"
        " -genv MVP_CPU_BINDING_LEVEL numanode",
        "none": "/x/mpirun -n 2 -genv MVP_ENABLE_AFFINITY 0",
        (3, 1): "/x/mpirun -n 2 -genv MVP_ENABLE_AFFINITY 1 -genv MVP_CPU_MAPPING 3:1",
    },
    "mvapich2": {
        "core": "/x/mpirun -n 2 -genv MV2_ENABLE_AFFINITY 1 -genv MV2_CPU_BINDING_POLICY BUNCH"
        " -genv MV2_CPU_BINDING_LEVEL core -genv MV2_USE_SHARED_MEM 1",
        "socket": "/x/mpirun -n 2 -genv MV2_ENABLE_AFFINITY 1 -genv MV2_CPU_BINDING_POLICY SCATTER"
        " -genv MV2_CPU_BINDING_LEVEL socket -genv MV2_USE_SHARED_MEM 1",
        "numa": "/x/mpirun -n 2 -genv MV2_ENABLE_AFFINITY 1 -genv MV2_CPU_BINDING_POLICY SCATTER"
        " -genv MV2_CPU_BINDING_LEVEL numanode -genv MV2_USE_SHARED_MEM 1",
        "none": "/x/mpirun -n 2 -genv MV2_ENABLE_AFFINITY 0 -genv MV2_USE_SHARED_MEM 1",
        (3, 1): "/x/mpirun -n 2 -genv MV2_ENABLE_AFFINITY 1 -genv MV2_CPU_MAPPING 3:1 -genv MV2_USE_SHARED_MEM 1",
    },
}  # fmt: skip


@pytest.mark.parametrize(("kind", "bind"), [(kind, bind) for kind, lines in BINDINGS.items() for bind in lines])
def test_binding(kind: str, bind: str | tuple[int, ...]) -> None:
    expected = [OWN_PROCESSOR if word == "SCRIPT" else word for word in BINDINGS[kind][bind].split()]
    launcher = discover("launch", "LAUNCHER").get(kind)
    assert launcher.argv(replace(BOUND, bind=bind), stack(kind)) == (*expected, *PROGRAM)
    asked_in_lab = replace(BOUND, bind=bind, shares_cores=True)
    assert set(expected) <= {*launcher.argv(asked_in_lab, stack(kind))}, "a plan's word counts in a lab, too"


def test_mvapich_4_is_bound_by_hydra() -> None:
    four = replace(stack("mvapich", "ch4:ofi"), version="4.0")
    words = discover("launch", "LAUNCHER").get("mvapich").argv(replace(BOUND, bind=(3, 1)), four)
    expected = "/x/mpirun -n 2 -bind-to user:3,1 -genv MPIR_CVAR_CH4_NETMOD ofi -genv FI_PROVIDER tcp"
    assert words == (*expected.split(), *PROGRAM)


def test_every_launcher_has_its_bindings() -> None:
    assert set(BINDINGS) == set(discover("launch", "LAUNCHER").plugins)


@pytest.mark.parametrize("kind", list(BINDINGS))
def test_a_binding_with_fewer_processors_than_ranks_is_refused(kind: str) -> None:
    with pytest.raises(LaunchError, match="binds ranks to 1 processors, and every host has 2 ranks"):
        discover("launch", "LAUNCHER").get(kind).argv(replace(BOUND, bind=(3,)), stack(kind))


def test_the_plan_s_binding_reaches_the_launcher() -> None:
    command = Command(PROGRAM, "a", rank_hosts=("a", "a"))
    bound = replace(stack("mpich", "ch4:ofi"), bind="numa")
    assert mpi_jobs.wrap(command, bound, LAB_HOSTS, None, None).argv[3:5] == ("-bind-to", "numa")


def test_mvapich2_on_verbs_is_not_told_to_speak_tcp() -> None:
    with pytest.raises(LaunchError, match="ch3:mrail cannot be forced onto TCP"):
        discover("launch", "LAUNCHER").get("mvapich2").argv(REAL_INTER, stack("mvapich2", "ch3:mrail"))


def test_open_mpi_is_allowed_to_run_as_root() -> None:
    for kind in ("openmpi4", "openmpi5"):
        env = discover("launch", "LAUNCHER").get(kind).env(LAB_INTRA, stack(kind))
        assert env == {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}


@pytest.mark.parametrize("kind", ["openmpi4", "openmpi5", "mpich", "intelmpi", "mvapich", "mvapich2"])
def test_jobs_that_cannot_be_forced_are_refused(kind: str) -> None:
    launcher = discover("launch", "LAUNCHER").get(kind)
    for job in (
        MpiJob(PROGRAM, ("a", "b"), "eth0", "roce"),
        MpiJob(PROGRAM, ("a", "b"), None, "tcp"),
        MpiJob(PROGRAM, ("a", "b", "b"), "eth0", "tcp"),
        replace(LAB_INTRA, stdin_bytes=100_000),
    ):
        with pytest.raises(LaunchError):
            launcher.argv(job, stack(kind))


LAB_HOSTS = {
    name: Host(name, access=("nsenter", name), management_interface="mgmt0", kind="namespace") for name in ("a", "b")
}
FABRIC = Fabric("gige", {"a": "eth0", "b": "eth0"})


def test_a_command_between_lab_hosts_becomes_a_job_over_the_fabric() -> None:
    command = Command(PROGRAM, "a", stdin=b"spec", rank_hosts=("a", "b"))
    assert mpi_jobs.job_of(command, LAB_HOSTS, FABRIC, "/lab/rsh") == replace(LAB_INTER, stdin_bytes=4)


def test_a_command_on_one_host_becomes_a_shared_memory_job() -> None:
    command = Command(PROGRAM, "a", rank_hosts=("a", "a"))
    assert mpi_jobs.job_of(command, LAB_HOSTS, None, "/lab/rsh") == LAB_INTRA


def test_a_command_on_one_host_is_forced_onto_a_fabric_that_it_names() -> None:
    command = Command(PROGRAM, "a", rank_hosts=("a", "a"))
    job = replace(LAB_INTRA, fabric_interface="eth0", transport="tcp")
    assert mpi_jobs.job_of(command, LAB_HOSTS, FABRIC, "/lab/rsh") == job
    words = discover("launch", "LAUNCHER").get("openmpi5").argv(job, stack("openmpi5"))
    assert " ".join(words).endswith(
        "-H a:2 -np 2 --map-by ppr:2:node --bind-to none --mca mpi_yield_when_idle 1 --mca pml ob1"
        " --mca btl tcp,self --mca btl_tcp_if_include eth0 --mca osc rdma /x/engine --spec -"
    ), words


def test_wrapping_keeps_stdin_and_ranks_and_adds_the_environment() -> None:
    command = Command(PROGRAM, "a", stdin=b"spec", rank_hosts=("a", "b"))
    wrapped = mpi_jobs.wrap(
        command, MpiStack("i", "intelmpi", "1", "/x/mpirun", None, env={"I_MPI_ROOT": "/x"}), LAB_HOSTS, FABRIC, None
    )
    assert (wrapped.stdin, wrapped.rank_hosts, wrapped.host) == (b"spec", ("a", "b"), "a")
    assert wrapped.env == {"I_MPI_ROOT": "/x"}
    assert wrapped.argv[0] == "/x/mpirun"


def test_the_library_s_variables_are_named_for_the_remote_shell(tmp_path: Path) -> None:
    value = 'one\'s "own" $HOME `x`\nsecond line'
    moved = replace(stack("mpich", "ch4:ofi"), env={"SITE_MPI": value, "LD_LIBRARY_PATH": "/x/lib"})
    wrapped = mpi_jobs.wrap(Command(PROGRAM, "a", rank_hosts=("a", "b")), moved, LAB_HOSTS, FABRIC, "/x/mpi-ssh")
    assert wrapped.env["FABRISCOPE_MPI_VARIABLES"] == "SITE_MPI LD_LIBRARY_PATH"
    # What ssh does on the other side: a shell without our environment gets one line.
    ssh = tmp_path / "ssh"
    ssh.write_text('#!/bin/sh\nfor line; do :; done\nexec env -i SHELL=/bin/sh PATH="$PATH" /bin/sh -c "$line"\n')
    ssh.chmod(0o755)
    env = {**os.environ, **wrapped.env, "FABRISCOPE_SSH_BETWEEN_HOSTS": str(ssh), "FABRISCOPE_LAUNCH_MARK": "m.1"}
    printed = r"""printf "%s|%s|%s|%s" "$SITE_MPI" "$LD_LIBRARY_PATH" "$FABRISCOPE_LAUNCH_MARK" "it's" """
    argv = ["/bin/sh", str(Path(mpi_jobs.__file__).parent / "on_host" / "mpi-ssh"), "-x", "node2", printed]
    done = subprocess.run(argv, env=env, capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout == f"{value}|/x/lib|m.1|it's"


OWN_INTERFACE = (
    "case $(uname -n) in a) i=eth0 ;; b-1) i=ens3 ;;"
    ' *) echo "no interface of the fabric is named for a host that calls itself $(uname -n)" >&2; exit 3 ;; esac;'
    " export OMPI_MCA_btl_tcp_if_include=$i FI_TCP_IFACE=$i UCX_NET_DEVICES=$i MPIR_CVAR_NEMESIS_TCP_NETWORK_IFACE=$i;"
    ' exec "$@"'
)


def test_interfaces_of_different_names_are_found_by_the_ranks() -> None:
    command = Command(PROGRAM, "a", rank_hosts=("a", "b"))
    fabric = Fabric("gige", {"a": "eth0", "b": "ens3"})
    hosts = {"a": LAB_HOSTS["a"], "b": replace(LAB_HOSTS["b"], node_name="b-1")}
    job = mpi_jobs.job_of(command, hosts, fabric, None)
    assert job.argv == ("/bin/sh", "-c", OWN_INTERFACE, "sh", *PROGRAM)
    argv = discover("launch", "LAUNCHER").get("mpich").argv(job, stack("mpich", "ch4:ofi"))
    assert argv[-len(job.argv) :] == job.argv


def test_a_rank_finds_the_interface_of_its_host() -> None:
    said = ("sh", "-c", 'echo "$FI_TCP_IFACE $1"', "sh")
    for node, expected in ((os.uname().nodename, "ens3 word\n"), ("another", "")):
        argv = [*mpi_jobs.own_interface({"a": "eth0", node: "ens3"}), *said, "word"]
        assert subprocess.run(argv, capture_output=True, text=True, timeout=60, check=False).stdout == expected


def test_hosts_that_cannot_be_told_apart_and_missing_fabrics_are_refused() -> None:
    command = Command(PROGRAM, "a", rank_hosts=("a", "b"))
    same = {"a": LAB_HOSTS["a"], "b": replace(LAB_HOSTS["b"], node_name="a")}
    with pytest.raises(LaunchError, match="call themselves 'a'"):
        mpi_jobs.job_of(command, same, Fabric("gige", {"a": "eth0", "b": "eth1"}), None)
    with pytest.raises(LaunchError, match="no interface is named for host 'b'"):
        mpi_jobs.job_of(command, same, Fabric("gige", {"a": "eth0"}), None)
    with pytest.raises(LaunchError, match="needs a fabric"):
        mpi_jobs.job_of(command, LAB_HOSTS, None, None)


def test_an_unknown_kind_lists_the_known_ones() -> None:
    with pytest.raises(FabriscopeError, match="openmpi5"):
        mpi_jobs.wrap(Command(PROGRAM, "a", rank_hosts=("a", "a")), stack("lam"), LAB_HOSTS, None, None)
