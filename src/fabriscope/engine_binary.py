"""Where the engine is: the one that came with the package, and one for each MPI, compiled here on demand.

An MPI program must be compiled with the MPI that runs it. Plain commands of the site's own mpicxx build it from the
sources in the package; the result is kept by their content and the MPI's identity.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import platform
import shutil
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from fabriscope.model import caches, folders, native, recipes
from fabriscope.model.errors import LaunchError, ParseError, ToolMissing
from fabriscope.model.foreign import decode_json
from fabriscope.model.mpi import MpiStack
from fabriscope.model.recipes import Recipe

ENGINE_NAME = recipes.ENGINE.name
SOURCE_VARIABLE = "FABRISCOPE_ENGINE_SOURCE"
COMPILE_TIMEOUT_S = 900.0

_PACKAGE = Path(__file__).parent
_ERROR_LINES = 3
_SCRATCH = "compiling-"
_POLL_S = 0.2
_KILL_S = 10.0


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
    with caches.locked(folder / "lock", COMPILE_TIMEOUT_S, LaunchError):
        if not program.is_file():
            for left in folder.glob(f"{_SCRATCH}*"):  # of one that was killed while it compiled
                shutil.rmtree(left, ignore_errors=True)
            _compile(recipe, stack, source, folder, cancel)
    return program


def version_words(stack: MpiStack) -> str:
    """Return what the MPI's mpirun says of its version."""
    return _ask([stack.mpirun, "--version"], stack, with_errors=True)


def cache_folder() -> Path:
    """Return the folder that keeps the compiled engines."""
    return caches.folder("engines")


def _compile(recipe: Recipe, stack: MpiStack, source: Path, folder: Path, cancel: threading.Event) -> None:
    """Compile as many units at once as there are cores, and link; the log holds every command and what it said."""
    name, log = recipe.name, folder / "build.log"
    deadline_s = time.monotonic() + COMPILE_TIMEOUT_S
    with tempfile.TemporaryDirectory(prefix=_SCRATCH, dir=folder) as scratch:
        for unit, text in recipe.units(source, str(source)).items():
            (Path(scratch) / unit).write_text(text)
        steps, link = recipes.compile_steps(recipe, stack.mpicxx or "", source, Path(scratch))
        with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
            said = list(pool.map(lambda argv: run_compiler(argv, stack, Path(scratch), deadline_s, cancel), steps))
        if all(one.is_done for one in said):
            said.append(run_compiler(link, stack, Path(scratch), deadline_s, cancel))
        if cancel.is_set():
            raise LaunchError(f"it was interrupted while {name} was compiled with it", where=f"MPI {stack.name}")
        log.write_text("\n".join(one.text for one in said))
        if not said[-1].is_done or not (output := Path(scratch) / name).is_file():
            raise LaunchError(
                f"{name} cannot be compiled with it: {first_errors(said)}",
                where=f"MPI {stack.name} ({stack.mpicxx})",
                fix=f"the compiler's whole output is in {log}",
            )
        output.replace(folder / name)


@dataclass(frozen=True)
class Said:
    """What one call of the compiler came to."""

    is_done: bool
    text: str
    """The command, and what it said."""


def run_compiler(argv: list[str], stack: MpiStack, folder: Path, deadline_s: float, cancel: threading.Event) -> Said:
    """Run a compiler, or what calls one, with an MPI library's environment; it ends at the deadline, or by `cancel`."""
    head = " ".join(argv) + "\n"
    with tempfile.TemporaryFile(dir=folder) as output:
        try:
            process = subprocess.Popen(
                argv,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                env=_environment(stack),
                cwd=folder,
                start_new_session=True,  # the wrapper, the compiler and what that starts are ended together
            )
        except OSError as error:
            return Said(False, f"{head}error: {argv[0]} cannot be started: {error}\n")
        why = ""
        while process.poll() is None:
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(_POLL_S)
            if cancel.is_set():
                why = "error: it was interrupted\n"
            elif time.monotonic() > deadline_s:
                why = f"error: it did not end within {COMPILE_TIMEOUT_S:.0f} s\n"
            if why:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)
                process.wait(_KILL_S)
        output.seek(0)
        text = head + output.read().decode("utf-8", "replace")
    return Said(process.returncode == 0 and not why, text + why)


def first_errors(said: Sequence[Said]) -> str:
    """Return the first lines in which a compiler complained."""
    failed = next((one.text for one in said if not one.is_done), said[-1].text)
    lines = [line.strip() for line in failed.splitlines()[1:] if line.strip()]
    errors = [line for line in lines if "error" in line.lower() or "not found" in line]
    return " | ".join((errors or lines[-_ERROR_LINES:])[:_ERROR_LINES]) or "the compiler said nothing"


def _key(recipe: Recipe, stack: MpiStack, source: Path) -> str:
    """Return a name for the sources' content and everything that the compiler wrapper says of itself."""
    digest = hashlib.sha256()
    for path in recipe.files(source):
        digest.update(f"{path.relative_to(source)}\0".encode() + path.read_bytes() + b"\0")
    for text in compiler_identity(stack):
        digest.update(f"{text}\0".encode())
    return f"{stack.kind}-{stack.version}-{digest.hexdigest()[:16]}"


def compiler_identity(stack: MpiStack) -> tuple[str, ...]:
    """Return what tells the compiler of an MPI library from another one: what is compiled by both is kept apart."""
    mpicxx = stack.mpicxx or ""
    compiler = next(iter((shown := _ask([mpicxx, "-show"], stack)).split()), "c++")
    said = _ask([compiler, "--version"], stack)
    return os.path.realpath(mpicxx), stack.kind, stack.version, shown, said, platform.machine()


def _ask(argv: list[str], stack: MpiStack, *, with_errors: bool = False) -> str:
    try:
        done = subprocess.run(
            argv,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT if with_errors else subprocess.DEVNULL,
            env=_environment(stack),
            timeout=20,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"{type(error).__name__}"
    return done.stdout.decode("utf-8", "replace")


def _environment(stack: MpiStack) -> dict[str, str]:
    return {**os.environ, "LC_ALL": "C", **stack.env}
