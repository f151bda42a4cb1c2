"""`fabriscope fabric`: RDMA devices in software on real hosts, and which port of a host stands for an interface."""

from __future__ import annotations

import contextlib
import json
import shutil
import socket
from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

from fabriscope.cli import _usage
from fabriscope.model.lab import RDMA_DRIVERS

if TYPE_CHECKING:
    from fabriscope.hosts.access.changes import Change

_TIMEOUT_S = 30.0
_INTERFACE = click.option("--interface", required=True, metavar="NAME", help="Network interface, such as eth0.")


@click.group(cls=_usage.Group, name="fabric")
def COMMAND() -> None:  # noqa: N802 - the registry's constant
    """Make RDMA devices in software on this host, and say which port and address verbs would use.

    \b
    fabriscope fabric up soft-roce --interface eth0      what `rxe_cfg start; rxe_cfg add eth0` was
    fabriscope fabric up soft-roce --interface eth0 -- COMMAND    only for as long as COMMAND runs
    fabriscope fabric show --interface eth0
    fabriscope fabric down soft-roce --interface eth0
    """


@COMMAND.command(name="up", context_settings={"ignore_unknown_options": True})
@click.argument("kind", type=click.Choice(sorted(RDMA_DRIVERS)))
@_INTERFACE
@click.argument("command", nargs=-1, type=click.UNPROCESSED, metavar="[-- COMMAND...]")
def up(kind: str, interface: str, command: tuple[str, ...]) -> None:
    """Make an RDMA device of KIND of an interface of this host, by `rdma link add`; needs root.

    It stays until `fabric down`, `fabriscope restore` by its name, or a reboot. With a COMMAND it is there for as long
    as that runs, whatever ends it or us, and the exit code is the command's own.
    """
    from fabriscope.hosts.access.changes import changed
    from fabriscope.launch import in_front
    from fabriscope.model.errors import HostError
    from fabriscope.model.host import HERE

    name, status = _device(kind, interface), 0
    here = sorted(one for _, one in socket.if_nameindex())
    if interface not in here:
        raise HostError(f"this host has no interface {interface!r}", fix=f"choose one of {', '.join(here)}")
    with _explained(), changed(HERE, _change(kind, interface)) as standing:
        if not standing.is_new:
            raise HostError(f"{name} is there already", fix=f"`fabriscope fabric down {kind} --interface {interface}`")
        click.echo(f"{name} is over {interface}", err=bool(command))
        if command:
            status = in_front.run(command, {}).exit_status
        else:
            standing.keep()
    raise SystemExit(status if status >= 0 else 128 - status)


@COMMAND.command(name="down")
@click.argument("kind", type=click.Choice(sorted(RDMA_DRIVERS)))
@_INTERFACE
def down(kind: str, interface: str) -> None:
    """Remove the RDMA device of KIND that `fabric up` made of an interface."""
    from fabriscope.hosts import access
    from fabriscope.hosts.access import journal
    from fabriscope.model.errors import HostError
    from fabriscope.model.host import HERE

    change = _change(kind, interface)
    with _explained():
        done = access.run(HERE, change.restore_argv, _TIMEOUT_S)
        if done.exit_status != 0:
            raise HostError(f"`{' '.join(change.restore_argv)}` failed: {done.last_words}")
    journal.forget(change)
    click.echo(f"{_device(kind, interface)} is removed")


@COMMAND.command(name="show")
@_INTERFACE
@click.option("--transport", type=click.Choice(["roce", "iwarp", "ib"]), default="roce", show_default=True)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def show(interface: str, transport: str, as_json: bool) -> None:
    """Say which device, port and address of this host verbs over an interface would use, and why."""
    from dataclasses import asdict

    from fabriscope.model.fabric import Fabric
    from fabriscope.model.host import HERE
    from fabriscope.running import rdma_ports

    fabric = Fabric(transport, {HERE.name: interface}, transport)
    port = rdma_ports.found({transport: fabric}, {HERE.name: HERE})[transport].rdma_ports[HERE.name]
    if as_json:
        click.echo(json.dumps(asdict(port), indent=1))
        return
    index = "" if port.gid_index is None else f", GID index {port.gid_index}"
    click.echo(f"{port.device}, port {port.hca_port}{index}: {port.chosen_because}")


def _device(kind: str, interface: str) -> str:
    return f"{RDMA_DRIVERS[kind]}_{interface}"


def _change(kind: str, interface: str) -> Change:
    from fabriscope.hosts.access.changes import Change

    driver, name = RDMA_DRIVERS[kind], _device(kind, interface)
    return Change.of_thing(
        f"the RDMA device {name}",
        f"/sys/class/infiniband/{name}",
        ("rdma", "link", "add", name, "type", driver, "netdev", interface),
        ("rdma", "link", "delete", name),
    )


@contextlib.contextmanager
def _explained() -> Iterator[None]:
    """Say what to do where iproute2's rdma is absent, or the kernel does not do what it asks."""
    from fabriscope.model import search_paths
    from fabriscope.model.errors import HostError, ToolMissing

    if shutil.which("rdma", path=search_paths.programs()) is None:
        raise ToolMissing("rdma is not on this machine", fix="install the package iproute2")
    try:
        yield
    except HostError as error:
        if "not supported" not in error.what and "Invalid argument" not in error.what:
            raise
        fix = "this kernel may lack the driver (modprobe rdma_rxe or siw); `fabriscope doctor` says what else is open"
        raise HostError(error.what, where=error.where, fix=fix) from error
