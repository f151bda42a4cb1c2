"""What was lost while a run went on, and how the rest of the plan does without it."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from fabriscope.hosts import reach
from fabriscope.launch.site import Site
from fabriscope.model.errors import HostError, LabError
from fabriscope.model.measurement import Launch


@dataclass
class Casualties:
    """The hosts that are gone. Only a launch that failed makes us look for more."""

    site: Site
    gone: dict[str, str] = field(default_factory=dict)
    """Host name to why nothing can be run there."""
    _block: int | None = None
    _untold: list[str] = field(default_factory=list)
    _lock: threading.Lock = field(default_factory=threading.Lock)
    """Launches that measure in turns fail in threads of their own."""

    def __post_init__(self) -> None:
        """Count the hosts that are absent from the beginning: nothing was put on them, so they are not asked again."""
        self.gone.update(self.site.absent)
        self._untold = [f"host {name} is gone: {why}" for name, why in sorted(self.site.absent.items())]

    def tell(self) -> list[str]:
        """Return a sentence for each host that was gone before the first launch, once."""
        told, self._untold = self._untold, []
        return told

    def look(self, names: Iterable[str]) -> list[str]:
        """Return a sentence for each thing that a failed launch on these hosts turns out to have met."""
        with self._lock:
            found = reach.gone(self.site.hosts[name] for name in set(names) if name not in self.gone)
            self.gone.update(found)
            sentences = [f"host {name} is gone: {why}" for name, why in sorted(found.items())]
            with contextlib.suppress(LabError):  # a lab that is gone altogether shows in its hosts
                sentences += self.site.mend()
            return sentences

    def place(self, launch: Launch) -> tuple[Launch, dict[str, str]]:
        """Return a launch on hosts that are there, and which host stands in for which.

        Hosts that are gone are asked again once in every block. Raises HostError where too few are left.
        """
        with self._lock:
            self._ask_again(launch.block)
        missing = [name for name in dict.fromkeys(launch.entry.hosts) if name in self.gone]
        spare = self._spare(launch)
        if len(spare) < len(missing):
            needed = missing[len(spare)]
            raise HostError(f"it is gone, and no other host is left to stand in: {self.gone[needed]}", where=needed)
        stand_ins = dict(zip(missing, spare, strict=False))
        hosts = tuple(stand_ins.get(name, name) for name in launch.entry.hosts)
        return replace(launch, entry=replace(launch.entry, hosts=hosts)), stand_ins

    def _ask_again(self, block: int) -> None:
        if self.gone and self._block != block:
            asked = [self.site.hosts[name] for name in self.gone if name not in self.site.absent]
            self.gone = {**self.site.absent, **reach.gone(asked)}
        self._block = block

    def _spare(self, launch: Launch) -> Sequence[str]:
        entry = launch.entry
        reached = self.site.fabrics[entry.fabric].interfaces if entry.fabric else self.site.hosts
        return [
            name for name in self.site.hosts if name not in entry.hosts and name not in self.gone and name in reached
        ]
