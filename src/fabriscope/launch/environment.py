"""Variables of programs that somebody starts by hand (`lab exec`, `prove`): what `run` tells MPI launchers by words.

So `mpirun -H node1,node2 ./app` needs no further words on a host of a lab.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import PurePosixPath

from fabriscope.launch._openmpi import ROOT_ALLOWED

_SHARED_CORES = {
    "OMPI_MCA_mpi_yield_when_idle": "1",
    "OMPI_MCA_hwloc_base_binding_policy": "none",
    "PRTE_MCA_hwloc_default_binding_policy": "none",
    "HYDRA_BINDING": "none",
    "I_MPI_PIN": "off",
    "I_MPI_WAIT_MODE": "1",
    "MV2_ENABLE_AFFINITY": "0",
    "MVP_ENABLE_AFFINITY": "0",
}
"""A lab's hosts share the machine's cores: ranks bound to the first core of their hosts are on the same one."""


_OWN_FOLDER = {"OMPI_MCA_orte_tmpdir_base": str(PurePosixPath("/dev") / "shm")}
"""Open MPI 4 calls its folder in /tmp by host and user number alone, and every user is number 0 in labs of his own:
where somebody else had a lab, that folder is his. A lab's host has a /dev/shm of its own."""


def here(given: Mapping[str, str]) -> dict[str, str]:
    """Return what a program on this machine gets beside the variables that were `given`."""
    return _absent(ROOT_ALLOWED, given)


def in_lab(remote_shell: str, management_interface: str | None, given: Mapping[str, str]) -> dict[str, str]:
    """Return what a program on a lab's host gets beside the variables that were `given`.

    The way to the other hosts is the lab's, whatever was given; where cores are bound, and whether ranks yield, the
    user's own variables count.
    """
    reached = {
        "OMPI_MCA_plm_rsh_agent": remote_shell,
        "PRTE_MCA_plm_ssh_agent": remote_shell,
        "HYDRA_LAUNCHER": "rsh",  # with ssh Hydra adds options of ssh's own
        "HYDRA_LAUNCHER_EXEC": remote_shell,
        "I_MPI_HYDRA_BOOTSTRAP": "rsh",
        "I_MPI_HYDRA_BOOTSTRAP_EXEC": remote_shell,
    }
    wired = ("OMPI_MCA_oob_tcp_if_include", "PRTE_MCA_oob_tcp_if_include", "HYDRA_IFACE", "I_MPI_HYDRA_IFACE")
    if management_interface is not None:
        reached |= dict.fromkeys(wired, management_interface)
    return {**_absent({**_SHARED_CORES, **_OWN_FOLDER}, given), **here(given), **reached}


def _absent(wanted: Mapping[str, str], given: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in wanted.items() if name not in given}
