"""Where the engine is: the one that came with the package, and one for each MPI, compiled here on demand.

An MPI program must be compiled with the MPI that runs it. Plain commands of the site's own mpicxx build it from the
sources in the package; the result is kept by their content and the MPI's identity. What sees no MPI is compiled once
for all libraries of one compiler (`programs/objects.py`).
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import tempfile
import threading
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from fabriscope.model import caches, folders, native
from fabriscope.model.errors import LaunchError, ParseError, ToolMissing
from fabriscope.model.foreign import decode_json
from fabriscope.model.mpi import MpiStack
from fabriscope.programs import compilers, objects, recipes
from fabriscope.programs.compilers import COMPILE_TIMEOUT_S, Said
from fabriscope.programs.recipes import Recipe, Step

ENGINE_NAME = recipes.ENGINE.name
SOURCE_VARIABLE = "FABRISCOPE_ENGINE_SOURCE"

_PACKAGE = Path(__file__).parent
_SCRATCH = "compiling-"


def find_engine() -> Path:
    """Return the engine without MPI (TCP, shared memory, null); raises ToolMissing."""
    return native.program(ENGINE_NAME)


@dataclass(frozen=True)
class BuiltIn:
    """What the engine says of itself (`--list`)."""

    transports: frozenset[str]
    benchmarks: frozenset[str]
    left_out: Mapping[str, str]
    """Transports that it was built without, and why."""
    missing_library: Mapping[str, str]
    """Transports whose library cannot be loaded on this machine, and why."""


def list_plugins() -> BuiltIn:
    """Return what the engine was built with; raises ToolMissing or LaunchError."""
    engine = find_engine()
    try:
        done = subprocess.run([str(engine), "--list"], capture_output=True, timeout=10, check=False)
        listed = decode_json(done.stdout, ENGINE_NAME)
        transports, benchmarks = (
            frozenset(str(one["name"]) for one in listed[kind] if one.get("available", True))
            for kind in ("transports", "benchmarks")
        )
        left_out = {one["name"]: str(one.get("reason", "")) for one in listed["transports"]}
        missing = {one["name"]: str(one.get("missing_library", "")) for one in listed["transports"]}
        return BuiltIn(
            transports,
            benchmarks,
            {name: reason for name, reason in left_out.items() if name not in transports},
            {name: reason for name, reason in missing.items() if reason},
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise LaunchError(f"{ENGINE_NAME} --list does not answer: {error}", where=str(engine)) from error
    except (ParseError, KeyError, TypeError, AttributeError) as error:
        what = done.stderr.decode("utf-8", "replace").strip()[-500:] or "nothing"
        raise LaunchError(f"{ENGINE_NAME} --list said nothing readable: {what}", where=str(engine)) from error


def engine_source() -> Path:
    """Return the folder that holds the engine's `include` and `src`; raises ToolMissing."""
    given = os.environ.get(SOURCE_VARIABLE)
    candidates = [Path(given)] if given else [_PACKAGE / "engine", _PACKAGE.parents[1] / "engine"]
    for folder in candidates:
        if (folder / "include" / "fabriscope").is_dir() and (folder / "src").is_dir():
            return folder.absolute()
    looked = ", ".join(str(folder) for folder in candidates)
    raise ToolMissing(
        f"the engine's sources are not in {looked}", fix=f"set {SOURCE_VARIABLE} to the folder `engine` of a checkout"
    )


def build_mpi_engine(stack: MpiStack, cancel: threading.Event | None = None) -> Path:
    """Return the engine that was compiled with this MPI, compiling it if that was not done before.

    Safe to call from several processes at once. Raises ToolMissing without a compiler or sources, and LaunchError with
    the compiler's first errors and its log, if others can write in the cache, or once `cancel` is set.
    """
    return _build(recipes.ENGINE, stack, cancel or threading.Event())


def build_npb(stack: MpiStack, cancel: threading.Event | None = None) -> Path:
    """Return the program of the NAS kernels that was compiled with this MPI; as `build_mpi_engine`."""
    return _build(recipes.NPB, stack, cancel or threading.Event())


def build_profiler(stack: MpiStack, cancel: threading.Event | None = None) -> Path:
    """Return the library that profiles programs of this MPI; as `build_mpi_engine`."""
    return _build(recipes.PROFILER, stack, cancel or threading.Event())


def _build(recipe: Recipe, stack: MpiStack, cancel: threading.Event) -> Path:
    name = recipe.name
    if stack.mpicxx is None:
        raise ToolMissing(
            f"it has no mpicxx, so {name} cannot be compiled with it",
            where=f"MPI {stack.name} ({stack.mpirun})",
            fix="install its development package",
        )
    source = engine_source()
    folder = cache_folder() / _key(recipe, stack, source)
    program = folder / name
    folders.make(str(folder))
    caches.check(folder, LaunchError)
    caches.check(program, LaunchError)
    if program.is_file():
        return program
    with caches.locked(folder / "lock", COMPILE_TIMEOUT_S, LaunchError, cancel):
        if not program.is_file():
            for left in folder.glob(f"{_SCRATCH}*"):  # of one that was killed while it compiled
                shutil.rmtree(left, ignore_errors=True)
            _compile(recipe, stack, source, folder, cancel)
    return program


def cache_folder() -> Path:
    """Return the folder that keeps the compiled engines."""
    return caches.folder("engines")


def _compile(recipe: Recipe, stack: MpiStack, source: Path, folder: Path, cancel: threading.Event) -> None:
    """Compile as many units at once as there are cores, and link; the log holds every command and what it said."""
    name, log = recipe.name, folder / "build.log"
    with tempfile.TemporaryDirectory(prefix=_SCRATCH, dir=folder) as scratch:
        site = _Site(stack, Path(scratch), time.monotonic() + COMPILE_TIMEOUT_S, cancel)
        for unit, text in recipe.units(source, str(source)).items():
            (site.folder / unit).write_text(text)
        steps = recipes.compile_steps(recipe, source, site.folder)
        shared = objects.of_compiler(stack, recipes.code_flags(source, recipe.flags))
        with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
            said = list(pool.map(lambda step: site.compile(step, shared), steps))
        if all(one.is_done for one in said):
            said.append(site.run_wrapper(recipes.link_words(recipe, steps, site.folder)))
        if cancel.is_set():
            raise LaunchError(f"it was interrupted while {name} was compiled with it", where=f"MPI {stack.name}")
        log.write_text("\n".join(one.text for one in said))
        if not said[-1].is_done or not (output := site.folder / name).is_file():
            raise LaunchError(
                f"{name} cannot be compiled with it: {compilers.first_errors(said)}",
                where=f"MPI {stack.name} ({stack.mpicxx})",
                fix=f"the compiler's whole output is in {log}",
            )
        output.replace(folder / name)


@dataclass(frozen=True)
class _Site:
    """Where a program is compiled with an MPI library, and for how long."""

    stack: MpiStack
    folder: Path
    deadline_s: float
    cancel: threading.Event

    def compile(self, step: Step, shared: objects.Objects | None) -> Said:
        """Make an object: a kept one, or by the compiler alone to be kept, or by the library's wrapper."""
        if shared is None or step.content is None:
            return self.run_wrapper(step.words)
        compiler = shared.compiler
        said = shared.fetch(
            step, lambda: self._run([*compiler.command, *step.words], compiler.env), self.deadline_s, self.cancel
        )
        if said.is_done or self.cancel.is_set():
            return said
        by_wrapper = self.run_wrapper(step.words)
        return Said(by_wrapper.is_done, f"{by_wrapper.text}\nbefore that, without the library's wrapper:\n{said.text}")

    def run_wrapper(self, words: Sequence[str]) -> Said:
        return self._run([self.stack.mpicxx or "", *words], compilers.environment(self.stack))

    def _run(self, argv: Sequence[str], env: Mapping[str, str]) -> Said:
        return compilers.run_compiler(argv, env, self.folder, self.deadline_s, self.cancel)


def _key(recipe: Recipe, stack: MpiStack, source: Path) -> str:
    """Return a name for the sources' content and everything that the compiler wrapper says of itself."""
    digest = hashlib.sha256()
    for path in recipe.files(source):
        digest.update(f"{path.relative_to(source)}\0".encode() + path.read_bytes() + b"\0")
    for text in compilers.identity(stack):
        digest.update(f"{text}\0".encode())
    return f"{stack.kind}-{stack.version}-{digest.hexdigest()[:16]}"
