"""Settings of MPI libraries: what they are, which launches they count in, and how they stand on command lines."""

from __future__ import annotations

from pathlib import Path

import pytest

from fabriscope.knobs import readers
from fabriscope.knobs.knob import Setting
from fabriscope.launch import mpi_jobs
from fabriscope.model import mpi_settings as of
from fabriscope.model.command import Command
from fabriscope.model.fabric import Fabric, RdmaPort
from fabriscope.model.host import Host
from fabriscope.model.mpi import MpiStack
from fabriscope.model.mpi_settings import MPI_SETTINGS, on_hosts

ROOT = Path(__file__).parents[2]
HOSTS = {name: Host(name) for name in "ab"}
ALL = {name: readers()[name](one.words[0] if one.kind == "word" else one.most) for name, one in MPI_SETTINGS.items()}
"""Every setting at some value."""


def stack(kind: str, device: str | None = None, **settings: str) -> MpiStack:
    return MpiStack(kind, kind, "3.0", "/x/mpirun", None, device=device, knobs=settings)


def fabric(transport: str = "tcp", **settings: str) -> Fabric:
    ports = {name: RdmaPort("mlx5_0") for name in "ab"} if transport != "tcp" else {}
    return Fabric("f", dict.fromkeys("ab", "eth0"), transport, knobs=settings, rdma_ports=ports)


@pytest.mark.parametrize("name", MPI_SETTINGS)
def test_every_setting_has_its_line_in_the_docs(name: str) -> None:
    setting = MPI_SETTINGS[name]
    lines = (ROOT / "docs" / "settings.md").read_text().splitlines()
    (line,) = [one for one in lines if one.startswith(f"| `{name}` |")]
    assert setting.of in line
    assert all(variable in line for variable in setting.variables)
    assert line.endswith("| yes |" if setting.is_read_back else "| no |")


@pytest.mark.parametrize(
    ("name", "value", "text"),
    [
        ("ompi_btl_tcp_eager_limit", "64KiB", "65536"),
        ("ompi_btl_tcp_links", 2, "2"),
        ("ucx_rndv_thresh", "inf", "inf"),
        ("ucx_rndv_thresh", "8KiB", "8192"),
        ("ucx_rndv_scheme", "get_zcopy", "get_zcopy"),
    ],
)
def test_values_as_the_variables_have_them(name: str, value: Setting, text: str) -> None:
    assert readers()[name](value) == text
    assert readers()[name](text) == text


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("ompi_btl_tcp_eager_limit", 0),
        ("ompi_btl_tcp_eager_limit", "3GiB"),
        ("ompi_btl_tcp_eager_limit", "inf"),
        ("ompi_btl_tcp_links", 65),
        ("ompi_btl_tcp_links", True),
        ("ucx_rndv_scheme", "get"),
        ("ucx_rndv_scheme", 3),
        ("mv2_rndv_protocol", "rput"),
    ],
)
def test_values_that_none_has(name: str, value: Setting) -> None:
    with pytest.raises(ValueError, match=r".+"):
        readers()[name](value)


COUNTING = [
    (stack("openmpi4"), fabric(), "ab", {of.OPENMPI_TCP}),
    (stack("openmpi5"), fabric(), "ab", {of.OPENMPI_TCP}),
    (stack("openmpi4"), None, "aa", {of.OPENMPI_SHM}),
    (stack("openmpi5"), None, "aa", {of.OPENMPI_SHM}),
    (stack("openmpi5"), fabric("roce"), "ab", {of.UCX}),
    (stack("openmpi5"), fabric("iwarp"), "ab", {of.OFI_RXM}),
    (stack("mpich", "ch4:ofi"), fabric(), "ab", {of.MPICH, of.MPICH_OFI, of.OFI_TCP}),
    (stack("mpich", "ch4:ofi"), None, "aa", {of.MPICH}),
    (stack("mpich", "ch4:ucx"), fabric(), "ab", {of.MPICH, of.UCX}),
    (stack("mpich", "ch4:ucx"), None, "aa", {of.MPICH}),
    (stack("mpich", "ch3:nemesis"), fabric(), "ab", {of.MPICH, of.MPICH_CH3}),
    (stack("intelmpi"), fabric(), "ab", {of.INTEL, of.OFI_TCP}),
    (stack("intelmpi"), None, "aa", {of.INTEL, of.INTEL_SHM}),
    (stack("intelmpi"), fabric("roce"), "ab", {of.INTEL, of.OFI_RXM}),
    (stack("mvapich", "ch4:ofi"), fabric(), "ab", {of.MPICH, of.MPICH_OFI, of.OFI_TCP}),
    (stack("mvapich2", "ch3:mrail"), fabric("roce"), "ab", {of.MVAPICH2}),
]


@pytest.mark.parametrize(("library", "over", "hosts", "expected"), COUNTING)
def test_a_setting_counts_where_its_code_carries_the_bytes(
    library: MpiStack, over: Fabric | None, hosts: str, expected: set[str]
) -> None:
    counting = mpi_jobs.settings_of(tuple(hosts), library, HOSTS, over, ALL)
    assert {MPI_SETTINGS[name].of for name in counting} == expected
    assert counting.keys() == {name for name, one in MPI_SETTINGS.items() if one.of in expected}
    assert mpi_jobs.takes(library, over.transport if over is not None else "shm") == expected


def test_every_kind_of_setting_counts_somewhere() -> None:
    assert set().union(*(line[3] for line in COUNTING)) == {one.of for one in MPI_SETTINGS.values()}


TCP = {"ompi_btl_tcp_eager_limit": "4096", "ucx_rndv_thresh": "inf", "mpich_ofi_eager_limit": "8192"}


@pytest.mark.parametrize(
    ("library", "words", "others"),
    [
        (stack("openmpi4", **TCP), "--mca btl_tcp_eager_limit 4096", ("UCX_RNDV", "MPIR_CVAR_CH4_OFI")),
        (stack("openmpi5", **TCP), "--mca btl_tcp_eager_limit 4096", ("UCX_RNDV", "MPIR_CVAR_CH4_OFI")),
        (
            stack("mpich", "ch4:ofi", **TCP),
            "-genv MPIR_CVAR_CH4_OFI_EAGER_THRESHOLD 8192 -genv MPIR_CVAR_CH4_OFI_EAGER_MAX_MSG_SIZE 8192",
            ("btl_tcp", "UCX_RNDV"),
        ),
        (stack("mpich", "ch4:ucx", **TCP), "-genv UCX_RNDV_THRESH inf", ("btl_tcp", "MPIR_CVAR_CH4_OFI")),
    ],
)
def test_a_launch_gets_what_counts_in_it(library: MpiStack, words: str, others: tuple[str, ...]) -> None:
    command = Command(("/x/engine",), "a", env={"K": "v"}, rank_hosts=("a", "b"))
    line = " ".join(mpi_jobs.wrap(command, library, HOSTS, fabric(), None).argv)
    assert f" {words} " in line
    assert not [other for other in others if other in line]
    plain = " ".join(mpi_jobs.wrap(command, stack(library.kind, library.device), HOSTS, fabric(), None).argv)
    assert line.replace(f"{words} ", "") == plain


def test_a_fabric_sets_it_too_and_shared_memory_has_its_own() -> None:
    command = Command(("/x/engine",), "a", rank_hosts=("a", "b"))
    line = mpi_jobs.wrap(command, stack("openmpi5"), HOSTS, fabric(ompi_btl_tcp_eager_limit="7", mtu="600"), None).argv
    assert line[line.index("btl_tcp_eager_limit") + 1] == "7"
    assert "600" not in line
    inside = Command(("/x/engine",), "a", rank_hosts=("a", "a"))
    line = mpi_jobs.wrap(inside, stack("openmpi4", ompi_btl_sm_eager_limit="9", **TCP), HOSTS, None, None).argv
    assert line[line.index("btl_vader_eager_limit") + 1] == "9"
    assert "btl_tcp_eager_limit" not in line


def test_what_is_set_on_hosts_is_all_the_rest() -> None:
    assert on_hosts({"mtu": "600", "switch_buffer": "1", **TCP}) == {"mtu": "600", "switch_buffer": "1"}
