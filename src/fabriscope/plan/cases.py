"""The cases of an entry: every benchmark that makes sense there, with its sweeps."""

from __future__ import annotations

import itertools
import math
from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace

from fabriscope.model.benchmark_kind import BESIDE, PAIRS, BenchmarkKind
from fabriscope.model.benchmarks import (
    DEFAULTS,
    ONE_BUFFER_PROGRAMS,
    TOLD_BY_METRIC,
    choices_of,
    is_possible,
    kind_of,
    parameter_label,
    sends_what_came,
)
from fabriscope.model.case import Case, Entry, SocketOptions
from fabriscope.model.fabric import Fabric
from fabriscope.model.layers import layer_of
from fabriscope.model.ranks import CYCLIC, layout_of
from fabriscope.model.stream_benchmarks import CONGESTION
from fabriscope.plan.benchmark_sections import BenchmarkSection, SocketSection, VerbsSection
from fabriscope.plan.service_schema import Parameters, ServicesSection, parameters_of

MAX_CASES = 20_000
"""Of one entry, and of a run."""
_SWEPT_OF_SOCKETS = ("send_buffer", "receive_buffer", "tcp_nodelay", "busy_poll_us", "congestion_control")


def cases(
    benchmarks: Mapping[str, BenchmarkSection],
    entry: Entry,
    patterns: frozenset[str],
    fabrics: Mapping[str, Fabric],
    services: ServicesSection,
    beside: Collection[str] = (),
) -> Iterator[Case]:
    """Yield the cases of an entry whose ranks are laid out for benchmarks of these patterns.

    `beside` are the instruments that measure the same layer.
    """
    for name, section in benchmarks.items():
        kind = kind_of(name)
        needed = kind.layer or ("mpi" if kind.needs_mpi else "verbs" if kind.needs_verbs else entry.layer)
        is_of_service = bool(layer_of(entry.layer).instrument)
        if section.layers is not None and entry.layer not in section.layers:
            continue
        if kind.pattern not in patterns or entry.layer != needed or is_of_service is not bool(kind.layer):
            continue
        told = parameters_of(services, entry.layer, entry.fabric)
        if told is None:
            continue
        of_kind = (
            replace(one, parameters=one.parameters + told)
            for one in _cases(_with_buffers(section, kind, entry, beside), kind, entry, fabrics)
        )
        yield from dict.fromkeys(of_kind)


def _with_buffers(
    section: BenchmarkSection, kind: BenchmarkKind, entry: Entry, beside: Collection[str]
) -> BenchmarkSection:
    """Return what is asked of ping-pongs of ours, with the buffers that a plan leaves out, and of a victim's with both.

    They are the same on every layer, so that layers can be compared; where another program of the plan sends what it
    received, ours does that too, so that it can be set beside it.
    """
    if kind.pattern == BESIDE and not section.congestion:
        return section.model_copy(update={CONGESTION: choices_of(CONGESTION, kind.name)})
    if section.buffers or entry.instrument != "engine" or not sends_what_came(kind.name):
        return section
    same = ("same",) if kind.name == "ping_pong" and set(ONE_BUFFER_PROGRAMS) & set(beside) else ()
    return section.model_copy(update={"buffers": (DEFAULTS["buffers"], *same)})


def _cases(
    section: BenchmarkSection, kind: BenchmarkKind, entry: Entry, fabrics: Mapping[str, Fabric]
) -> Iterator[Case]:
    has_sockets = layer_of(entry.layer).takes_socket_options and entry.placement in section.socket.placements
    sockets = list(_sockets(section.socket, entry, fabrics)) if has_sockets else [SocketOptions()]
    windows = _windows(section, kind)
    queues = _queues(section.verbs) if layer_of(entry.layer).takes_queue_options else [()]
    swept = {name for name, values in section.parameters().items() if len(values) > 1} - set(TOLD_BY_METRIC)
    swept |= {name for name, values in section.verbs if len(values) > 1}
    sets = [own + queue for own, queue in itertools.product(parameter_sets(section, kind, entry), queues)]
    for parameters, socket, window in itertools.product(sets, sockets, windows):
        labels = [parameter_label(name, value) for name, value in parameters if name in swept]
        labels += [socket.label() if len(sockets) > 1 else "", f"window {window}" if len(windows) > 1 else ""]
        series = ", ".join(label for label in labels if label)
        for size in sizes_of(section, kind, dict(parameters)):
            if size == 0 and entry.layer == "tcp":
                continue
            yield Case(entry, kind.name, size, cut_window(window, size, section), series, socket, parameters)


def most_cases(section: BenchmarkSection, kind: BenchmarkKind, layers: Collection[str]) -> int:
    """Return how many cases a benchmark has at most in an entry of one of these layers, without making any."""
    of_layer = [1]
    if "tcp" in layers:
        socket = section.socket
        of_layer.append(math.prod(len(getattr(socket, name)) for name in _SWEPT_OF_SOCKETS))
    if "verbs" in layers:
        of_layer.append(math.prod(len(values) for _, values in section.verbs))
    own = math.prod(len(values) for name, values in section.parameters().items() if name in kind.parameters)
    sizes = len(section.sizes) if kind.has_size and not kind.is_of_one_element else 1
    return own * sizes * len(_windows(section, kind)) * max(of_layer)


def sizes_of(section: BenchmarkSection, kind: BenchmarkKind, parameters: Mapping[str, str]) -> tuple[int, ...]:
    """Return the sizes of a benchmark: of those that are asked for, the ones of whole elements."""
    if not kind.has_size:
        return (0,)
    element_bytes = kind.element_bytes(parameters)
    if kind.is_of_one_element:
        return (element_bytes,)
    return tuple(size for size in section.sizes if size >= kind.least_size and size % element_bytes == 0)


def at_size(case: Case, size: int, section: BenchmarkSection) -> Case | None:
    """Return the case of another size on the same curve; None for a size that the benchmark cannot have."""
    kind = kind_of(case.benchmark)
    if not kind.has_size or kind.is_of_one_element:
        return None
    if size < kind.least_size or size % kind.element_bytes(dict(case.parameters)) or size == 0:
        return None
    windows = section.window if kind.has_window else (1,)
    named = [window for window in windows if f"window {window}" in case.series.split(", ")] or windows[:1]
    return replace(case, message_size_bytes=size, window_size=cut_window(named[0], size, section))


def parameter_sets(section: BenchmarkSection, kind: BenchmarkKind, entry: Entry | None = None) -> list[Parameters]:
    """Return every combination of the parameters that is possible, for the ranks of an entry where one is given."""
    given = {name: values for name, values in section.parameters().items() if name in kind.parameters}
    if kind.pattern == PAIRS and entry is not None:
        given["pairing"] = _pairings(given.get("pairing"), entry)
    names = [name for name in kind.parameters if given.get(name)]
    if "pairing" in given and not given["pairing"] and entry is not None and len(entry.hosts) > 2:
        return []
    sets = [tuple(zip(names, values, strict=True)) for values in itertools.product(*(given[name] for name in names))]
    return [one for one in sets if is_possible(dict(one), kind)]


def _pairings(wanted: tuple[str, ...] | None, entry: Entry) -> tuple[str, ...]:
    """Return which ways of pairing the ranks have every pair on two hosts, or on one where there is but one.

    Unless the plan names one: the one that OSU uses, and for ranks dealt out in turn that of neighbours. With two
    ranks there is only one.
    """
    if len(entry.hosts) == 2:
        return ()
    usual = "neighbour" if layout_of(entry.hosts).arrangement == CYCLIC else "half"
    return tuple(one for one in wanted or (usual,) if entry.placement == "intra" or _is_apart(one, entry.hosts))


def _is_apart(pairing: str, hosts: tuple[str, ...]) -> bool:
    if pairing == "half":
        half = len(hosts) // 2
        return all(one != other for one, other in zip(hosts[:half], hosts[half:], strict=True))
    return all(one != other for one, other in zip(hosts[::2], hosts[1::2], strict=True))


def _queues(section: VerbsSection) -> list[Parameters]:
    """Return every combination of what the queues of verbs are told; `default` is not told at all."""
    names = tuple(VerbsSection.model_fields)
    return [
        tuple((name, str(value)) for name, value in zip(names, values, strict=True) if value is not None)
        for values in itertools.product(*(getattr(section, name) for name in names))
    ]


def _windows(section: BenchmarkSection, kind: BenchmarkKind) -> tuple[int, ...]:
    if not kind.has_window:
        return (1,)
    return (kind.window,) if kind.window and "window" not in section.model_fields_set else section.window


def cut_window(window: int, size: int, section: BenchmarkSection) -> int:
    """Return how many messages of a window are in flight, as far as `in_flight_limit` lets them."""
    return max(1, min(window, section.in_flight_limit // max(1, size)))


def _sockets(section: SocketSection, entry: Entry, fabrics: Mapping[str, Fabric]) -> Iterator[SocketOptions]:
    interface = None
    if section.bind_to_interface and entry.fabric is not None:
        interface = fabrics[entry.fabric].interfaces[entry.hosts[0]]
    for send, receive, nodelay, poll, control in itertools.product(
        *(getattr(section, name) for name in _SWEPT_OF_SOCKETS)
    ):
        yield SocketOptions(send, receive, nodelay, poll, control, interface)
