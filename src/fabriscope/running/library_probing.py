"""Which values of settings of MPI libraries a tuning can try: those that count in its launches, and are read as set."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from fabriscope.knobs import readers
from fabriscope.launch import mpi_jobs
from fabriscope.launch.site import Site
from fabriscope.model.case import Entry
from fabriscope.model.errors import LaunchError
from fabriscope.model.mpi_settings import MPI_SETTINGS, MpiSetting
from fabriscope.running.library_settings import told
from fabriscope.running.probing import Probed


def probed(site: Site, entry: Entry, values: Mapping[str, Sequence[str]]) -> Probed:
    """Return which values of settings count in the launches of an entry, and what they are at now, where that is told.

    What its library does not know or reads otherwise is left out; what it tells nothing of is tried, and that is said.
    """
    good: dict[str, tuple[str, ...]] = {}
    current: dict[str, dict[str, str]] = {}
    sentences: list[str] = []
    for name, of_name in values.items():
        setting = MPI_SETTINGS[name]
        if why := _not_counting(site, entry, setting, of_name[0]):
            sentences.append(f"{name} is left out: {why}")
            continue
        stack, host = site.mpi[entry.mpi or ""], site.hosts[entry.hosts[0]]
        fabric = site.fabrics[entry.fabric] if entry.fabric else None
        every = {value: told(host, stack, setting, value) for value in of_name}
        sentences += [f"{name} {value} is left out: {one.problem}" for value, one in every.items() if one.problem]
        if left := tuple(value for value, one in every.items() if not one.problem):
            good[name] = left
            own = fabric.knobs.get(name) if fabric is not None else None
            now = own or stack.knobs.get(name) or told(host, stack, setting, None).value
            current[name] = {stack.name: now} if now is not None and _is_value(name, now) else {}
            if any(every[value].value is None for value in left):
                sentences.append(f"{name} is tried as it is set: nothing tells what {stack.name} makes of it")
    return Probed(good, current, tuple(sentences))


def _is_value(name: str, text: str) -> bool:
    """Return whether a plan could set what a library says of itself: -1 often stands for its own choice."""
    try:
        return readers()[name](text) == text
    except ValueError:
        return False


def _not_counting(site: Site, entry: Entry, setting: MpiSetting, value: str) -> str:
    """Return why a setting does not count in the launches of an entry; empty where it does."""
    counts = f"it counts in launches of {setting.of}, and what is to become faster is measured"
    stack, fabric = site.mpi[entry.mpi or ""], site.fabrics[entry.fabric] if entry.fabric else None
    try:
        is_counting = mpi_jobs.settings_of(entry.hosts, stack, site.hosts, fabric, {setting.name: value})
    except LaunchError as error:
        return error.sentence()
    return "" if is_counting else f"{counts} by {stack.name} over {fabric.transport if fabric else 'shared memory'}"
