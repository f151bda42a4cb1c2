"""`fabriscope plan`: check a plan, or print the plan's JSON schema."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import click

from fabriscope.cli import _doubts, _plan_words, _usage
from fabriscope.cli._doubts import claims
from fabriscope.model.case import beside_words
from fabriscope.model.counting import counted

if TYPE_CHECKING:
    from fabriscope.model.fabric import Fabric
    from fabriscope.plan import Plan, Schedule
    from fabriscope.running.planned import Planned

MOST_SECONDS = 120
"""Of a launch, from which on its time is told in minutes."""


@click.group(cls=_usage.Group, name="plan")
def COMMAND() -> None:  # noqa: N802 - the registry's constant
    """Check a plan before it runs."""


@COMMAND.command()
@click.argument("plan", type=_usage.PATH)
@click.option("--json", "as_json", is_flag=True, help="Print the launches as JSON.")
def check(plan: Path, as_json: bool) -> None:
    """Say what PLAN will run, how many cases, and about how long it takes."""
    import json

    from fabriscope import plan as plans
    from fabriscope.running import idle_instruments, tuning_plan
    from fabriscope.running.planned import check_specs, planned
    from fabriscope.running.vocabulary import vocabulary

    checked = plans.load(plan, vocabulary())
    known = planned(checked)
    schedule, fabrics, tuned = known.schedule, known.fabrics, known.tuning
    check_specs(checked, schedule)
    idle_instruments.refuse(checked, schedule)
    doubts = list(_doubts.doubts(checked, known))
    missing = _plan_words.missing_library(checked)
    tuning_lines = tuning_plan.described(checked, fabrics, tuned) if tuned else ()
    notes = _notes(
        checked, schedule, fabrics, known.processors
    )  # a mistake that these find is told before anything else
    lines = [*_plan_words.fabric_lines(checked, fabrics), *_entries(known), *notes, *tuning_lines]
    if as_json:
        times = {"expected_s": known.typical_ns / 1e9, "most_added_s": (known.added_ns + known.tuning_ns) / 1e9}
        about = {"launches": _launches(known), "cases": len(schedule.cases), **times}
        click.echo(json.dumps({**about, "look_again": doubts}, indent=1))
    else:
        click.echo(f"{plan}: {'a good plan' if missing is None else 'it cannot be run on this machine yet'}")
        _say(lines, _whole(checked, known), doubts)
        _say_rounds(checked.section.sharpen, known.added_ns / 1e9)
    if missing is not None:
        raise missing


def _say(lines: list[str], whole: str, doubts: list[str]) -> None:
    from fabriscope.model.errors import printable

    for line in map(printable, lines):
        click.echo(f"  {line}")
    click.echo(whole)
    for line in map(printable, doubts):
        click.echo(f"{click.style('look again', fg='yellow')}: {line}")


def _say_rounds(rounds: int, added_s: float) -> None:
    if rounds:
        click.echo(
            f"then up to {counted(rounds, 'round')} of further sizes near crossovers and protocol"
            f" changes: at most about {_plan_words.time_words(added_s)} more"
        )


def _launches(known: Planned) -> list[dict[str, object]]:
    """Return each launch as JSON has it."""
    return [
        {
            "launch_id": launch.launch_id,
            "block": launch.block,
            "entry": launch.entry.entry_id,
            "cases": len(launch.cases),
            "expected_s": known.expected_ns[launch.launch_id] / 1e9,
        }
        for launch in known.schedule.launches
    ]


def _entries(known: Planned) -> Iterator[str]:
    """Yield a line for each entry: what it is called, how many cases it has, and about how long a launch takes."""
    first_block = [launch for launch in known.schedule.launches if launch.block == 1]
    width = max(len(launch.entry.label()) for launch in first_block)
    for launch in sorted(first_block, key=lambda one: one.entry.entry_id):
        yield (
            f"{launch.entry.label():{width}}  {launch.entry.placement}  {counted(len(launch.cases), 'case'):>9}"
            f"  about {_launch_time(known.expected_ns[launch.launch_id] / 1e9)} a launch"
        )


def _launch_time(expected_s: float) -> str:
    return f"{expected_s:.1f} s" if expected_s < MOST_SECONDS else _plan_words.time_words(expected_s)


def _notes(checked: Plan, schedule: Schedule, fabrics: Mapping[str, Fabric], cores: int | None) -> Iterator[str]:
    """Yield what of the plan is not used, and what is not known yet."""
    from fabriscope import plan as plans
    from fabriscope.hosts import allocation
    from fabriscope.knobs import knobs
    from fabriscope.model.errors import printable
    from fabriscope.running import binding, real_site, settings, strayed

    if checked.wants_allocation and checked.section.submit.nodes is None and allocation.find() is None:
        count = counted(len(checked.hosts), "node")
        yield f"checked for a job of {count}: `fabriscope submit PLAN --nodes {len(checked.hosts)}` asks for one"
    yield from _plan_words.lone_lines(checked, schedule)
    yield from map(printable, plans.unmeasured(checked.section))
    yield from claims.notes(checked, schedule)
    yield from map(printable, settings.described(fabrics.values()))
    yield from map(printable, settings.described_libraries(checked.section.mpi, fabrics.values(), checked.hosts))
    used = {host for launch in schedule.launches for host in launch.entry.hosts}
    if len(used) < len(checked.hosts):
        yield f"{len(checked.hosts) - len(used)} of {len(checked.hosts)} hosts are not needed"
    if checked.section.intervene:
        names = ", ".join([*(name for name, knob in knobs().items() if knob.fact), *strayed.SETTINGS])
        yield f"changes what the audit finds for launches of its own, and puts it back, as far as it is one of {names}"
    yield from _plan_words.stream_lines(schedule)
    yield from binding.described(binding.planned(checked, real_site.is_here), schedule.entries)
    yield from _turns(checked, schedule, fabrics)
    if checked.counts_cores:
        yield f"half and all count {cores} cores a host, as this machine has; a run asks the hosts themselves"


def _turns(checked: Plan, schedule: Schedule, fabrics: Mapping[str, Fabric]) -> Iterator[str]:
    """Yield who of a block measures in turns, and why others do not."""
    from fabriscope import plan as plans
    from fabriscope.model.units import duration_words

    turn_ns = plans.turn_ns_of(checked.section.turns)
    if turn_ns is None:
        return
    block, sharing = _plan_words.sharing(checked, schedule, fabrics)
    if len(block) == 1:
        yield "no launches measure in turns: a block has one alone"
        return
    alike: dict[str, list[str]] = {}
    for index, reason in sharing.alone.items():
        alike.setdefault(reason, []).append(block[index].entry.label())
    sizes = [len(group) for group in sharing.groups]
    count = "all" if sum(sizes) == len(block) else f"{sum(sizes)} of"
    groups = f", in {len(sizes)} groups" if len(sizes) > 1 else ""
    if sizes:
        yield f"{count} {len(block)} launches of a block measure in turns of {duration_words(turn_ns)}{groups}"
    elif len(alike) == 1:
        yield f"no launches measure in turns: {next(iter(alike))}"
        return
    else:
        yield "no launches measure in turns"
    for reason, labels in alike.items():
        who = labels[0] if len(labels) == 1 else f"{len(labels)} entries ({labels[0]} ...)"
        yield f"{who} measure{'s' if len(labels) == 1 else ''} alone: {reason}"


def _whole(checked: Plan, known: Planned) -> str:
    """Return how much the whole run is."""
    schedule = known.schedule
    time = _plan_words.time_words(known.typical_ns / 1e9)
    time += f", and at most about {_plan_words.time_words(known.tuning_ns / 1e9)} of tuning" if known.tuning_ns else ""
    if checked.section.until == "decided":
        return (
            f"{counted(len(schedule.cases), 'case')}, until comparisons are decided:"
            f" at most {counted(checked.section.block_count, 'block')}, and about {time}"
        )
    if checked.section.chooses_blocks:
        pilots = _plan_words.pilot_words(checked, schedule, known.fabrics)
        return f"{counted(len(schedule.cases), 'case')}, {pilots}, about {time}"
    beside = beside_words(launch.entry for launch in schedule.launches)
    return (
        f"{counted(len(schedule.cases), 'case')}, {counted(checked.section.block_count, 'launch')} of each entry,"
        f" {counted(len(schedule.launches), 'launch')} in all{f' ({beside})' if beside else ''},"
        f" about {time}"
    )


@COMMAND.command()
def schema() -> None:
    """Print the JSON schema of plans (for editors and other programs)."""
    import json

    from fabriscope.plan.schema import json_schema

    click.echo(json.dumps(json_schema(), indent=1))
