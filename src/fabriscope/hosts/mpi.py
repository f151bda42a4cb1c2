"""Finds the MPI libraries of the machine that we are on.

Looked for, in this order: `$FABRISCOPE_MPI_PATH` (prefixes or paths of mpirun, separated by colons), PATH (and with it
loaded modules), the virtual environment that we run in, what `fabriscope mpi add` installed, and the places where
distributions and oneAPI put theirs. Environment modules and Spack are asked where a name says so
(`module:openmpi/5.0`), and for `search_everywhere`: loading every one of them takes its time.
"""

from __future__ import annotations

import difflib
import filecmp
import os
import sys
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path

from fabriscope.hosts import _mpi_identity as identity
from fabriscope.hosts import mpi_environments, mpi_wheels
from fabriscope.model import folders
from fabriscope.model.errors import ToolMissing
from fabriscope.model.home import expanded
from fabriscope.model.mpi import MpiStack

PATH_VARIABLE = "FABRISCOPE_MPI_PATH"

_LOADED_AT_ONCE = 8

_PROGRAMS = ("mpiexec.hydra", "mpirun", "mpiexec", "mpirun.openmpi", "mpirun.mpich", "mpiexec.mpich")
_DISTRIBUTION_FOLDERS = (
    "/usr/lib64/*/bin",
    "/usr/lib/*/openmpi/bin",
    "/usr/bin",
    "/usr/local/bin",
    "/opt/intel/oneapi/mpi/latest/bin",
    "/opt/*mpi*/bin",
)


@dataclass(frozen=True)
class Found:
    """One mpirun (or module, or package of Spack): the installation that it belongs to, or why we cannot use it."""

    mpirun: str
    stack: MpiStack | None
    problem: str | None = None


def search() -> list[Found]:
    """Return every MPI library once, those we cannot drive included; names are unique."""
    found: list[Found] = []
    names: set[str] = set()
    seen: set[Path] = set()
    others = _of_others()
    for path, wanted_name in _candidates():
        real = path.resolve()
        if real in seen or (path not in others and _is_copy(real, seen)):
            continue
        seen.add(real)
        one = examine(path) if path not in others else Found(str(path), None, others[path])
        if one.stack is None:
            found.append(one)
        elif not any(_is_same(one.stack, other.stack) for other in found):
            name = _unique(wanted_name or f"{one.stack.kind.rstrip('45')}-{one.stack.version}", names)
            found.append(replace(one, stack=replace(one.stack, name=name)))
    refused = mpi_wheels.refused().items()
    return [*found, *(Found(prefix, None, f"what is kept there is not executed: {why}") for prefix, why in refused)]


def _is_copy(program: Path, asked: Iterable[Path]) -> bool:
    """Return whether the same program beside it was asked: wheels have copies where others have links."""
    try:
        return any(one.parent == program.parent and filecmp.cmp(one, program, shallow=False) for one in asked)
    except OSError:
        return False


def search_everywhere() -> list[Found]:
    """Return what `search` does, and every MPI library that environment modules and Spack offer, loaded or not."""
    with ThreadPoolExecutor(_LOADED_AT_ONCE) as pool:
        offered = pool.map(_offered, mpi_environments.names())
        return [*search(), *offered]


def _offered(name: str) -> Found:
    try:
        stack = _loaded(name)
        return Found(stack.mpirun, stack)
    except ToolMissing as error:
        return Found(name, None, error.what)


def stacks() -> list[MpiStack]:
    """Return the MPI libraries that we can drive, those looked for first first."""
    return [found.stack for found in search() if found.stack is not None]


def find(name: str, path: str | None = None) -> MpiStack:
    """Return the MPI library of that name or kind, or the one at `path` (a prefix or an mpirun), called `name`.

    Several libraries of one kind: the first found. `module:...` and `spack:...` are loaded. Raises ToolMissing.
    """
    if mpi_environments.is_name(name):
        return _loaded(name)
    if path is not None:
        return _at(name, path)
    for mpirun, why in _of_others().items():
        raise ToolMissing(why, where=str(mpirun), fix="mend that, or name a folder that only you can write")
    known = stacks()
    for stack in known:
        if name in (stack.name, stack.mpirun):
            return stack
    for stack in known:
        if name in (stack.kind, stack.kind.rstrip("45")):
            return replace(stack, name=name)
    if os.sep in name:
        return _at(Path(name).name, name)
    listed = ", ".join(stack.name for stack in known) or "none"
    written = {"impi": "intelmpi", "ompi": "openmpi"}.get(name.lower(), name.lower())
    begun = [stack.name for stack in known if stack.name.startswith(written)]
    near = begun or difflib.get_close_matches(written, [stack.name for stack in known], n=1, cutoff=0.8)
    meant = f"did you mean {near[0]!r}? " if near else ""
    hint = f"`fabriscope mpi add {name}` installs it; " if name in mpi_wheels.PACKAGES else ""
    raise ToolMissing(f"there is no MPI library {name!r} on this machine", fix=f"{hint}{meant}found: {listed}")


def examine(mpirun: Path, variables: Mapping[str, str] | None = None) -> Found:
    """Return what an mpirun belongs to; the variables that it is given win over what we would set ourselves."""
    place = identity.installation(mpirun)
    env = {**place.env, **(variables or {})}
    answer = identity.ask([str(mpirun), "--version"], env)
    if answer.problem:
        return Found(str(mpirun), None, answer.problem)
    more = identity.ask(place.mpichversion, env).text if place.mpichversion else ""
    known = identity.identify(answer.text, more)
    if known is None:
        said = answer.text.strip().splitlines() or ["nothing"]
        return Found(str(mpirun), None, f"we do not know the MPI that says: {said[0][:100]}")
    stack = MpiStack(
        name=f"{known.kind}-{known.version}",
        kind=known.kind,
        version=known.version,
        mpirun=str(mpirun),
        mpicxx=str(place.mpicxx) if place.mpicxx else None,
        env=env,
        device=known.device,
    )
    return Found(str(mpirun), stack)


def _of_others() -> dict[Path, str]:
    """Return what `FABRISCOPE_MPI_PATH` names and others may have written, which is not executed, and why."""
    found: dict[Path, str] = {}
    for path in _given():
        try:
            why = folders.problem(str(path))
        except OSError as error:
            why = f"it cannot be looked at: {error.strerror}"
        if why is not None:
            found[path] = f"what {PATH_VARIABLE} names is not executed: {why}"
    return found


def _loaded(name: str) -> MpiStack:
    """Return the MPI library that a module or a package of Spack brings; raises ToolMissing."""
    environment = mpi_environments.load(name)
    mpirun = next((path for folder in environment.folders for path in _mpiruns_in(folder)), None)
    if mpirun is None:
        raise ToolMissing(f"{name!r} brings no mpirun or mpiexec", fix="`fabriscope mpi list` lists those that do")
    found = examine(mpirun, environment.variables)
    if found.stack is None:
        raise ToolMissing(f"{name!r} cannot be used: {found.problem}", where=str(mpirun))
    return replace(found.stack, name=name)


def _at(name: str, path: str) -> MpiStack:
    mpirun = next(_mpiruns_at(expanded(path)), None)
    if mpirun is None:
        raise ToolMissing("there is no mpirun or mpiexec", where=path, fix="give the prefix, or mpirun's own path")
    found = examine(mpirun)
    if found.stack is None:
        raise ToolMissing(found.problem or "it cannot be used", where=str(mpirun))
    return replace(found.stack, name=name)


def _candidates() -> Iterator[tuple[Path, str | None]]:
    """Yield every mpirun with the name that its place gives it, if any."""
    yield from ((path, None) for path in _given())
    own = {prefix / "bin": name for name, prefix in mpi_wheels.added().items()}
    folders = [Path(folder) for folder in os.environ.get("PATH", os.defpath).split(os.pathsep) if folder]
    folders += [Path(sys.prefix) / "bin", *own]
    for pattern in _DISTRIBUTION_FOLDERS:
        folders += sorted(Path("/").glob(pattern.lstrip("/")))
    for folder in dict.fromkeys(folders):
        yield from ((path, own.get(folder)) for path in _mpiruns_in(folder))


def _given() -> Iterator[Path]:
    """Yield every mpirun that `FABRISCOPE_MPI_PATH` names."""
    for given in os.environ.get(PATH_VARIABLE, "").split(os.pathsep):
        if given:
            yield from _mpiruns_at(expanded(given))


def _mpiruns_at(path: Path) -> Iterator[Path]:
    if path.is_file():
        yield path.absolute()
        return
    for folder in (path / "bin", path):
        mpirun = next(_mpiruns_in(folder), None)
        if mpirun is not None:
            yield mpirun
            return


def _mpiruns_in(folder: Path) -> Iterator[Path]:
    for program in _PROGRAMS:
        path = folder / program
        try:
            if path.is_file() and os.access(path, os.X_OK):
                yield path.absolute()
        except OSError:  # a folder of PATH that we may not enter
            return


def _is_same(one: MpiStack, other: MpiStack | None) -> bool:
    """Return whether two paths lead to one installation: its folder holds several names of one launcher."""
    if other is None:
        return False
    return (one.kind, one.version, Path(one.mpirun).parent) == (other.kind, other.version, Path(other.mpirun).parent)


def _unique(name: str, taken: set[str]) -> str:
    number = 1
    unique = name
    while unique in taken:
        number += 1
        unique = f"{name}-{number}"
    taken.add(unique)
    return unique
