"""`fabriscope profile`: what a program over MPI does there, and what of its time a fabric can change."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from fabriscope.cli import _usage
from fabriscope.model.errors import printable

if TYPE_CHECKING:
    from fabriscope.model.profile import Profile


@click.command("profile", context_settings={"ignore_unknown_options": False, "allow_interspersed_args": False})
@click.option(
    "--mpi",
    "mpi_name",
    metavar="NAME",
    help="Its MPI library  [default: its launcher's, or the one it is linked with].",
)
@click.option("--lab", "lab_name", metavar="NAME", help="Run COMMAND on the first host of a lab that stands.")
@click.option(
    "--folder", type=_usage.PATH, help="Where ranks write; all hosts must see it  [default: the current folder]."
)
@click.option("-o", "--output", type=_usage.PATH, help="Write the profile, as JSON, to this file.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON to standard output in place of tables.")
@click.option("--read", "kept", type=_usage.PATH, help="Show again what was written by --output.")
@click.argument("command", nargs=-1, type=click.UNPROCESSED)
def profile(
    command: tuple[str, ...],
    mpi_name: str | None,
    lab_name: str | None,
    folder: Path | None,
    output: Path | None,
    as_json: bool,
    kept: Path | None,
) -> None:
    """Run COMMAND, and tell what its ranks do in MPI: calls, sizes, who sends to whom, who waits for whom.

    \b
    fabriscope profile -- mpirun -np 4 ./app
    fabriscope profile -o app.json -- srun -n 64 ./app
    fabriscope profile --read app.json

    COMMAND's own input, output and errors are left alone; tables go to standard error. The exit code is COMMAND's,
    128 and the signal's number where a signal ended it.
    """
    if (kept is None) == (not command):
        raise click.UsageError("give the command to run behind --, or --read FILE")
    if kept is not None:
        from fabriscope.store import profiles

        _show(profiles.read(kept), as_json=as_json)
        return
    raise SystemExit(_run(command, mpi_name, lab_name, folder, output, as_json=as_json))


def _run(
    command: Sequence[str],
    mpi_name: str | None,
    lab_name: str | None,
    folder: Path | None,
    output: Path | None,
    *,
    as_json: bool,
) -> int:
    from fabriscope import engine_binary
    from fabriscope.reports import profile_tables, terminal
    from fabriscope.running import profile as running
    from fabriscope.running import program_place
    from fabriscope.store import profiles, proofs

    program_place.check(command)
    if output is not None:
        proofs.check_file(output)
    stack = running.stack_of(command, mpi_name)
    library = engine_binary.build_profiler(stack)
    hosts = None if lab_name else "localhost"
    with program_place.place(command, hosts=hosts, lab_name=lab_name, ssh_words=None, notice=lambda _: None) as place:
        found = running.run(command, place, library, folder)
    sys.stdout.flush()
    for problem in found.problems:
        click.echo(printable(f"left out: {problem}"), err=True)
    if not found.jobs:
        terminal.show_blocks(profile_tables.nothing(f"{stack.name} ({stack.mpirun})"))
    if found.jobs or as_json:
        _show(found.jobs, as_json=as_json)
    if output is not None:
        with proofs.writing(output):
            output.write_text(profiles.text_of(found.jobs))
    status = found.ending.exit_status
    return status if status >= 0 else 128 - status


def _show(jobs: Sequence[Profile], *, as_json: bool) -> None:
    from fabriscope.reports import profile_tables, terminal
    from fabriscope.store import profiles

    if as_json:
        click.echo(profiles.text_of(jobs), nl=False)
        return
    for job in jobs:
        terminal.show_blocks(profile_tables.blocks(job))


COMMAND = profile
