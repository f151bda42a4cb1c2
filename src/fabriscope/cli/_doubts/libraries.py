"""What a plan of real hosts asks of programs and libraries that this machine, which starts its launches, lacks."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from fabriscope.model import mpi_settings
from fabriscope.model.applications import NPB_REFERENCE
from fabriscope.model.counting import listed

if TYPE_CHECKING:
    from fabriscope.cli._doubts.oddities import Doubt
    from fabriscope.model.mpi import MpiStack
    from fabriscope.plan import Plan, Schedule
    from fabriscope.plan.yaml_places import Place

_KINDS: Mapping[str, tuple[str, ...]] = {
    **dict.fromkeys((mpi_settings.OPENMPI_TCP, mpi_settings.OPENMPI_SHM), ("openmpi4", "openmpi5")),
    **dict.fromkeys((mpi_settings.MPICH, mpi_settings.MPICH_OFI, mpi_settings.MPICH_CH3), ("mpich", "mvapich")),
    **dict.fromkeys((mpi_settings.INTEL, mpi_settings.INTEL_SHM), ("intelmpi",)),
    mpi_settings.MVAPICH2: ("mvapich2",),
}
"""Launches that take notice of a setting, to the kinds of the libraries that they are of (launch/mpi_settings.py)."""


def doubts(plan: Plan, schedule: Schedule) -> Iterator[Doubt]:
    """Yield place and sentence of each; in a lab `plan check` refuses them, since nothing else could have them."""
    from fabriscope.cli._doubts import machine
    from fabriscope.model.errors import ToolMissing
    from fabriscope.running import library_settings

    if plan.uses_lab:
        return
    found: dict[str, MpiStack] = {}
    for at, stack in enumerate(plan.section.mpi):
        try:
            found[stack.name] = library_settings.installed(plan, at)
        except ToolMissing as error:
            key = next((key for key in ("path", "library") if key in stack.model_fields_set), None)
            fix = f"; {error.fix}" if error.fix else ""
            what = f"mpi: {error.what}: a run that this machine starts would be refused{fix}"
            yield ("mpi", at, *([key] if key else [])), what
    yield from _of_settings(plan, found)
    if not machine.is_this(plan):
        yield from _of_references(schedule)


def _of_settings(plan: Plan, found: Mapping[str, MpiStack]) -> Iterator[Doubt]:
    """Yield settings that are of another library than those whose launches they are set for."""
    section = plan.section
    for at, one in enumerate(section.mpi):
        yield from _of_others(("mpi", at, "settings"), one.settings, found, [one.name])
    for name, fabric in section.fabrics.items():
        used = [one.name for one in section.mpi if one.fabrics is None or name in one.fabrics]
        yield from _of_others(("fabrics", name, "settings"), fabric.settings, found, used)


def _of_others(
    place: Place, settings: Collection[str], found: Mapping[str, MpiStack], used: Collection[str]
) -> Iterator[Doubt]:
    kinds = {found[name].kind for name in used if name in found}
    for name in settings if used and all(map(found.__contains__, used)) else ():
        of = mpi_settings.MPI_SETTINGS[name].of if name in mpi_settings.MPI_SETTINGS else ""
        if of in _KINDS and not kinds & set(_KINDS[of]):
            are = "is" if len(used) == 1 else "are"
            what = f"{name} counts in launches of {of}, and {listed(list(used))} {are} of another library"
            yield (*place, name), f"{what}: a run would be refused; docs/settings.md says which settings count where"


def _of_references(schedule: Schedule) -> Iterator[Doubt]:
    """Yield the first program of the NAS reference that is not at its path here, where hosts are to have it, too."""
    from fabriscope.adapters.npb_reference import program_of

    for launch in schedule.launches:
        for case in launch.cases if launch.entry.instrument == NPB_REFERENCE else ():
            path = Path(program_of(case))
            if not os.access(path, os.X_OK):
                fix = "the hosts need it there, or name its folder on them"
                what = f"npb: there is no program {path.name} in {path.parent} on this machine"
                yield ("applications", "npb", "reference"), f"{what}; {fix}"
                return
