"""The way in which records were read before they were nouns."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping
from typing import Any


class ByKey:
    """A noun that still answers to keys, as the JSON that it was read from has them; attributes took their place."""

    document: Mapping[str, Any]

    def __getitem__(self, name: str) -> Any:
        warnings.warn(
            f"write .{name} instead of [{name!r}]: what a run consists of has attributes",
            DeprecationWarning,
            stacklevel=2,
        )
        return self.document[name]

    def get(self, name: str, default: Any = None) -> Any:
        """Return what the JSON has under a name."""
        warnings.warn(f"write .{name} instead of .get({name!r}): it is an attribute", DeprecationWarning, stacklevel=2)
        return self.document.get(name, default)

    def keys(self) -> Iterable[str]:
        """Return the names that the JSON has."""
        return self.document.keys()

    def __contains__(self, name: object) -> bool:
        return name in self.document
