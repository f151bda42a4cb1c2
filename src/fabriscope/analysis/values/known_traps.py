"""The known traps of a run's numbers: those that its programs' outputs have, and those that the wire tells."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from fabriscope.analysis.curve import Curve
from fabriscope.analysis.rows import parts
from fabriscope.analysis.values.bounds import TOLERANCE
from fabriscope.analysis.values.trust import GradedEstimate
from fabriscope.analysis.words import sizes_text, tells_size
from fabriscope.model.fabric import Fabric
from fabriscope.model.metrics import metric_of
from fabriscope.model.quantity import Completion, Direction, Ranks
from fabriscope.model.run_data import RunData
from fabriscope.model.trap_table import BELOW, BEYOND, DUPLEX, TRAPS

_INTRA = "intra"
MOST_PLACES = 4
"""Curves that a sentence names."""


@dataclass(frozen=True)
class KnownTrap:
    """One trap, and the numbers of one curve in one metric that have it."""

    name: str
    curve: Curve
    metric_id: str
    sizes_bytes: tuple[int, ...]
    """Of messages, in order."""
    sentence: str
    source: str

    def where(self) -> str:
        """Return which numbers have it, in words."""
        place = f"{self.curve.label()}, {metric_of(self.metric_id).words}"
        if not tells_size(self.curve.benchmark, self.sizes_bytes[-1]):
            return place
        return f"{place}, {sizes_text(self.sizes_bytes[0], self.sizes_bytes[-1])}"


def known_traps(run: RunData, graded: Sequence[GradedEstimate]) -> list[KnownTrap]:
    """Return the known traps of a run's numbers, in the order of `TRAPS`; a name that nobody knows is passed by."""
    printed: dict[tuple[str, str], list[str]] = {}
    for record in run.journal:
        for name, metrics in record.details.traps.items():
            for metric_id, case_ids in metrics.items():
                for case_id in case_ids:
                    names = printed.setdefault((case_id, metric_id), [])
                    names += [name] if name in TRAPS and name not in names else []
    delays = {name: switch.delay_ns for name, switch in run.manifest.switches.items()}
    told = [(name, row) for row in graded for name in printed.get((row.case_id, row.metric_id), ())]
    told += [(name, row) for row in graded for name in _of_the_wire(row, run.manifest.fabrics, delays)]
    order = list(TRAPS)
    groups = parts(told, lambda one: (one[0], one[1].curve, one[1].metric_id))
    return sorted((_known(group) for group in groups), key=lambda one: order.index(one.name))


def _known(group: Sequence[tuple[str, GradedEstimate]]) -> KnownTrap:
    name, row = group[0]
    sizes = tuple(sorted({one.message_size_bytes for _, one in group}))
    return KnownTrap(name, row.curve, row.metric_id, sizes, TRAPS[name].sentence, TRAPS[name].source)


def _of_the_wire(
    row: GradedEstimate, fabrics: Mapping[str, Fabric], delays: Mapping[str, int]
) -> Iterator[str]:  # fmt: skip
    """Yield what a wire says of a number that is between two hosts, whatever statistic of their operations it is."""
    fabric, quantity = fabrics.get(row.fabric or ""), metric_of(row.metric_id).quantity
    if fabric is None or row.placement == _INTRA or quantity.ranks is not Ranks.PAIR:
        return
    delay_ns = delays.get(fabric.name) or fabric.delay_ns or 0
    ways = {Direction.ONE_WAY: 1, Direction.THERE_AND_BACK: 2}.get(quantity.direction, 0)
    if quantity.unit.name == "ns" and quantity.completion is Completion.ARRIVED:
        if row.value < ways * delay_ns * (1 - TOLERANCE):
            yield BELOW
    elif quantity.unit.name == "bytes_per_s" and fabric.line_rate_bits_per_s is not None:
        one_way = fabric.line_rate_bits_per_s / 8
        if quantity.direction is not Direction.NONE and row.value > quantity.directions * one_way * (1 + TOLERANCE):
            yield BEYOND
        elif quantity.directions == 2 and row.value > one_way:
            yield DUPLEX


def sentences(traps: Iterable[KnownTrap]) -> list[str]:
    """Return each trap in a sentence, with the numbers that have it, the first few by name."""
    by_name = parts(list(traps), lambda trap: trap.name)
    return [f"{alike[0].name} ({places(alike)}): {alike[0].sentence}" for alike in by_name]


def places(traps: Sequence[KnownTrap]) -> str:
    """Return which numbers have a trap, the first few by name."""
    named = "; ".join(trap.where() for trap in traps[:MOST_PLACES])
    return named if len(traps) <= MOST_PLACES else f"{named}; and {len(traps) - MOST_PLACES} curves more"
