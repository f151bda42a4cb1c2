"""`fabriscope lab`: a small cluster made out of this machine, by hand."""

from __future__ import annotations

import json
import os
import signal
from typing import Any, NoReturn

import click

from fabriscope.cli import _lab_break, _lab_queues, _loudness, _streams, _usage
from fabriscope.cli._lab_kernel import kernel
from fabriscope.cli._lab_status import described, show
from fabriscope.cli._lab_words import fabrics_of, fault_values, numbers_of, shares_of

DEFAULT_HOSTS = "node[1-2]"
DEFAULT_FABRIC = "gige"
TESTED_FABRICS = "ethernet-100 gige"
EXIT_FAILED = 1
EXIT_UNDECIDED = 10
FABRIC_HELP = "A fabric: PRESET, NAME=PRESET, or NAME=PRESET,rate=1Gb/s,delay=50us,... May be repeated."


@click.group(cls=_usage.Group, name="lab")
def COMMAND() -> None:  # noqa: N802 - the registry's constant
    """Make a small cluster out of this machine: hosts with shaped links, for trying plans and programs.

    \b
    fabriscope lab up --hosts 'node[1-4]' --fabric gige --fabric slow=ethernet-100
    fabriscope lab exec node1 -- ip address
    fabriscope lab down
    """


COMMAND.add_command(kernel)
COMMAND.add_command(_lab_break.command)


@COMMAND.command(name="up")
@click.option("--hosts", help=f"Host names, as in 'node[1-4],head'.  [default: the guests, or {DEFAULT_HOSTS}]")
@click.option(
    "--fabric", "fabrics", multiple=True, metavar="FABRIC", help=f"{FABRIC_HELP}  [default: {DEFAULT_FABRIC}]"
)
@click.option("--guests", metavar="HOSTS", help="Hosts with a kernel of their own; docs/guests.md.")
@click.option(
    "--soft-roce", "soft_roce", multiple=True, metavar="FABRIC", help="Make rxe devices on a fabric's guests."
)
@click.option("--iwarp", multiple=True, metavar="FABRIC", help="Make siw devices on a fabric's guests.")
@click.option("--cpu-share", "shares", multiple=True, metavar="HOST=SHARE", help="A slower guest, as in g2=50%.")
@click.option("--name", help="Name of the lab  [default: made up]")
def up(
    hosts: str | None,
    fabrics: tuple[str, ...],
    guests: str | None,
    soft_roce: tuple[str, ...],
    iwarp: tuple[str, ...],
    shares: tuple[str, ...],
    name: str | None,
) -> None:
    """Build a lab that stays until `fabriscope lab down`.

    The first fabric is eth0 on every host, the second eth1, and so on. A fabric's keys are those of a plan's
    `lab:` section: rate, delay, buffer, rx_coalesce_time, rx_coalesce_frames, mtu, and what
    goes wrong: on_full, loss, drop_every, reorder, reorder_delay, flap_period, flap_down, fault_seed. A switch with
    priorities has pfc=3/4, xoff, xon, headroom, shared_buffer, alpha, ecn_min, ecn_max, ecn_probability, scheduler,
    dscp=26:3/48:6, second_switch.
    """
    from fabriscope import lab
    from fabriscope.model.host_lists import unfolded
    from fabriscope.model.lab import RDMA_DRIVERS, LabSpec

    with _usage.checked("--guests"):
        with_kernel = unfolded(guests) if guests is not None else ()
    with _usage.checked("--hosts"):
        named = unfolded(DEFAULT_HOSTS if hosts is None else hosts) if hosts is not None or not guests else ()
    every = tuple(dict.fromkeys((*named, *with_kernel)))
    rdma = dict.fromkeys(soft_roce, RDMA_DRIVERS["soft-roce"]) | dict.fromkeys(iwarp, RDMA_DRIVERS["iwarp"])
    with _usage.checked():
        wired, given = fabrics_of(fabrics or (DEFAULT_FABRIC,)), shares_of(shares)
    spec = LabSpec(every, wired, guests=with_kernel, rdma=rdma, cpu_shares=given)
    built = lab.up(spec, name=name, persistent=True, notice=_warn)
    click.echo(
        f"{built.name} stands: {','.join(filter(None, (hosts, guests))) or DEFAULT_HOSTS} on {', '.join(spec.fabrics)}"
    )
    click.echo(f"  fabriscope lab exec {built.hosts[0].name} -- COMMAND   runs a command on a host")
    click.echo(f"  {built.remote_shell}   stands in for ssh")
    click.echo(f"  fabriscope lab down {built.name}   removes it")


@COMMAND.command(name="status")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@click.option("--counters", is_flag=True, help="With what the switch counted at every port.")
def status(as_json: bool, counters: bool) -> None:
    """List the labs that stand, and what dead ones left behind."""
    from fabriscope import lab

    records = list(lab.recorded(_warn))
    standing = [record for record in records if not record.is_left_over and record.is_complete]
    left_overs = [record.name for record in records if record.is_left_over]
    labs = [described(record, with_counters=counters) for record in standing]
    if as_json:
        click.echo(json.dumps({"labs": labs, "left_overs": left_overs}, indent=1))
        return
    if not labs:
        click.echo("no lab stands")
    for one in labs:
        show(one)
    if left_overs:
        click.echo(
            f"left behind by processes that died: {', '.join(left_overs)}; `fabriscope lab down --all` removes it"
        )


@COMMAND.command(name="exec", context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False})
@click.option("--lab", "lab_name", metavar="NAME", help="The lab; needed where several stand.")
@click.argument("host")
@click.argument("command", nargs=-1, type=click.UNPROCESSED)
def execute(lab_name: str | None, host: str, command: tuple[str, ...]) -> NoReturn:
    """Run COMMAND on HOST, in the current folder; without one, a shell. Ends with the command's own status.

    An mpirun there reaches the lab's other hosts without further words.
    """
    from fabriscope import lab
    from fabriscope.launch import environment
    from fabriscope.model.errors import LabError, shown

    if host.startswith("-"):
        raise click.UsageError(f"no such option {shown(host)}; before HOST may stand --lab NAME and --help")
    words = [word for index, word in enumerate(command) if index > 0 or word != "--"]
    words = words or [os.environ.get("SHELL", "/bin/sh")]
    built = lab.find(lab_name)
    chosen = built.check_host(host)
    access = chosen.access
    # Ctrl-C is for the command alone: nsenter waits for it, and would leave it behind.
    signals = (signal.SIGINT, signal.SIGQUIT)
    for one in signals:
        signal.signal(one, signal.SIG_IGN)
    default = "--default-signal=" + ",".join(one.name.removeprefix("SIG") for one in signals)
    try:
        more = environment.in_lab(str(built.remote_shell), chosen.management_interface, os.environ)
        os.execvpe(access[0], [*access, "env", default, *words], {**os.environ, **more})  # noqa: S606 - its terminal and status are ours
    except OSError as error:
        raise LabError(f"{access[0]} cannot be started: {error.strerror}", where=host) from error


@COMMAND.command(name="set")
@click.argument("fabric")
@click.option("--lab", "lab_name", metavar="NAME", help="The lab; needed where several stand.")
@click.option("--host", "hosts", multiple=True, metavar="HOST", help="Only the link of this host. May be repeated.")
@click.option("--loss", metavar="SHARE", help="Frames are lost by chance, as in 0.1%.")
@click.option("--drop-every", metavar="N", help="Every N-th frame of a port is lost; 0: none.")
@click.option("--reorder", metavar="SHARE", help="Frames are held back by chance, so that others overtake them.")
@click.option("--reorder-delay", metavar="TIME", help="How long such a frame waits.")
@click.option("--flap-period", metavar="TIME", help="Links are down at the end of every such period, from now on.")
@click.option("--flap-down", metavar="TIME", help="How long the link stays down.")
@click.option("--rate", metavar="RATE", help="Line rate of every port, of the whole fabric.")
@click.option("--delay", metavar="TIME", help="Delay from host to host, of the whole fabric.")
@click.option("--buffer", metavar="SIZE", help="Output buffer of every port, of the whole fabric; 0: without end.")
@click.option("--rx-coalesce-time", metavar="TIME", help="How long hosts' cards let a frame wait, of the whole fabric.")
@click.option("--rx-coalesce-frames", metavar="N", help="Frames that wait no longer, of the whole fabric.")
@click.option("--on-full", type=click.Choice(["drop", "pause"]), help="What a full output does, of the whole fabric.")
@_lab_queues.options
@click.option("--down", "is_down", flag_value="1", help="The link is down until --up.")
@click.option("--up", "is_down", flag_value="0", help="The link is up again.")
@click.option("--clear", is_flag=True, help="First, let nothing be wrong any more.")
def change(
    fabric: str, lab_name: str | None, hosts: tuple[str, ...], is_down: str | None, clear: bool, **wanted: str | None
) -> None:
    """Change FABRIC of a lab that stands: its numbers, and what is wrong on purpose with it or with some hosts' links.

    \b
    fabriscope lab set gige --loss 1%                    one frame in a hundred is lost
    fabriscope lab set gige --host node2 --drop-every 10 node2's port drops every tenth frame
    fabriscope lab set gige --host node2 --down          pull the cable; --up puts it back
    fabriscope lab set gige --buffer 64KiB               smaller output buffers
    fabriscope lab set gige --xoff 20KiB --xon 10KiB     of a fabric that was built with priorities (pfc=3)
    fabriscope lab set gige --clear                      all is well again
    """
    from fabriscope import lab
    from fabriscope.lab import faults

    values: dict[str, Any] = dict(faults.NONE) if clear else {}
    with _usage.checked():
        values |= fault_values(fabric, {key: value for key, value in wanted.items() if value is not None})
    if is_down is not None:
        values["is_down"] = is_down == "1"
    if not values:
        raise click.UsageError("say what is to change, such as --loss 1%")
    lab.find(lab_name).change(fabric, values, hosts)


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
    removed = lab.remove_left_overs(_warn)
    for left_over in removed:
        click.echo(f"removed what was left of {left_over}")
    if name in removed:
        return
    standing = [record for record in lab.recorded() if record.owner is None]
    chosen = standing if every or not (name or standing) else [lab.find(name).state]
    stuck: list[str] = []
    for record in chosen:
        if record.owner is not None:
            raise LabError(
                f"it belongs to process {record.owner.pid}, which still runs", where=record.name, fix="end that one"
            )
        try:
            record.remove()
        except LabError as error:  # the others can go all the same
            stuck.append(error.sentence())
            continue
        click.echo(f"removed {record.name}")
    if stuck:
        raise LabError("\n".join(stuck))
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
    from fabriscope.cli import _selftest_table
    from fabriscope.lab.selftest import selftest as measure

    with _usage.checked():
        wired = fabrics_of(fabrics or tuple(TESTED_FABRICS.split()))
    with _loudness.status("building a lab", is_shown=not as_json) as status:
        result = measure(wired, status.update)
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
        click.echo(f"{'':{width}}  {numbers_of(asdict(spec))}")


def _warn(sentence: str) -> None:
    _streams.say(sentence, is_told=True)
