"""MPI libraries behind environment modules (Tcl modules, Lmod) and Spack: which there are, and what loading one sets.

A plan calls them `module:openmpi/5.0` and `spack:openmpi@5`. Several modules that need each other are loaded in order:
`module:gcc/12 openmpi/5.0`. Both systems print a shell's words for what they load; a shell of our own evaluates them
and says what its environment has become, so that nothing is loaded into ours.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from fabriscope.model import search_paths
from fabriscope.model.errors import ToolMissing

MODULE, SPACK = "module:", "spack:"
LOAD_TIMEOUT_S = 60.0

_LINES_TOLD = 2

_IS_MPI = re.compile(
    r"(^|[/_-])(open-?mpi|mpich|mvapich2?(-\w+)?|impi|(intel|oneapi)[/_-]?mpi|hpcx|mpi)([/_-]|$)", re.I
)
_SPACK_PACKAGES = ("openmpi", "mpich", "mvapich", "mvapich2", "mvapich-plus", "intel-oneapi-mpi", "intel-mpi")
_MODULE_PROGRAMS = (
    "/usr/share/lmod/lmod/libexec/lmod",
    "/usr/share/Modules/libexec/modulecmd.tcl",
    "/usr/lib/modulecmd.tcl",
    "/usr/lib/x86_64-linux-gnu/modulecmd.tcl",
)
# What a shell and the module systems keep for themselves.
_BOOKKEEPING = re.compile(
    r"_|PWD|OLDPWD|SHLVL|LOADEDMODULES|_LMFILES_|_ModuleTable.*|__LMOD.*|__MODULES.*|MODULES_.*|LMOD_.*|SPACK_LOADED_HASHES"
    r"|BASH_FUNC.*"
)
_LOAD = 'words=$("$@") && eval "$words" && exec env -0'
_PURGE_AND_LOAD = 'words=$("$0" sh purge) && eval "$words" && ' + _LOAD


@dataclass(frozen=True)
class Environment:
    """What loading one thing comes to."""

    variables: dict[str, str]
    """Those that it sets, PATH among them."""
    folders: tuple[Path, ...]
    """Where its programs are."""


def is_name(name: str) -> bool:
    """Return whether a name means a module or a package of Spack."""
    return name.startswith((MODULE, SPACK))


def names() -> list[str]:
    """Return the names of all modules and Spack packages that are MPI libraries, as their own names tell."""
    return [*_modules(), *_packages()]


def load(name: str) -> Environment:
    """Return the environment that a name stands for; raises ToolMissing if it cannot be loaded."""
    if name.startswith(MODULE):
        return _load_modules(name, name.removeprefix(MODULE).split())
    return _load_package(name, name.removeprefix(SPACK))


def module_program() -> str | None:
    """Return the program behind the shell's `module`: Lmod's or that of the Tcl modules; None without either."""
    home = os.environ.get("MODULESHOME", "")
    told = [os.environ.get("LMOD_CMD"), os.environ.get("MODULES_CMD")]
    told += [f"{home}/{place}" for place in ("libexec/lmod", "libexec/modulecmd.tcl", "bin/modulecmd")] if home else []
    known = (*told, *_MODULE_PROGRAMS, shutil.which("modulecmd"))
    return next((path for path in known if path and os.access(path, os.X_OK) and Path(path).is_file()), None)


def spack_program() -> str | None:
    """Return Spack's program: on PATH, or where `$SPACK_ROOT` says."""
    root = os.environ.get("SPACK_ROOT", "")
    return shutil.which("spack") or (shutil.which(f"{root}/bin/spack") if root else None)


def _modules() -> list[str]:
    """Return the modules whose names are those of MPI libraries; `module avail` writes to standard error."""
    program = module_program()
    if program is None or not os.environ.get("MODULEPATH"):
        return []
    said = _run([program, "sh", "-t", "avail"])
    # A line ends with `:` for a folder of modules, with `/` for a module that has versions, with `(default)` for one.
    lines = [re.sub(r"\s*(\(.*\)|<.*>)$", "", line.strip()) for line in (said.stderr + said.stdout).splitlines()]
    wanted = [line for line in lines if _IS_MPI.search(line) and not line.endswith((":", "/", ";")) and " " not in line]
    return [MODULE + line for line in dict.fromkeys(wanted) if "=" not in line]


def _packages() -> list[str]:
    program = spack_program()
    if program is None:
        return []
    said = _run([program, "find", "--format", "{name}@{version}/{hash:7}", *_SPACK_PACKAGES])
    return [SPACK + line.strip() for line in said.stdout.splitlines() if re.fullmatch(r"\s*[\w-]+@\S+/\w{7}\s*", line)]


def _load_modules(name: str, modules: Sequence[str]) -> Environment:
    program = module_program()
    if program is None:
        raise ToolMissing(
            f"there are no environment modules for {name!r}", fix="start from a shell that has `module`, or give a path"
        )
    words = [program, "sh", "load", *modules]
    said = _run(["/bin/sh", "-c", _LOAD, program, *words])
    if said.returncode != 0:  # it may conflict with what is loaded in the user's own shell
        second = _run(["/bin/sh", "-c", _PURGE_AND_LOAD, program, *words])
        said = said if second.returncode != 0 else second
    loaded = _environment(name, said)
    if not loaded.folders and all(_is_loaded(module) for module in modules):
        folders = loaded.variables.get("PATH", os.environ.get("PATH", os.defpath)).split(os.pathsep)
        return Environment(loaded.variables, tuple(Path(folder) for folder in folders if folder))
    return loaded


def _load_package(name: str, spec: str) -> Environment:
    program = spack_program()
    if program is None:
        raise ToolMissing(f"there is no Spack for {name!r}", fix="source its setup-env.sh first, or give a path")
    place = _run([program, "location", "-i", spec])
    if place.returncode != 0:
        raise ToolMissing(
            f"Spack does not know {name!r}: {_first(place.stderr)}", fix="`spack find` lists what there is"
        )
    loaded = _environment(name, _run(["/bin/sh", "-c", _LOAD, program, program, "load", "--sh", spec]))
    return Environment(loaded.variables, (Path(place.stdout.strip()) / "bin",))


def _environment(name: str, said: subprocess.CompletedProcess[str]) -> Environment:
    if said.returncode != 0:
        raise ToolMissing(
            f"{name!r} cannot be loaded: {_first(said.stderr)}", fix="`fabriscope mpi list` lists what there is"
        )
    now = dict(line.split("=", 1) for line in said.stdout.split("\0") if "=" in line)
    given = _given()
    variables = {
        key: search_paths.joined(value) if key in ("PATH", "LD_LIBRARY_PATH") else value
        for key, value in now.items()
        if given.get(key) != value and not _BOOKKEEPING.fullmatch(key) and key.isidentifier()
    }
    return Environment(variables, tuple(_brought(now.get("PATH", ""))))


def _brought(path: str) -> Iterator[Path]:
    """Yield the folders at the head of PATH that were put there."""
    folders, old = path.split(os.pathsep), os.environ.get("PATH", "").split(os.pathsep)
    while folders and old and folders[-1] == old[-1]:
        folders.pop()
        old.pop()
    yield from (Path(folder) for folder in folders if folder)


def _is_loaded(module: str) -> bool:
    """Return whether a module, with this or any version, is loaded in the shell that started us."""
    loaded = os.environ.get("LOADEDMODULES", "").split(os.pathsep)
    return any(one == module or one.startswith(f"{module}/") for one in loaded)


def _first(text: str) -> str:
    """Return the first lines that say something, without colours."""
    lines = [re.sub(r"\x1b\[[\d;]*m", "", line).strip() for line in text.splitlines()]
    return " ".join([line for line in lines if line][:_LINES_TOLD]) or "it says nothing"


def _given() -> dict[str, str]:
    """Return the environment that the programs are given: English, and no pager."""
    return {**os.environ, "LC_ALL": "C", "LMOD_PAGER": "none", "MODULES_PAGER": ""}


def _run(argv: Sequence[str]) -> subprocess.CompletedProcess[str]:
    """Return what a program says; one that cannot be started, or does not end, has failed."""
    try:
        return subprocess.run(
            argv,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            env=_given(),
            timeout=LOAD_TIMEOUT_S,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return subprocess.CompletedProcess(argv, 1, "", str(error))
