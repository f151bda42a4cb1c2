"""`fabriscope doctor`: what works on this machine, and what to do about the rest."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

import click

from fabriscope.cli import _loudness
from fabriscope.model.errors import printable

if TYPE_CHECKING:
    from fabriscope.cli._health import Check

EXIT_CANNOT_MEASURE = 1
_MARKS = {"ok": ("✓", "green"), "warning": ("!", "yellow"), "untried": ("?", "yellow"), "failed": ("✗", "red")}


@click.command(name="doctor")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@click.option(
    "--mpi",
    "wanted",
    multiple=True,
    metavar="NAME",
    help="Try this MPI library alone, a module's too; may be repeated.",
)
@click.option("--no-mpi", is_flag=True, help="Name the MPI libraries without compiling the engine with each.")
def COMMAND(as_json: bool, wanted: tuple[str, ...], no_mpi: bool) -> None:  # noqa: N802 - the registry's constant
    """Say what works on this machine, by trying it, and what to do about the rest.

    The engine is compiled once with every MPI that is found (half a minute each) and kept; those of environment
    modules and Spack are named, and tried where --mpi asks for them. The exit code is 0 if plans can be measured on a
    lab, whatever else is missing, and 1 if not.
    """
    with _loudness.status("looking around", is_shown=not as_json) as status:
        checks = []
        for check in _checks(status.update, wanted, may_compile=not no_mpi):
            checks.append(check)
            if not as_json:
                _show(check, checks)
    can_measure = not any(check.is_required and check.status == "failed" for check in checks)
    if as_json:
        from dataclasses import asdict

        click.echo(json.dumps({"can_measure": can_measure, "checks": [asdict(check) for check in checks]}, indent=2))
    else:
        click.echo(
            "\nplans can be measured" if can_measure else "\nplans cannot be measured until what failed is put right"
        )
    if not can_measure:
        raise SystemExit(EXIT_CANNOT_MEASURE)


def _checks(notice: Callable[[str], None], wanted: Sequence[str], *, may_compile: bool) -> Iterator[Check]:
    from fabriscope import lab
    from fabriscope.cli import _health as health
    from fabriscope.cli import _health_rdma
    from fabriscope.model.errors import FabriscopeError

    yield from health.machine()
    yield from health.engine()
    parts = list(health.lab_parts())
    yield from parts
    built = None
    place = health.HERE
    try:
        if all(part.status != "failed" for part in parts):
            notice("building a lab")
            built = lab.up(health.lab_spec())
    except FabriscopeError as error:
        yield health.Check("lab", "two hosts", "failed", error.what, error.fix, is_required=True)
    try:
        if built is not None:
            place = health.lab_place({host.name: host for host in built.hosts}, str(built.remote_shell))
            yield health.lab_message(place)
        notice("looking for MPI libraries")
        found = health.found_mpi(wanted)
        for one in found:
            if one.stack is None:
                yield health.Check("MPI", one.mpirun, "warning", one.problem or "it cannot be used")
                continue
            is_tried = may_compile and (bool(wanted) or not health.is_offered(one.stack))
            if is_tried:
                notice(f"compiling the engine with {one.stack.name}, and trying it")
            yield health.mpi_stack(one.stack, place, may_compile=is_tried)
        if not found:
            yield health.mpi_absent()
    finally:
        if built is not None:
            built.down()
    yield from _health_rdma.ways()
    yield from health.tools(found)


def _show(check: Check, checks: list[Check]) -> None:
    if len(checks) == 1 or checks[-2].group != check.group:
        click.secho(check.group, bold=True)
    mark, colour = _MARKS[check.status]
    fix = f"; {check.fix}" if check.fix else ""
    click.echo(f"  {click.style(mark, fg=colour)} {check.name}: {printable(check.text + fix)}")
