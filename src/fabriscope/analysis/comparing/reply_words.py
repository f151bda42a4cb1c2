"""The replies to a run's questions in words: who leads, where, by how much, and how sure that is."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from fabriscope.analysis.comparing.compared import EQUIVALENT, LEADS, UNDECIDED, Compared
from fabriscope.analysis.comparing.findings import PLACEMENT_NAMES, run_place
from fabriscope.analysis.comparing.questions import Question, Reply
from fabriscope.analysis.numbers.intervals import LEAST_BLOCKS
from fabriscope.analysis.rows import parts
from fabriscope.analysis.values.summary import PING_PONG
from fabriscope.analysis.values.trust import MEANINGS
from fabriscope.analysis.words import (
    TOO_WIDE,
    advantage_interval_text,
    advantage_range_text,
    ratio_interval_text,
    ratio_text,
    tells_size,
)
from fabriscope.model.benchmark_kind import APPLICATION
from fabriscope.model.benchmarks import kind_of
from fabriscope.model.counting import listed
from fabriscope.model.metrics import metric_of

MOST_NAMED = 6
"""Undecided questions that are named; more are counted."""
MOST_WHERES = 2
"""Of what a verdict holds, benchmark, layer and so on, as many are named; more are counted."""
MOST_PARTS = 3
"""Benchmarks of a verdict that are named."""
DIFFERENCES = {
    "benchmark": "benchmark", "fabric": "network", "layer": "layer", "mpi": "MPI library", "placement": "placement",
    "instrument": "instrument", "ranks": "ranks", "series": "setting",
}  # fmt: skip
"""What curves differ in, in words."""


def question_sentence(question: Question) -> str:
    """Return all that is said of a question: `gige leads slow in all 12 comparisons of latency, 2.1 to 9.8 times.`"""
    said = [f"{_said(question, reply)}{_in_brackets(reply)}" for reply in question.replies]
    where = question.replies[0].wheres[0] if question.curve_count == 1 else PLACEMENT_NAMES.get(question.placement, "")
    head = f"{where[0].upper()}{where[1:]}: " if where else ""
    return f"{head}{'; '.join(said)}."


def undecided_sentence(questions: Sequence[Question]) -> str:
    """Return which questions are undecided at every point, and how many blocks would decide them, where known."""
    named = [f"{question_text(question)}{_left_open(question.replies[0])}" for question in questions]
    return f"Undecided in every comparison: {_first_of(named)}."


def loose_sentence(questions: Sequence[Question]) -> str:
    """Return which questions were decided on numbers of the worst grade alone; no winner is named."""
    named = [question_text(question) for question in questions]
    return f"No winner: the numbers that would decide {_first_of(named)} are all unreliable (grade D)."


def _first_of(named: Sequence[str]) -> str:
    more = [f"{len(named) - MOST_NAMED} more"] if len(named) > MOST_NAMED else []
    return "; ".join([*named[:MOST_NAMED], *more])


def question_text(question: Question) -> str:
    """Return what is set against what: `gige against ethernet-100 between hosts`."""
    placement = PLACEMENT_NAMES.get(question.placement, "")
    return f"{question.first} against {question.second}{f' {placement}' if placement else ''}"


def place_text(question: Question, reply: Reply) -> str:
    """Return where a verdict holds: `at every size`, `in 8 of 10 comparisons (latency from 1 KiB on, ...)`.

    Sizes stand there only where they have that verdict and no other, whatever they were measured over.
    """
    count, every = len(reply.points), question.points
    if count == len(every) and all(kind_of(_benchmark(point)).pattern == APPLICATION for point in every):
        return "on every problem" if count > 1 else "on this problem"
    if question.curve_count == 1:
        return _sizes_text(reply.points, every) or (f"at {count} of {len(every)} sizes" if count < len(every) else "")
    share = f"all {count}" if count == len(every) else f"{count} of {len(every)}"
    return f"in {share} comparisons{_places_text(reply.points, every)}"


def _places_text(points: Sequence[Compared], every: Sequence[Compared]) -> str:
    """Return of which benchmarks points are, and at which of their sizes; nothing of more than MOST_PARTS."""
    of_all = {part[0].pair.left_curve.benchmark: part for part in parts(every, _benchmark)}
    found = parts(points, _benchmark)
    if len(of_all) == 1:
        place = _sizes_text(points, every) if len(points) < len(every) else ""
        return f" of {_subject(points[0])}{f', {place}' if place else ''}"
    if len(found) > MOST_PARTS:
        return ""
    if len(points) == len(every):
        return f" ({', '.join(f'{len(part)} of {_subject(part[0])}' for part in found)})"
    return f" ({', '.join(_part_text(part, of_all[_benchmark(part[0])]) for part in found)})"


def _part_text(points: Sequence[Compared], every: Sequence[Compared]) -> str:
    """Return of one benchmark where points lie: `latency from 1 KiB on`, `bandwidth in 3 of 12`, `barrier`."""
    place = _sizes_text(points, every) or (f"in {len(points)} of {len(every)}" if len(points) < len(every) else "")
    return f"{_subject(points[0])}{f' {place}' if place else ''}"


def _sizes_text(points: Sequence[Compared], every: Sequence[Compared]) -> str:
    """Return the sizes of points, where they are neighbours and none of the other points has one of them."""
    if not all(map(_has_size, every)):
        return ""
    mine, sizes = sorted({one.message_size_bytes for one in points}), sorted({one.message_size_bytes for one in every})
    at = sizes.index(mine[0])
    count = sum(one.message_size_bytes in mine for one in every)
    if sizes[at : at + len(mine)] != mine or count > len(points):
        return ""
    if len(mine) == len(sizes) > 1:
        return "at every size"
    return run_place(mine[0], mine[-1], is_first=at == 0, is_last=mine[-1] == sizes[-1])


def _benchmark(point: Compared) -> str:
    return point.pair.left_curve.benchmark


def _subject(point: Compared) -> str:
    """Return how a benchmark is called: `latency` of a ping-pong, `bandwidth`, `allreduce`."""
    kind = kind_of(_benchmark(point))
    return metric_of(point.pair.metric_id).words.partition(",")[0] if kind.name == PING_PONG else kind.title


def _has_size(point: Compared) -> bool:
    """Return whether its messages have a size: those of a barrier have none."""
    return tells_size(_benchmark(point), point.message_size_bytes)


def variants_text(question: Question, reply: Reply) -> str:
    """Return of what a verdict holds, the first few by name: `3 of 8 variants (benchmark and layer)`."""
    wheres, total = reply.wheres, question.curve_count
    if len(wheres) <= MOST_WHERES:
        return "; ".join(wheres)
    count = f"all {total}" if len(wheres) == total else f"{len(wheres)} of {total}"
    names = _differing(question.points)
    return f"{count} variants{f' ({listed(names)})' if names else ''}"


def _differing(points: Sequence[Compared]) -> list[str]:
    """Return in what points differ besides their size: `benchmark`, `layer`."""
    curves = [point.pair.left_curve for point in points]
    found = {name: {getattr(curve, name) for curve in curves} for name in DIFFERENCES}
    found["mpi"] -= {None}  # that TCP has no library is the layer's difference
    return [words for name, words in DIFFERENCES.items() if len(found[name]) > 1]


def amount_text(reply: Reply) -> str:
    """Return by how much: `by 8 to 15 %`, `2.1 to 9.8 times`; of nobody's lead the widest interval of its ratios."""
    if reply.verdict in LEADS:
        return advantage_range_text(reply.least_ratio, reply.most_ratio)
    known = [(point.stated_low, point.stated_high) for point in reply.points]
    ends = [(low, high) for low, high in known if low is not None and high is not None]
    if not ends:
        return _ratios_text(reply)
    words = ratio_interval_text(*max(ends, key=lambda each: each[1] / each[0] if each[0] > 0 else math.inf))
    widest = " at the widest" if len(known) > 1 else ""
    return words if words == TOO_WIDE else f"interval {words}{widest}"


def _ratios_text(reply: Reply) -> str:
    low, high = ratio_text(reply.least_ratio), ratio_text(reply.most_ratio)
    return f"ratio {low}" if low == high else f"ratio {low} to {high}"


def ends_text(reply: Reply) -> str:
    """Return the interval around those of all its points, in the unit of `amount_text`; of nobody's lead their ratios.

    Where there is no interval words say why.
    """
    if reply.ends is None:
        return "one block" if max(point.block_count for point in reply.points) < 2 else "no interval"
    words = advantage_interval_text(reply.most_ratio, *reply.ends) if reply.leader else _ratios_text(reply)
    return words if words == TOO_WIDE or not reply.leader else f"interval {words}"


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
    place = f" {place_text(question, reply)}".rstrip()
    if reply.verdict == EQUIVALENT:
        return f"{question.first} and {question.second} are equivalent{place}"
    if reply.verdict == UNDECIDED:
        who = "" if len(question.replies) > 1 else f"{question.first} against {question.second} is "
        return f"{who}undecided" + f"{place}{_left_open(reply)}".replace(") (", "; ")
    amount = amount_text(reply)
    fast = " as fast" if amount.endswith("times") else ""
    return f"{reply.leader} leads {reply.follower}{place}, {amount}{fast}{_varying(reply) if ' to ' in amount else ''}"


def _varying(reply: Reply) -> str:
    """Return with what a lead varies: its span over the comparisons is no interval."""
    is_of_sizes = len({one.message_size_bytes for one in reply.points if _has_size(one)}) > 1
    names = [*(["size"] if is_of_sizes else []), *_differing(reply.points)]
    return f" depending on {listed(names)}" if names else ""


def _in_brackets(reply: Reply) -> str:
    if reply.verdict not in LEADS:
        return ""
    grades, transport = grades_text(reply.grades), transport_text(reply.transport)
    told = [
        ends_text(reply) if reply.ends is not None else "",
        f"trust {grades}: {_meaning(grades)}" if grades else "",
        f"transport {transport}" if transport else "",
    ]
    return f" ({'; '.join(part for part in told if part)})" if any(told) else ""


def _meaning(grades: str) -> str:
    """Return what `C`, or `C to D`, means: `weak`, `weak to unreliable`."""
    return " to ".join(MEANINGS[grade].partition(":")[0] for grade in grades.split(" to "))


def advice(reply: Reply) -> str:
    """Return what an undecided reply lacks: complete blocks, or how many would decide."""
    most = max(point.block_count for point in reply.points)
    if reply.verdict == UNDECIDED and most < LEAST_BLOCKS:
        return f" (too few complete blocks: {most}, and a verdict needs {LEAST_BLOCKS})"
    if reply.verdict != UNDECIDED:
        return ""
    if needed := reply.blocks_to_decide:
        return f" ({needed} blocks would decide)"
    few, every = sum(point.block_count < LEAST_BLOCKS for point in reply.points), len(reply.points)
    return f" ({few} of {every} have too few complete blocks: a verdict needs {LEAST_BLOCKS})" if few else ""


def _left_open(reply: Reply) -> str:
    """Return the same, and where nothing is known of it how far the ratio may go."""
    is_told = reply.verdict == UNDECIDED and reply.ends is not None
    between = f" (the ratio lies between {' and '.join(map(ratio_text, reply.ends or ()))})" if is_told else ""
    return advice(reply) or between
