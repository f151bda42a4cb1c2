"""Where our own compiled programs are: the engine, the switch, and what runs in guests and hosts of the lab."""

from __future__ import annotations

import os
from pathlib import Path

from fabriscope.model.errors import ToolMissing

BIN_DIR_VARIABLE = "FABRISCOPE_BIN_DIR"
"""Names a folder that is looked in first: where cmake built them."""

_INSTALLED = Path(__file__).parents[1] / "bin"


def program(name: str) -> Path:
    """Return the path of a program of ours; raises ToolMissing, also where the variable names no folder."""
    given = os.environ.get(BIN_DIR_VARIABLE)
    if given and not Path(given).is_dir():
        raise ToolMissing(f"{BIN_DIR_VARIABLE} is {given!r}, and that is no folder", fix="correct it, or unset it")
    folders = [Path(given), _INSTALLED] if given else [_INSTALLED]
    for folder in folders:
        path = folder / name
        if path.is_file() and os.access(path, os.X_OK):
            return path.absolute()
    raise ToolMissing(
        f"{name} is not in {' or '.join(map(str, folders))}",
        fix=f"install fabriscope with pip, or build it with cmake and set {BIN_DIR_VARIABLE} to its folder",
    )
