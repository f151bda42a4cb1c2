"""Variables that change what MPI libraries, UCX, libfabric, NCCL and verbs do, as a program there finds them."""

from __future__ import annotations

from fabriscope.hosts.access import Reading
from fabriscope.hosts.facts._reading import Group
from fabriscope.model.host import Fact

_HEADS = (
    "UCX_",
    "OMPI_MCA_",
    "PRTE_MCA_",
    "PMIX_MCA_",
    "MPICH_",
    "MV2_",
    "MVP_",
    "I_MPI_",
    "FI_",
    "NCCL_",
    "RDMAV_",
    "MLX5_",
)
"""The rest of the environment is the user's own business, and may hold what does not belong into a report."""


def _facts(reading: Reading) -> list[Fact]:
    text, problem = reading.output("env -0")
    if problem:
        return [Fact("environment.variables", None, problem)]
    pairs = dict(sorted(line.partition("=")[::2] for line in text.split("\0") if line.startswith(_HEADS)))
    return [
        Fact("environment.variables", " ".join(pairs) or "none"),
        *(Fact(f"environment.{name}", value) for name, value in pairs.items()),
    ]


FACTS = Group("environment", _facts, commands=(("env", "-0"),))
