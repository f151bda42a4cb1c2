"""The seam: what every report offers, and what it is given."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from fabriscope.model.run_data import RunData

FIGURE_FORMATS = ("png", "svg", "pdf")


def write_file(path: Path, content: bytes) -> None:
    """Write a file of a report in one step; a link that stands under its name is replaced, not followed."""
    temporary = path.with_name(f".{path.name}.part")
    temporary.unlink(missing_ok=True)
    try:
        with temporary.open("xb") as stream:
            stream.write(content)
        temporary.replace(path)
    except BaseException:
        with contextlib.suppress(OSError):
            temporary.unlink(missing_ok=True)
        raise


@dataclass(frozen=True)
class Options:
    """What a user can choose about a report."""

    figure_formats: tuple[str, ...] = ("png", "svg", "pdf")


@dataclass(frozen=True)
class Report:
    """One report format."""

    name: str
    description: str
    render: Callable[[RunData, Path, Options], list[Path]]
    """Writes into the folder, which exists, and returns the files in the order in which to look at them."""
