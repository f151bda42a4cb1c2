"""The replies to a run's questions in words: who leads, where, by how much, and how sure that is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from fabriscope.analysis.comparing.compared import EQUIVALENT, LEADS, UNDECIDED, Compared
from fabriscope.analysis.comparing.findings import PLACEMENT_NAMES, run_place
from fabriscope.analysis.comparing.questions import Question, Reply
from fabriscope.analysis.numbers.intervals import LEAST_BLOCKS
from fabriscope.analysis.values.trust import MEANINGS
from fabriscope.analysis.words import (
    TOO_WIDE,
    advantage_range_text,
    ratio_interval_text,
    ratio_text,
    size_text,
    sizes_text,
    tells_size,
)
from fabriscope.model.benchmark_kind import APPLICATION
from fabriscope.model.benchmarks import kind_of

MOST_NAMED = 6
"""Undecided questions that are named; more are counted."""
MOST_WHERES = 2
"""Circumstances of a verdict that are named; more are counted."""


def question_sentence(question: Question) -> str:
    """Return all that is said of a question: `gige leads slow at every size in 6 circumstances, 2.1 to 9.8 times.`"""
    said = [f"{_said(question, reply)}{_in_brackets(reply)}" for reply in question.replies]
    where = question.replies[0].wheres[0] if question.curve_count == 1 else PLACEMENT_NAMES.get(question.placement, "")
    head = f"{where[0].upper()}{where[1:]}: " if where else ""
    return f"{head}{'; '.join(said)}."


def undecided_sentence(questions: Sequence[Question]) -> str:
    """Return which questions are undecided at every point, and how many blocks would decide them, where known."""
    named = [f"{question_text(question)}{advice(question.replies[0])}" for question in questions]
    return f"Undecided in every comparison: {_first_of(named)}."


def loose_sentence(questions: Sequence[Question]) -> str:
    """Return which questions were decided on numbers of the worst grade alone; no winner is named."""
    named = [question_text(question) for question in questions]
    return f"No winner is named where all numbers are of grade D, not to be relied on: {_first_of(named)}."


def _first_of(named: Sequence[str]) -> str:
    more = [f"{len(named) - MOST_NAMED} more"] if len(named) > MOST_NAMED else []
    return "; ".join([*named[:MOST_NAMED], *more])


def question_text(question: Question) -> str:
    """Return what is set against what: `gige against ethernet-100 between hosts`."""
    placement = PLACEMENT_NAMES.get(question.placement, "")
    return f"{question.first} against {question.second}{f' {placement}' if placement else ''}"


def place_text(question: Question, reply: Reply) -> str:
    """Return where a verdict holds: `at every size`, `from 2 KiB on`, `in 12 of 40 comparisons, 1 B to 16 KiB`.

    Nothing where messages have no size, and there is one circumstance.
    """
    count, total = len(reply.points), question.point_count
    if count == total:
        return _everywhere(question)
    sizes = sorted({point.message_size_bytes for point in reply.points if _has_size(point)})
    if question.curve_count == 1 and sizes and (place := _run_of_sizes(question, sizes)):
        return place
    return f"in {count} of {total} comparisons{f', {sizes_text(sizes[0], sizes[-1])}' if sizes else ''}"


def _has_size(point: Compared) -> bool:
    """Return whether its messages have a size: those of a barrier have none."""
    return tells_size(point.pair.left_curve.benchmark, point.message_size_bytes)


def circumstances_text(question: Question, reply: Reply) -> str:
    """Return in which circumstances a verdict holds, the first few by name."""
    wheres, total = reply.wheres, question.curve_count
    if len(wheres) <= MOST_WHERES:
        return "; ".join(wheres)
    return f"{f'all {total}' if len(wheres) == total else f'{len(wheres)} of {total}'} circumstances"


def amount_text(reply: Reply) -> str:
    """Return by how much: `by 8 to 15 %`, `2.1 to 9.8 times`; of nobody's lead the ratios."""
    least, most = reply.least_ratio, reply.most_ratio
    if reply.verdict in LEADS:
        return advantage_range_text(least, most)
    low, high = ratio_text(least), ratio_text(most)
    return f"ratio {low}" if low == high else f"ratio {low} to {high}"


def ends_text(reply: Reply) -> str:
    """Return the interval around those of all its points, as ratios; words where there is none."""
    if reply.ends is None:
        return "one block" if max(point.block_count for point in reply.points) < 2 else "no interval"
    words = ratio_interval_text(*reply.ends)
    return words if words == TOO_WIDE else f"interval {words}"


def grades_text(grades: Mapping[str, int]) -> str:
    """Return `A`, `A to C`; nothing where none is known."""
    known = sorted(grades)
    return known[0] if len(known) == 1 else f"{known[0]} to {known[-1]}" if known else ""


def transport_text(transport: Mapping[str, int]) -> str:
    """Return `proved`, `proved at 3 of 5`, `undecided`; nothing where nobody watched."""
    total, known = sum(transport.values()), {verdict: count for verdict, count in transport.items() if verdict}
    parts = [verdict if count == total else f"{verdict} at {count} of {total}" for verdict, count in known.items()]
    return ", ".join(parts)


def _said(question: Question, reply: Reply) -> str:
    place = f" {where}" if (where := place_text(question, reply)) else ""
    if reply.verdict == EQUIVALENT:
        return f"{question.first} and {question.second} are equivalent{place}"
    if reply.verdict == UNDECIDED:
        who = "" if len(question.replies) > 1 else f"{question.first} against {question.second} is "
        return f"{who}undecided{place}{advice(reply)}"
    amount = amount_text(reply)
    fast = " as fast" if amount.endswith("times") else ""
    return f"{reply.leader} leads {reply.follower}{place}, {amount}{fast}{_varying(reply) if ' to ' in amount else ''}"


def _varying(reply: Reply) -> str:
    """Return with what a lead varies: its span over the comparisons is no interval."""
    sizes, curves = ({one.message_size_bytes for one in reply.points}, {one.pair for one in reply.points})
    words = " and ".join([*(["size"] if len(sizes) > 1 else []), *(["circumstance"] if len(curves) > 1 else [])])
    return f" depending on {words}" if words else ""


def _in_brackets(reply: Reply) -> str:
    if reply.verdict not in LEADS:
        return ""
    grades, transport = grades_text(reply.grades), transport_text(reply.transport)
    told = [
        f"trust {grades}: {_meaning(grades)}" if grades else "",
        f"transport {transport}" if transport else "",
    ]
    return f" ({'; '.join(part for part in told if part)})" if any(told) else ""


def _meaning(grades: str) -> str:
    """Return what `C`, or `C to D`, means: `weak`, `weak to not to be relied on`."""
    return " to ".join(MEANINGS[grade].partition(":")[0] for grade in grades.split(" to "))


def advice(reply: Reply) -> str:
    """Return what an undecided reply lacks: complete blocks, or how many would decide; else how far it may go."""
    most = max(point.block_count for point in reply.points)
    if reply.verdict == UNDECIDED and most < LEAST_BLOCKS:
        return f" (too few complete blocks: {most}, and a verdict needs {LEAST_BLOCKS})"
    if reply.verdict != UNDECIDED:
        return ""
    if needed := reply.blocks_to_decide:
        return f" ({needed} blocks would decide)"
    few = sum(point.block_count < LEAST_BLOCKS for point in reply.points)
    if few:
        return f" ({few} of {len(reply.points)} have too few complete blocks: a verdict needs {LEAST_BLOCKS})"
    return f" (the ratio lies between {' and '.join(map(ratio_text, reply.ends))})" if reply.ends else ""


def _everywhere(question: Question) -> str:
    curves = [point.pair.left_curve for reply in question.replies for point in reply.points]
    if all(kind_of(curve.benchmark).pattern == APPLICATION for curve in curves):
        return "on every problem" if question.point_count > 1 else "on this problem"
    sizes = {point.message_size_bytes for reply in question.replies for point in reply.points if _has_size(point)}
    place = "at every size" if len(sizes) > 1 else f"at {size_text(min(sizes))}" if sizes else ""
    circumstances = "" if question.curve_count == 1 else f"in all {question.curve_count} circumstances"
    return " ".join(filter(None, (place, circumstances)))


def _run_of_sizes(question: Question, sizes: Sequence[int]) -> str:
    """Return where neighbouring sizes lie among those of one curve; nothing where others lie between them."""
    every = sorted(point.message_size_bytes for reply in question.replies for point in reply.points)
    at = every.index(sizes[0])
    if every[at : at + len(sizes)] != list(sizes):
        return ""
    return run_place(sizes[0], sizes[-1], is_first=at == 0, is_last=sizes[-1] == every[-1])
