"""`fabriscope lab`: a small cluster made out of this machine, by hand."""

from __future__ import annotations

import json
import os
import signal
import time
from typing import TYPE_CHECKING, Any, NoReturn

import click

if TYPE_CHECKING:
    from fabriscope.lab.state import LabState
    from fabriscope.model.lab import SwitchSpec

DEFAULT_HOSTS = "node[1-2]"
DEFAULT_FABRIC = "gige"
TESTED_FABRICS = "ethernet-100 gige"
EXIT_FAILED = 1
EXIT_UNDECIDED = 10
FABRIC_HELP = "A fabric: PRESET, NAME=PRESET, or NAME=PRESET,rate=1Gb/s,delay=50us,... May be repeated."


@click.group(name="lab")
def COMMAND() -> None:  # noqa: N802 - the registry's constant
    """Make a small cluster out of this machine: hosts with shaped links, for trying plans and programs.

    \b
    fabriscope lab up --hosts 'node[1-4]' --fabric gige --fabric slow=ethernet-100
    fabriscope lab exec node1 -- ip address
    fabriscope lab down
    """


@COMMAND.command(name="up")
@click.option("--hosts", default=DEFAULT_HOSTS, show_default=True, help="Host names, as in 'node[1-4],head'.")
@click.option(
    "--fabric", "fabrics", multiple=True, metavar="FABRIC", help=f"{FABRIC_HELP}  [default: {DEFAULT_FABRIC}]"
)
@click.option("--name", help="Name of the lab  [default: made up]")
def up(hosts: str, fabrics: tuple[str, ...], name: str | None) -> None:
    """Build a lab that stays until `fabriscope lab down`.

    The first fabric is eth0 on every host, the second eth1, and so on. A fabric's keys are those of a plan's
    `lab:` section: rate, delay, buffer, rx_coalesce_time, rx_coalesce_frames, mtu.
    """
    from fabriscope import lab
    from fabriscope.model.lab import LabSpec

    spec = LabSpec(_host_names(hosts), _fabrics(fabrics or (DEFAULT_FABRIC,)))
    built = lab.up(spec, name=name, persistent=True)
    click.echo(f"{built.name} stands: {hosts} on {', '.join(spec.fabrics)}")
    click.echo(f"  fabriscope lab exec {built.hosts[0].name} -- COMMAND   runs a command on a host")
    click.echo(f"  {built.remote_shell}   stands in for ssh")
    click.echo(f"  fabriscope lab down {built.name}   removes it")


@COMMAND.command(name="status")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@click.option("--counters", is_flag=True, help="With what the switch counted at every port.")
def status(as_json: bool, counters: bool) -> None:
    """List the labs that stand, and what dead ones left behind."""
    from fabriscope import lab

    records = list(lab.recorded())
    standing = [record for record in records if not record.is_left_over and record.is_complete]
    left_overs = [record.name for record in records if record.is_left_over]
    labs = [_described(record, with_counters=counters) for record in standing]
    if as_json:
        click.echo(json.dumps({"labs": labs, "left_overs": left_overs}, indent=1))
        return
    if not labs:
        click.echo("no lab stands")
    for one in labs:
        _show(one)
    if left_overs:
        click.echo(
            f"left behind by processes that died: {', '.join(left_overs)}; `fabriscope lab down --all` removes it"
        )


@COMMAND.command(name="exec", context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False})
@click.option("--lab", "lab_name", metavar="NAME", help="The lab; needed where several stand.")
@click.argument("host")
@click.argument("command", nargs=-1, type=click.UNPROCESSED)
def execute(lab_name: str | None, host: str, command: tuple[str, ...]) -> NoReturn:
    """Run COMMAND on HOST, in the current folder; without one, a shell. Ends with the command's own status."""
    from fabriscope import lab
    from fabriscope.model.errors import LabError

    words = [word for index, word in enumerate(command) if index > 0 or word != "--"]
    words = words or [os.environ.get("SHELL", "/bin/sh")]
    access = lab.find(lab_name).host(host).access
    # Ctrl-C is for the command alone: nsenter waits for it, and would leave it behind.
    signals = (signal.SIGINT, signal.SIGQUIT)
    for one in signals:
        signal.signal(one, signal.SIG_IGN)
    default = "--default-signal=" + ",".join(one.name.removeprefix("SIG") for one in signals)
    try:
        os.execvp(access[0], [*access, "env", default, *words])  # noqa: S606 - the command's terminal and status are ours
    except OSError as error:
        raise LabError(f"{access[0]} cannot be started: {error.strerror}", where=host) from error


@COMMAND.command(name="down")
@click.argument("name", required=False)
@click.option("--all", "every", is_flag=True, help="Every lab that `lab up` made.")
def down(name: str | None, every: bool) -> None:
    """Remove a lab with every process, interface and mount of it, and whatever dead owners left behind.

    A lab of a process that still runs (`fabriscope run`) is left alone: it goes when that process ends.
    """
    from fabriscope import lab
    from fabriscope.model.errors import LabError

    if name is not None and every:
        raise click.UsageError("give a name, or --all")
    removed = lab.remove_left_overs()
    for left_over in removed:
        click.echo(f"removed what was left of {left_over}")
    if name in removed:
        return
    standing = [record for record in lab.recorded() if record.owner is None]
    chosen = standing if every or not (name or standing) else [lab.find(name).state]
    for record in chosen:
        if record.owner is not None:
            raise LabError(
                f"it belongs to process {record.owner.pid}, which still runs", where=record.name, fix="end that one"
            )
        record.remove()
        click.echo(f"removed {record.name}")
    if not chosen and not removed:
        click.echo("no lab stands")


@COMMAND.command(name="selftest")
@click.option(
    "--fabric", "fabrics", multiple=True, metavar="FABRIC", help=f"{FABRIC_HELP}  [default: {TESTED_FABRICS}]"
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object, in ns, bytes and bits per second.")
def selftest(fabrics: tuple[str, ...], as_json: bool) -> None:
    """Measure rate, delay and buffer of fabrics back, independently of the switch, and compare.

    The exit code is 0 if every number is what was asked for, 1 if not, and 10 if it cannot be decided because the
    machine was busy. Takes half a minute on an idle machine.
    """
    from rich.console import Console

    from fabriscope.cli import _selftest_table
    from fabriscope.lab.selftest import selftest as measure

    with Console(stderr=True, quiet=as_json).status("building a lab") as status:
        result = measure(_fabrics(fabrics or tuple(TESTED_FABRICS.split())), status.update)
    if as_json:
        click.echo(json.dumps(_selftest_table.as_json(result), indent=1))
    else:
        _selftest_table.show(result)
    if result.verdict != "passed":
        raise SystemExit(EXIT_UNDECIDED if result.verdict == "undecided" else EXIT_FAILED)


@COMMAND.command(name="presets")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object, in bits, bytes and ns.")
def presets(as_json: bool) -> None:
    """List the emulated networks that come with fabriscope."""
    from dataclasses import asdict

    from fabriscope.lab.presets import DESCRIPTIONS, PRESETS

    if as_json:
        listed = {name: {**asdict(spec), "description": DESCRIPTIONS[name]} for name, spec in PRESETS.items()}
        click.echo(json.dumps(listed, indent=1))
        return
    width = max(map(len, PRESETS))
    for name, spec in PRESETS.items():
        click.echo(f"{name:{width}}  {DESCRIPTIONS[name]}")
        click.echo(f"{'':{width}}  {_numbers(asdict(spec))}")


def _host_names(text: str) -> tuple[str, ...]:
    from ClusterShell.NodeSet import NodeSet, NodeSetException

    from fabriscope.model.errors import LabError

    try:
        return tuple(NodeSet(text))
    except NodeSetException as error:
        raise LabError(f"{text!r} is not a host list: {error}", fix="write 'node[1-4],head'") from error


def _fabrics(texts: tuple[str, ...]) -> dict[str, SwitchSpec]:
    from fabriscope.model.errors import LabError

    fabrics: dict[str, SwitchSpec] = {}
    for text in texts:
        head, *changes = text.split(",")
        name, _, preset = head.partition("=")
        if name in fabrics:
            raise LabError(f"two fabrics have the name {name!r}", fix="write --fabric OTHER=PRESET")
        fabrics[name] = _switch(text, preset or name, changes)
    return fabrics


def _switch(text: str, preset: str, changes: list[str]) -> SwitchSpec:
    """Return a preset with changes, by the words and the checks of a plan."""
    from pydantic import ValidationError

    from fabriscope import site
    from fabriscope.lab.presets import PRESETS
    from fabriscope.model.errors import LabError
    from fabriscope.plan.schema import LabFabricSection

    if preset not in PRESETS:
        raise LabError(f"there is no preset {preset!r}", where=f"--fabric {text}", fix=f"presets: {', '.join(PRESETS)}")
    pairs = dict(change.partition("=")[::2] for change in changes)
    try:
        return site.switch_spec(LabFabricSection.model_validate({**pairs, "preset": preset}))
    except ValidationError as error:
        first = error.errors()[0]
        keys = ", ".join(key for key in LabFabricSection.model_fields if key != "preset")
        is_unknown = first["type"] == "extra_forbidden"
        why = "there is no such key" if is_unknown else first["msg"].removeprefix("Value error, ")
        what = f"{first['loc'][0]}: {why}"
        raise LabError(what, where=f"--fabric {text}", fix=f"keys: {keys}") from error


def _described(record: LabState, *, with_counters: bool) -> dict[str, Any]:
    from fabriscope import lab

    details = record.details
    described = {
        "name": record.name,
        "since_unix_s": details.get("since_unix_s"),
        "owner_pid": record.owner.pid if record.owner else None,
        "remote_shell": details["remote_shell"],
        "hosts": {host["name"]: host["addresses"] for host in details["hosts"]},
        "fabrics": details["fabrics"],
    }
    if with_counters:
        described["ports"] = lab.find(record.name).counters().get("ports", [])
    return described


def _show(one: dict[str, Any]) -> None:
    since = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(one["since_unix_s"]))
    owner = f"process {one['owner_pid']}" if one["owner_pid"] else "`lab up`"
    click.secho(one["name"], bold=True, nl=False)
    click.echo(f"  since {since}, of {owner}; stand-in for ssh: {one['remote_shell']}")
    for name, fabric in one["fabrics"].items():
        click.echo(f"  {fabric['interface']}  {name} ({fabric['attachment']}): {_numbers(fabric['switch'])}")
    for name, addresses in one["hosts"].items():
        click.echo(f"  {name}  " + "  ".join(f"{interface} {address}" for interface, address in addresses.items()))
    for port in one.get("ports", []):
        up, down = port["up"], port["down"]
        mean_us = port["lateness_sum_ns"] / max(down["frames"], 1) / 1000
        click.echo(
            f"  {port['fabric']} {port['host']}: {up['frames']} frames ({up['bytes']} B) sent,"
            f" {down['frames']} ({down['bytes']} B) received, {port['dropped_frames']} dropped,"
            f" queue at most {port['maximum_queue_bytes']} B, handed over {mean_us:.1f} µs late on average"
        )


def _numbers(switch: dict[str, Any]) -> str:
    """Return a switch's numbers for people."""
    if switch["preset"] == "local":
        return f"unshaped, MTU {switch['mtu_bytes']} B"
    rate = f"{switch['rate_bits_per_s'] / 1e6:g} Mb/s" if switch["rate_bits_per_s"] else "any rate"
    buffer = f"{switch['buffer_bytes'] / 1024:g} KiB" if switch["buffer_bytes"] else "unlimited"
    text = f"{rate}, delay {switch['delay_ns'] / 1000:g} µs, buffer {buffer}, MTU {switch['mtu_bytes']} B"
    if switch["rx_coalesce_ns"]:
        text += f", hands over after {switch['rx_coalesce_ns'] / 1000:g} µs or {switch['rx_coalesce_frames']} frames"
    return text
