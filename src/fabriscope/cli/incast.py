"""`fabriscope incast`: many senders to one receiver, or to several, as a table and a verdict."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any

import click

from fabriscope.cli import _measuring, _usage
from fabriscope.model.errors import HostError, printable
from fabriscope.model.foreign import is_digits
from fabriscope.model.host_lists import unfolded
from fabriscope.model.layers import layer_of

if TYPE_CHECKING:
    from fabriscope.analysis.incast.points import IncastCurve

EXIT_COLLAPSES, EXIT_UNDECIDED = 3, 4
_LAYERS = {
    "tcp": "tcp",
    "rdma": "verbs",
    "mpi": "mpi",
    "libfabric-tcp": "libfabric-tcp",
    "libfabric-rdma": "libfabric-verbs",
}


@click.command(name="incast")
@click.option("--to", "receiver", required=True, metavar="HOSTS", help="The host that receives, or several.")
@click.option("--from", "senders", required=True, metavar="HOSTS", help="The hosts that send, as in node[2-5].")
@click.option("--streams", metavar="COUNTS", help="To each host: 1..10, or 1,4,8  [default: 1 to the senders].")
@click.option(
    "--size", "sizes", multiple=True, default=("64KiB",), metavar="SIZE", help="Of a message; may be repeated."
)
@click.option("--over", type=click.Choice([*_LAYERS]), default="tcp", show_default=True, help="What carries it.")
@click.option("--mpi", metavar="NAME", help="With --over mpi: the library, as `fabriscope mpi list` shows it.")
@click.option("--rounds", is_flag=True, help="All wait for the slowest before the next round, as a striped read does.")
@click.option("--duration", default="300ms", show_default=True, metavar="TIME", help="How long each point is sent.")
@click.option("--launches", type=_usage.Count(1, 50), default=3, show_default=True, help="Of each number of streams.")
@click.option("--interface", metavar="NAME", help="Of the hosts, the one that is measured.")
@click.option("--line-rate", metavar="RATE", help="Of that interface, as in 25Gb/s: what the wire allows.")
@click.option(
    "--rdma", type=click.Choice(["soft-roce", "iwarp", "roce", "ib"]),
    help="What the network speaks: with --over mpi, MPI uses it.  [default: roce; in a lab, soft-roce]",
)  # fmt: skip
@click.option("--victim", metavar="HOST,HOST", help="Also what a flow from one to the other suffers beside it.")
@click.option("--lab", metavar="PRESET[,KEY=VALUE...]", help="Build the hosts in a lab, e.g. gige,buffer=64KiB.")
@click.option("-o", "--output", type=_usage.PATH, help="Run folder [default: runs/incast-TIME].")
@click.option("-q", "--quiet", is_flag=True, help="Say nothing but table and verdict.")
def incast(**options: Any) -> None:
    """Send from many hosts to one, or to several, for each number of streams: does the fabric hold its aggregate?

    \b
    fabriscope incast --to node1 --from 'node[2-5]' --streams 1..10 --size 1MB --interface eth1
    fabriscope incast --to node1 --from 'node[2-5]' --lab gige,buffer=64KiB
    fabriscope incast --to 'node[1-2]' --from 'node[3-6]' --streams 1..4 --interface eth1
    fabriscope incast --to g1 --from 'g[2-4]' --over rdma --lab ethernet-100,on_full=pause
    fabriscope incast --to node1 --from 'node[2-4]' --victim node5,node6 --lab gige,on_full=pause
    fabriscope incast --to node1 --from 'node[2-5]' --over mpi --mpi openmpi --interface ib0 --rdma ib

    The exit code is 0 if it holds (paused or with losses, too), 3 if it collapses or is unfair, 4 if that is undecided.
    """
    from fabriscope.analysis.results import results_of
    from fabriscope.reports import terminal
    from fabriscope.store import open_run

    for option, name in (("receiver", "--to"), ("senders", "--from")):
        if not options[option].strip():
            raise click.UsageError(f"{name} names no host")
    summary = _measuring.measure("incast", _plan_text(options), options["output"], quiet=options["quiet"])
    data = open_run(str(summary.path)).read()
    terminal.show_section(data, "incast")
    if options["victim"]:
        terminal.show_section(data, "victim")
    if summary.failed_cases:
        click.echo(_measuring.failed_sentence(summary))
    click.echo(f"kept in {summary.path}; `fabriscope report {summary.path}` writes the report")
    curves = results_of(data).incast_curves
    if not curves:
        reasons = (one.reason for record in data.journal for one in record.results.values() if one.reason)
        click.echo(f"undecided: nothing was measured: {printable(next(reasons, 'no launch was made'))}")
    raise SystemExit(_status(curves))


def _status(curves: list[IncastCurve]) -> int:
    from fabriscope.analysis.incast.points import COLLAPSES, UNDECIDED, UNFAIR

    states = {curve.state for curve in curves}
    if states & {COLLAPSES, UNFAIR}:
        return EXIT_COLLAPSES
    return EXIT_UNDECIDED if not states or UNDECIDED in states else 0


def _plan_text(options: dict[str, Any]) -> str:
    """Return the plan that the options ask for, as YAML: what is wrong in it is told as of any plan."""
    import yaml

    if (options["lab"] is None) == (options["interface"] is None):
        raise click.UsageError("give --interface for real hosts, or --lab to build them here")
    layer, is_lab = _LAYERS[options["over"]], options["lab"] is not None
    if (layer == "mpi") != (options["mpi"] is not None):
        raise click.UsageError("--over mpi and --mpi NAME belong together; `fabriscope mpi list` shows the names")
    if options["rdma"] is not None and layer != "mpi" and not layer_of(layer).needs_rdma:
        raise click.UsageError(f"--over {options['over']} goes over no RDMA; leave --rdma out, or choose --over rdma")
    is_rdma = layer_of(layer).needs_rdma or options["rdma"] is not None
    hosts = [options["receiver"], options["senders"]]
    duration = options["duration"]
    benchmark = {"sizes": list(options["sizes"]), "duration": int(duration) if is_digits(duration) else duration}
    if options["rounds"]:
        benchmark["mode"] = "rounds"
    if layer == "verbs" and is_lab:
        benchmark["verbs"] = {"completion": "event"}
    name, pair = "many_to_many" if _is_many(options["receiver"]) else "many_to_one", _victim(options["victim"])
    if pair and name == "many_to_many":
        raise click.UsageError("--victim is beside many to one: name one host with --to")
    plan = {
        "name": "incast",
        "hosts": [*hosts, *_more_hosts(pair, hosts)],
        "fabrics": {"fabric": _fabric(options, is_rdma=is_rdma)},
        "layers": [layer],
        name: _streams(options, pair),
        "benchmarks": {name: benchmark, **_benchmarks_of_victim(pair, options["sizes"], benchmark)},
        "launches": options["launches"],
        "budget": "1s",
        "floor": False,
        **({"mpi": [options["mpi"]]} if layer == "mpi" else {}),
        **({"guests": "all"} if is_rdma and is_lab else {}),
    }
    return yaml.safe_dump(plan, sort_keys=False)


def _fabric(options: dict[str, Any], *, is_rdma: bool) -> dict[str, Any]:
    """Return the fabric: of a lab, or of the hosts' interface."""
    is_lab = options["lab"] is not None
    if is_lab and options["line_rate"] is not None:
        raise click.UsageError("--line-rate is of a real interface; write --lab PRESET,rate=RATE")
    fabric: dict[str, Any] = {"lab": _lab(options["lab"])} if is_lab else {"interface": options["interface"]}
    if options["line_rate"] is not None:
        fabric["line_rate"] = options["line_rate"]
    if is_rdma:
        fabric["rdma"] = options["rdma"] or ("soft-roce" if is_lab else "roce")
    return fabric


def _streams(options: dict[str, Any], pair: list[str]) -> dict[str, Any]:
    """Return who receives and who sends, how many streams, and the two hosts of a victim."""
    streams: dict[str, Any] = {"to": options["receiver"], "from": options["senders"]}
    if options["streams"] is not None:
        streams["streams"] = [int(one) if is_digits(one) else one for one in options["streams"].split(",")]
    if pair:
        streams["victim"] = dict(zip(("from", "to"), pair, strict=True))
    return streams


def _is_many(hosts: str) -> bool:
    """Return whether a list names several hosts; what is wrong with one the plan's check says with its place."""
    with contextlib.suppress(HostError):
        return len(unfolded(hosts)) > 1
    return False


def _victim(text: str | None) -> list[str]:
    """Return the two hosts of a victim; nothing where none is asked for."""
    hosts = text.split(",") if text else []
    if text is not None and (len(hosts) != 2 or not all(hosts)):
        raise click.UsageError(f"--victim: {text!r} is not HOST,HOST: who sends, and who answers")
    return hosts


def _more_hosts(pair: list[str], hosts: list[str]) -> list[str]:
    """Return those of a victim's hosts that take no part in the incast."""
    known: set[str] = set()
    for one in hosts:
        with contextlib.suppress(HostError):  # the plan's check says it with its place
            known.update(unfolded(one))
    return [host for host in pair if host not in known]


def _benchmarks_of_victim(pair: list[str], sizes: tuple[str, ...], benchmark: dict[str, Any]) -> dict[str, Any]:
    """Return what is measured of a victim: the latency of small messages and the bandwidth of large ones."""
    if not pair:
        return {}
    common = {"incast_size": sizes[0], **({"verbs": benchmark["verbs"]} if "verbs" in benchmark else {})}
    return {"victim_latency": {"sizes": [8], **common}, "victim_bandwidth": {"sizes": ["64KiB"], **common}}


def _lab(text: str) -> dict[str, Any]:
    preset, *changes = text.split(",")
    lab: dict[str, Any] = {"preset": preset}
    for change in changes:
        key, equals, value = change.partition("=")
        if not equals:
            raise click.UsageError(f"--lab: {change!r} is not KEY=VALUE, for example buffer=64KiB")
        lab[key] = int(value) if is_digits(value) else value
    return lab


COMMAND = incast
