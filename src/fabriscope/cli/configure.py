"""`fabriscope configure`: what devices and hosts lack for RoCE v2, as files of commands, with proof and undoing."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from fabriscope.cli import _survey, _usage

if TYPE_CHECKING:
    from fabriscope.configure.step import Dialect, Ready, Saved, Wanted
    from fabriscope.devices import Configuration
    from fabriscope.model.device import Device
    from fabriscope.running.survey import Survey

    Outputs = Sequence[tuple[Device, Configuration | None]]

EXIT_UNKNOWN = 4


@click.command("configure")
@_survey.options
@click.option("--for", "purpose", type=click.Choice(("roce-v2",)), default="roce-v2", show_default=True)
@click.option("--priority", type=_usage.Count(0, 7), default=3, show_default=True, help="Priority, class and queue.")
@click.option("--dscp", type=_usage.Count(0, 63), default=26, show_default=True, help="What the packets carry.")
@click.option("--mtu", type=_usage.Count(1280, 9216), default=9000, show_default=True, help="Of hosts, in bytes.")
@click.option(
    "--system", "wanted_systems", multiple=True, metavar="NAME", help="Of this system alone; may be repeated."
)
@click.option("--port", "ports", multiple=True, metavar="PORT", help="This port of switches, or those like Ethernet1*.")
@click.option("--interface", "interfaces", multiple=True, metavar="NAME", help="This interface of hosts.")
@click.option("--fec", type=click.Choice(("rs", "fc", "off")), help="Error correction of all these links.")
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
    fec: str | None,
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
    devices = _read(folder)
    found, saved = _known((plan, hosts, lab, ssh_words), devices, ports, interfaces, wanted_systems, dialects)
    wanted = Wanted(priority, dscp, mtu, is_alone, fec or "")
    every, is_all = _all_ready(wanted, saved, ports, wanted_systems, dialects)
    _write(target, {one.name: (dialect, one, ready) for dialect, one, ready in every}, wanted, purpose)
    understood = [one.name for system, one in saved if system in dialects]
    if any((_doubt(every), _complain(found, devices, understood), not every, not is_all)):
        raise click.exceptions.Exit(EXIT_UNKNOWN)


def _known(
    asked: tuple[Path | None, str | None, str | None, str | None],
    devices: Outputs,
    ports: Sequence[str],
    interfaces: Sequence[str],
    systems: Sequence[str],
    dialects: Mapping[str, Dialect],
) -> tuple[Survey | None, list[tuple[str, Saved]]]:
    """Return what hosts said, and what is known of each device and host with its system; raises UsageError."""
    asks_hosts = any(one is not None for one in asked[:3])
    is_blank = not asks_hosts and not devices
    _check_names(ports, interfaces, dialects, systems if is_blank else ())
    if is_blank:
        return None, _blanks(systems, ports, interfaces, dialects)
    found = _survey.asked(*asked) if asks_hosts else None
    return found, [*_devices(devices, ports, dialects), *_hosts(found, interfaces)]


def _read(folder: Path | None) -> Outputs:
    """Return the devices of a folder, each with its running configuration where there is one; raises HostError."""
    from fabriscope.devices import configurations

    texts = configurations(folder) if folder is not None else {}
    return [(one, texts.get(one.name)) for one in _survey.devices_of(folder).values()]


def _check_names(
    ports: Sequence[str], interfaces: Sequence[str], dialects: Mapping[str, Dialect], blank: Sequence[str]
) -> None:
    """Raise UsageError for a name that is no port; `blank` are the systems of devices without saved outputs."""
    from fabriscope.configure import limits

    switches = [one for one in dialects.values() if not one.is_host and (not blank or one.name in blank)]
    _refuse(limits.of_names("--port", ports, switches, may_match=not blank))
    _refuse(limits.of_names("--interface", interfaces, [dialects["linux"]], may_match=False))


def _all_ready(
    wanted: Wanted,
    saved: Sequence[tuple[str, Saved]],
    ports: Sequence[str],
    systems: Sequence[str],
    dialects: Mapping[str, Dialect],
) -> tuple[list[tuple[Dialect, Saved, Ready]], bool]:
    """Return what each lacks, and whether that is known of all; raises UsageError for impossible values and ports."""
    from fabriscope.configure import limits, step

    chosen = [(dialects[name], one) for name, one in saved if name in dialects and (not systems or name in systems)]
    _refuse(limits.of_values(wanted, {dialect.name: dialect for dialect, _ in chosen}.values()))
    _refuse(_twice([one.name for _, one in chosen]))
    every, unusable = step.all_ready(wanted, chosen)
    click.echo("".join(f"fabriscope: {sentence}\n" for sentence in unusable), err=True, nl=False)
    _refuse(limits.of_ports(ports, [(one, ready) for dialect, one, ready in every if not dialect.is_host]))
    return every, not unusable


def _refuse(sentences: Iterator[str]) -> None:
    """Raise UsageError with the first sentence, if there is one."""
    from fabriscope.model.errors import printable

    if (sentence := next(sentences, None)) is not None:
        raise click.UsageError(printable(sentence))


def _twice(names: Sequence[str]) -> Iterator[str]:
    """Yield which name a device and a host share: both would be written into one folder."""
    for name in dict.fromkeys(one for one in names if names.count(one) > 1):
        yield f"{name} is both a device in --devices and a host; rename its folder, or choose one with --system"


def _is_about_ports(ready: Ready) -> bool:
    """Return whether anything can be said: of a device without a port that is meant, nothing can."""
    return bool(ready.ports or ready.doubts)


def _doubt(every: Sequence[tuple[Dialect, Saved, Ready]]) -> bool:
    """Say what could not be told of devices and hosts, and return whether there was anything."""
    from fabriscope.configure.limits import some
    from fabriscope.model.errors import printable

    said = []
    for dialect, saved, ready in every:
        kind = "host" if dialect.is_host else "device"
        if not _is_about_ports(ready):
            there = ready.there or saved.ports
            of = f"; it has {some(there)}, which are shut down or not meant" if there else ""
            where = "outputs" if saved.configuration is None else "configuration"
            what = f"nothing is written, no port to be configured is in its {where}{of}"
            said.append(f"{kind} {saved.name}: {what}")
        else:
            said += [f"{kind} {saved.name}: {doubt}" for doubt in ready.doubts]
    for sentence in said:
        click.echo(printable(f"fabriscope: {sentence}"), err=True)
    return bool(said)


def _dialects(wanted_systems: Sequence[str]) -> dict[str, Dialect]:
    """Return how each system says its settings; raises UsageError for systems that are not known."""
    from fabriscope.registry import discover

    dialects: dict[str, Dialect] = discover("configure", "DIALECT").plugins
    if unknown := sorted(set(wanted_systems) - dialects.keys()):
        raise click.UsageError(f"there is no system {', '.join(unknown)}; known: {', '.join(sorted(dialects))}")
    return dialects


def _complain(found: Survey | None, devices: Outputs, understood: Collection[str]) -> bool:
    """Say what was not understood, and return whether anything was not."""
    from fabriscope.model.errors import printable
    from fabriscope.running.survey import Survey

    for one, text in devices:
        if one.name not in understood:
            what = "no configuration of it could be read" if one.problems else f"what {one.system} takes is not known"
            what = text.flaw if text is not None and text.flaw else what
            click.echo(printable(f"fabriscope: device {one.name}: nothing is written, {what}"), err=True)
    _survey.complain(found or Survey({}), {one.name: one for one, _ in devices})
    is_unread = any(one.problems or one.name not in understood for one, _ in devices)
    return is_unread or bool(found is not None and found.problems)


def _devices(devices: Outputs, ports: Sequence[str], dialects: Mapping[str, Dialect]) -> Iterator[tuple[str, Saved]]:
    """Yield system and what is known of each device; one that cannot be read is none that has nothing set."""
    from fabriscope.configure.step import Saved

    for one, text in devices:
        if (one.problems and text is None) or (text is not None and text.flaw):
            continue
        name = dialects[one.system].port if one.system in dialects else ""
        told = tuple(port for port in one.ports if re.fullmatch(name, port))
        yield one.system, Saved(one.name, text.text if text else None, one.known, ports, () if text else told)


def _hosts(found: Survey | None, interfaces: Sequence[str]) -> Iterator[tuple[str, Saved]]:
    """Yield what is known of each host, whose interfaces a plan may name."""
    from fabriscope.configure.step import Saved

    for name, known in found.hosts.items() if found is not None else ():
        sections = found.plan.section.fabrics.values() if found is not None and found.plan is not None else ()
        ends = [one.interface.get(name) if isinstance(one.interface, dict) else one.interface for one in sections]
        named = interfaces or tuple(dict.fromkeys(end for end in ends if end))
        yield "linux", Saved(name, None, known, named)


def _blanks(
    systems: Sequence[str], ports: Sequence[str], interfaces: Sequence[str], dialects: Mapping[str, Dialect]
) -> list[tuple[str, Saved]]:
    """Return a device of each system of which nothing is known; raises UsageError where none is named."""
    from fabriscope.configure.limits import spelled
    from fabriscope.configure.step import Saved

    if not systems:
        raise click.UsageError("give --devices, PLAN, --hosts or --lab, or --system for a device that is not set yet")
    blanks = []
    for dialect in (dialects[name] for name in dict.fromkeys(systems)):
        named = [spelled(dialect, one) for one in (interfaces if dialect.is_host else ports)]
        blanks.append((dialect.name, Saved(dialect.name, patterns=tuple(named))))
    return blanks


def _write(target: Path, written: Mapping[str, tuple[Dialect, Saved, Ready]], wanted: Wanted, purpose: str) -> None:
    """Write the files, and say what they are; raises UsageError for a folder that has something in it."""
    from fabriscope import store
    from fabriscope.model.errors import HostError, printable

    store.refuse_part_of_run(target)
    written = {name: one for name, one in written.items() if _is_about_ports(one[2])}
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
        if assumes := _assumed(dialect, saved):
            click.echo(f"  {assumes}")
        for touched in dict.fromkeys(step.touches for step in ready.steps if step.touches):
            click.echo(printable(f"  touches: {touched}"))
    if written:
        click.echo(f"in {target}/NAME: configure, undo, prove.txt, and notes.md with every step and what is assumed")


def _assumed(dialect: Dialect, saved: Saved) -> str:
    """Return which port is assumed of a device that none is known of; empty where one is known or named."""
    option = "--interface" if dialect.is_host else "--port"
    is_known = saved.configuration is not None or saved.ports or saved.patterns
    is_host = dialect.is_host and saved.known.facts
    return "" if is_known or is_host else f"the port is assumed to be {dialect.sample}; {option} names others"


def _counted(saved: Saved, ready: Ready) -> str:
    if not ready.steps:
        return "what is missing could not be told" if ready.doubts else "nothing is missing"
    count = len(ready.steps)
    lacking = f"{count} setting{'s' if count > 1 else ''} missing"
    is_blind = saved.configuration is None and not any(fact.name.startswith("interface.") for fact in saved.known.facts)
    return f"{lacking} of a device that is not configured at all, as is assumed" if is_blind else lacking


def _notes(dialect: Dialect, saved: Saved, ready: Ready) -> str:
    """Return every step with what it touches, and the remarks, as Markdown."""
    lines = [f"# {saved.name} ({dialect.name})", "", f"{_counted(saved, ready).capitalize()}.", ""]
    lines += [f"- {one.what}" + (f" -- touches: {one.touches}" if one.touches else "") for one in ready.steps]
    assumed = [*ready.doubts, *ready.remarks]
    if assumes := _assumed(dialect, saved):
        assumed.insert(0, assumes)
    if saved.configuration is None and not dialect.is_host:
        assumed.insert(0, "its running configuration is not at hand: what undoes this leads to the system's defaults")
    lines += ["", "## To know", "", *(f"- {one}" for one in assumed)]
    return "\n".join(lines) + "\n"


COMMAND = configure
