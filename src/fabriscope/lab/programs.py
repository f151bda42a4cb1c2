"""The native programs of the lab, and the system's own that it needs."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from fabriscope.model.errors import ToolMissing

BIN_DIR_VARIABLE = "FABRISCOPE_BIN_DIR"


def native_program(name: str) -> Path:
    """Return the path of `fabriscope-switch` or `fabriscope-init`; raises ToolMissing."""
    folders = [Path(os.environ[BIN_DIR_VARIABLE])] if os.environ.get(BIN_DIR_VARIABLE) else []
    folders.append(Path(__file__).parents[1] / "bin")
    for folder in folders:
        if os.access(folder / name, os.X_OK):
            return (folder / name).absolute()
    raise ToolMissing(
        f"{name} is not in {' or '.join(map(str, folders))}",
        fix="install fabriscope with pip, which compiles it",
    )


def check_system_programs() -> None:
    """Raise ToolMissing unless the programs that make namespaces and interfaces are here."""
    for name, package in (("unshare", "util-linux"), ("nsenter", "util-linux"), ("ip", "iproute2")):
        if shutil.which(name, path=os.environ.get("PATH", "") + ":/usr/sbin:/sbin") is None:
            raise ToolMissing(f"{name} is not on this machine", fix=f"install the package {package}")
