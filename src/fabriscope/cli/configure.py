"""`fabriscope configure`: what devices and hosts lack for RoCE v2, as files of commands, with proof and undoing."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from fabriscope.cli import _survey, _usage

if TYPE_CHECKING:
    from fabriscope.configure.step import Dialect, Ready, Saved, Wanted
    from fabriscope.running.survey import Survey

EXIT_UNKNOWN = 4
_SAMPLE = {"eos": "Ethernet1/1", "nxos": "Ethernet1/1", "onyx": "Ethernet1/1", "sonic": "Ethernet0", "linux": "eth0"}


@click.command("configure")
@_survey.options
@click.option("--for", "purpose", type=click.Choice(("roce-v2",)), default="roce-v2", show_default=True)
@click.option("--priority", type=click.IntRange(0, 7), default=3, show_default=True, help="Priority, class and queue.")
@click.option("--dscp", type=click.IntRange(0, 63), default=26, show_default=True, help="What the packets carry.")
@click.option("--mtu", type=click.IntRange(1280, 9216), default=9000, show_default=True, help="Of hosts, in bytes.")
@click.option(
    "--system", "wanted_systems", multiple=True, metavar="NAME", help="Of this system alone; may be repeated."
)
@click.option("--port", "ports", multiple=True, metavar="PORT", help="This port of switches, or those like Ethernet1*.")
@click.option("--interface", "interfaces", multiple=True, metavar="NAME", help="This interface of hosts.")
@click.option("--alone", "is_alone", is_flag=True, help="Take lossless from all other priorities.")
@click.option("-o", "--output", "target", type=_usage.PATH, required=True, metavar="FOLDER", help="A new folder.")
def configure(
    plan: Path | None,
    hosts: str | None,
    folder: Path | None,
    lab: str | None,
    ssh_words: str | None,
    purpose: str,
    priority: int,
    dscp: int,
    mtu: int,
    wanted_systems: tuple[str, ...],
    ports: tuple[str, ...],
    interfaces: tuple[str, ...],
    is_alone: bool,
    target: Path,
) -> None:
    """Write what switches and hosts lack for lossless RoCE v2, what proves it, and what undoes it. Sends nothing.

    What the saved outputs in FOLDER, or a host itself, say is set already is left out. With --system alone it is all
    that a device without any setting needs. The exit code is 4 where a host or a device was not understood.

    \b
    fabriscope configure --devices switches/ --hosts 'node[1-4]' -o roce/
    fabriscope configure plan.yaml --priority 5 --dscp 40 --mtu 4200 -o roce/
    fabriscope configure --system eos --port Ethernet1/1 -o roce/
    """
    from fabriscope.configure.step import Wanted

    dialects = _dialects(wanted_systems)
    asks_hosts = plan is not None or hosts is not None or lab is not None
    found = _survey.asked(plan, hosts, lab, ssh_words) if asks_hosts else None
    saved = [*_devices(folder, ports), *_hosts(found, interfaces)]
    if not (asks_hosts or folder is not None):
        saved = _blanks(wanted_systems, ports, interfaces)
    wanted = Wanted(priority, dscp, mtu, is_alone)
    chosen = [pair for pair in saved if pair[0] in dialects and (not wanted_systems or pair[0] in wanted_systems)]
    written = {one.name: (dialects[system], one, dialects[system].ready(wanted, one)) for system, one in chosen}
    _write(target, written, wanted, purpose)
    if _complain(found, folder, [one.name for system, one in saved if system in dialects]) or not written:
        raise click.exceptions.Exit(EXIT_UNKNOWN)


def _dialects(wanted_systems: Sequence[str]) -> dict[str, Dialect]:
    """Return how each system says its settings; raises UsageError for systems that are not known."""
    from fabriscope.registry import discover

    dialects: dict[str, Dialect] = discover("configure", "DIALECT").plugins
    if unknown := sorted(set(wanted_systems) - dialects.keys()):
        raise click.UsageError(f"there is no system {', '.join(unknown)}; known: {', '.join(sorted(dialects))}")
    return dialects


def _complain(found: Survey | None, folder: Path | None, understood: Collection[str]) -> bool:
    """Say what was not understood, and return whether anything was not."""
    from fabriscope.running.survey import Survey

    devices = _survey.devices_of(folder)
    for one in devices.values():
        if one.name not in understood:
            what = "no configuration of it could be read" if one.problems else f"what {one.system} takes is not known"
            click.echo(f"fabriscope: device {one.name}: nothing is written, {what}", err=True)
    _survey.complain(found or Survey({}), devices)
    is_unread = any(one.problems or one.name not in understood for one in devices.values())
    return is_unread or bool(found is not None and found.problems)


def _devices(folder: Path | None, ports: Sequence[str]) -> Iterator[tuple[str, Saved]]:
    """Yield system and what is known of each device of a folder, but for those of which something is damaged.

    A configuration that cannot be read is none that has nothing set.
    """
    from fabriscope import devices
    from fabriscope.configure.step import Saved

    texts = devices.configurations(folder) if folder is not None else {}
    for one in devices.of_folder(folder).values() if folder is not None else ():
        if one.problems and one.name not in texts:
            continue
        patterns = ports or (() if one.name in texts else tuple(one.ports))
        yield one.system, Saved(one.name, texts.get(one.name), one.known, patterns)


def _hosts(found: Survey | None, interfaces: Sequence[str]) -> Iterator[tuple[str, Saved]]:
    """Yield what is known of each host, whose interfaces a plan may name."""
    from fabriscope.configure.step import Saved

    for name, known in found.hosts.items() if found is not None else ():
        sections = found.plan.section.fabrics.values() if found is not None and found.plan is not None else ()
        ends = [one.interface.get(name) if isinstance(one.interface, dict) else one.interface for one in sections]
        named = interfaces or tuple(dict.fromkeys(end for end in ends if end))
        yield "linux", Saved(name, None, known, named)


def _blanks(systems: Sequence[str], ports: Sequence[str], interfaces: Sequence[str]) -> list[tuple[str, Saved]]:
    """Return a device of each system of which nothing is known; raises UsageError where none is named."""
    from fabriscope.configure.step import Saved

    if not systems:
        raise click.UsageError("give --devices, PLAN, --hosts or --lab, or --system for a device that is not set yet")
    named = {name: interfaces if name == "linux" else ports for name in systems}
    return [(name, Saved(name, patterns=tuple(named[name]) or (_SAMPLE.get(name, "swp1"),))) for name in named]


def _write(
    target: Path, written: Mapping[str, tuple[Dialect, Saved, Ready]], wanted: Wanted, purpose: str
) -> None:  # fmt: skip
    """Write the files, and say what they are; raises UsageError for a folder that has something in it."""
    from fabriscope.model.errors import HostError, printable

    try:
        target.mkdir(parents=True, exist_ok=True)
        if any(target.iterdir()):
            raise click.UsageError(f"-o: {target} has something in it; name a new folder")
        for name, (dialect, saved, ready) in written.items():
            (target / name).mkdir()
            for file, text in {**dialect.write(saved, ready), "notes.md": _notes(dialect, saved, ready)}.items():
                (target / name / file).write_text(text)
                if file.endswith(".sh"):
                    (target / name / file).chmod(0o755)
    except OSError as error:
        raise HostError(f"it cannot be written: {error.strerror}", where=str(error.filename or target)) from error
    what = f"priority {wanted.priority}, DSCP {wanted.dscp}, MTU {wanted.mtu_bytes}"
    click.echo(f"{purpose}: {what}; nothing has been sent to anything")
    for name, (dialect, saved, ready) in written.items():
        click.echo(printable(f"{name} ({dialect.name}): {_counted(saved, ready)}"))
        for touched in dict.fromkeys(step.touches for step in ready.steps if step.touches):
            click.echo(printable(f"  touches: {touched}"))
    if written:
        click.echo(f"in {target}/NAME: configure, undo, prove.txt, and notes.md with every step and what is assumed")


def _counted(saved: Saved, ready: Ready) -> str:
    if not ready.steps:
        return "nothing is missing"
    count = len(ready.steps)
    lacking = f"{count} setting{'s' if count > 1 else ''} missing"
    is_blind = saved.configuration is None and not any(fact.name.startswith("interface.") for fact in saved.known.facts)
    return f"{lacking} of a device that is not configured at all, as is assumed" if is_blind else lacking


def _notes(dialect: Dialect, saved: Saved, ready: Ready) -> str:
    """Return every step with what it touches, and the remarks, as Markdown."""
    lines = [f"# {saved.name} ({dialect.name})", "", f"{_counted(saved, ready).capitalize()}.", ""]
    lines += [f"- {one.what}" + (f" -- touches: {one.touches}" if one.touches else "") for one in ready.steps]
    assumed = [*ready.remarks]
    if saved.configuration is None and dialect.name != "linux":
        assumed.insert(0, "its running configuration is not at hand: what undoes this leads to the system's defaults")
    lines += ["", "## To know", "", *(f"- {one}" for one in assumed)]
    return "\n".join(lines) + "\n"


COMMAND = configure
