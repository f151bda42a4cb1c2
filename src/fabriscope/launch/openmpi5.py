"""Open MPI 5: PRRTE starts the ranks, and has parameters of its own (`--prtemca`).

It hands rank 0 the bytes of standard input but not their end (seen with 5.0.11): what is fed says itself where it ends.
"""

from __future__ import annotations

from fabriscope.launch._openmpi import OpenMpi

LAUNCHER = OpenMpi(
    name="openmpi5",
    remote_shell="plm_ssh_agent",
    out_of_band_option="--prtemca",
    shared_memory="sm",
    socket="package",
    one_sided={"tcp": "rdma", "shm": "sm,rdma"},
)
