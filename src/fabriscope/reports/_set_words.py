"""What is set for launches, in words: on hosts, on the lab's switch, of an MPI library, or of a suite of others."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from fabriscope.model.manifest import PlanFacts
from fabriscope.model.mpi_settings import MPI_SETTINGS
from fabriscope.model.switch_settings import SWITCH_SETTINGS


def set_words(knobs: Mapping[str, str]) -> list[str]:
    """Return what is set for launches, and where: `mtu 600 (set on hosts)`."""
    places = dict.fromkeys(SWITCH_SETTINGS, "on the switch") | dict.fromkeys(MPI_SETTINGS, "for its launches")
    return [f"{name} {value} (set {places.get(name, 'on hosts')})" for name, value in knobs.items()]


def told_to_suites(plan: PlanFacts) -> Iterator[tuple[str, str]]:
    """Yield which suites were told something beside the plan's benchmarks, and what: `iter 1000,40, mem 0.5`."""
    for suite, options in (("OSU", plan.osu_options), ("IMB", plan.imb_options)):
        told = [f"{name} {_text(value)}" for name, value in options.items() if value]
        if told:
            yield f"{suite} was told", ", ".join(told)


def _text(value: object) -> str:
    if isinstance(value, list | tuple):
        return ",".join(map(str, value))
    return "on" if value is True else f"{value:g}" if isinstance(value, float) else str(value)
