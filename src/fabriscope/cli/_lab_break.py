"""`fabriscope lab break`: something that is wrong on purpose, by a name that people know it by."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import click

from fabriscope.cli import _usage

if TYPE_CHECKING:
    from fabriscope.lab import Lab


_OPTIONS = {
    "on_full": "--on-full {}",
    "rate_bits_per_s": "--rate {}bit/s",
    "delay_ns": "--delay {}ns",
    "buffer_bytes": "--buffer {}",
    "rx_coalesce_ns": "--rx-coalesce-time {}ns",
    "rx_coalesce_frames": "--rx-coalesce-frames {}",
}
"""What a fault changes of every port, to the option that puts it back."""


def _names() -> list[str]:
    from fabriscope.lab.broken import FAULTS

    return list(FAULTS)


def _listed(ctx: click.Context, _: click.Parameter, is_list: bool) -> None:
    from fabriscope.lab.broken import FAULTS

    if is_list:
        width = max(map(len, FAULTS))
        for name, fault in FAULTS.items():
            click.echo(f"{name:{width}}  {fault.does}; seen by {fault.seen_by}")
        ctx.exit()


@click.command(name="break")
@click.argument("fault", type=_usage.Choice("fault", _names), metavar="FAULT")
@click.option("--lab", "lab_name", metavar="NAME", help="The lab; needed where several stand.")
@click.option("--host", "host_name", metavar="HOST", help="The host that it befalls.  [default: the last]")
@click.option("--fabric", metavar="FABRIC", help="Its link to this fabric.  [default: the first]")
@click.option("--list", is_flag=True, is_eager=True, expose_value=False, callback=_listed, help="List the faults.")
def command(fault: str, lab_name: str | None, host_name: str | None, fabric: str | None) -> None:
    """Break one thing of a lab that stands, so that `fabriscope audit` and measurements can be tried on it.

    How it is mended is said at the end.

    \b
    fabriscope lab break mtu --host node3
    fabriscope audit --lab ''
    fabriscope restore --list
    """
    from fabriscope import lab
    from fabriscope.lab.broken import FAULTS

    built = lab.find(lab_name)
    fabrics = built.state.details["fabrics"]
    fabric = fabric or next(iter(fabrics))
    if fabric not in fabrics:
        raise click.UsageError(f"--fabric: there is no fabric {fabric!r}; fabrics: {', '.join(fabrics)}")
    chosen = FAULTS[fault]
    host = built.check_host(host_name or built.hosts[-1].name)
    if chosen.setting is not None:
        mend = _set(built, host.name, chosen.setting, str(fabrics[fabric]["interface"]))
    else:
        mend = f"fabriscope lab set {fabric} {_mending(fault, fabrics[fabric]['switch'])} --lab {built.name}"
        with _usage.checked():
            built.change(fabric, dict(chosen.switch), () if chosen.is_of_fabric else (host.name,))
    click.echo(f"{host.name}: {chosen.does}")
    click.echo(f"  seen by  {chosen.seen_by}")
    click.echo(f"  mend     {mend}")


def _mending(fault: str, switch: Mapping[str, Any]) -> str:
    """Return the options of `lab set` that end a fault of the switch: what every port is has no word for well."""
    from fabriscope.lab.broken import FAULTS

    chosen = FAULTS[fault]
    if not chosen.is_of_fabric:
        return "--clear"
    return " ".join(f"{_OPTIONS[field].format(switch[field])}" for field, _ in chosen.switch)


def _set(built: Lab, host_name: str, setting: tuple[str, str, str], interface: str) -> str:
    """Change a setting of a host, through the journal, and return the command that puts it back."""
    from fabriscope.hosts.access import changes, journal
    from fabriscope.hosts.access.journal import Change

    what, path, new = setting
    change = Change.of_file(what.format(interface=interface), path.format(interface=interface), new)
    host = built.check_host(host_name)
    with changes.changed(host, change) as standing:
        standing.keep()
    damaged: list[str] = []
    names = [one.name for one in journal.entries(damaged.append) if one.change == change and one.host.name == host.name]
    return f"fabriscope restore {' '.join(names)}" if names else "nothing: it was so before"
