"""Programs of the system that the lab is made with."""

from __future__ import annotations

import shutil

from fabriscope.model import search_paths
from fabriscope.model.errors import ToolMissing


def check_system_programs() -> None:
    """Raise ToolMissing unless the programs that make namespaces and interfaces are here."""
    for name, package in (("unshare", "util-linux"), ("nsenter", "util-linux"), ("ip", "iproute2")):
        if shutil.which(name, path=search_paths.programs()) is None:
            raise ToolMissing(f"{name} is not on this machine", fix=f"install the package {package}")
