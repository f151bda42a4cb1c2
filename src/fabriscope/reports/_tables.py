"""The result tables as text, shared by the page, the Markdown file and the terminal."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from fabriscope.analysis.comparing.findings import BENCHMARK_NAMES, PLACEMENT_NAMES
from fabriscope.analysis.curve import Curve
from fabriscope.analysis.frames import Failure
from fabriscope.analysis.group_words import name_of, ranks_text
from fabriscope.analysis.proof.transport import BADGES, entry_verdicts
from fabriscope.analysis.results import Results
from fabriscope.analysis.rows import parts
from fabriscope.analysis.values.estimates import Centre
from fabriscope.analysis.values.groups import End, Group
from fabriscope.analysis.values.summary import RATE, SMALL_MESSAGE_BYTES, Summary
from fabriscope.analysis.values.trust import GradedEstimate, curve_grades
from fabriscope.analysis.words import (
    UNKNOWN,
    interval_text,
    rate_text,
    share_text,
    significant,
    size_text,
    time_text,
    value_text,
)
from fabriscope.model.benchmarks import kind_of
from fabriscope.model.metrics import metric_of
from fabriscope.reports._lines import FailureLine, FitLine, GroupLine, SummaryLine, TransportLine, TrustLine


def summary_lines(results: Results) -> list[SummaryLine]:
    """Return the summary table."""
    points = {part[0].curve: part for part in parts(results.graded, lambda row: row.curve)}
    of_looks = {_subject(part[0]): part for part in parts(results.graded, _subject)}
    return [_summary_line(row, points.get(row.curve, []), of_looks.get(_subject(row), [])) for row in results.summaries]


def _subject(curve: Curve) -> Curve:
    """Return the curve whatever the benchmark."""
    return replace(curve.curve, benchmark="")


def _summary_line(row: Summary, points: Sequence[GradedEstimate], of_look: Sequence[GradedEstimate]) -> SummaryLine:
    size = row.bandwidth_message_size_bytes
    return SummaryLine(
        placement=PLACEMENT_NAMES[row.placement],
        network=row.fabric or UNKNOWN,
        layer=f"{row.layer_label}, {row.series}" if row.series else row.layer_label,
        bandwidth=_number(row.bandwidth, 8e-6),
        bandwidth_interval=_interval(row.bandwidth, 8e-6),
        share=f"{row.share_of_limit:.0%}" if row.share_of_limit else UNKNOWN,
        size=size_text(size),
        bits=UNKNOWN if size is None else f"{size * 8:,}".replace(",", "\N{THIN SPACE}"),
        latency=_number(row.latency, 1e-3),
        latency_interval=_interval(row.latency, 1e-3),
        launches=str(row.launch_count or 0),
        transport=_badge(of_look),
        trust=_grades(points, size),
    )


def _grades(points: Sequence[GradedEstimate], size_bytes: int | None) -> str:
    """Return the grades of the two numbers of a row of the summary: of the bandwidth, and the worst of the latency."""
    rate = [row.grade for row in points if row.metric_id == RATE and row.message_size_bytes == size_bytes]
    small = [
        row.grade
        for row in points
        if row.metric_id == "latency_ns" and 1 <= row.message_size_bytes < SMALL_MESSAGE_BYTES
    ]
    return ", ".join(max((grade for grade in part if grade), default=UNKNOWN) for part in (rate, small))


def _badge(points: Sequence[GradedEstimate]) -> str:
    """Return the worst verdict on what carried the bytes of a curve; nothing where nobody watched."""
    found = {row.transport for row in points}
    return next((badge for verdict, badge in reversed(BADGES.items()) if verdict in found), "")


def transport_lines(results: Results) -> list[TransportLine]:
    """Return what carried the bytes of each entry that was watched."""
    rows = []
    for row in entry_verdicts(results.run):
        some = [f"{count} {name}" for name, count in row.counts.items() if count]
        rows.append(
            TransportLine(
                what=row.entry.label(),
                placement=PLACEMENT_NAMES[row.entry.placement],
                asked=row.asked,
                carried=row.carried_by or UNKNOWN,
                found=UNKNOWN if row.payload_share is None else share_text(row.payload_share),
                error=UNKNOWN if row.closure_error is None else share_text(row.closure_error),
                verdict=row.verdict,
                badge=BADGES[row.verdict],
                launches=", ".join(some) if len(some) > 1 else f"{row.launch_count} of {row.launch_count}",
                because=row.because,
            )
        )
    return rows


def trust_lines(results: Results) -> list[TrustLine]:
    """Return how far the numbers of each curve can be trusted."""
    return [
        TrustLine(
            what=row.label(),
            placement=PLACEMENT_NAMES[row.placement],
            metric=metric_of(row.metric_id).title,
            grades=", ".join(f"{count} {grade}" for grade, count in row.counts.items() if count),
            grade=row.grade,
            size=size_text(row.message_size_bytes),
            worst=f"{row.grade} at {size_text(row.message_size_bytes)}",
            reasons=row.reasons,
        )
        for row in curve_grades(results.graded)
    ]


def fit_lines(results: Results) -> list[FitLine]:
    """Return the pieces of the models of time over size; what is of a whole curve stands in its first line."""
    rows = []
    for row in results.fitted:
        is_first, slope = row.piece == 1, row.ns_per_byte
        errors = (row.held_out_error, row.noise_floor) if is_first else (None, None)
        rows.append(
            FitLine(
                what=row.label(),
                placement=PLACEMENT_NAMES[row.placement],
                sizes=f"{size_text(row.first_size_bytes)} to {size_text(row.last_size_bytes)}",
                latency=time_text(row.latency_ns),
                bandwidth=rate_text(1e9 / slope) if slope > 0 else UNKNOWN,
                gap=significant(slope) if slope > 0 else UNKNOWN,
                message_gap=time_text(row.message_gap_ns) if is_first else "",
                error="" if errors[0] is None else f"{errors[0]:.1%}",
                floor="" if errors[1] is None else f"{errors[1]:.1%}",
            )
        )
    return rows


def _number(centre: Centre, factor: float) -> str:
    return UNKNOWN if centre.value is None else significant(centre.value * factor)


def _interval(centre: Centre, factor: float) -> str:
    return interval_text(centre.low, centre.high, lambda value: significant(value * factor))


def failure_lines(results: Results) -> list[FailureLine]:
    """Return every measurement that did not succeed, with what it was and why."""
    return [_failure_line(part) for part in parts(results.failed, _alike)]


def _alike(failure: Failure) -> tuple[object, ...]:
    """Return what failures that share a line have in common: all but the size and the control."""
    curve = None if failure.case is None else replace(failure.case.curve, twin="")
    return failure.launch_id, failure.block, curve, failure.status, failure.reason


def _failure_line(part: Sequence[Failure]) -> FailureLine:
    first, case = part[0], part[0].case
    return FailureLine(
        launch=f"{first.launch_id} (block {first.block})",
        what=case.label() if case else "a case that the plan does not know",
        placement=PLACEMENT_NAMES.get(case.placement, "") if case else "",
        benchmark=BENCHMARK_NAMES.get(case.benchmark, case.benchmark) if case else "",
        sizes=_sizes(sorted(one.case.message_size_bytes for one in part if one.case)),
        status=first.status,
        reason=first.reason or "no reason was recorded",
    )


def _sizes(sizes: list[int]) -> str:
    if len(sizes) > 3:
        return f"{size_text(sizes[0])} to {size_text(sizes[-1])} ({len(sizes)} sizes)"
    return ", ".join(size_text(size) for size in sizes)


def group_lines(results: Results) -> list[GroupLine]:
    """Return the table of what many ranks do at once."""
    points = {
        (part[0].curve, part[0].metric_id): part
        for part in parts(results.graded, lambda row: (row.curve, row.metric_id))
    }
    return [_group_line(row, points.get((row.curve, row.metric_id), [])) for row in results.grouped]


def _group_line(row: Group, points: Sequence[GradedEstimate]) -> GroupLine:
    first_size, first, first_interval = _end(row, row.first)
    last_size, last, last_interval = _end(row, row.last) if row.size_count > 1 else ("", "", "")
    return GroupLine(
        what=name_of(row.benchmark, row.metric_id),
        placement=PLACEMENT_NAMES[row.placement],
        ranks=ranks_text(row.benchmark, row.ranks),
        network=row.fabric or UNKNOWN,
        layer=f"{row.layer_label}, {row.series}" if row.series else row.layer_label,
        first_size=first_size,
        first=first,
        first_interval=first_interval,
        last_size=last_size,
        last=last,
        last_interval=last_interval,
        slowest=_slowest(row),
        late=_late(row),
        clock_error=time_text(row.clock_error_ns),
        launches=str(row.launch_count),
        transport=_badge(points),
    )


def _end(row: Group, end: End) -> tuple[str, str, str]:
    """Return the size, the value and the interval of one end of a curve."""
    size = size_text(end.size_bytes) if kind_of(row.benchmark).has_size else UNKNOWN
    centre = end.centre
    interval = interval_text(centre.low, centre.high, lambda value: value_text(value, row.metric_id))
    return size, value_text(centre.value, row.metric_id), interval


def _slowest(row: Group) -> str:
    """Return which rank finished last most often, and in which share of the operations."""
    if row.slowest_rank is None:
        return UNKNOWN
    return f"rank {row.slowest_rank} ({row.slowest_host or 'host unknown'}), {row.slowest_share:.0%}"


def _late(row: Group) -> str:
    """Return the share of the rounds that were left out; where every rank times itself there is no late."""
    total = row.late_operation_count + row.operation_count
    return f"{row.late_operation_count / total:.1%}" if row.clock_error_ns is not None and total else UNKNOWN
