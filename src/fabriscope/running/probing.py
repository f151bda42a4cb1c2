"""Which values of settings a place takes: each is set, read and put back on every host before anything is measured."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

from fabriscope.hosts.access import changes
from fabriscope.model.errors import HostError, ToolMissing
from fabriscope.model.fabric import Fabric
from fabriscope.model.host import Host
from fabriscope.model.switch_settings import SwitchPlace
from fabriscope.running import settings
from fabriscope.running.settings import Wanted

_MOST_AT_ONCE = 16


@dataclass(frozen=True)
class Probed:
    """What a place takes, and what it has now."""

    values: Mapping[str, tuple[str, ...]]
    """Setting to those of its values that can be set on all hosts; at least one."""
    current: Mapping[str, Mapping[str, str]]
    """Setting to what each host has it at; of the fabric's own settings, what those say."""
    left_out: tuple[str, ...]
    """What cannot be set, a sentence each."""


@dataclass
class _Told:
    """What one host says."""

    problems: dict[tuple[str, str], str] = field(default_factory=dict)
    """Setting and value to why it is not set."""
    current: dict[str, tuple[str, str]] = field(default_factory=dict)
    """Setting to the host that has it, and the value."""


def probed(
    fabric: Fabric, hosts: Sequence[Host], values: Mapping[str, Sequence[str]], place: SwitchPlace | None = None
) -> Probed:
    """Return what hosts and their switch take; whatever was set is put back before this returns."""
    by_host: dict[str, list[Wanted]] = {}
    for knob, of_knob in values.items():
        for value in of_knob:
            for one in settings.wanted({knob: value}, fabric.interfaces, hosts, place):
                by_host.setdefault(one.host.name, []).append(one)
    with ThreadPoolExecutor(_MOST_AT_ONCE) as pool:
        every = list(pool.map(_of_host, by_host.values()))
    current: dict[str, dict[str, str]] = {}
    for told in every:
        for knob, (host, value) in told.current.items():
            current.setdefault(knob, {})[host] = fabric.knobs.get(knob, value)
    problems: dict[tuple[str, str], str] = {}
    for told in every:
        for what, why in told.problems.items():
            problems.setdefault(what, why)
    good = {knob: tuple(one for one in of_knob if (knob, one) not in problems) for knob, of_knob in values.items()}
    sentences = [sentence for knob, of_knob in values.items() for sentence in _sentences(knob, of_knob, problems)]
    return Probed({knob: found for knob, found in good.items() if found}, current, tuple(sentences))


def _of_host(every: Iterable[Wanted]) -> _Told:
    told = _Told()
    for one in every:
        try:
            with changes.changed(one.host, one.change) as standing:
                told.current.setdefault(one.name, (one.host.name, one.as_plans_have_it(standing.old)))
                settings.await_links([one])
            settings.await_links([one])
        except (HostError, ToolMissing) as error:
            told.problems[one.name, one.value] = error.sentence()
    return told


def _sentences(knob: str, values: Sequence[str], problems: Mapping[tuple[str, str], str]) -> list[str]:
    """Return why values of a setting are left out; one sentence where all are, for the same reason."""
    bad = {value: problems[knob, value] for value in values if (knob, value) in problems}
    if len(bad) == len(values) and len(set(bad.values())) == 1:
        return [f"{knob} is left out: {next(iter(bad.values()))}"]
    return [f"{knob} {value} is left out: {why}" for value, why in bad.items()]
