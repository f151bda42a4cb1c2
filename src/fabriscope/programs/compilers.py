"""The compilers of MPI libraries: what they are, what they are called with, and what they say."""

from __future__ import annotations

import contextlib
import os
import platform
import shlex
import shutil
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from fabriscope.model.mpi import MpiStack

COMPILE_TIMEOUT_S = 900.0

_ERROR_LINES = 3
_POLL_S = 0.2
_KILL_S = 10.0
_ASK_TIMEOUT_S = 20

_HEADER_VARIABLES = ("CPATH", "C_INCLUDE_PATH", "CPLUS_INCLUDE_PATH")
"""Where modules say which headers an MPI library has."""
_WHERE_MPI_IS = ("-I", "-isystem", "-iquote", "-idirafter", "-L", "-l", "-Xlinker", "-z", "-rpath")
"""Options with a value, in the same word or in the next one."""
_LINKED = ("-Wl,", "-pthread", "-rdynamic", "-pie", "-no-pie", "-static", "-shared", "-s", "-dynamic")
_TOLD = ("-W", "-w", "-g", "-pipe", "-ffile-prefix-map=", "-fdebug-prefix-map=", "-fmacro-prefix-map=", "-fdiagnostics")
_OPTIMISED = ("-O",)
"""Our own level comes after it."""
_HARDENED = ("-fstack-protector", "-fstack-clash-protection", "-fcf-protection")
_MACROS = ("-D", "-U")
_MACROS_OF_BINARY_INTERFACES = ("_GLIBCXX_", "_LIBCPP_", "_FILE_OFFSET_BITS", "_TIME_BITS")
_OF_THE_CALL = ("COLLECT_GCC=", "LIBRARY_PATH=")
"""What GCC repeats of how it was called, and where libraries are looked for."""
_LIBRARY = (".a", ".so", ".la", ".o")


@dataclass(frozen=True)
class Said:
    """What one call of the compiler came to."""

    is_done: bool
    text: str
    """The command, and what it said."""


@dataclass(frozen=True)
class Underlying:
    """The compiler that an MPI library's wrapper calls."""

    command: tuple[str, ...]
    """The compiler, and those flags of the wrapper that make it speak another binary interface or another machine's
    code. Where MPI is, macros, warnings and hardening are left out: they differ from library to library, and code that
    does not see mpi.h must not."""
    env: Mapping[str, str]

    def identity(self, flags: Sequence[str]) -> str | None:
        """Return what the compiler does when it is called with these flags, with its version; None: it does not say.

        Everything that a configuration of the compiler adds is in it, and what `-march=native` stands for.
        """
        argv = [*self.command, *flags, "-###", "-S", "-x", "c++", os.devnull, "-o", os.devnull]
        said = _ask(argv, self.env, with_errors=True)
        if not said.is_done:
            return None
        return "".join(line for line in said.text.splitlines(True) if not line.startswith(_OF_THE_CALL))


def underlying(stack: MpiStack) -> Underlying | None:
    """Return the compiler that the library's wrapper says it calls; None where that cannot be told."""
    shown = _ask([stack.mpicxx or "", "-show"], environment(stack))
    env = {name: value for name, value in environment(stack).items() if name not in _HEADER_VARIABLES}
    try:
        words = shlex.split(next(iter(shown.text.splitlines()), "")) if shown.is_done else []
    except ValueError:
        return None
    count = next((place for place, word in enumerate(words) if word.startswith("-")), len(words))
    compiler = words[:count]
    if not compiler or shutil.which(compiler[0], path=env.get("PATH")) is None:
        return None
    return Underlying((*compiler, *_kept_flags(words[count:])), env)


def _kept_flags(words: Iterable[str]) -> list[str]:
    kept, left = [], iter(words)
    for word in left:
        if word in _WHERE_MPI_IS:
            next(left, "")
            continue
        flag = word + next(left, "") if word in _MACROS else word
        if flag.startswith(_MACROS):
            if flag[2:].startswith(_MACROS_OF_BINARY_INTERFACES):
                kept.append(flag)
        elif not (
            flag in _LINKED
            or flag.startswith((*_WHERE_MPI_IS, _LINKED[0], "-static-", *_TOLD, *_OPTIMISED, *_HARDENED))
            or (not flag.startswith("-") and (flag.endswith(_LIBRARY) or ".so." in flag))
        ):
            kept.append(flag)
    return kept


def run_compiler(
    argv: Sequence[str], env: Mapping[str, str], folder: Path, deadline_s: float, cancel: threading.Event
) -> Said:
    """Run a compiler, or what calls one, in a folder; it ends at the deadline, or by `cancel`."""
    head = " ".join(argv) + "\n"
    with tempfile.TemporaryFile(dir=folder) as output:
        try:
            process = subprocess.Popen(
                argv,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                env=env,
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


def identity(stack: MpiStack) -> tuple[str, ...]:
    """Return what tells the compiler of an MPI library from another one: what is compiled by both is kept apart."""
    mpicxx, env = stack.mpicxx or "", environment(stack)
    shown = _ask([mpicxx, "-show"], env).text
    said = _ask([next(iter(shown.split()), "c++"), "--version"], env).text
    return os.path.realpath(mpicxx), stack.kind, stack.version, shown, said, platform.machine()


def version_words(stack: MpiStack) -> str:
    """Return what the MPI's mpirun says of its version."""
    return _ask([stack.mpirun, "--version"], environment(stack), with_errors=True).text


def environment(stack: MpiStack) -> dict[str, str]:
    """Return what an MPI library's programs are given."""
    return {**os.environ, "LC_ALL": "C", **stack.env}


def _ask(argv: Sequence[str], env: Mapping[str, str], *, with_errors: bool = False) -> Said:
    try:
        done = subprocess.run(
            argv,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT if with_errors else subprocess.DEVNULL,
            env=env,
            cwd="/",  # some compilers repeat where they are
            timeout=_ASK_TIMEOUT_S,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return Said(False, f"{type(error).__name__}")
    return Said(done.returncode == 0, done.stdout.decode("utf-8", "replace"))
