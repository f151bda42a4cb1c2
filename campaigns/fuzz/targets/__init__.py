"""What is fuzzed, one file a target: `TARGETS`, each with a name, texts to begin with, and a check."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[3]
TEST_DATA = ROOT / "tests"
SAMPLES = ROOT.parent / "shared" / "samples"
"""Real outputs, where they are at hand; nothing rests on them."""


@dataclass(frozen=True)
class Target:
    """One border to foreign text."""

    name: str
    seeds: Callable[[], Iterable[bytes]]
    """Texts that are mutated: good ones, and some that failed."""
    check: Callable[[bytes], bool]
    """Read a text; return whether it was accepted. What is raised is a violation, AssertionError for a wrong number."""


def targets() -> dict[str, Target]:
    """Return every target by its name."""
    found: dict[str, Target] = {}
    for module in pkgutil.iter_modules(__path__):
        loaded = importlib.import_module(f"{__name__}.{module.name}")
        found |= {target.name: target for target in getattr(loaded, "TARGETS", ())}
    return found
