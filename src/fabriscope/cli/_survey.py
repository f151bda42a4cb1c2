"""Options of the commands that ask hosts what they are, and the asking."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from fabriscope.cli import _loudness, _usage

if TYPE_CHECKING:
    from fabriscope.model.device import Device
    from fabriscope.running.survey import Survey

_Command = TypeVar("_Command", bound=Callable[..., Any])


def options(command: _Command) -> _Command:
    """Add the argument PLAN, or RUN, and the options that say which hosts are asked."""
    for add in (
        click.option("--ssh", "ssh_words", metavar="WORDS", help="The ssh that reaches them, e.g. 'ssh -F my_config'."),
        click.option("--lab", metavar="NAME", help="Hosts of a lab that stands; '' for the only one."),
        click.option(
            "--devices",
            "folder",
            type=_usage.PATH,
            metavar="FOLDER",
            help="Saved outputs of switches, a folder for each.",
        ),
        click.option("--hosts", metavar="LIST", help="A host list such as node[1-4],head."),
        click.argument("plan", metavar="[PLAN|RUN]", required=False, type=_usage.PATH),
    ):
        command = add(command)
    return command


def devices_of(folder: Path | None) -> dict[str, Device]:
    """Return the devices of a folder; raises HostError."""
    from fabriscope import devices

    return devices.of_folder(folder) if folder is not None else {}


def asked(plan: Path | None, hosts: str | None, lab: str | None, ssh_words: str | None) -> Survey:
    """Return what the hosts said; raises UsageError where the options contradict each other."""
    if plan is not None and (hosts is not None or lab is not None):
        raise click.UsageError("give PLAN, or --hosts or --lab")
    if lab is not None and ssh_words is not None:
        raise click.UsageError("hosts of a lab need no --ssh")
    from fabriscope.running.survey import survey

    with _loudness.status("asking hosts") as status:
        return survey(plan=plan, hosts=hosts, lab=lab, ssh_words=ssh_words, notice=status.update)


def is_blind(found: Survey, devices: Mapping[str, Device]) -> bool:
    """Return whether a host or a device was not understood, or nothing was looked at."""
    is_unread = found.problems or any(device.problems for device in devices.values())
    return bool(is_unread) or not (found.hosts or devices)


def unread(found: Survey, devices: Mapping[str, Device]) -> list[str]:
    """Return which hosts could not be asked, and what of the devices' outputs was not understood."""
    said = [f"host {name}: {why}" for name, why in found.problems.items()]
    return said + [f"device {device.name}: {why}" for device in devices.values() for why in device.problems]


def complain(found: Survey, devices: Mapping[str, Device]) -> None:
    """Say what could not be read."""
    from fabriscope.model.errors import printable

    for sentence in unread(found, devices):
        click.echo(printable(f"fabriscope: {sentence}"), err=True)
