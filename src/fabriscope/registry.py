"""Finds the plug-ins of a room: a file in its folder, an entry point of a package, or a file of the user's own folder.

A plug-in file defines one constant named after what it is (`ADAPTER`, `LAUNCHER`, `REPORT`, `COMMAND` ...), an object
with a `name`. Files whose names begin with an underscore, and those that define no such constant, are ignored.
"""

from __future__ import annotations

import importlib
import importlib.util
import os
import pkgutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from importlib.metadata import entry_points
from pathlib import Path
from types import ModuleType
from typing import Any

from fabriscope.model import folders
from fabriscope.model.errors import FabriscopeError

PLUGIN_FOLDERS_VARIABLE = "FABRISCOPE_PLUGINS"


@dataclass
class Room:
    """The plug-ins of one room, and why others are unavailable on this machine."""

    name: str
    plugins: dict[str, Any] = field(default_factory=dict)
    unavailable: dict[str, str] = field(default_factory=dict)

    def get(self, name: str) -> Any:
        """Return the plug-in of that name; raises FabriscopeError that lists the known names."""
        if name in self.plugins:
            return self.plugins[name]
        if name in self.unavailable:
            raise FabriscopeError(f"{self.name} {name!r} is unavailable: {self.unavailable[name]}")
        known = ", ".join(sorted(self.plugins)) or "none"
        raise FabriscopeError(f"there is no {self.name} {name!r}", fix=f"known: {known}")

    def add(self, plugin: Any, origin: str) -> None:
        """Add one plug-in; raises FabriscopeError if its name is taken."""
        name = getattr(plugin, "name", None)
        if not isinstance(name, str):
            raise FabriscopeError(f"the {self.name} that it defines has no name", where=origin, fix="give it a `name`")
        if name in self.plugins:
            raise FabriscopeError(f"two files define {self.name} {name!r}", where=origin)
        self.plugins[name] = plugin


def discover(package: str, constant: str) -> Room:
    """Return the plug-ins of `fabriscope.<package>`, its entry-point group, and `$FABRISCOPE_PLUGINS/<package>`.

    A module that needs a package which is not installed is unavailable with that reason, and so is a plug-in of
    somebody else that cannot be loaded; an error inside one of our own modules is raised.
    """
    room = Room(constant.lower())
    for origin, module in _modules(package, room):
        if hasattr(module, constant):
            room.add(getattr(module, constant), origin)
    for point in entry_points(group=f"fabriscope.{package}"):
        try:
            plugin = point.load()
        except Exception as error:
            room.unavailable[point.name] = _why_not_loaded(error, point.value)
            continue
        room.add(plugin, point.value)
    return room


def _why_not_loaded(error: Exception, origin: str) -> str:
    return f"{origin} cannot be loaded: {type(error).__name__}: {error}"


def _modules(package: str, room: Room) -> Iterator[tuple[str, ModuleType]]:
    parent = importlib.import_module(f"fabriscope.{package}")
    loaders: list[tuple[str, str, Callable[[], ModuleType]]] = [
        (info.name, full_name, partial(importlib.import_module, full_name))
        for info in pkgutil.iter_modules(parent.__path__)
        for full_name in [f"fabriscope.{package}.{info.name}"]
    ]
    for folder in os.environ.get(PLUGIN_FOLDERS_VARIABLE, "").split(os.pathsep):
        if folder and not Path(folder).is_absolute():
            what = f"{PLUGIN_FOLDERS_VARIABLE} names {folder!r}, which leads through the current folder"
            room.unavailable[folder] = f"{what}: write the whole path"
            continue
        for room_folder in _folders(folder, package) if folder else ():
            paths = [path for path in sorted(room_folder.glob("*.py")) if path.is_file()]
            if paths:
                _refuse_others(str(room_folder))
            loaders += [(path.stem, str(path), partial(_load_file, path)) for path in paths]
    for name, origin, load in loaders:
        if name.startswith("_"):
            continue
        try:
            yield origin, load()
        except ModuleNotFoundError as error:
            if (error.name or "").startswith("fabriscope"):
                raise
            room.unavailable[name] = f"the Python package {error.name} is not installed"
        except Exception as error:
            if origin.startswith(f"{parent.__name__}."):
                raise  # it is one of our own
            room.unavailable[name] = _why_not_loaded(error, origin)


def _folders(folder: str, package: str) -> list[Path]:
    """Return where a user's own folder has a room's plug-ins: `hosts/facts`, and `hosts.facts` as it once was."""
    return [Path(folder) / name for name in dict.fromkeys((package.replace(".", "/"), package))]


def _refuse_others(folder: str) -> None:
    """Raise FabriscopeError for plug-ins that others may have written: they would be executed as us."""
    try:
        why = folders.problem(folder) or folders.open_below(folder)
    except OSError as error:
        why = f"{folder} cannot be looked at: {error.strerror}"
    if why is not None:
        what = f"the plug-ins that {PLUGIN_FOLDERS_VARIABLE} names are not executed: {why}"
        raise FabriscopeError(what, fix="mend that, or name a folder that only you can write")


def _load_file(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"fabriscope_plugin_{path.stem}", path)
    if spec is None or spec.loader is None:
        raise FabriscopeError("this file cannot be loaded as a plug-in", where=str(path))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
