"""`fabriscope audit`: what is wrong with the hosts and switches of a fabric, with evidence and remedy."""

from __future__ import annotations

import datetime
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from fabriscope.cli import _survey, _usage

if TYPE_CHECKING:
    from fabriscope.audit.accepted import Accepted
    from fabriscope.model.audit import Verdict
    from fabriscope.model.device import Device
    from fabriscope.running.survey import Survey

FORMATS = ("text", "json", "junit", "sarif")
EXIT_FINDINGS = 3
EXIT_UNKNOWN = 4
MOST_BYTES = 1 << 20


@click.command("audit")
@_survey.options
@click.option("--only", multiple=True, metavar="CHECK", help="Make this check alone; may be repeated.")
@click.option("--skip", multiple=True, metavar="CHECK", help="Leave this check out; may be repeated.")
@click.option("--accept", type=_usage.PATH, metavar="FILE", help="Findings to live with, with reason and end date.")
@click.option("--format", "form", type=click.Choice(FORMATS), default="text", show_default=True)
@click.option("--list", "is_list", is_flag=True, help="List the checks.")
def audit(
    plan: Path | None,
    hosts: str | None,
    folder: Path | None,
    lab: str | None,
    ssh_words: str | None,
    only: tuple[str, ...],
    skip: tuple[str, ...],
    accept: Path | None,
    form: str,
    is_list: bool,
) -> None:
    """Say what is wrong with the hosts of PLAN, of a list or of a lab, and with the switches between them.

    Each finding has the facts that show it, the commands that told them, why it matters and the remedy. Nothing is
    changed. Of a RUN what its hosts said then is judged. Exit codes: 0 nothing is wrong, 3 findings, 4 none, but
    something could not be seen.

    \b
    fabriscope audit plan.yaml
    fabriscope audit --hosts 'node[1-16]' --devices switches/
    fabriscope audit runs/monday
    fabriscope audit plan.yaml --accept accepted.yaml --format sarif > audit.sarif
    """
    from fabriscope.audit import auditing
    from fabriscope.cli import _audit_text

    if is_list:
        click.echo(_audit_text.listed(auditing.checks()), nl=False)
        return
    wanted = _accepted(accept) if accept is not None else []
    devices = _survey.devices_of(folder)
    found = _survey.asked(plan, hosts, lab, ssh_words)
    verdict, remarks = _judged(found, devices, wanted, only, skip)
    click.echo(_audit_text.shown(form, verdict, auditing.checks(), remarks, _survey.unread(found, devices)), nl=False)
    _survey.complain(found, devices)
    if verdict.counting:
        raise click.exceptions.Exit(EXIT_FINDINGS)
    if verdict.unseen or verdict.is_empty or _survey.is_blind(found, devices):
        raise click.exceptions.Exit(EXIT_UNKNOWN)


def _judged(
    found: Survey, devices: Mapping[str, Device], wanted: Sequence[Accepted], only: Sequence[str], skip: Sequence[str]
) -> tuple[Verdict, list[str]]:
    """Return what is wrong, and what else is to be said; raises UsageError for names that no check has."""
    from fabriscope.audit import accepted, auditing
    from fabriscope.audit.intents import intents_of
    from fabriscope.audit.scene import Scene

    scene = Scene(found.hosts, devices, intents_of(found.fabrics))
    with _usage.checked():
        verdict = auditing.audit(scene, only, skip)
    return accepted.applied(verdict, wanted, datetime.datetime.now(tz=datetime.UTC).date())


def _accepted(path: Path) -> list[Accepted]:
    """Return what a file accepts; raises ParseError."""
    from fabriscope.audit import accepted, auditing
    from fabriscope.model import plain_files
    from fabriscope.model.errors import ParseError
    from fabriscope.model.foreign_yaml import decode_yaml

    try:
        text = plain_files.read(path, MOST_BYTES)
    except OSError as error:
        raise ParseError(f"it cannot be read: {plain_files.why(error)}", where=str(path)) from error
    value, lines = decode_yaml(text, str(path))
    return accepted.of(value, str(path), auditing.checks(), lines)


COMMAND = audit
