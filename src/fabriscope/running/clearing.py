"""What a run removes, before it measures, of what runs before it have left in the services that it uses."""

from __future__ import annotations

from collections.abc import Iterable

from fabriscope import lab
from fabriscope.hosts.access import leftovers
from fabriscope.launch import removing
from fabriscope.model.measurement import Launch
from fabriscope.progress import Progress


class Clearing:
    """Looks into the journal before each block, and tries once to remove what stands there of a service."""

    def __init__(self, progress: Progress) -> None:
        self._progress = progress
        self._tried: set[str] = set()

    def clear(self, block: Iterable[Launch]) -> None:
        """Remove what was left, by whom no longer runs, in the services that these launches use."""
        services = {at for launch in block for case in launch.cases if (at := case.parameter_map.get("at"))}
        if not services:
            return
        entries = [one for one in leftovers.entries(self._progress.say) if one.leaving.at in services]
        untried = [one for one in entries if one.name not in self._tried]
        self._tried |= {one.name for one in untried}
        for removal in removing.removed(untried, lab.is_of_gone_lab):
            self._progress.say(removal.text)
