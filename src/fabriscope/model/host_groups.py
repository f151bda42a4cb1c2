"""Groups of hosts, `@name` in a list, as the site's configuration of ClusterShell has them.

That configuration is made of shell commands. So it is trusted as ssh trusts its files: each file, and all that leads
to it, belongs to us or to root, and nobody else can write there. A name that a plan asks for becomes a word of those
commands, and is one that no shell understands as more than a word.
"""

from __future__ import annotations

import re
from configparser import ConfigParser, NoOptionError, NoSectionError
from pathlib import Path
from shlex import split
from string import Template
from typing import Any

from ClusterShell.Defaults import config_paths
from ClusterShell.NodeUtils import GroupResolverConfig

from fabriscope.model import folders
from fabriscope.model.errors import HostError, shown

_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.:%+-]{0,252}")
_PARTS = {"groupsdir": "*.conf", "confdir": "*.conf", "autodir": "*.yaml"}
"""Options of its section Main that name folders, and which files there are read."""


def resolver() -> Any:
    """Return what tells ClusterShell the site's groups; raises HostError for a configuration of somebody else."""
    files = [path for path in config_paths("groups.conf") if _is_there_and_trusted(Path(path))]
    for path in _parts(files):
        _is_there_and_trusted(path)
    groups = GroupResolverConfig(files)
    ask = groups.group_nodes

    def group_nodes(group: str, namespace: str | None = None) -> object:
        for name in (group, namespace):
            if name is not None and not _NAME.fullmatch(name):
                raise HostError(f"{shown(name)} is no group's name", fix="use letters, digits and ._%+-")
        return ask(group, namespace)

    groups.group_nodes = group_nodes
    return groups


def _parts(files: list[str]) -> list[Path]:
    """Return the folders that a configuration names, and the files there that are read."""
    config = ConfigParser()
    read = config.read(files)
    found: list[Path] = []
    for option, pattern in _PARTS.items():
        try:
            named = split(config.get("Main", option))
        except (NoSectionError, NoOptionError):
            continue
        for name in named:
            folder = Path(Template(name).safe_substitute(CFGDIR=str(Path(read[-1]).parent)))
            found += [folder, *sorted(folder.glob(pattern))]
    return found


def _is_there_and_trusted(path: Path) -> bool:
    """Return whether something is there that can be read; raises HostError where others could have put it there."""
    try:
        if not path.exists():
            return False
        why = folders.problem(str(path)) if path.is_absolute() else f"{path} is looked for in the current folder"
    except OSError:  # what we cannot look at ClusterShell cannot read
        return False
    if why is not None:
        raise HostError(
            f"the groups that ClusterShell's configuration names are not trusted, since it can run commands: {why}",
            fix="mend that, or name the hosts one by one",
        )
    return True
