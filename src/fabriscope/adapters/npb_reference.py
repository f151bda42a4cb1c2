"""The reference implementation of the NAS Parallel Benchmarks (NPB 3.4-MPI): programs such as `ft.C.x` in a folder."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import PurePosixPath

from fabriscope.adapters import _nas
from fabriscope.adapters._foreign import library_path
from fabriscope.adapters.base import AdapterContext
from fabriscope.model.applications import NPB_REFERENCE, nas_problem
from fabriscope.model.case import Case
from fabriscope.model.command import Command, Outcome
from fabriscope.model.measurement import Launch, ParsedLaunch

_STRICT = {"NPB_NPROCS_STRICT": "1"}
"""Without it, ranks that a program has no use for are left idle."""


class NpbReferenceAdapter:
    """Runs the reference's programs over mpi."""

    name = NPB_REFERENCE
    layers = frozenset({"mpi"})

    def commands(self, launch: Launch, context: AdapterContext) -> tuple[Command, ...]:
        """Return one MPI job for each program, one after the other."""
        env = {**library_path(context.mpi), **_STRICT}
        return _nas.jobs(launch, context, lambda case: (program_of(case),), env, _last_line)

    def parse(self, launch: Launch, outcomes: Sequence[Outcome]) -> ParsedLaunch:
        """Return rate and time of every verified case, as they are printed."""
        return _nas.parsed(launch, outcomes)


def program_of(case: Case) -> str:
    """Return the path of a case's program."""
    kernel, problem_class = nas_problem(case.benchmark)
    return str(PurePosixPath(case.parameter_map["folder"]) / f"{kernel}.{problem_class}.x")


def _last_line(_: Case) -> str:
    return r"^\s*(?:Please send|Compile options)"


ADAPTER = NpbReferenceAdapter()
