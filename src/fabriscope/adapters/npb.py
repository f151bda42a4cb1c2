"""The NAS kernels of our own (docs/npb.md), compiled with the MPI library that runs them."""

from __future__ import annotations

from collections.abc import Sequence

from fabriscope.adapters import _nas
from fabriscope.adapters.base import AdapterContext
from fabriscope.model.applications import NPB, nas_problem
from fabriscope.model.case import Case
from fabriscope.model.command import Command, Outcome
from fabriscope.model.errors import ToolMissing
from fabriscope.model.measurement import Launch, ParsedLaunch


class NpbAdapter:
    """Runs fabriscope-npb over mpi."""

    name = NPB
    layers = frozenset({"mpi"})

    def commands(self, launch: Launch, context: AdapterContext) -> tuple[Command, ...]:
        """Return one MPI job for each kernel and class, one after the other; raises ToolMissing."""
        program = context.npb
        if program is None:
            raise ToolMissing("fabriscope-npb was not compiled", fix="`fabriscope doctor` tells what is missing")

        def argv(case: Case) -> tuple[str, ...]:
            return (program, *nas_problem(case.benchmark), "--repeat", case.parameter_map["repeats"])

        return _nas.jobs(launch, context, argv, {}, _last_line)

    def parse(self, launch: Launch, outcomes: Sequence[Outcome]) -> ParsedLaunch:
        """Return rate, time and share of communication of every verified case."""
        return _nas.parsed(launch, outcomes)


def _last_line(case: Case) -> str:
    return rf'^\{{"type":"(?:error"|result".*"repeat":{int(case.parameter_map["repeats"]) - 1},)'


ADAPTER = NpbAdapter()
