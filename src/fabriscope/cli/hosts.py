"""`fabriscope hosts`: whether the hosts of a plan can be used."""

from __future__ import annotations

import contextlib
import dataclasses
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from fabriscope.cli import _usage
from fabriscope.model.errors import printable


@click.group(cls=_usage.Group, name="hosts")
def COMMAND() -> None:  # noqa: N802 - the registry's constant
    """Look at hosts that are reached over ssh."""


@COMMAND.command()
@click.argument("what", metavar="PLAN|HOSTS")
@click.option("--ssh", "command", metavar="WORDS", help="The ssh that reaches them, e.g. 'ssh -F my_config'.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def check(what: str, command: str | None, as_json: bool) -> None:
    """Try every host of a plan, or of a host list such as node[1-4],head, all at once.

    A host is good if ssh reaches it without asking anything and it has Python 3. Nothing is written on it.
    The exit code is 5 if one is not good.
    """
    from fabriscope.launch import ssh
    from fabriscope.model.errors import HostError
    from fabriscope.running import fleet, real_site

    names, words = _meant(what)
    far = [name for name in names if not real_site.is_here(name)]
    if command is not None:
        with _usage.checked("--ssh"):
            words = dataclasses.replace(words, command=ssh.split(command))
    with fleet.connected(words) as opened:
        if far:
            opened.look(far)
    good = {name: fleet.described(seen) for name, seen in opened.seen.items()}
    if as_json:
        here = [name for name in names if name not in far]
        click.echo(json.dumps({"hosts": good, "problems": opened.problems, "this_machine": here}, indent=1))
    else:
        _show(names, good, opened.problems)
    if opened.problems:
        raise SystemExit(HostError.exit_code)


def _meant(what: str) -> tuple[tuple[str, ...], Any]:
    """Return the hosts of a plan's file or of a host list, and the ssh that reaches them."""
    from fabriscope import plan as plans
    from fabriscope.launch import ssh
    from fabriscope.model.errors import HostError
    from fabriscope.model.host_lists import FORM, unfolded
    from fabriscope.running import real_site
    from fabriscope.running.vocabulary import vocabulary

    is_plan = False
    with contextlib.suppress(OSError):  # a name that no file can have may be a host list
        is_plan = Path(what).is_file()
    if is_plan:
        words = vocabulary()
        plan = plans.load(Path(what), words)
        if plan.wants_allocation and words.allocation is None:
            what = "its hosts are those of a batch job, and we are in none"
            raise HostError(what, where=plan.where("hosts"), fix="ask inside of the job")
        if plan.uses_lab:
            raise HostError("its hosts are made by the lab", where=what, fix="`fabriscope run` builds and checks them")
        plans.refuse_others(plan)
        return plan.hosts, real_site.ssh_of(plan)
    return unfolded(what, fix=f"name a plan's file, or {FORM}"), ssh.chosen()


def _show(names: tuple[str, ...], good: Mapping[str, Mapping[str, Any]], problems: Mapping[str, str]) -> None:
    width = max(map(len, names))
    for name in names:
        if name in problems:
            click.echo(f"{click.style('✗', fg='red')} {name:{width}}  {printable(problems[name])}")
            continue
        one = good.get(name)
        if one is None:
            click.echo(f"{click.style('✓', fg='green')} {name:{width}}  this machine")
            continue
        addresses = ", ".join(f"{interface} {address}" for interface, address in one["addresses"].items())
        system = f"{one['distribution'] or 'Linux'}, {one['machine']}, {one['cpu_count']} CPUs, Python {one['python']}"
        click.echo(f"{click.style('✓', fg='green')} {name:{width}}  {printable(f'{system}; {addresses}')}")
    if problems:
        click.echo(f"{len(problems)} of {len(names)} hosts cannot be used; `ssh HOST python3 --version` must answer")
