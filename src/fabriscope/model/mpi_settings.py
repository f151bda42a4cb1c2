"""The settings of MPI libraries, and of what carries their messages, that a plan may try: one table.

Each is a variable in the environment of a launch: nothing on a host is changed by it. What forces the transport
(UCX_TLS, FI_PROVIDER, btl) is no setting, since what is compared would be another network then.

The names of the variables are those in the libraries that they are of: Open MPI 4.1.4 and 5.0, MPICH 4.0.2 and 5.0,
Intel MPI 2021, UCX 1.13, libfabric 1.17; those of MVAPICH2 are of its
user guide (2.3.7).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

OPENMPI_TCP = "Open MPI over TCP"
OPENMPI_SHM = "Open MPI inside a host"
MPICH = "MPICH and what was made of it"
MPICH_OFI = "MPICH over libfabric"
MPICH_CH3 = "MPICH of ch3"
INTEL = "Intel MPI"
INTEL_SHM = "Intel MPI inside a host"
UCX = "what runs over UCX"
OFI_TCP = "what runs over libfabric's tcp"
OFI_RXM = "what runs over libfabric's verbs"
MVAPICH2 = "MVAPICH2 over verbs"

MOST_BYTES = 2**31 - 1


@dataclass(frozen=True)
class MpiSetting:
    """One setting of a library."""

    name: str
    """As plans have it."""
    does: str
    of: str
    """The launches that take notice of it, one of the constants above."""
    variables: tuple[str, ...]
    """Those that set it; versions of a library differ in their names, and take no notice of each other's."""
    kind: Literal["size", "number", "word"] = "size"
    least: int = 0
    most: int = MOST_BYTES
    words: tuple[str, ...] = ()
    """Besides a number."""

    @property
    def range(self) -> str:
        """Return which values it takes, for people."""
        numbers = [] if self.kind == "word" else [f"{self.least} to {self.most}{' B' if self.kind == 'size' else ''}"]
        return ", ".join([*numbers, *self.words])

    @property
    def is_read_back(self) -> bool:
        """Return whether the library has a program that tells what it makes of the variable."""
        return self.variables[0].startswith(("OMPI_MCA_", "MPIR_CVAR_", "UCX_"))


_THRESHOLD = ("auto", "inf")
_TABLE = (
    MpiSetting(
        "ompi_btl_tcp_eager_limit", "messages up to this are sent without being announced", OPENMPI_TCP,
        ("OMPI_MCA_btl_tcp_eager_limit",), least=1,
    ),
    MpiSetting(
        "ompi_btl_tcp_rndv_eager_limit", "how much of a longer message goes with its announcement", OPENMPI_TCP,
        ("OMPI_MCA_btl_tcp_rndv_eager_limit",), least=1,
    ),
    MpiSetting(
        "ompi_btl_tcp_max_send_size", "largest piece of a longer message", OPENMPI_TCP,
        ("OMPI_MCA_btl_tcp_max_send_size",), least=1,
    ),
    MpiSetting(
        "ompi_btl_tcp_sndbuf", "send buffer of its sockets; 0: the kernel's choice", OPENMPI_TCP,
        ("OMPI_MCA_btl_tcp_sndbuf",),
    ),
    MpiSetting(
        "ompi_btl_tcp_rcvbuf", "receive buffer of its sockets; 0: the kernel's choice", OPENMPI_TCP,
        ("OMPI_MCA_btl_tcp_rcvbuf",),
    ),
    MpiSetting(
        "ompi_btl_tcp_links", "connections to each peer", OPENMPI_TCP, ("OMPI_MCA_btl_tcp_links",), "number", 1, 64
    ),
    MpiSetting(
        "ompi_btl_sm_eager_limit", "messages up to this are copied without being announced", OPENMPI_SHM,
        ("OMPI_MCA_btl_sm_eager_limit", "OMPI_MCA_btl_vader_eager_limit"), least=1,
    ),
    MpiSetting(
        "ompi_btl_sm_max_send_size", "largest piece of a longer message", OPENMPI_SHM,
        ("OMPI_MCA_btl_sm_max_send_size", "OMPI_MCA_btl_vader_max_send_size"), least=1,
    ),
    MpiSetting(
        "mpich_ofi_eager_limit", "longer messages are announced, and fetched by the receiver", MPICH_OFI,
        ("MPIR_CVAR_CH4_OFI_EAGER_THRESHOLD", "MPIR_CVAR_CH4_OFI_EAGER_MAX_MSG_SIZE"),
    ),
    MpiSetting(
        "mpich_ch3_eager_limit", "longer messages are announced", MPICH_CH3, ("MPIR_CVAR_CH3_EAGER_MAX_MSG_SIZE",)
    ),
    MpiSetting(
        "mpich_shm_cell_size", "size of the pieces that messages inside a host are copied in", MPICH,
        ("MPIR_CVAR_CH4_SHM_POSIX_IQUEUE_CELL_SIZE",), least=1024,
    ),
    MpiSetting(
        "mpich_shm_cells", "how many of them each process has", MPICH,
        ("MPIR_CVAR_CH4_SHM_POSIX_IQUEUE_NUM_CELLS",), "number", 1, 65536,
    ),
    MpiSetting(
        "mpich_polls_before_yield", "how often a waiting rank looks before another one has its processor", MPICH,
        ("MPIR_CVAR_POLLS_BEFORE_YIELD",), "number", 0, 10**9,
    ),
    MpiSetting(
        "impi_shm_cell_size", "longer messages inside a host go by another way than cells", INTEL_SHM,
        ("I_MPI_SHM_CELL_FWD_SIZE",), least=1024,
    ),
    MpiSetting(
        "impi_ofi_inject_limit", "messages up to this are copied by libfabric at once", INTEL,
        ("I_MPI_OFI_ISEND_INJECT_THRESHOLD",),
    ),
    MpiSetting(
        "impi_adjust_allreduce", "algorithm of allreduce, by its number in the reference", INTEL,
        ("I_MPI_ADJUST_ALLREDUCE",), "number", 0, 32,
    ),
    MpiSetting(
        "ucx_rndv_thresh", "messages from this on are announced", UCX, ("UCX_RNDV_THRESH",), words=_THRESHOLD
    ),
    MpiSetting(
        "ucx_zcopy_thresh", "messages from this on are sent without a copy", UCX, ("UCX_ZCOPY_THRESH",),
        words=_THRESHOLD,
    ),
    MpiSetting(
        "ucx_rndv_scheme", "who moves the bytes of an announced message", UCX, ("UCX_RNDV_SCHEME",), "word",
        words=("auto", "get_zcopy", "put_zcopy", "am"),
    ),
    MpiSetting(
        "ucx_max_rndv_rails", "ports over which one announced message goes", UCX, ("UCX_MAX_RNDV_RAILS",), "number",
        1, 16,
    ),
    MpiSetting(
        "fi_tcp_zerocopy_size", "messages from this on are sent without a copy", OFI_TCP, ("FI_TCP_ZEROCOPY_SIZE",)
    ),
    MpiSetting(
        "fi_tcp_staging_size", "buffer in which small messages are gathered to be sent", OFI_TCP,
        ("FI_TCP_STAGING_SBUF_SIZE",),
    ),
    MpiSetting(
        "fi_tcp_prefetch_size", "buffer that is read ahead into", OFI_TCP, ("FI_TCP_PREFETCH_RBUF_SIZE",)
    ),
    MpiSetting(
        "fi_rxm_buffer_size", "messages up to this are sent without being announced", OFI_RXM,
        ("FI_OFI_RXM_BUFFER_SIZE",), least=64,
    ),
    MpiSetting(
        "fi_rxm_sar_limit", "messages up to this are sent in pieces, longer ones announced", OFI_RXM,
        ("FI_OFI_RXM_SAR_LIMIT",),
    ),
    MpiSetting(
        "mv2_eager_limit", "messages up to this are sent without being announced", MVAPICH2,
        ("MV2_IBA_EAGER_THRESHOLD",), least=1,
    ),
    MpiSetting(
        "mv2_rndv_protocol", "who moves the bytes of an announced message", MVAPICH2, ("MV2_RNDV_PROTOCOL",), "word",
        words=("RPUT", "RGET", "R3"),
    ),
)  # fmt: skip

MPI_SETTINGS = {one.name: one for one in _TABLE}
"""Every one by its name."""


def on_hosts(settings: Mapping[str, str]) -> dict[str, str]:
    """Return what of settings is set on hosts and switches: all but those of MPI libraries, which launches get."""
    return {name: value for name, value in settings.items() if name not in MPI_SETTINGS}
