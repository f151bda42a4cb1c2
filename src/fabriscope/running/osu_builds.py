"""The OSU micro-benchmarks that a plan runs: found on PATH or in a folder, or built from their sources for each MPI.

A folder with a `configure`, or an archive of one, is built in the cache by the suite's own `configure` and `make`, and
kept by the content of the sources and the MPI's identity. None of it is shipped.
"""

from __future__ import annotations

import contextlib
import hashlib
import lzma
import os
import shutil
import tarfile
import tempfile
import threading
import time
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path

from fabriscope.adapters.osu import PROGRAMS
from fabriscope.model import caches, folders
from fabriscope.model.errors import LaunchError, ToolMissing
from fabriscope.model.mpi import MpiStack
from fabriscope.model.osu import INSTRUMENT, OsuBuild, OsuOptions
from fabriscope.plan import Plan
from fabriscope.programs import compilers

TIMEOUT_S = 900.0
CONFIGURE = "configure"
NOTHING = "there is no program of the OSU micro-benchmarks"
FIX = "name the folder that they were built, installed or unpacked in, or their archive: `osu: /path`"
_INSTALLED = "installed"
_SCRATCH = "compiling-"
_TYPED = b"mpi_float"
_MADE = shutil.ignore_patterns(
    "*.o", "*.lo", "*.la", ".libs", ".deps", "Makefile", "config.status", "config.log", ".git"
)
"""What a folder of sources has once somebody built in it."""
_NOT_ANEW = ("ACLOCAL=:", "AUTOCONF=:", "AUTOHEADER=:", "AUTOMAKE=:")
"""The times of a copy's files say nothing: what autotools made is not made again."""


def of_plan(
    plan: Plan, stacks: Mapping[str, MpiStack], notice: Callable[[str], None], cancel: threading.Event | None
) -> dict[str, OsuBuild]:
    """Return the suite by the name of the MPI library that it belongs to; nothing where the plan does not run it.

    Raises ToolMissing or LaunchError where the place that a plan names has no program of it, or cannot be built.
    """
    if INSTRUMENT not in plan.section.instruments:
        return {}
    found = {}
    options = plan.section.osu_options.options()
    for name, stack in stacks.items():
        place = place_of(plan, name)
        if place is None:
            found[name] = _build_of(_on_path(), options)
            continue
        if _is_source(place):
            notice(f"the OSU micro-benchmarks for {name} (compiled once, then kept)")
            place = build(place, stack, cancel or threading.Event())
        found[name] = _build_of(_programs_below(place), options)
        if not found[name].programs:
            raise ToolMissing(NOTHING, where=str(place), fix=FIX)
    return found


def place_of(plan: Plan, mpi_name: str) -> Path | None:
    """Return where a plan says that the suite of an MPI library is; None for PATH."""
    named = plan.section.osu
    place = named.get(mpi_name) if isinstance(named, dict) else named
    return None if place is None else Path(place)


def is_at(place: Path | None) -> bool:
    """Return whether there is anything of the suite: programs, or what they can be built from."""
    if place is None:
        return bool(_on_path())
    if not place.is_file():
        return _is_source(place) or bool(_programs_below(place))
    try:
        _check_archive(place)
    except LaunchError:
        return False
    return True


def _on_path() -> list[Path]:
    return [Path(path) for path in map(shutil.which, PROGRAMS) if path is not None]


def build(source: Path, stack: MpiStack, cancel: threading.Event) -> Path:
    """Return the folder of the suite as built from its sources, an archive or a folder, building it if it is not there.

    Safe to call from several processes at once. Raises ToolMissing without a compiler, and LaunchError with the first
    errors and the log where it cannot be built, or once `cancel` is set.
    """
    if stack.mpicxx is None:
        fix = "install its development package"
        raise ToolMissing("it has no mpicxx, so OSU cannot be built with it", where=f"MPI {stack.name}", fix=fix)
    if source.is_file():
        _check_archive(source)
    folder = caches.folder("osu") / _key(source, stack)
    folders.make(str(folder))
    caches.check(folder, LaunchError)
    installed = folder / _INSTALLED
    caches.check(installed, LaunchError)
    if installed.is_dir():
        return installed
    with caches.locked(folder / "lock", TIMEOUT_S, LaunchError):
        if not installed.is_dir():
            for left in folder.glob(f"{_SCRATCH}*"):  # of one that was killed while it compiled
                shutil.rmtree(left, ignore_errors=True)
            with tempfile.TemporaryDirectory(prefix=_SCRATCH, dir=folder) as scratch:
                _compile(source, stack, Path(scratch), folder, cancel)
    return installed


def digests(builds: Mapping[str, OsuBuild]) -> dict[str, str]:
    """Return one SHA-256 over the content of all programs of each build that can be read here."""
    found = {}
    for name, one in builds.items():
        digest = hashlib.sha256()
        for program, path in sorted(one.programs.items()):
            if os.access(path, os.R_OK):
                digest.update(f"{program}\0".encode() + Path(path).read_bytes())
        found[name] = digest.hexdigest()
    return found


def _is_source(place: Path) -> bool:
    return place.is_file() or ((place / CONFIGURE).is_file() and not _programs_below(place))


def _programs_below(folder: Path) -> list[Path]:
    """Return the programs that were built or installed in a folder; not those that libtool keeps to be linked anew."""
    found = (
        Path(root) / name for root, _, files in os.walk(folder) for name in sorted({*PROGRAMS}.intersection(files))
    )
    return sorted(path for path in found if path.parent.name != ".libs" and os.access(path, os.X_OK))


def _build_of(paths: Iterable[Path], options: OsuOptions) -> OsuBuild:
    programs = {path.name: str(path.absolute()) for path in paths}
    one = next(iter(programs.values()), None)
    return OsuBuild(programs, one is None or _TYPED in Path(one).read_bytes().lower(), options)


def _key(source: Path, stack: MpiStack) -> str:
    digest = hashlib.sha256()
    try:
        paths = [source] if source.is_file() else sorted(path for path in source.rglob("*") if path.is_file())
        for path in paths:
            digest.update(f"{path.relative_to(source)}\0".encode() + path.read_bytes() + b"\0")
    except OSError as error:
        raise LaunchError(f"it cannot be read: {error.strerror}", where=str(source)) from error
    for text in compilers.identity(stack):
        digest.update(f"{text}\0".encode())
    return f"{stack.kind}-{stack.version}-{digest.hexdigest()[:16]}"


def _compile(source: Path, stack: MpiStack, scratch: Path, folder: Path, cancel: threading.Event) -> None:
    """Configure, build and install in a scratch folder; only what is whole is moved to its place."""
    unpacked = _unpacked(source, scratch / "source")
    mpicxx = Path(stack.mpicxx or "")
    mpicc = mpicxx.with_name(mpicxx.name.replace("cxx", "cc"))
    deadline_s = time.monotonic() + TIMEOUT_S
    said = []
    made, env = scratch / _INSTALLED, compilers.environment(stack)
    for argv in (
        [f"./{CONFIGURE}", f"CC={mpicc}", f"CXX={mpicxx}", f"--prefix={made}", *_NOT_ANEW],
        ["make", f"-j{len(os.sched_getaffinity(0))}", "install", *_NOT_ANEW],
    ):
        said.append(compilers.run_compiler(argv, env, unpacked, deadline_s, cancel))
        if not said[-1].is_done:
            break
    if cancel.is_set():
        raise LaunchError("it was interrupted while OSU was built with it", where=f"MPI {stack.name}")
    log = folder / "build.log"
    log.write_text("\n".join(one.text for one in said))
    if not said[-1].is_done or not _programs_below(made):
        what = f"OSU cannot be built with it: {compilers.first_errors(said)}"
        raise LaunchError(what, where=f"MPI {stack.name} ({mpicc})", fix=f"the whole output is in {log}")
    made.replace(folder / _INSTALLED)


def _check_archive(source: Path) -> None:
    """Raise LaunchError for a file that is no whole archive of sources."""
    with _reading(source), tarfile.open(source) as archive:
        names = archive.getnames()
    if CONFIGURE not in {Path(name).name for name in names}:
        raise _no_sources(source)


@contextlib.contextmanager
def _reading(source: Path) -> Iterator[None]:
    """Raise LaunchError where sources cannot be read, in one sentence: Python has a line for each way that it tried."""
    try:
        yield
    except (OSError, tarfile.TarError, EOFError, zlib.error, lzma.LZMAError) as error:
        why = f": {error.strerror}" if isinstance(error, OSError) and error.strerror else ""
        what = f"it is no archive of sources that can be unpacked{why}"
        raise LaunchError(
            what, where=str(source), fix="name a .tar.gz, or the folder that it was unpacked in"
        ) from error


def _no_sources(source: Path) -> LaunchError:
    return LaunchError(f"there is no {CONFIGURE} in it", where=str(source), fix="name the sources of the suite")


def _extract(archive: tarfile.TarFile, folder: Path) -> None:
    """Unpack files and folders that stay below the folder; raises TarError for others."""
    if hasattr(tarfile, "data_filter"):
        archive.extractall(folder, filter="data")
        return
    for member in archive.getmembers():  # Python 3.11.2, as Debian 12 has it, knows no filters yet
        if (
            not (member.isfile() or member.isdir())
            or Path(member.name).is_absolute()
            or ".." in Path(member.name).parts
        ):
            raise tarfile.TarError(member.name)
        archive.extract(member, folder)


def _unpacked(source: Path, folder: Path) -> Path:
    """Return the folder of the sources that has `configure`, a copy of our own; raises LaunchError."""
    with _reading(source):
        if source.is_file():
            with tarfile.open(source) as archive:
                _extract(archive, folder)
        else:
            shutil.copytree(source, folder, ignore=_MADE)
    found = sorted(folder.rglob(CONFIGURE), key=lambda path: len(path.parts))
    if not found:
        raise _no_sources(source)
    found[0].chmod(0o700)
    return found[0].parent
