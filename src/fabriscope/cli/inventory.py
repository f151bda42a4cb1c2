"""`fabriscope inventory`: what hosts are and how they are set, as one table; where they differ, and what changed."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from fabriscope.cli import _survey, _usage

if TYPE_CHECKING:
    from fabriscope.audit.inventory import Change

FORMATS = ("text", "markdown", "csv", "json")


@click.command("inventory")
@_survey.options
@click.option(
    "--against", type=_usage.PATH, metavar="RUN", help="Say what changed since a run, or since a --format json."
)
@click.option("--format", "form", type=click.Choice(FORMATS), default="text", show_default=True)
@click.option("--all", "is_whole", is_flag=True, help="In text: every fact, those that nobody could read, too.")
def inventory(
    plan: Path | None,
    hosts: str | None,
    folder: Path | None,
    lab: str | None,
    ssh_words: str | None,
    against: Path | None,
    form: str,
    is_whole: bool,
) -> None:
    """Print all facts of the hosts of PLAN, of a list, or of a lab, in one table; without any, of this machine.

    What differs between hosts that should be alike, of one processor and the same network cards, is marked. Nothing is
    changed on a host. The exit code is 5 if a host cannot be asked; the others are shown all the same.

    \b
    fabriscope inventory plan.yaml
    fabriscope inventory --hosts 'node[1-16]' --format markdown > hosts.md
    fabriscope inventory plan.yaml --against runs/last-week
    fabriscope inventory runs/monday
    """
    from fabriscope.audit import inventory as inventories
    from fabriscope.cli import _inventory_text
    from fabriscope.model.errors import HostError

    before = _inventory_text.earlier(against) if against is not None else None
    devices = _survey.devices_of(folder)
    found = _survey.asked(plan, hosts, lab, ssh_words)
    if both := sorted(found.hosts.keys() & devices.keys()):
        raise click.UsageError(f"{both[0]} is a host and a device of the folder: rename its outputs there")
    every = {**found.hosts, **{name: one.known for name, one in devices.items()}}
    known = inventories.Inventory(every)
    changed: list[Change] | None = None if before is None else inventories.changes(before, every)
    click.echo(_inventory_text.shown(form, known, changed, found.problems, is_whole=is_whole), nl=False)
    _survey.complain(found, devices)
    if found.problems:
        raise click.exceptions.Exit(HostError.exit_code)


COMMAND = inventory
