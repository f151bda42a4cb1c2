"""`fabriscope devices`: what switches print, asked over ssh and saved for audit, inventory and configure."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import click

from fabriscope.cli import _loudness, _usage

if TYPE_CHECKING:
    from fabriscope.devices.system import System
    from fabriscope.running.device_asking import Answers, Login

SYSTEMS = ("cumulus", "eos", "nxos", "onyx", "os10", "sonic")
EXIT_UNKNOWN = 4


@click.command("devices")
@click.argument("names", metavar="DEVICES")
@click.option("--system", "system_name", type=click.Choice(SYSTEMS), required=True, help="What runs on them.")
@click.option("--user", metavar="NAME", help="Who logs in  [default: as your ssh does].")
@click.option("--port", type=click.IntRange(1, 65535), help="Of their ssh  [default: as your ssh has it].")
@click.option("-F", "ssh_config", type=_usage.PATH, metavar="FILE", help="An ssh configuration other than your own.")
@click.option("-o", "--output", type=_usage.PATH, help="Where to save  [default: devices-TIME].")
@click.option("--list", "is_list", is_flag=True, help="List what would be asked, and ask nothing.")
def devices(
    names: str,
    system_name: str,
    user: str | None,
    port: int | None,
    ssh_config: Path | None,
    output: Path | None,
    is_list: bool,
) -> None:
    """Ask switches what they are and how they are configured, and save what they print, each in a folder of its own.

    DEVICES is a list such as leaf[1-4],spine1. Only commands that show something are given; nothing is changed on a
    device. Agent, key, jump host and known hosts are those of your ssh; a password is taken from
    $FABRISCOPE_DEVICE_PASSWORD and one for the privileged mode from $FABRISCOPE_DEVICE_SECRET, and neither is stored.
    The exit code is 5 if a device could not be asked, and 4 if one did not tell all.

    \b
    fabriscope devices 'leaf[1-2]' --system eos --user admin -o switches
    fabriscope audit --hosts 'node[1-16]' --devices switches
    """
    from fabriscope import devices as known
    from fabriscope import store
    from fabriscope.running import device_asking

    system = next(one for one in known.systems() if one.name == system_name)
    if is_list:
        click.echo("\n".join(device_asking.commands(system)))
        return
    folder = output or Path(time.strftime("devices-%Y%m%d-%H%M%S"))
    store.refuse_part_of_run(folder)
    _ask(names, system, _login(user, port, ssh_config), folder)


def _ask(names: str, system: System, login: Login, folder: Path) -> None:
    from fabriscope.model.host_lists import unfolded
    from fabriscope.running import device_asking

    listed = unfolded(names, fix="name switches as in leaf[1-4],spine1")
    _refuse_saved(folder, listed)
    found = device_asking.asked(listed, system, login, lambda name: _loudness.remark(f"asked {name}"))
    device_asking.save(folder, found)
    _tell(folder, found)


def _refuse_saved(folder: Path, names: tuple[str, ...]) -> None:
    """Raise UsageError before anybody is asked."""
    if saved := [name for name in names if (folder / name).exists()]:
        raise click.UsageError(f"{folder / saved[0]} is there already: choose another folder with -o, or move it away")


def _login(user: str | None, port: int | None, ssh_config: Path | None) -> Login:
    from fabriscope.running.device_asking import Login

    own = Path("~/.ssh/config").expanduser()
    password, secret = (os.environ.get(f"FABRISCOPE_DEVICE_{what}") for what in ("PASSWORD", "SECRET"))
    return Login(user, port, password, secret, ssh_config or (own if own.is_file() else None))


def _tell(folder: Path, every: Mapping[str, Answers]) -> None:
    from fabriscope.model.errors import HostError, printable

    for name, answers in every.items():
        for why in answers.problems:
            click.echo(printable(f"fabriscope: device {name}: {why}"), err=True)
    told = [name for name, answers in every.items() if answers.texts]
    if told:
        click.echo(f"{len(told)} of {len(every)} devices saved; `fabriscope audit --devices {folder}` looks at them")
        click.echo(folder)
    if len(told) < len(every):
        raise SystemExit(HostError.exit_code)
    if any(answers.problems for answers in every.values()):
        raise SystemExit(EXIT_UNKNOWN)


COMMAND = devices
