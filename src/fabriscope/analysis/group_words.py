"""What many ranks did at once, in sentences."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

from fabriscope.analysis.best_words import names_text
from fabriscope.analysis.comparing.findings import PLACEMENT_NAMES
from fabriscope.analysis.rows import parts
from fabriscope.analysis.values.groups import End, Group
from fabriscope.analysis.words import interval_text, size_text, tells_size, time_text, value_text
from fabriscope.model.benchmark_kind import BESIDE, OF_STREAMS, PAIRS, SERVICE
from fabriscope.model.benchmarks import BENCHMARKS, kind_of
from fabriscope.model.metrics import base_of, metric_of
from fabriscope.model.ranks import CYCLIC, layout_from

MOST_SENTENCES = 4
MOST_LATE = 0.5
"""A larger share of rounds that are left out is told before anything else."""
PLAIN_METRICS = {kind.metrics[0] for kind in BENCHMARKS.values()} | {"overlap_percent"}


def sentences(table: Sequence[Group]) -> Iterator[str]:
    """Yield a sentence for each benchmark and placement: the best curve with the most ranks, and what limits it."""
    # Where one benchmark is timed in several ways, the answer is that on the common clock.
    own = (BESIDE, *OF_STREAMS)  # of a victim its slowdown is told, of streams what came of them together
    table = [row for row in table if kind_of(row.benchmark).pattern not in own]
    plain = [row for row in table if row.metric_id in PLAIN_METRICS]
    timed = plain or [row for row in table if base_of(row.metric_id) in PLAIN_METRICS]
    all_parts = parts(timed, lambda row: (row.placement, row.benchmark, row.metric_id))
    for part in all_parts[:MOST_SENTENCES]:
        most = max(row.rank_count for row in part)
        yield _sentence([row for row in part if row.rank_count == most])
    if len(all_parts) > MOST_SENTENCES:
        yield f"{len(all_parts) - MOST_SENTENCES} more results of many ranks stand in their tables."


def ranks_text(benchmark: str, ranks: str) -> str:
    """Return the layout in words, of pairs how many: `8 ranks, 2 on each host`, `4 pairs, cyclic`."""
    layout = layout_from(ranks)
    if kind_of(benchmark).pattern == SERVICE:
        return f"{layout.rank_count} hosts"
    if kind_of(benchmark).pattern != PAIRS:
        return layout.text() if ranks else f"{layout.rank_count} ranks"  # the usual two: their placement says where
    count = layout.rank_count // 2
    return f"{count} pair{'' if count == 1 else 's'}" + (", cyclic" if layout.arrangement == CYCLIC else "")


def name_of(benchmark: str, metric_id: str) -> str:
    """Return what is measured, in words: `Message rate`, `Allreduce: collective latency after a barrier`."""
    title = metric_of(metric_id).title
    kind = kind_of(benchmark)
    is_named = title.lower().startswith((kind.title, "multi-pair"))
    text = title if is_named else f"{kind.title}: {metric_of(metric_id).words}"
    return text[0].upper() + text[1:]


def _sentence(rows: Sequence[Group]) -> str:
    metric_id = rows[0].metric_id
    larger_is_better = metric_of(metric_id).larger_is_better
    best = (max if larger_is_better else min)(rows, key=lambda row: row.first_value)
    others = [row for row in rows if row is not best]
    text = f"{name_of(best.benchmark, metric_id)} {PLACEMENT_NAMES[best.placement]}, "
    text += f"{best.label(ranks=False)}, {ranks_text(best.benchmark, best.ranks)}: "
    text += _value(best.first, metric_id)
    if tells_size(best.benchmark, best.last_size_bytes):
        text += f" at {size_text(best.first_size_bytes)}"
        if best.size_count > 1:
            text += f" and {_value(best.last, metric_id)} at {size_text(best.last_size_bytes)}"
    if others:
        close = [row.label(ranks=False) for row in others if best.first.centre.overlaps(row.first.centre)]
        text += f", the {'most' if larger_is_better else 'least'} of {len(rows)} curves"
        text += f" at {size_text(best.first_size_bytes)}" if best.size_count > 1 else ""
        text += f" (its interval overlaps that of {names_text(close)})" if close else ""
    return f"{text}{_limits(best)}."


def _value(end: End, metric_id: str) -> str:
    words = interval_text(end.centre.low, end.centre.high, partial(value_text, metric_id=metric_id))
    return f"{value_text(end.centre.value, metric_id)}{f' ({words})' if words else ''}"


def _limits(row: Group) -> str:
    parts = []
    if row.slowest_rank is not None and row.rank_count > 2:
        where = f" ({row.slowest_host})" if row.slowest_host else ""
        parts.append(f"rank {row.slowest_rank}{where} finished last in {row.slowest_share:.0%} of the operations")
    if row.clock_error_ns is not None:
        parts.append(f"the common clock is right to {time_text(row.clock_error_ns)}")
        late = row.late_operation_count / max(1, row.late_operation_count + row.operation_count)
        if late:  # most of them first: then little is left that the number is of
            said = f"{late:.1%} of the rounds were late and are left out"
            parts.insert(0 if late > MOST_LATE else len(parts), said)
    return "".join(f"; {part}" for part in parts)
