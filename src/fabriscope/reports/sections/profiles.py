"""What profiled applications do in MPI, and what of their difference between fabrics the measured curves explain."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from fabriscope.analysis.curve import Curve
from fabriscope.analysis.profiles.explained import CallDifference, Explained, Interval, ProfiledRun, explained, profiled
from fabriscope.analysis.results import Results
from fabriscope.analysis.rows import parts
from fabriscope.analysis.words import UNKNOWN, share_text, size_text, time_text
from fabriscope.model.benchmarks import kind_of
from fabriscope.model.profile import Profile
from fabriscope.reports import profile_tables
from fabriscope.reports.section import (
    Block,
    Bullets,
    Cell,
    Column,
    Folded,
    Heading,
    Paragraph,
    Row,
    Section,
    Sections,
    Table,
)

_HEADS = (
    Column("application"), Column("slower less faster"), Column("difference", "number"),
    Column("by the curves", "number"), Column("explained", "number"), Column("outside of MPI", "number"),
    Column("blocks", "number"),
)  # fmt: skip
_CALLS = (
    Column("call", "head"), Column("calls", "number"), Column("by the curves", "number"), Column("seen", "number"),
    Column("measured by"),
)  # fmt: skip
_NOTE = (
    "Differences are of the time from MPI_Init to MPI_Finalize, of our NAS kernels of their timed section, at the "
    "slowest rank. By the curves: the calls of the rank that has most to do, times what this run measured that one "
    "takes longer on the slower fabric, at its size. Intervals are over blocks. docs/profile.md has the model and what "
    "it leaves out."
)


def _build(results: Results) -> list[Section]:
    runs = profiled(results.run, results.launch_values)
    if not runs:
        return []
    blocks: list[Block] = []
    brief: list[Block] = [Heading("where the applications’ differences come from")]
    found = explained(results.run, results.launch_values, results.rules.method)
    words = [_sentence(one) for one in found]
    if found:
        table = Table(_HEADS, [_row(one) for one in found])
        blocks += [Bullets(words), table, *_of_calls(found), Paragraph(_NOTE, is_note=True)]
        brief += [Bullets(words), table]
    else:
        blocks.append(Paragraph(_nothing_explained(runs)))
        brief.append(Paragraph(_nothing_explained(runs)))
    for of_curve in parts(runs, lambda one: one.curve):
        blocks.append(_folded(of_curve[0].curve, of_curve[0].profile))
    problems = list(_problems(results))
    blocks += [Bullets(problems)] if problems else []
    title = "Where the applications’ differences come from"
    return [Section("profiles", title, blocks, "Explanation", brief=brief)]


def _nothing_explained(runs: Sequence[ProfiledRun]) -> str:
    if len({one.curve.fabric for one in runs}) < 2:
        return "The applications were profiled over one fabric alone: there is no difference to explain."
    return (
        "Nothing explains the applications’ differences: the run has no ping-pong over their fabrics by their MPI"
        " library (add `benchmarks: {ping_pong: {sizes: 1..4MiB}}` to the plan)."
    )


def _name(one: Explained) -> str:
    return kind_of(one.left.benchmark).title


def _ends(one: Explained) -> tuple[Curve, Curve, int]:
    """Return the slower curve, the faster one, and the sign that makes the slower one's difference positive."""
    return (one.right, one.left, 1) if one.difference_ns.value >= 0 else (one.left, one.right, -1)


def _turned(interval: Interval, sign: int) -> Interval:
    if sign > 0:
        return interval
    return Interval(-interval.value, -interval.high, -interval.low)


def _cell(interval: Interval, *, is_share: bool = False) -> Cell:
    def text(value: float) -> str:
        return _signed_share(value) if is_share else _signed_time(value)

    if not math.isfinite(interval.value):
        return Cell(UNKNOWN)
    has_ends = math.isfinite(interval.low) and math.isfinite(interval.high)
    return Cell(text(interval.value), f"{text(interval.low)} to {text(interval.high)}" if has_ends else "")


def _signed_time(value_ns: float) -> str:
    return f"{'−' if value_ns < 0 else ''}{time_text(abs(value_ns))}"


def _signed_share(share: float) -> str:
    return f"{'−' if share < 0 else ''}{share_text(abs(share)) if abs(share) < 0.9995 else f'{abs(share) * 100:.0f} %'}"


def _row(one: Explained) -> Row:
    slower, faster, sign = _ends(one)
    return [
        f"{_name(one)}, {slower.label(fabric=False)}",
        f"{slower.fabric} − {faster.fabric}",
        _cell(_turned(one.difference_ns, sign)),
        _cell(_turned(one.predicted_ns, sign)),
        _cell(one.share, is_share=True) if one.difference_ns.sign else Cell(UNKNOWN),
        _cell(_turned(one.outside_ns, sign)),
        str(one.block_count),
    ]


def _sentence(one: Explained) -> str:
    """Return what a reader should take away of one application over two fabrics."""
    slower, faster, sign = _ends(one)
    name, both = _name(one), f"{slower.fabric} than over {faster.fabric}"
    what = f"{name} takes {time_text(abs(one.difference_ns.value))} longer over {both}"
    calls = [call for call in one.calls if sign * call.predicted_ns > 0][:2]
    because = f" ({' and '.join(call.call for call in calls)})" if calls else ""
    if one.difference_ns.sign == 0:
        told = f"the curves say {_signed_time(sign * one.predicted_ns.value)}{because}"
        return f"{name}: {slower.fabric} and {faster.fabric} are not decided; {told}."
    if one.is_contrary:
        blamed = _blamed(one.calls, sign)
        return (
            f"{what}, though it wins the micro-benchmarks: by the curves its calls should take"
            f" {time_text(abs(one.predicted_ns.value))} less.{blamed}"
        )
    missing = _missing(one, sign)
    return f"{what}; the measured curves explain {_signed_share(one.share.value)} of that{because}.{missing}"


def _blamed(calls: Sequence[CallDifference], sign: int) -> str:
    slower = [call for call in calls if sign * call.observed_ns > 0]
    worst = sorted(slower, key=lambda call: -abs(call.observed_ns))[:2]
    if not worst:
        return " No call of MPI took longer: the difference is outside of MPI."
    return f" What took longer: {', '.join(f'{call.call} by {time_text(abs(call.observed_ns))}' for call in worst)}."


def _missing(one: Explained, sign: int) -> str:
    """Return where what is not explained went, as far as the profile tells."""
    left = sign * (one.difference_ns.value - one.predicted_ns.value)
    if abs(left) < 0.15 * abs(one.difference_ns.value):
        return ""
    if left < 0:
        return " The curves say more than there is: part of the calls is overlapped, or hidden by waiting."
    outside = sign * one.outside_ns.value
    if outside > 0.5 * left:
        return f" {time_text(outside)} of it is outside of MPI, where the fabric does nothing."
    worst = max(one.calls, key=lambda call: sign * (call.observed_ns - call.predicted_ns), default=None)
    if worst is None:
        return ""
    more = sign * (worst.observed_ns - worst.predicted_ns)
    return f" {worst.call} took {time_text(more)} more than that." if more > 0 else ""


def _of_calls(explained: Sequence[Explained]) -> Iterator[Block]:
    for one in explained:
        _, _, sign = _ends(one)
        rows: list[Row] = [
            [
                call.call,
                str(call.count) if call.count else "",
                _signed_time(sign * call.predicted_ns) if call.basis else "",
                _signed_time(sign * call.observed_ns),
                call.basis or "what it waits for",
            ]
            for call in one.calls
        ]
        least, most = (size_text(size) for size in one.sizes)
        cost = f"Profiling took {share_text(one.cost_share)} of the time."
        about = Paragraph(f"The ping-pong has sizes from {least} to {most}. {cost}", is_note=True)
        title = f"{_name(one)}, {one.left.fabric} and {one.right.fabric}: call by call"
        yield Folded(title, [Table(_CALLS, rows), about])


def _folded(curve: Curve, profile: Profile) -> Folded:
    title = f"What {kind_of(curve.benchmark).title} does in MPI, {curve.label()}"
    return Folded(
        title, [*profile_tables.summary(profile), profile_tables.calls(profile), profile_tables.sizes(profile)]
    )


def _problems(results: Results) -> Iterator[str]:
    """Yield why launches that were to be profiled are not."""
    for record in results.run.journal:
        for case_id, why in record.details.profile_problems.items():
            case = results.run.manifest.cases.get(case_id)
            if case is not None and record.results[case_id].status == "ok":
                yield f"launch {record.launch_id}, {kind_of(case.benchmark).title}: {why}"


SECTION = Sections("profiles", 46, _build)
