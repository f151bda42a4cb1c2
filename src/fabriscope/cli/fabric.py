"""`fabriscope fabric`: RDMA devices in software on real hosts, and which port of a host stands for an interface."""

from __future__ import annotations

import json
import socket
import subprocess

import click

from fabriscope.model.lab import RDMA_DRIVERS

_TIMEOUT_S = 30.0
_INTERFACE = click.option("--interface", required=True, metavar="NAME", help="Network interface, such as eth0.")


@click.group(name="fabric")
def COMMAND() -> None:  # noqa: N802 - the registry's constant
    """Make RDMA devices in software on this host, and say which port and address verbs would use.

    \b
    fabriscope fabric up soft-roce --interface eth0      what `rxe_cfg start; rxe_cfg add eth0` was
    fabriscope fabric show --interface eth0
    fabriscope fabric down soft-roce --interface eth0
    """


@COMMAND.command(name="up")
@click.argument("kind", type=click.Choice(sorted(RDMA_DRIVERS)))
@_INTERFACE
def up(kind: str, interface: str) -> None:
    """Make an RDMA device of KIND of an interface of this host, by `rdma link add`; needs root."""
    from fabriscope.model.errors import HostError

    driver = RDMA_DRIVERS[kind]
    name = _device(driver, interface)
    here = sorted(one for _, one in socket.if_nameindex())
    if interface not in here:
        raise HostError(f"this host has no interface {interface!r}", fix=f"choose one of {', '.join(here)}")
    _rdma("link", "add", name, "type", driver, "netdev", interface)
    click.echo(f"{name} is over {interface}")


@COMMAND.command(name="down")
@click.argument("kind", type=click.Choice(sorted(RDMA_DRIVERS)))
@_INTERFACE
def down(kind: str, interface: str) -> None:
    """Remove the RDMA device of KIND that `fabric up` made of an interface."""
    name = _device(RDMA_DRIVERS[kind], interface)
    _rdma("link", "delete", name)
    click.echo(f"{name} is removed")


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


def _device(driver: str, interface: str) -> str:
    return f"{driver}_{interface}"


def _rdma(*words: str) -> None:
    """Run iproute2's rdma; raises ToolMissing or HostError with what it said."""
    from fabriscope.model.errors import HostError, ToolMissing

    try:
        done = subprocess.run(["rdma", *words], capture_output=True, text=True, timeout=_TIMEOUT_S, check=False)
    except FileNotFoundError:
        raise ToolMissing("rdma is not on this machine", fix="install the package iproute2") from None
    if done.returncode == 0:
        return
    said = " ".join((done.stderr or done.stdout).split()) or f"exit status {done.returncode}"
    fix = None
    if "not supported" in said or "Invalid argument" in said:
        fix = "this kernel may lack the driver (modprobe rdma_rxe or siw); `fabriscope doctor` says what else is open"
    raise HostError(f"`rdma {' '.join(words)}` failed: {said}", fix=fix)
