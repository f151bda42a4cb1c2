"""Amounts of a plan that are possible and hardly meant: too little time or too many ranks, and values at an edge."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING

from fabriscope.cli._doubts.oddities import Doubt
from fabriscope.model.benchmarks import kind_of
from fabriscope.model.blocks import LEAST_BLOCKS
from fabriscope.model.counting import counted, listed
from fabriscope.model.ranks import CYCLIC, layout_of

if TYPE_CHECKING:
    from fabriscope.plan import Plan, Schedule
    from fabriscope.plan.benchmark_sections import BenchmarkSection

MOST_RANKS_PER_PROCESSOR = 32
"""With more, ranks wait for a processor most of the time."""
MOST_RANKS_ON_A_HOST = 768
"""Two sockets of 192 cores, two threads each."""
MOST_MARGIN = 0.25
LEAST_ORDER = 100
LEAST_BLOCKS_TO_GO_ON = 6
"""Of a plan that goes on until it is decided: where eight sizes are 5 % apart and blocks spread by 5 %, five blocks
decide 7 % of them and eight 24 % (docs/statistics.md)."""
LEAST_SOCKET_BUFFER_BYTES = {"send_buffer": 2304, "receive_buffer": 1152}
"""Half of what Linux gives at least (SOCK_MIN_SNDBUF, SOCK_MIN_RCVBUF of x86-64): it doubles what it is told."""


def oddities(plan: Plan, schedule: Schedule, processors: int | None) -> Iterator[Doubt]:
    """Yield place and sentence of each; `processors` are those of this machine, where all hosts are on it."""
    yield from _of_ranks(plan, schedule, processors) if processors is not None else _of_crowds(plan, schedule)
    yield from (*_of_arrangements(plan, schedule), *_of_bindings(plan, schedule))
    yield from _of_values(plan)
    yield from (*_of_windows(plan), *_of_orders(plan))
    section = plan.section
    if section.until == "decided" and LEAST_BLOCKS <= section.block_count < LEAST_BLOCKS_TO_GO_ON:
        what = f"launches: at most {section.block_count} blocks decide large differences alone"
        yield ("launches",), f"{what}; with until: decided write 10 or more, or leave it out for 50"


def _of_ranks(plan: Plan, schedule: Schedule, processors: int) -> Iterator[Doubt]:
    """Yield that ranks share each processor of this machine by the dozen."""
    most = max(len(launch.entry.hosts) for launch in schedule.launches)
    if most <= MOST_RANKS_PER_PROCESSOR * processors:
        return
    given = [key for key in ("ranks", "pairs", "ranks_per_host") if key in plan.section.model_fields_set]
    what = f"{most} ranks share this machine's {counted(processors, 'processor')}, {most // processors} on each"
    yield tuple(given[:1]), f"{what}, and mostly wait for one; write {MOST_RANKS_PER_PROCESSOR * processors} or fewer"


def _of_crowds(plan: Plan, schedule: Schedule) -> Iterator[Doubt]:
    """Yield that hosts elsewhere have more ranks than any has processors."""
    most, hosts = max((max(Counter(one.hosts).values()), len(set(one.hosts))) for one in schedule.entries)
    if most <= MOST_RANKS_ON_A_HOST:
        return
    counts = {key: getattr(plan.section, key) for key in ("ranks", "pairs", "ranks_per_host")}
    given = [key for key in counts if key in plan.section.model_fields_set]
    largest = sorted(given, key=lambda key: max((one for one in counts[key] if isinstance(one, int)), default=0))
    what = f"{most} ranks on each of {counted(hosts, 'host')} are more than a server of today has processors"
    yield tuple(largest[-1:]), f"{what}, and mostly wait for one; write fewer, or name more hosts"


def _of_arrangements(plan: Plan, schedule: Schedule) -> Iterator[Doubt]:
    """Yield that ranks are to be dealt out in turn, where no host has two."""
    layouts = (layout_of(entry.hosts).arrangement for entry in schedule.entries if not entry.receivers > 1)
    if CYCLIC in plan.section.arrangement and CYCLIC not in layouts:
        what = "arrangement: cyclic does nothing where each host has one rank"
        yield ("arrangement",), f"{what}; write `ranks` for more, or leave it out"


def _of_bindings(plan: Plan, schedule: Schedule) -> Iterator[Doubt]:
    """Yield that a library is told of fewer processors than a host has ranks: such launches are refused."""
    for at, stack in enumerate(plan.section.mpi):
        counts = (max(Counter(one.hosts).values()) for one in schedule.entries if one.mpi == stack.name)
        ranks = max(counts, default=0)
        if isinstance(stack.bind, tuple) and len(stack.bind) < ranks:
            what = f"{stack.name}: bind names {counted(len(stack.bind), 'processor')} for {ranks} ranks of a host"
            fix = "name one for each, or write `bind: core`"
            yield ("mpi", at, "bind"), f"{what}: its launches would fail; {fix}"


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
        yield from _of_cut_windows(name, section)
        least = min((size for size in section.sizes if size), default=0)
        windows = section.window if "window" in given or not kind.window else (kind.window,)
        if not kind.has_window or "in_flight_limit" not in given or max(windows) == 1:
            continue
        if section.in_flight_limit < 2 * least:
            what = f"{name}: an in_flight_limit of {section.in_flight_limit} B leaves one message in flight"
            yield ("benchmarks", name, "in_flight_limit"), f"{what}; write for example 1MiB, or `window: 1`"


def _of_cut_windows(name: str, section: BenchmarkSection) -> Iterator[Doubt]:
    """Yield windows that are one and the same, as `in_flight_limit` cuts them: they would be compared with itself."""
    from fabriscope.analysis.words import size_text
    from fabriscope.plan.cases import cut_window

    windows = sorted(section.window)
    for size in sorted(section.sizes) if kind_of(name).has_window and len(windows) > 1 else ():
        cut = cut_window(windows[-2], size, section)
        if cut != cut_window(windows[-1], size, section):
            continue
        alike = [window for window in windows if cut_window(window, size, section) == cut]
        where = size_text(size) + (" and above" if size < max(section.sizes) else "")
        limit = f"the in_flight_limit of {size_text(section.in_flight_limit)} leaves {cut}"
        what = f"{name}: at {where} the windows {listed([str(one) for one in alike])} are one measurement: {limit}"
        place = ("benchmarks", name, "window")
        yield place, f"{what}; write `in_flight_limit: {size_text(size * windows[-1]).replace(' ', '')}`, or one window"
        return


def _of_orders(plan: Plan) -> Iterator[Doubt]:
    """Yield matrices that are too small to tell anything, or that one block holds."""
    hpl = plan.section.applications.hpl
    if hpl is None or hpl.n is None:
        return
    if hpl.n < LEAST_ORDER:
        what = f"hpl: n: {hpl.n} is solved before anything can be timed"
        yield ("applications", "hpl", "n"), f"{what}; write for example 10000"
    elif hpl.nb > hpl.n:
        what = f"hpl: a block of nb: {hpl.nb} is more than the matrix of n: {hpl.n}, so that one rank does it all"
        yield ("applications", "hpl", "nb"), f"{what}; leave nb out, or write a larger n"
