"""All hosts have one version of UCX, libfabric, MPI and OFED."""

from __future__ import annotations

from fabriscope.audit.check import Check, agree

CHECK = Check(
    "software-mixed",
    "warning",
    "all hosts have one version of UCX, libfabric, MPI and OFED",
    why="ranks speak different protocols",
    source="vendors' guides; majority",
    look=agree(
        r"software\.(ofed|ucx|libfabric|open_mpi|mpich)",
        "the version",
        told_by="the program's own --version",
        remedy="install {usual}, as the others have",
        is_optional=True,
    ),
)
