"""What a site's own compiler is told, for each program that is compiled where it runs: from its sources to commands."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from fabriscope.programs.includes import Included, Tree

_LIBRARIES = ("-lrt", "-ldl", "-pthread")
_SUFFIXES = (".cc", ".h", ".flags")
_FLAGS_FILE = "release.flags"
"""Beside the sources: what optimises the engine, for CMake and for the site's mpicxx alike."""
_HEADERS = ("include", "third_party/include")


def units(source: Path, seen_at: str) -> dict[str, str]:
    """Return what is compiled at once: file name to text, one for each folder of the sources at `seen_at`.

    Most of the time goes into headers: 8 units take two fifths of what 80 files do.
    """
    return {f"{folder}.unit.cc": _including(paths, source, seen_at) for folder, paths in _folders(source).items()}


def _of_engine(source: Path, seen_at: str) -> dict[str, str]:
    """Return likewise the units of the engine; what sees mpi.h stands apart where most of its folder needs no MPI."""
    parts, tree = {}, headers(source)
    for folder, paths in _folders(source).items():
        seeing = [path for path in paths if sees_mpi(tree.included(path.read_text(), path.parent))]
        is_parted = 0 < 2 * len(seeing) < len(paths)
        parts[folder] = [path for path in paths if path not in seeing] if is_parted else paths
        if is_parted:
            parts[f"{folder}-mpi"] = seeing
    return {f"{name}.unit.cc": _including(paths, source, seen_at) for name, paths in parts.items()}


def _folders(source: Path) -> dict[str, list[Path]]:
    folders: dict[str, list[Path]] = {}
    for path in sorted([*source.glob("src/*.cc"), *source.glob("src/*/*.cc")]):
        folders.setdefault(path.parent.name, []).append(path)
    return folders


def _of_npb(source: Path, seen_at: str) -> dict[str, str]:
    """Return likewise the units of the NAS kernels: each file on its own."""
    return _each([*sorted(source.glob("npb/*.cc")), source / "src" / "json.cc"], source, seen_at)


def _of_profiler(source: Path, seen_at: str) -> dict[str, str]:
    return _each(sorted(source.glob("profile/*.cc")), source, seen_at)


def _each(paths: Sequence[Path], source: Path, seen_at: str) -> dict[str, str]:
    return {f"{path.stem}.unit.cc": _including([path], source, seen_at) for path in paths}


def _including(paths: Sequence[Path], source: Path, seen_at: str) -> str:
    return "".join(f'#include "{seen_at}/{path.relative_to(source)}"\n' for path in paths)


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


ENGINE = Recipe("fabriscope-engine", _of_engine, frozenset({"tests", "npb", "profile"}))
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
    flags = code_flags(source, ENGINE.flags if with_mpi else ())
    return ["{compiler}", *flags, *_header_flags(Path()), *seen, "-o", "{output}", *_LIBRARIES]


@dataclass(frozen=True)
class Step:
    """How one unit becomes an object."""

    unit: str
    words: tuple[str, ...]
    """What a compiler is told."""
    output: Path
    content: str | None
    """Digest of all that it is made of, the flags with it; None where it sees mpi.h, and so depends on a library."""


def compile_steps(recipe: Recipe, source: Path, folder: Path) -> list[Step]:
    """Return how a program's units, which are in a folder, are compiled there, in any order."""
    flags, tree, steps = code_flags(source, recipe.flags), headers(source), []
    for (unit, text), as_kept in zip(
        recipe.units(source, str(source)).items(), recipe.units(source, "..").values(), strict=True
    ):
        output = folder / unit.replace(".unit.cc", ".o")
        words = (*flags, *_header_flags(source), "-c", str(folder / unit), "-o", str(output))
        included = tree.included(text, folder)
        content = None if sees_mpi(included) else _digest(source, included, [unit, as_kept, *flags])
        steps.append(Step(unit, words, output, content))
    return steps


def link_words(recipe: Recipe, steps: Sequence[Step], folder: Path) -> list[str]:
    """Return what a compiler is told to make a program of its objects."""
    objects = [str(step.output) for step in steps]
    return [*recipe.link_flags, *objects, "-o", str(folder / recipe.name), *_LIBRARIES]


def sees_mpi(included: Included) -> bool:
    """Return whether an MPI library's header is among them, or may be."""
    return not included.is_complete or any(name.rpartition("/")[2].startswith("mpi") for name in included.others)


def code_flags(source: Path, flags: Sequence[str]) -> list[str]:
    """Return, with a recipe's flags, all that say what code is made."""
    return ["-std=c++17", *(source / _FLAGS_FILE).read_text().split(), *flags]


def _header_flags(source: Path) -> list[str]:
    ours, theirs = (str(source / folder) for folder in _HEADERS)
    return ["-I", ours, "-isystem", theirs]


def headers(source: Path) -> Tree:
    """Return the folders whose headers the sources include."""
    return Tree([source / folder for folder in _HEADERS])


def _digest(source: Path, included: Included, texts: Sequence[str]) -> str:
    digest, root = hashlib.sha256(), source.resolve()
    for text in texts:
        digest.update(f"{text}\0".encode())
    for path in sorted(included.files):
        name = path.relative_to(root) if path.is_relative_to(root) else path
        digest.update(f"{name}\0".encode() + path.read_bytes() + b"\0")
    return digest.hexdigest()
