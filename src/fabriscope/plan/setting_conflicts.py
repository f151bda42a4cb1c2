"""Settings of a plan that cannot be beside what else it says: of the lab's switch, or of a library's environment."""

from __future__ import annotations

from collections.abc import Iterator

from fabriscope.model.mpi_settings import MPI_SETTINGS
from fabriscope.plan.mpi_schema import MpiSection
from fabriscope.plan.ranks import Contradiction
from fabriscope.plan.schema import FabricSection, PlanSection

ETHERNET_HEADER_BYTES = 14


def has_library(plan: PlanSection, fabric: str) -> bool:
    """Return whether an MPI library is measured over a fabric."""
    section = plan.fabrics.get(fabric)
    layers = section.layers if section is not None and section.layers is not None else plan.layers
    return "mpi" in layers and any(one.fabrics is None or fabric in one.fabrics for one in plan.mpi)


def of_environments(plan: PlanSection) -> Iterator[Contradiction]:
    """Yield place, what is wrong, and the fix, for each variable that a library's `env` and a setting both set."""
    for index, stack in enumerate(plan.mpi):
        yield from _twice(index, stack, stack.settings, "the settings of the library")
        for name, fabric in plan.fabrics.items():
            if stack.fabrics is None or name in stack.fabrics:
                yield from _twice(index, stack, fabric.settings, f"the settings of {name}")


def _twice(index: int, stack: MpiSection, settings: dict[str, bool | int | str], whose: str) -> Iterator[Contradiction]:
    for setting in settings:
        variables = MPI_SETTINGS[setting].variables if setting in MPI_SETTINGS else ()
        for variable in stack.env.keys() & set(variables):
            what = f"{variable} is set by env of {stack.name} and by {setting} in {whose}"
            yield ("mpi", index, "env", variable), what, "keep one of them"


def too_small_buffer(fabric: FabricSection, buffer_bytes: int) -> tuple[str, str] | None:
    """Return what is wrong with a switch's buffer into which no whole frame fits, and the fix; None where it does."""
    if fabric.lab is None:
        return None
    frame_bytes = (fabric.lab.mtu or 1500) + ETHERNET_HEADER_BYTES
    if not 0 < buffer_bytes < frame_bytes:
        return None
    what = f"no whole frame of {frame_bytes} bytes fits into a switch_buffer of {buffer_bytes}"
    return what, f"choose {frame_bytes} or more, or 0 for a buffer without end"


def pauses_without_buffer(fabric: FabricSection, values: dict[str, str]) -> tuple[str, str] | None:
    """Return what is wrong where a switch is to pause, and is set to a buffer without end; None where nothing is."""
    if fabric.lab is None or values.get("switch_buffer") != "0":
        return None
    if values.get("switch_on_full", fabric.lab.on_full) != "pause":
        return None
    return "a switch pauses when its buffer fills, and switch_buffer: 0 has no end", "name a size, or let it drop"
