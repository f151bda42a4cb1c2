"""Runs somebody's own program over MPI while a library counts its calls, and reads what its ranks left."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from fabriscope.hosts import access, launcher_words, mpi
from fabriscope.launch import in_front
from fabriscope.launch.in_front import Ending
from fabriscope.model import profile_file, search_paths
from fabriscope.model.errors import HostError, ParseError, ToolMissing
from fabriscope.model.host import HERE
from fabriscope.model.mpi import MpiStack
from fabriscope.model.profile import Profile
from fabriscope.running.program_place import Place

FOLDER_VARIABLE = "FABRISCOPE_PROFILE"
_ENV_LIST = "OMPI_MCA_mca_base_env_list"
"""By which Open MPI is told what else of mpirun's environment the ranks on other hosts are to have."""
_LDD_S = 20.0
_LIBMPI = re.compile(r"=> (/\S*/libmpi[A-Za-z]*\.so\S*)|=> (/\S*/libmpich\S*)")
_KIND_OF_FILE = {"libmpi.so.40": "openmpi", "libmpi.so.12": "mpich", "libmpich.so.12": "mpich"}
_UNSAFE = frozenset(" :;")
"""What the loader takes for the end of a path."""


@dataclass(frozen=True)
class Profiled:
    """What became of a program."""

    ending: Ending
    jobs: Sequence[Profile]
    problems: Sequence[str]
    """Files of ranks that cannot be read."""


def stack_of(argv: Sequence[str], name: str | None) -> MpiStack:
    """Return the MPI library of a program: the one named, else its launcher's, else the one that it is linked with.

    Raises ToolMissing where nobody can tell.
    """
    if name is not None:
        return mpi.find(name)
    found = [path for word in argv if (path := _program(word)) is not None]
    for path in found:
        if launcher_words.is_mpirun(path.name) and (stack := mpi.examine(path).stack) is not None:
            return stack
    for path in found:
        if (library := _library_of(path)) is not None and (stack := _with(library)) is not None:
            return stack
    known = mpi.stacks()
    if len(known) == 1:
        return known[0]
    listed = ", ".join(one.name for one in known) or "none: `fabriscope mpi add openmpi` installs one"
    raise ToolMissing(
        f"nothing in the command tells which MPI library it is of: {listed}",
        fix="name it: --mpi NAME, or the path of its mpirun",
    )


def _program(word: str) -> Path | None:
    """Return the path of a word that is a program, as it would be started."""
    found = shutil.which(word, path=search_paths.given().get("PATH"))
    return None if found is None else Path(found)


def _library_of(program: Path) -> Path | None:
    """Return the MPI library that a program is linked with; None for scripts, and without one."""
    with contextlib.suppress(OSError), program.open("rb") as file:
        if file.read(4) != b"\x7fELF":
            return None
    said = access.run(HERE, ("ldd", str(program)), _LDD_S).stdout
    hit = _LIBMPI.search(said)
    return None if hit is None else Path(hit[1] or hit[2])


def _with(library: Path) -> MpiStack | None:
    """Return the installation in whose folder a library lies, else the first of its kind."""
    known = mpi.stacks()
    for stack in known:
        prefix = Path(stack.mpirun).parent.parent
        if str(prefix) not in ("/", "/usr") and library.resolve().is_relative_to(prefix.resolve()):
            return stack
    kind = next((kind for name, kind in _KIND_OF_FILE.items() if library.name.startswith(name)), None)
    return next((stack for stack in known if kind is not None and stack.kind.startswith(kind)), None)


def run(argv: Sequence[str], place: Place, library: Path, folder: Path | None) -> Profiled:
    """Run a program where the place says, and return what its ranks left in a folder of ours inside of `folder`.

    Without `folder` that is the current one, or if nothing can be written there the one for temporary files. Raises
    HostError, ToolMissing or LaunchError before it starts.
    """
    with _folder(folder) as mine:
        env = {**place.env, **_variables(_loadable(library, mine), mine)}
        ending = in_front.run(argv, env, access=place.access)
        return Profiled(ending, *_read(mine))


@contextlib.contextmanager
def _folder(wanted: Path | None) -> Iterator[Path]:
    """Yield a new folder that goes with the block."""
    reasons = []
    for above in [wanted] if wanted is not None else [Path.cwd(), Path(tempfile.gettempdir())]:
        try:
            made = Path(tempfile.mkdtemp(prefix="fabriscope-profile-", dir=above)).absolute()
        except OSError as error:
            reasons.append(f"{above}: {error.strerror}")
            continue
        try:
            yield made
        finally:
            shutil.rmtree(made, ignore_errors=True)
        return
    what = f"no folder can be made for what the ranks write: {'; '.join(reasons)}"
    raise HostError(what, fix="name one that all hosts can write to: --folder DIR")


def _loadable(library: Path, folder: Path) -> Path:
    """Return a path of the library that the loader takes as one: a copy, where its own has a space or a colon."""
    if _UNSAFE.isdisjoint(str(library)):
        return library
    if not _UNSAFE.isdisjoint(str(folder)):
        what = f"the loader cannot be told of {library}: its path has a space or a colon"
        raise HostError(what, fix="name a folder without either, which all hosts see: --folder DIR")
    return Path(shutil.copy2(library, folder / library.name))


def _variables(library: Path, folder: Path) -> dict[str, str]:
    names = ["LD_PRELOAD", FOLDER_VARIABLE]
    others = os.environ.get(_ENV_LIST)
    return {
        "LD_PRELOAD": ":".join(filter(None, (str(library), os.environ.get("LD_PRELOAD")))),
        FOLDER_VARIABLE: str(folder),
        _ENV_LIST: ";".join(filter(None, (others, *names))),
    }


def _read(folder: Path) -> tuple[list[Profile], list[str]]:
    files, problems = [], []
    for path in sorted(folder.glob("*.profile")):
        try:
            files += profile_file.read(path.read_bytes(), path.name)
        except ParseError as error:
            problems.append(str(error))
        except OSError as error:
            problems.append(f"{path.name}: {error.strerror}")
    return profile_file.jobs(files), problems
