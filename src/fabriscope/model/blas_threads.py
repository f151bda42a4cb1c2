"""No threads of OpenBLAS: numpy's and scipy's start one for each further core, and each spins for a tenth of a second.

A library reads how many it may have when it is loaded, from a variable that no program which we start may find changed.
"""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator, Sequence
from importlib.machinery import ExtensionFileLoader, ModuleSpec, PathFinder
from types import ModuleType

_COUNT = "OPENBLAS_NUM_THREADS"
_PACKAGES = ("numpy", "scipy")


def none_from_now_on() -> None:
    """Let OpenBLAS have no threads in this process, unless its variable says how many."""
    sys.meta_path.insert(0, _Finder())


class _Finder:
    """Finds what may bring an OpenBLAS with it: the compiled modules of two packages."""

    @staticmethod
    def find_spec(name: str, path: Sequence[str] | None = None, target: ModuleType | None = None) -> ModuleSpec | None:
        """Return how such a module is loaded; None for every other."""
        if name.partition(".")[0] not in _PACKAGES:
            return None
        spec = PathFinder.find_spec(name, path, target)
        if spec is None or not isinstance(spec.loader, ExtensionFileLoader):
            return None
        spec.loader = _Loader(spec.loader.name, spec.loader.path)
        return spec


class _Loader(ExtensionFileLoader):
    def create_module(self, spec: ModuleSpec) -> ModuleType:
        """Load the module's library, and those that it needs."""
        with _one():
            return super().create_module(spec)


@contextlib.contextmanager
def _one() -> Iterator[None]:
    if _COUNT in os.environ:
        yield
        return
    os.environ[_COUNT] = "1"
    try:
        yield
    finally:
        del os.environ[_COUNT]
