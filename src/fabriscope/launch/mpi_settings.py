"""Which settings of MPI libraries a launch takes notice of: what the library is, and what it is told to run over."""

from __future__ import annotations

from collections.abc import Mapping

from fabriscope.model import mpi_settings as of
from fabriscope.model.mpi import MpiStack
from fabriscope.model.mpi_settings import MPI_SETTINGS

_SHM_BTLS = ("sm", "vader")


def taken(stack: MpiStack, transport: str, forced: Mapping[str, str]) -> frozenset[str]:
    """Return which kinds of settings (`MpiSetting.of`) count in a launch that these variables force onto a transport.

    What is forced tells what carries the bytes: Open MPI over TCP has UCX in it, and does not use it.
    """
    found = set(_of_openmpi(forced)) if stack.kind.startswith("openmpi") else set(_of_others(stack, transport, forced))
    if transport != "shm":
        found |= {of.UCX} if any(name.startswith("UCX_") for name in forced) else set()
        provider = forced.get("FI_PROVIDER", forced.get("OMPI_MCA_mtl_ofi_provider_include", ""))
        found |= {of.OFI_TCP} if provider == "tcp" else {of.OFI_RXM} if "verbs" in provider else set()
    return frozenset(found)


def _of_openmpi(forced: Mapping[str, str]) -> list[str]:
    btls = forced.get("OMPI_MCA_btl", "").split(",")
    return [
        *([of.OPENMPI_TCP] if "tcp" in btls else []),
        *([of.OPENMPI_SHM] if any(one in btls for one in _SHM_BTLS) else []),
    ]


def _of_others(stack: MpiStack, transport: str, forced: Mapping[str, str]) -> list[str]:
    if stack.kind == "intelmpi":
        return [of.INTEL, *([of.INTEL_SHM] if transport == "shm" else [])]
    if stack.kind == "mvapich2":
        return [of.MVAPICH2] if "MV2_IBA_HCA" in forced else []
    is_over_ofi = transport != "shm" and "FI_PROVIDER" in forced
    return [
        of.MPICH,
        *([of.MPICH_OFI] if is_over_ofi else []),
        *([of.MPICH_CH3] if "ch3" in (stack.device or "") else []),
    ]


def asked(*every: Mapping[str, str]) -> dict[str, str]:
    """Return what of settings is of MPI libraries; of one that stands there twice the later one."""
    return {name: value for one in every for name, value in one.items() if name in MPI_SETTINGS}


def variables(settings: Mapping[str, str]) -> dict[str, str]:
    """Return the environment that sets them."""
    return {variable: value for name, value in settings.items() for variable in MPI_SETTINGS[name].variables}
