"""What a plan asks of its benchmarks and cannot have."""

from __future__ import annotations

from collections.abc import Iterator

from fabriscope.model.benchmark_kind import SERVICE, BenchmarkKind
from fabriscope.model.benchmarks import MEASURES, choices_of, kind_of
from fabriscope.model.case import Entry
from fabriscope.model.errors import shown
from fabriscope.model.layers import layer_of
from fabriscope.model.ranks import Layout
from fabriscope.plan.benchmark_sections import BenchmarkSection, SocketSection, VerbsSection
from fabriscope.plan.cases import MAX_CASES, most_cases, parameter_sets, sizes_of
from fabriscope.plan.ranks import Contradiction
from fabriscope.plan.schema import PlanSection

LEAST_QUEUE_DEPTH = 4
DEFAULT_QUEUE_DEPTH = 128
"""The engine's own (engine/src/verbs/options.h), and perftest's."""


def contradictions(plan: PlanSection) -> Iterator[Contradiction]:
    """Yield place, what is wrong, and the fix, for every benchmark that could not be measured as it is asked for."""
    yield from _too_many(plan)
    yield from _other_layers(plan)
    for name, section in plan.benchmarks.items():
        kind = kind_of(name)
        yield from _parameters(section, kind)
        if kind.needs_mpi and "mpi" not in plan.layers:
            yield (
                ("benchmarks", name),
                f"{name} is an operation of MPI, and the plan does not measure the layer mpi",
                "write for example `layers: [mpi]` and `mpi: [mpich]`",
            )
        if kind.needs_verbs and "verbs" not in plan.layers:
            yield (
                ("benchmarks", name),
                f"{name} is an operation of RDMA, and the plan does not measure the layer verbs",
                "write for example `layers: [verbs]`, over a fabric that speaks verbs",
            )
        yield from _of_no_use(plan, section, kind)
        yield from _queues(plan, section, name)
        if "inter" in plan.placements and "intra" not in plan.placements and section.pairing:
            yield from _pairs_on_one_host(plan, section, kind)
        over_tcp = "tcp" in (section.layers or plan.layers) and not kind.needs_mpi
        if 0 in section.sizes and len(section.sizes) == 1 and over_tcp:
            yield ("benchmarks", name, "sizes"), "TCP cannot send a message of 0 bytes", "start at 1"


def _other_layers(plan: PlanSection) -> Iterator[Contradiction]:
    """Yield what fabrics and benchmarks are limited to and the plan does not measure."""
    for key, sections in (("fabrics", plan.fabrics), ("benchmarks", plan.benchmarks)):
        for name, section in sections.items():
            for layer in section.layers or ():
                if layer not in plan.layers:
                    what = f"{name} is limited to the layer {shown(layer)}, which the plan does not measure"
                    yield (key, name, "layers"), what, f"it measures {', '.join(plan.layers)}"


def _too_many(plan: PlanSection) -> Iterator[Contradiction]:
    counts = {name: most_cases(section, kind_of(name), plan.layers) for name, section in plan.benchmarks.items()}
    for name, count in counts.items():
        if count > MAX_CASES:
            what = f"the sweeps of {name} are up to {count} cases, and {MAX_CASES} are the most"
            yield ("benchmarks", name), what, "sweep fewer values"
    if (total := sum(counts.values())) > MAX_CASES >= max(counts.values(), default=0):
        yield (
            ("benchmarks",),
            f"all benchmarks together are up to {total} cases, and {MAX_CASES} are the most",
            "sweep fewer values, or make two plans of it",
        )


def _of_no_use(plan: PlanSection, section: BenchmarkSection, kind: BenchmarkKind) -> Iterator[Contradiction]:
    """Yield what is asked of a benchmark and would change nothing of it."""
    if "window" in section.model_fields_set and not kind.has_window:
        what = f"{kind.name} has no window: it has one operation under way at a time"
        yield ("benchmarks", kind.name, "window"), what, "remove it, or measure bandwidth"
    if section.socket == SocketSection():
        return
    taking = [layer for layer in plan.layers if layer_of(layer).takes_socket_options]
    place = ("benchmarks", kind.name, "socket")
    if not taking:
        what = f"socket options are of the layer tcp, and the plan measures {', '.join(plan.layers)}"
        yield place, what, "add tcp to layers, or remove them"
    elif not set(section.socket.placements) & set(plan.placements):
        what = f"socket options are told for {' and '.join(section.socket.placements)}, where nothing is measured"
        yield (*place, "placements"), what, f"name one of {', '.join(plan.placements)}"


def _queues(plan: PlanSection, section: BenchmarkSection, name: str) -> Iterator[Contradiction]:
    place = ("benchmarks", name, "verbs")
    if section.verbs != VerbsSection() and "verbs" not in plan.layers:
        yield place, "queues of verbs are told, but the layer verbs is not measured", "add verbs to layers"
    over_iwarp = [fabric for fabric, told in plan.fabrics.items() if told.rdma == "iwarp"]
    if over_iwarp and section.verbs.ack_timeout != (None,):
        yield (
            (*place, "ack_timeout"),
            f"the fabric {over_iwarp[0]} is iWARP, where TCP sends again what is lost, by timers of its own",
            "remove ack_timeout, or the fabric",
        )
    depths = [DEFAULT_QUEUE_DEPTH if depth is None else depth for depth in section.verbs.queue_depth]
    gap = max(every or 1 for every in section.verbs.signal_every)
    if min(depths) < LEAST_QUEUE_DEPTH:
        yield (*place, "queue_depth"), f"a queue of {min(depths)} is too short", f"choose {LEAST_QUEUE_DEPTH} or more"
    elif 2 * gap > min(depths):
        yield (
            (*place, "signal_every"),
            f"one completion for {gap} sends is too few for queues of {min(depths)}, which would run full",
            f"choose {min(depths) // 2} or less, or a queue_depth of at least {2 * gap}",
        )


def _key(parameter: str) -> str:
    """Return how a plan calls a parameter: without the unit that the engine is told it in."""
    return parameter.removesuffix("_ms").removesuffix("_bytes") if parameter in MEASURES else parameter


def _parameters(section: BenchmarkSection, kind: BenchmarkKind) -> Iterator[Contradiction]:
    for parameter in section.parameters():
        if parameter not in kind.parameters:
            key, known = _key(parameter), ", ".join(map(_key, kind.parameters)) or "none"
            what, fix = f"{kind.name} takes no {key}", f"remove it: {kind.name} takes {known}"
            yield ("benchmarks", kind.name, key), what, fix
        for value in section.parameters()[parameter]:
            if parameter == "buffers" and value not in choices_of(parameter, kind.name):
                what = f"{kind.name} cannot send what it has received: its messages go one way, or both ways at once"
                yield (
                    ("benchmarks", kind.name, parameter),
                    what,
                    f"choose {', '.join(choices_of(parameter, kind.name))}",
                )
    sets = [dict(one) for one in parameter_sets(section, kind)]
    if not sets:
        yield (
            ("benchmarks", kind.name),
            f"MPI has no {kind.name} of {' and '.join(section.datatype or ('float',))} with "
            f"{' and '.join(section.reduction)}",
            f"{kind.name} takes {', '.join(choices_of('reduction', kind.name))}; band and bor are for int32, int64 and"
            " byte, sum, prod, max and min for all but byte",
        )
    elif kind.pattern != SERVICE and not any(sizes_of(section, kind, one) for one in sets):
        size = kind.element_bytes(sets[0])
        what, fix = f"no size is a whole number of elements of {size} bytes", f"choose multiples of {size}"
        if size == 1:
            what, fix = "no size has a byte to send", "choose 1 B or more"
        yield ("benchmarks", kind.name, "sizes"), what, fix


def _pairs_on_one_host(plan: PlanSection, section: BenchmarkSection, kind: BenchmarkKind) -> Iterator[Contradiction]:
    counts = [count for count in plan.pairs if isinstance(count, int) and count > 1]
    layouts = [Layout(2 * count, count, arrangement) for count in counts for arrangement in plan.arrangement]
    entries = [Entry("mpi", None, "inter", layout.hosts(("a", "b"))) for layout in layouts]
    if entries and not any(parameter_sets(section, kind, entry) for entry in entries):
        yield (
            ("benchmarks", kind.name, "pairing"),
            f"pairing {' and '.join(section.pairing)} would put both ranks of a pair on one host",
            "leave it out: block has pairing: half, cyclic has pairing: neighbour",
        )
