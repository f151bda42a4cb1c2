"""MPI libraries of a plan that this machine, which starts their launches, does not have."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fabriscope.cli._doubts.oddities import Doubt
    from fabriscope.plan import Plan


def doubts(plan: Plan) -> Iterator[Doubt]:
    """Yield place and sentence of each; in a lab `plan check` refuses them, since nothing else could have them."""
    from fabriscope.model.errors import ToolMissing
    from fabriscope.running import library_settings

    if plan.uses_lab:
        return
    for at, stack in enumerate(plan.section.mpi):
        try:
            library_settings.installed(plan, at)
        except ToolMissing as error:
            key = next((key for key in ("path", "library") if key in stack.model_fields_set), None)
            fix = f"; {error.fix}" if error.fix else ""
            what = f"mpi: {error.what}: a run that this machine starts would be refused{fix}"
            yield ("mpi", at, *([key] if key else [])), what
