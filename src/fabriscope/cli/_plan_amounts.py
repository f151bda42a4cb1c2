"""Amounts of a plan that are possible and hardly meant: too little time or too many ranks, and values at an edge."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from fabriscope.cli._plan_oddities import Doubt
from fabriscope.model.benchmarks import kind_of
from fabriscope.model.blocks import LEAST_BLOCKS
from fabriscope.model.counting import counted
from fabriscope.model.units import duration_words

if TYPE_CHECKING:
    from fabriscope.model.fabric import Fabric
    from fabriscope.plan import Plan, Schedule

MOST_BUDGETS = 5
"""How often the budget goes into the time that every case takes once, before that is asked about."""
MOST_RANKS_PER_PROCESSOR = 32
"""With more, ranks wait for a processor most of the time."""
MOST_MARGIN = 0.25
LEAST_BLOCKS_TO_GO_ON = 6
"""Of a plan that goes on until it is decided: where eight sizes are 5 % apart and blocks spread by 5 %, five blocks
decide 7 % of them and eight 24 % (docs/statistics.md)."""
LEAST_SOCKET_BUFFER_BYTES = {"send_buffer": 2304, "receive_buffer": 1152}
"""Half of what Linux gives at least (SOCK_MIN_SNDBUF, SOCK_MIN_RCVBUF of x86-64): it doubles what it is told."""


def oddities(plan: Plan, schedule: Schedule, fabrics: Mapping[str, Fabric], processors: int | None) -> Iterator[Doubt]:
    """Yield place and sentence of each; `processors` are those of this machine, where all hosts are on it."""
    yield from _of_time(plan, schedule, fabrics)
    if processors is not None:
        yield from _of_ranks(plan, schedule, processors)
    yield from _of_values(plan)
    yield from _of_windows(plan)
    section = plan.section
    if section.until == "decided" and LEAST_BLOCKS <= section.launches < LEAST_BLOCKS_TO_GO_ON:
        what = f"launches: at most {section.launches} blocks decide large differences alone"
        yield ("launches",), f"{what}; with until: decided write 10 or more, or leave it out for 50"


def _of_time(plan: Plan, schedule: Schedule, fabrics: Mapping[str, Fabric]) -> Iterator[Doubt]:
    """Yield that every size once takes many times the budget."""
    from fabriscope import plan as plans
    from fabriscope.analysis.words import size_text

    budget_s = plan.section.budget / 1e9
    blocks = plan.section.launches if plan.section.until == "launches" else plans.TYPICAL_BLOCKS
    by_size: dict[int, float] = defaultdict(float)
    for case in schedule.cases.values():
        if case.entry.layer != "null":
            by_size[case.message_size_bytes] += blocks * plans.least_ns(case, fabrics) / 1e9
    least_s = sum(by_size.values())
    if least_s <= MOST_BUDGETS * budget_s:
        return
    longest = max(by_size, key=lambda size: by_size[size])
    what = f"budget: {duration_words(plan.section.budget)} is asked for, and every size once takes about"
    share = f", of which {size_text(longest)} alone takes {_words(by_size[longest])}" if len(by_size) > 1 else ""
    yield ("budget",), f"{what} {_words(least_s)}{share}; leave out sizes or launches, or write a larger budget"


def _words(seconds: float) -> str:
    from fabriscope.cli._plan_words import time_words

    return time_words(seconds) if seconds >= 1 else f"{seconds * 1e3:.0f} ms"


def _of_ranks(plan: Plan, schedule: Schedule, processors: int) -> Iterator[Doubt]:
    """Yield that ranks share each processor of this machine by the dozen."""
    most = max(len(launch.entry.hosts) for launch in schedule.launches)
    if most <= MOST_RANKS_PER_PROCESSOR * processors:
        return
    given = [key for key in ("ranks", "pairs", "ranks_per_host") if key in plan.section.model_fields_set]
    what = f"{most} ranks share this machine's {counted(processors, 'processor')}, {most // processors} on each"
    yield tuple(given[:1]), f"{what}, and mostly wait for one; write {MOST_RANKS_PER_PROCESSOR * processors} or fewer"


def _of_values(plan: Plan) -> Iterator[Doubt]:
    """Yield values beyond what anybody sets them to."""
    if (margin := plan.section.margin) > MOST_MARGIN:
        what = f"margin: what differs by less than {100 * margin:.3g} % would be called equivalent"
        yield ("margin",), f"{what}; 3% is usual"
    for name, section in plan.section.benchmarks.items():
        for key, least in LEAST_SOCKET_BUFFER_BYTES.items():
            for value in getattr(section.socket, key):
                if value is not None and value < least:
                    what = f"{name}: a {key} of {value} B is less than Linux gives, {2 * least} B"
                    what += "; a number without a unit is in bytes: write for example 64KiB"
                    yield ("benchmarks", name, "socket", key), what


def _of_windows(plan: Plan) -> Iterator[Doubt]:
    """Yield limits that leave one message in flight, whatever window is asked for."""
    for name, section in plan.section.benchmarks.items():
        kind, given = kind_of(name), section.model_fields_set
        least = min((size for size in section.sizes if size), default=0)
        windows = section.window if "window" in given or not kind.window else (kind.window,)
        if not kind.has_window or "in_flight_limit" not in given or max(windows) == 1:
            continue
        if section.in_flight_limit < 2 * least:
            what = f"{name}: an in_flight_limit of {section.in_flight_limit} B leaves one message in flight"
            yield ("benchmarks", name, "in_flight_limit"), f"{what}; write for example 1MiB, or `window: 1`"
