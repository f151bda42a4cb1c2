"""What a site's own compiler is told, for each program that is compiled where it runs: from its sources to commands."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

_LIBRARIES = ("-lrt", "-ldl", "-pthread")
_SUFFIXES = (".cc", ".h", ".flags")
_FLAGS_FILE = "release.flags"
"""Beside the sources: what optimises the engine, for CMake and for the site's mpicxx alike."""


def units(source: Path, seen_at: str) -> dict[str, str]:
    """Return what is compiled at once: file name to text, one for each folder of the sources at `seen_at`.

    Most of the time goes into headers: 8 units take two fifths of what 80 files do.
    """
    folders: dict[Path, list[Path]] = {}
    for path in sorted([*source.glob("src/*.cc"), *source.glob("src/*/*.cc")]):
        folders.setdefault(path.parent, []).append(path.relative_to(source))
    return {
        f"{folder.name}.unit.cc": "".join(f'#include "{seen_at}/{path}"\n' for path in paths)
        for folder, paths in folders.items()
    }


def _of_npb(source: Path, seen_at: str) -> dict[str, str]:
    """Return likewise the units of the NAS kernels: each file on its own."""
    return _each([*sorted(source.glob("npb/*.cc")), source / "src" / "json.cc"], source, seen_at)


def _of_profiler(source: Path, seen_at: str) -> dict[str, str]:
    return _each(sorted(source.glob("profile/*.cc")), source, seen_at)


def _each(paths: Sequence[Path], source: Path, seen_at: str) -> dict[str, str]:
    return {f"{path.stem}.unit.cc": f'#include "{seen_at}/{path.relative_to(source)}"\n' for path in paths}


@dataclass(frozen=True)
class Recipe:
    """One program, or library, that is compiled with the MPI that it runs with."""

    name: str
    units: Callable[[Path, str], dict[str, str]]
    apart: frozenset[str]
    """Folders of the sources that are no part of it."""
    flags: tuple[str, ...] = ("-DFABRISCOPE_WITH_MPI",)
    link_flags: tuple[str, ...] = ()

    def files(self, source: Path) -> list[Path]:
        """Return the files that it is made of, and all that may be included."""
        files = (path for path in source.rglob("*") if path.suffix in _SUFFIXES)
        return sorted(path for path in files if self.apart.isdisjoint(path.relative_to(source).parts))


ENGINE = Recipe("fabriscope-engine", units, frozenset({"tests", "npb", "profile"}))
NPB = Recipe("fabriscope-npb", _of_npb, frozenset({"tests", "profile"}))
PROFILER = Recipe(
    "libfabriscope-profile.so",
    _of_profiler,
    frozenset({"tests", "npb", "src"}),
    # It is loaded into programs of others, and into what is no MPI program: it must bring no library with it, neither
    # the compiler's, of which the program may need a newer one, nor MPI's.
    flags=(
        *("-fPIC", "-fno-exceptions", "-fno-rtti", "-fno-threadsafe-statics"),
        *("-DOMPI_SKIP_MPICXX=1", "-DMPICH_SKIP_MPICXX=1"),
    ),
    link_flags=("-shared", "-Wl,--as-needed", "-Wl,-z,defs"),
)


def compile_words(source: Path, *, with_mpi: bool) -> list[str]:
    """Return one command that compiles the engine in a folder with `include`, `src`, and `units` of these.

    `{compiler}` and `{output}` are open.
    """
    seen = [f"units/{name}" for name in units(source, "..")]
    flags = _flags(source, Path(), ENGINE.flags if with_mpi else ())
    return ["{compiler}", *flags, *seen, "-o", "{output}", *_LIBRARIES]


def compile_steps(recipe: Recipe, mpicxx: str, source: Path, folder: Path) -> tuple[list[list[str]], list[str]]:
    """Return the commands that compile a program's units in a folder, in any order, and the one that links."""
    flags = _flags(source, source, recipe.flags)
    made = {unit: str(folder / unit.replace(".unit.cc", ".o")) for unit in recipe.units(source, str(source))}
    steps = [[mpicxx, *flags, "-c", str(folder / unit), "-o", output] for unit, output in made.items()]
    return steps, [mpicxx, *recipe.link_flags, *made.values(), "-o", str(folder / recipe.name), *_LIBRARIES]


def _flags(source: Path, seen_at: Path, flags: Sequence[str]) -> list[str]:
    optimised = (source / _FLAGS_FILE).read_text().split()
    includes = ["-I", str(seen_at / "include"), "-isystem", str(seen_at / "third_party/include")]
    return ["-std=c++17", *optimised, *flags, *includes]
