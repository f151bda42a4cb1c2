"""Finding MPI libraries: what they say of themselves, and where fakes of them were put."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from fabriscope.hosts import mpi, mpi_wheels
from fabriscope.hosts._mpi_identity import Identity, identify
from fabriscope.model.errors import FabriscopeError, ToolMissing

OPEN_MPI_5 = "mpirun (Open MPI) 5.0.11\n\nReport bugs to https://www.open-mpi.org/community/help/\n"
OPEN_MPI_4 = "mpirun (Open MPI) 4.1.4\n\nReport bugs to http://www.open-mpi.org/community/help/\n"
MPICH_5 = """HYDRA build details:
    Version:                                 5.0.2
    Release Date:                            Fri Sep 25 20:45:26 UTC 2026
    CC:                              cc
    Configure options:                       --with-device=ch4:ucx,ofi --with-pm=hydra:gforker
    Process Manager:                         pmi
    Launchers available:                     ssh rsh fork slurm ll lsf sge manual persist
"""
MPICH_5_VERSION = """MPICH Version:      5.0.2
MPICH Device:       ch4:ucx ofi
MPICH configure:    --with-device=ch4:ucx,ofi --with-pm=hydra:gforker
"""
MPICH_3_2 = """HYDRA build details:
    Version:                                 3.2.1
    Release Date:                            General Availability Release
    Process Manager:                         pmi
"""
MVAPICH_2_VERSION = """MVAPICH2 Version:       2.3.7
MVAPICH2 Release date:  Wed March 02 22:00:00 EST 2022
MVAPICH2 Device:        ch3:mrail
MVAPICH2 configure:     --prefix=/opt/mvapich2 --disable-fortran --enable-fast=all
"""
MVAPICH_2_NAME = "MVAPICH2 2.3.7 Wed March 02 22:00:00 EST 2022 ch3:mrail\n\nCompilation\nCC: gcc -DNDEBUG\n"
MPICH_4 = MPICH_3_2.replace("3.2.1", "4.1.2")
MVAPICH_3_VERSION = (
    MVAPICH_2_VERSION.replace("MVAPICH2", "MVAPICH").replace("2.3.7", "3.0").replace("ch3:mrail", "ch4:ofi")
)
INTEL = """Intel(R) MPI Library for Linux* OS, Version 2021.18.1 Build 20260626 (id: b44796a)
Copyright 2003-2026, Intel Corporation.
"""


@pytest.mark.parametrize(
    ("said", "more", "expected"),
    [
        (OPEN_MPI_5, "", Identity("openmpi5", "5.0.11")),
        (OPEN_MPI_4, "", Identity("openmpi4", "4.1.4")),
        ("mpirun (Open MPI) 6.0.0rc1\n", "", Identity("openmpi5", "6.0.0rc1")),
        ("mpirun.openmpi (OpenRTE) 4.1.4\n", "", Identity("openmpi4", "4.1.4")),
        ("mpirun (Open MPI) 3.1.3\n", "", None),
        (MPICH_5, MPICH_5_VERSION, Identity("mpich", "5.0.2", "ch4:ucx,ofi")),
        (MPICH_5, "", Identity("mpich", "5.0.2", "ch4:ucx,ofi")),
        (MPICH_5.replace("--with-device=ch4:ucx,ofi ", ""), "", Identity("mpich", "5.0.2")),
        (MPICH_3_2, MVAPICH_2_VERSION, Identity("mvapich2", "2.3.7", "ch3:mrail")),
        (MPICH_3_2, MVAPICH_2_NAME, Identity("mvapich2", "2.3.7", "ch3:mrail")),
        (MPICH_3_2, "MVAPICH2 Version: 2.3.7\n", Identity("mvapich2", "2.3.7")),
        (MPICH_4, MVAPICH_3_VERSION, Identity("mvapich", "3.0", "ch4:ofi")),
        (MPICH_4, "MVAPICH 4.0 Fri Feb 21 22:00:00 EST 2025 ch4:ucx\n", Identity("mvapich", "4.0", "ch4:ucx")),
        (MPICH_4, "MVAPICH-Plus 4.1 Fri Feb 21 22:00:00 EST 2025 ch4:ucx\n", Identity("mvapich", "4.1", "ch4:ucx")),
        ("", MVAPICH_3_VERSION, None),
        (INTEL, "", Identity("intelmpi", "2021.18.1")),
        ("mpirun: error while loading shared libraries: libpmix.so.2\n", "", None),
        ("", "", None),
    ],
)
def test_identity(said: str, more: str, expected: Identity | None) -> None:
    assert identify(said, more) == expected


def put(path: Path, says: str = "") -> Path:
    """Write a program that prints a text."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\ncat <<'END'\n{says}END\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return path


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder that stands for a machine without any MPI; `path` in it is on PATH."""
    (tmp_path / "tools").mkdir()
    (tmp_path / "tools" / "cat").symlink_to("/bin/cat")  # /bin itself may hold an MPI
    monkeypatch.setenv("PATH", f"{tmp_path / 'path'}:{tmp_path / 'tools'}")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.delenv(mpi.PATH_VARIABLE, raising=False)
    monkeypatch.setattr(mpi, "_DISTRIBUTION_FOLDERS", (f"{tmp_path}/distribution/*/bin",))
    monkeypatch.setattr("sys.prefix", str(tmp_path / "venv"))
    return tmp_path


def test_a_machine_without_mpi(machine: Path) -> None:
    assert mpi.search() == []
    with pytest.raises(ToolMissing, match="fabriscope mpi add mpich"):
        mpi.find("mpich")
    with pytest.raises(ToolMissing, match="found: none"):
        mpi.find("cray")


def test_every_place_is_looked_into_and_every_name_is_unique(machine: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put(machine / "path" / "mpirun", OPEN_MPI_4)
    put(machine / "venv" / "bin" / "mpirun", OPEN_MPI_5)
    put(machine / "distribution" / "openmpi" / "bin" / "mpirun", OPEN_MPI_5)
    own = put(machine / "data" / "fabriscope" / "mpi" / "mpich" / "bin" / "mpiexec", MPICH_5)
    (own.parents[1] / "fabriscope-mpi.json").write_text("{}")
    put(machine / "given" / "bin" / "mpiexec.hydra", INTEL)
    monkeypatch.setenv(mpi.PATH_VARIABLE, str(machine / "given"))
    assert [stack.name for stack in mpi.stacks()] == [
        "intelmpi-2021.18.1", "openmpi-4.1.4", "openmpi-5.0.11", "mpich", "openmpi-5.0.11-2",
    ]  # fmt: skip


def test_a_copy_beside_a_program_that_was_asked_is_not_asked(machine: Path) -> None:
    for folder in ("path", "distribution/mpich/bin"):
        for name in ("mpiexec.hydra", "mpirun", "mpiexec"):
            path = put(machine / folder / name, MPICH_5)
            path.write_text(path.read_text().replace("/bin/sh\n", f"/bin/sh\necho x >>{machine}/asked\n"))
    assert [stack.name for stack in mpi.stacks()] == ["mpich-5.0.2", "mpich-5.0.2-2"]
    assert (machine / "asked").read_text() == "x\n" * 2


def test_several_names_of_one_launcher_are_one_installation(machine: Path) -> None:
    real = put(machine / "path" / "mpiexec.hydra", MPICH_5)
    (machine / "path" / "mpiexec").symlink_to(real)
    put(machine / "path" / "mpirun", MPICH_5)
    put(machine / "path" / "mpichversion", MPICH_5_VERSION)
    compiler = put(machine / "path" / "mpicxx")
    (stack,) = mpi.stacks()
    assert (stack.mpirun, stack.mpicxx, stack.device) == (str(real), str(compiler), "ch4:ucx,ofi")


@pytest.mark.parametrize(("program", "says"), [("mpichversion", MVAPICH_2_VERSION), ("mpiname", MVAPICH_2_NAME)])
def test_mvapich_is_told_from_mpich_by_its_other_programs(machine: Path, program: str, says: str) -> None:
    put(machine / "path" / "mpiexec", MPICH_3_2)
    put(machine / "path" / program, says)
    (stack,) = mpi.stacks()
    assert (stack.name, stack.kind, stack.device) == ("mvapich2-2.3.7", "mvapich2", "ch3:mrail")
    assert mpi.find("mvapich2").mpirun == stack.mpirun


def test_debian_s_programs_carry_their_library_s_name(machine: Path) -> None:
    put(machine / "path" / "mpirun.openmpi", OPEN_MPI_4)
    put(machine / "path" / "mpirun.mpich", MPICH_5)
    put(machine / "path" / "mpicxx.openmpi")
    compilers = {stack.kind: stack.mpicxx for stack in mpi.stacks()}
    assert compilers == {"openmpi4": str(machine / "path" / "mpicxx.openmpi"), "mpich": None}


def test_debian_s_hydra_is_mpich_s_beside_another_library_s_compiler(machine: Path) -> None:
    put(machine / "path" / "mpiexec.hydra", MPICH_5)
    put(machine / "path" / "mpicxx")
    compiler = put(machine / "path" / "mpicxx.mpich")
    (stack,) = mpi.stacks()
    assert stack.mpicxx == str(compiler)


def test_an_mpirun_that_cannot_be_used_is_told_with_the_reason(machine: Path) -> None:
    put(machine / "path" / "mpirun", "LAM 7.1.4\n")
    (found,) = mpi.search()
    assert found.stack is None
    assert "LAM 7.1.4" in (found.problem or "")


@pytest.mark.parametrize("name", ["openmpi-5.0.11", "openmpi", "openmpi5"])
def test_a_plan_may_name_it_by_name_or_kind(machine: Path, name: str) -> None:
    put(machine / "path" / "mpirun", OPEN_MPI_5)
    stack = mpi.find(name)
    assert (stack.name, stack.kind) == (name, "openmpi5")


def test_what_others_could_have_put_where_the_variable_points_is_not_executed(
    machine: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mpirun = put(machine / "shared" / "bin" / "mpirun")
    mpirun.write_text("#!/bin/sh\n: >$0.mark\n")
    mpirun.parent.chmod(0o777)
    monkeypatch.setenv("FABRISCOPE_MPI_PATH", str(machine / "shared"))
    found = {one.mpirun: one.problem for one in mpi.search()}
    wanted = f"what FABRISCOPE_MPI_PATH names is not executed: {mpirun.parent} can be written by other users"
    assert (found[str(mpirun)] or "").startswith(wanted)
    with pytest.raises(ToolMissing, match="what FABRISCOPE_MPI_PATH names is not executed"):
        mpi.find("openmpi")
    assert not [*machine.rglob("*.mark")]


def test_a_plan_may_name_it_by_path(machine: Path) -> None:
    mpirun = put(machine / "far" / "bin" / "mpirun", OPEN_MPI_5)
    for path in (machine / "far", machine / "far" / "bin", mpirun):
        stack = mpi.find("mine", str(path))
        assert (stack.name, stack.mpirun) == ("mine", str(mpirun))
    assert mpi.find(str(mpirun)).mpirun == str(mpirun)
    with pytest.raises(ToolMissing, match="no mpirun"):
        mpi.find("mine", str(machine / "nowhere"))


def test_intel_mpi_is_told_where_it_is(machine: Path) -> None:
    put(machine / "impi" / "bin" / "mpiexec.hydra", INTEL)
    put(machine / "impi" / "bin" / "hydra_bstrap_proxy")
    (machine / "impi" / "lib").mkdir()
    stack = mpi.find("impi", str(machine / "impi"))
    assert stack.env["I_MPI_ROOT"] == str(machine / "impi")
    assert stack.env["LD_LIBRARY_PATH"].split(":")[0] == str(machine / "impi" / "lib")
    assert stack.env["PATH"].split(":")[0] == str(machine / "impi" / "bin")


def test_what_was_not_added_is_not_removed(machine: Path) -> None:
    folder = mpi_wheels.own_folder() / "mine"
    folder.mkdir(parents=True)
    with pytest.raises(FabriscopeError, match="not added by fabriscope"):
        mpi_wheels.remove("mine")
    assert folder.is_dir()


def test_a_failed_installation_leaves_nothing_behind(machine: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.executable", str(put(machine / "path" / "python").parent / "false"))
    (machine / "path" / "false").symlink_to("/bin/false")
    with pytest.raises(FabriscopeError, match="failed"):
        mpi_wheels.add("mpich")
    assert not (mpi_wheels.own_folder() / "mpich").exists()
    with pytest.raises(FabriscopeError, match="known: intelmpi, mpich, openmpi"):
        mpi_wheels.add("lam")


def test_added_libraries_are_removed(machine: Path) -> None:
    prefix = mpi_wheels.own_folder() / "mpich"
    prefix.mkdir(parents=True)
    (prefix / "fabriscope-mpi.json").write_text("{}")
    assert mpi_wheels.add("mpich") == prefix
    assert mpi_wheels.remove("mpich") == prefix
    assert mpi_wheels.added() == {}
