"""Objects of code that sees no MPI library: compiled once by the compiler behind the libraries' wrappers, and kept.

An object is kept by the content of all that it is made of, the flags, and what the compiler says of itself when it is
called with them. Another compiler, another flag of the binary interface or of the machine is another object.
"""

from __future__ import annotations

import contextlib
import hashlib
import platform
import shutil
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from fabriscope.model import caches, folders
from fabriscope.model.errors import LaunchError
from fabriscope.model.mpi import MpiStack
from fabriscope.programs import compilers
from fabriscope.programs.compilers import Said, Underlying
from fabriscope.programs.recipes import Step

_KEPT = "object"
"""The digest of the object in hexadecimal, a line feed, and the object."""
_SCRATCH = "keeping-"


def cache_folder() -> Path:
    """Return the folder that keeps objects, one folder for each."""
    return caches.folder("objects")


@dataclass(frozen=True)
class Objects:
    """The objects of one compiler, called with the same flags."""

    compiler: Underlying
    identity: str

    def fetch(self, step: Step, compile_it: Callable[[], Said], deadline_s: float, cancel: threading.Event) -> Said:
        """Have a step's object at its place: the kept one, or one that is compiled now and kept.

        Safe to call from several processes at once: one compiles, the others wait, until the deadline or `cancel`.
        Raises LaunchError if others can write in the cache.
        """
        folder = cache_folder() / self._key(step)
        kept = folder / _KEPT
        folders.make(str(folder))
        caches.check(folder, LaunchError)
        caches.check(kept, LaunchError)
        left_s = max(0.0, deadline_s - time.monotonic())
        try:
            with caches.locked(folder / "lock", left_s, LaunchError, cancel):
                if _is_copied(kept, step.output):
                    return Said(True, f"{step.unit} was compiled before, for every MPI of this compiler: {kept}\n")
                said = compile_it()
                if said.is_done:
                    with contextlib.suppress(OSError):  # then it is compiled again next time
                        _keep(step.output, kept)
                return said
        except LaunchError as error:
            return Said(False, f"{step.unit}\nerror: {error}\n")

    def _key(self, step: Step) -> str:
        digest = hashlib.sha256()
        for text in (platform.machine(), *self.compiler.command[1:], self.identity, step.content):
            digest.update(f"{text}\0".encode())
        return f"{step.output.stem}-{digest.hexdigest()[:32]}"


def of_compiler(stack: MpiStack, flags: Sequence[str]) -> Objects | None:
    """Return the objects of the compiler that a library's wrapper calls; None where that cannot be told."""
    compiler = compilers.underlying(stack)
    identity = compiler.identity(flags) if compiler else None
    return Objects(compiler, identity) if compiler and identity else None


def _is_copied(kept: Path, output: Path) -> bool:
    """Copy a kept object to where it is linked; False where there is none, or not the one that was kept."""
    try:
        digest, _, content = kept.read_bytes().partition(b"\n")
    except OSError:
        return False
    if hashlib.sha256(content).hexdigest().encode() != digest:
        return False
    output.write_bytes(content)
    return True


def _keep(output: Path, kept: Path) -> None:
    for left in kept.parent.glob(f"{_SCRATCH}*"):  # of one that was killed while it wrote
        shutil.rmtree(left, ignore_errors=True)
    content = output.read_bytes()
    with tempfile.TemporaryDirectory(prefix=_SCRATCH, dir=kept.parent) as scratch:
        whole = Path(scratch) / _KEPT
        whole.write_bytes(hashlib.sha256(content).hexdigest().encode() + b"\n" + content)
        whole.replace(kept)
