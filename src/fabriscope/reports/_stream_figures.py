"""Figures of many to one and many to many: what comes of it over the number of senders, a line for each size."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from fabriscope.analysis.comparing.findings import PLACEMENT_NAMES
from fabriscope.analysis.frames import PlannedCase
from fabriscope.analysis.group_words import name_of
from fabriscope.analysis.rows import parts
from fabriscope.analysis.values.trust import GradedEstimate
from fabriscope.analysis.words import size_text
from fabriscope.model.benchmark_kind import OF_STREAMS
from fabriscope.model.benchmarks import kind_of
from fabriscope.model.ranks import layout_from

AXIS = "stream_count"

CaseT = TypeVar("CaseT", bound=PlannedCase)


@dataclass(frozen=True)
class OverStreams:
    """What a figure over the number of streams is drawn of: one fabric at one layer by one program."""

    name: str
    """What tells it from the others of its benchmark."""
    title: str
    rows: Sequence[GradedEstimate]


def over_streams(part: Sequence[GradedEstimate]) -> Iterator[OverStreams]:
    """Yield the figures of one benchmark, metric and series, of several sizes and several numbers of streams.

    A single size has its line in the figure over the number of ranks.
    """
    if kind_of(part[0].benchmark).pattern not in OF_STREAMS:
        return
    for rows in parts(part, lambda row: (row.fabric, row.layer, row.mpi, row.instrument)):
        first = rows[0]
        if len({row.ranks for row in rows}) < 2 or len({row.message_size_bytes for row in rows}) < 2:
            continue
        by = first.instrument if first.instrument != "engine" else None
        names = [word for word in (first.fabric, first.layer, first.mpi, by) if word]
        what = f"{name_of(first.benchmark, first.metric_id)} over the number of senders by message size"
        yield OverStreams(" ".join(names), f"{what}, {PLACEMENT_NAMES[first.placement]}: {' · '.join(names)}", rows)


def by_size(rows: Iterable[CaseT]) -> list[CaseT]:
    """Return estimates or launch values with the number of streams in the place of the size, which names their line."""
    return [
        replace(
            row,
            series=size_text(row.message_size_bytes),
            message_size_bytes=row.rank_count - layout_from(row.ranks).receiver_count,
            ranks="",
        )
        for row in rows
    ]
