"""MPI libraries behind environment modules and Spack: with the real Tcl modules and Lmod if present, and stand-ins."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest
from click.testing import CliRunner
from tests import needs

from fabriscope.cli.mpi import COMMAND
from fabriscope.hosts import mpi, mpi_environments
from fabriscope.model.errors import ToolMissing

VERSION = "mpirun (Open MPI) {}\n"

# What `modulecmd sh` does, for the modules of a folder: files of shell.
MODULECMD = """
[ "$1" = sh ] || exit 9
shift
case "$*" in
  "-t avail")
    echo "$MODULEPATH:" >&2
    (cd "$MODULEPATH" && find . -type f | sed 's|^./||' | sort | sed 's|/5.0$|/5.0(default)|') >&2 ;;
  purge) echo 'unset LOADED;' ;;
  load*)
    shift
    for module in "$@"; do
      if [ ! -f "$MODULEPATH/$module" ]; then
        echo "ERROR: Unable to locate a modulefile for '$module'" >&2
        echo 'test 0 = 1;'
        exit 0
      fi
      cat "$MODULEPATH/$module"
    done ;;
esac
"""
# The output of Spack 0.23 and 1.0 (`spack find --format`, `location -i`, `load --sh`), for one package.
SPACK = """
case "$*" in
  "find --format {name}@{version}/{hash:7} "*) echo 'openmpi@5.0.5/k3xq2ab' ;;
  "location -i openmpi@5"|"location -i openmpi@5.0.5/k3xq2ab") echo '%(prefix)s' ;;
  "load --sh openmpi@5"|"load --sh openmpi@5.0.5/k3xq2ab")
    echo "export CMAKE_PREFIX_PATH=%(prefix)s;"
    echo "export LD_LIBRARY_PATH=%(prefix)s/lib;"
    echo "export PATH=%(prefix)s/bin:$PATH;"
    echo "export SPACK_LOADED_HASHES=k3xq2abmhv2;" ;;
  *) echo "==> Error: No package matches the query: ${*##* }" >&2; exit 1 ;;
esac
"""


def put(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{text}")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return path


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder with three installations of Open MPI, and nothing else where an MPI is looked for."""
    for version in ("4.1", "5.0", "5.1"):
        put(tmp_path / version / "bin" / "mpirun", f"echo '{VERSION.format(version).strip()}'; echo '# '$NEEDED\n")
        put(tmp_path / version / "bin" / "mpicxx", "true\n")
    for variable in (
        "LMOD_CMD",
        "MODULES_CMD",
        "MODULESHOME",
        "MODULEPATH",
        "LOADEDMODULES",
        "SPACK_ROOT",
        "_LMFILES_",
    ):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    monkeypatch.setattr(mpi_environments, "_MODULE_PROGRAMS", ())
    monkeypatch.setattr(mpi_environments, "spack_program", lambda: None)
    return tmp_path


def shell_modules(machine: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Put modules behind the stand-in."""
    folder = machine / "modules"
    for version in ("4.1", "5.0"):
        text = f'PATH={machine}/{version}/bin:$PATH; export PATH; SITE_MPI="{version} of the site"; export SITE_MPI;\n'
        if version == "4.1":
            text = '[ "$LOADED" ] && exit 1;\n' + text
        put(folder / "openmpi" / version, text)
    put(folder / "gcc" / "12", "NEEDED=gcc; export NEEDED;\n")
    put(folder / "openmpi-docs" / "1", "X=1; export X;\n")
    monkeypatch.setenv("MODULES_CMD", str(put(machine / "modulecmd", MODULECMD)))
    monkeypatch.setenv("MODULEPATH", str(folder))


def tcl_modules(machine: Path, monkeypatch: pytest.MonkeyPatch, program: str, variable: str) -> None:
    """Put the same modules behind a real program."""
    folder = machine / "modulefiles"
    for version in ("4.1", "5.0"):
        path = folder / "openmpi" / version
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(
            f"#%Module1.0\nconflict openmpi\nprepend-path PATH {machine}/{version}/bin\n"
            f"prepend-path LD_LIBRARY_PATH {machine}/{version}/lib\nsetenv SITE_MPI {{{version} of the site}}\n"
        )
    (folder / "gcc").mkdir()
    (folder / "gcc" / "12").write_text("#%Module1.0\nsetenv NEEDED gcc\n")
    (folder / "openmpi-docs").mkdir()
    (folder / "openmpi-docs" / "1").write_text("#%Module1.0\nsetenv X 1\n")
    monkeypatch.setenv(variable, program)
    monkeypatch.setenv("MODULEPATH", str(folder))


@pytest.fixture(params=["stand-in", "tcl", "lmod"])
def modules(request: pytest.FixtureRequest, machine: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    if request.param == "stand-in":
        shell_modules(machine, monkeypatch)
    elif request.param == "tcl":
        tcl_modules(machine, monkeypatch, str(needs.file("/usr/lib/*/modulecmd.tcl")), "MODULES_CMD")
    else:
        tcl_modules(machine, monkeypatch, needs.lmod(), "LMOD_CMD")
    return machine


def test_modules_of_mpi_libraries_are_listed(modules: Path) -> None:
    expected = ["module:openmpi-docs/1", "module:openmpi/4.1", "module:openmpi/5.0"]
    assert sorted(mpi_environments.names()) == expected


def test_a_module_is_loaded_with_everything_that_it_sets(modules: Path) -> None:
    stack = mpi.find("module:openmpi/5.0")
    assert (stack.name, stack.kind, stack.version) == ("module:openmpi/5.0", "openmpi5", "5.0")
    assert (stack.mpirun, stack.mpicxx) == (str(modules / "5.0/bin/mpirun"), str(modules / "5.0/bin/mpicxx"))
    assert stack.env["SITE_MPI"] == "5.0 of the site"
    assert stack.env["PATH"] == f"{modules}/5.0/bin:/usr/bin:/bin"
    assert set(stack.env) <= {"SITE_MPI", "PATH", "LD_LIBRARY_PATH"}
    assert "SITE_MPI" not in os.environ


def test_modules_that_need_each_other_are_loaded_in_order(modules: Path) -> None:
    assert mpi.find("module:gcc/12 openmpi/5.0").env["NEEDED"] == "gcc"


def test_a_module_that_cannot_be_loaded_is_one_sentence(modules: Path) -> None:
    with pytest.raises(ToolMissing, match=r"'module:openmpi/9' cannot be loaded: .*openmpi/9"):
        mpi.find("module:openmpi/9")
    with pytest.raises(ToolMissing, match="'module:openmpi-docs/1' brings no mpirun"):
        mpi.find("module:openmpi-docs/1")


def test_a_module_that_is_loaded_in_the_shell_is_found(modules: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for key, value in mpi_environments.load("module:openmpi/5.0").variables.items():
        monkeypatch.setenv(key, value)
    monkeypatch.setenv("LOADEDMODULES", "openmpi/5.0")
    monkeypatch.setenv("_LMFILES_", f"{os.environ['MODULEPATH']}/openmpi/5.0")
    monkeypatch.setenv("LOADED", "1")
    assert mpi.find("module:openmpi/5.0").mpirun == str(modules / "5.0/bin/mpirun")
    other = mpi.find("module:openmpi/4.1")
    assert (other.mpirun, other.env["SITE_MPI"]) == (str(modules / "4.1/bin/mpirun"), "4.1 of the site")


def test_mpi_list_shows_modules_by_the_names_that_plans_use(modules: Path) -> None:
    said = CliRunner().invoke(COMMAND, ["list"]).output
    assert f"module:openmpi/5.0       openmpi5 5.0, {modules}/5.0/bin/mpirun" in said
    assert "'module:openmpi-docs/1' brings no mpirun" in said


def test_without_modules_or_spack_the_names_say_so(machine: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(machine))
    assert mpi_environments.names() == []
    with pytest.raises(ToolMissing, match="no environment modules for 'module:openmpi'"):
        mpi.find("module:openmpi")
    with pytest.raises(ToolMissing, match="no Spack for 'spack:openmpi'"):
        mpi.find("spack:openmpi")


def test_packages_of_spack(machine: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = str(put(machine / "spack" / "bin" / "spack", SPACK % {"prefix": machine / "5.1"}))
    monkeypatch.setattr(mpi_environments, "spack_program", lambda: program)
    assert mpi_environments.names() == ["spack:openmpi@5.0.5/k3xq2ab"]
    stack = mpi.find("spack:openmpi@5")
    assert (stack.name, stack.mpirun) == ("spack:openmpi@5", str(machine / "5.1/bin/mpirun"))
    assert stack.env == {
        "CMAKE_PREFIX_PATH": str(machine / "5.1"),
        "LD_LIBRARY_PATH": f"{machine}/5.1/lib",
        "PATH": f"{machine}/5.1/bin:/usr/bin:/bin",
    }
    with pytest.raises(ToolMissing, match="Spack does not know 'spack:mpich': ==> Error: No package matches the query"):
        mpi.find("spack:mpich")


@pytest.mark.parametrize(
    ("line", "is_one"),
    [
        ("openmpi/5.0", True), ("mpi/openmpi-x86_64", True), ("OpenMPI/4.1.6-GCC-13.2.0", True), ("impi/2021.13", True),
        ("mvapich2-x/2.3", True), ("intel/mpi/2021", True), ("hpcx/2.20", True), ("gcc/12", False),
        ("hdf5/1.14-openmpi", True), ("simpi/1", False),
    ],
)  # fmt: skip
def test_names_of_mpi_modules(line: str, is_one: bool) -> None:
    assert bool(mpi_environments._IS_MPI.search(line)) == is_one
