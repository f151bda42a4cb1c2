"""The questions that a run answers: two things set against each other, over everything that was measured of both.

A question is one pair of names of one kind of comparison (`gige` against `ethernet-100`) at one placement, whatever the
benchmark, the layer and the size; its replies are the verdicts, each with how often, where, by how much, and how sure.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from fabriscope.analysis.comparing.compared import EQUIVALENT, FASTER, LEADS, SLOWER, UNDECIDED, VERDICTS, Compared
from fabriscope.analysis.comparing.control import CONTROL
from fabriscope.analysis.comparing.findings import where_text
from fabriscope.analysis.curve import Curve
from fabriscope.analysis.numbers.forecasts import Forecast, joined
from fabriscope.analysis.rows import parts
from fabriscope.analysis.values.launch_grades import GRADES, HALF_WIDTHS
from fabriscope.analysis.values.trust import GradedEstimate

PLACES = ("fabric", "mpi", "series", "ranks", "transport", "layer", "placement", "instrument")
"""Kinds of comparison in the order in which people ask for them."""
SOUND, WEAK, LOOSE = "sound", "weak", "loose"
"""How far the numbers of a reply can be trusted, together."""
Key = tuple[Curve, str, int]
"""A point: its curve, metric and message size."""


@dataclass(frozen=True)
class Reply:
    """One verdict on a question, over the points that have it."""

    verdict: str
    leader: str
    """Who leads; empty where nobody does."""
    follower: str
    points: tuple[Compared, ...]
    grades: Mapping[str, int]
    """Of either side's numbers, the worse at each point: grade to its number of points."""
    transport: Mapping[str, int]
    """What is known of what carried the bytes, the worse of both sides: verdict to its number of points."""
    is_inverse: bool
    """Whether its ratios are those of the right one over the left one."""

    @property
    def wheres(self) -> tuple[str, ...]:
        """Return what the sides of its points have in common, as `where_text` says it."""
        return tuple(dict.fromkeys(where_text(point.pair) for point in self.points))

    @property
    def least_ratio(self) -> float:
        """Return how many times as fast the leader is where it leads least; of nobody's lead the pair's first."""
        return min(self._ratios())

    @property
    def most_ratio(self) -> float:
        """Return the same where it leads most."""
        return max(self._ratios())

    @property
    def ends(self) -> tuple[float, float] | None:
        """Return the interval around those of all points, as the ratios are; None where a point has none."""
        known = [
            (point.stated_low, point.stated_high)
            for point in self.points
            if point.stated_low is not None and point.stated_high is not None
        ]
        if len(known) < len(self.points):
            return None
        low, high = min(low for low, _ in known), max(high for _, high in known)
        return (1 / high, 1 / low) if self.is_inverse else (low, high)

    @property
    def is_reliable(self) -> bool:
        """Return whether it can be told as an answer: a grade is better than D, or the lead is more than D's errors."""
        low = self.ends[0] if self.ends is not None and self.leader else 1.0
        return set(self.grades) != {GRADES[-1]} or low > 1 + HALF_WIDTHS[-1][0]

    @property
    def is_told(self) -> bool:
        """Return whether it can be told as it is: it leads nowhere, or on numbers that allow to name who does."""
        return not self.leader or self.is_reliable

    @property
    def strength(self) -> str:
        """Return SOUND, WEAK (a number of grade C or D is among it) or LOOSE (all are of grade D)."""
        if set(self.grades) == {GRADES[-1]}:
            return LOOSE
        return WEAK if {*self.grades} & {*GRADES[2:]} else SOUND

    @property
    def blocks_to_decide(self) -> Forecast | None:
        """Return how many blocks would decide every point of it; None where that is not known of all."""
        return joined(point.blocks_to_decide for point in self.points)

    def _ratios(self) -> list[float]:
        return [1 / point.stated if self.is_inverse else point.stated for point in self.points]


@dataclass(frozen=True)
class Question:
    """Two names of one kind of comparison at one placement, and what came of them."""

    kind: str
    first: str
    second: str
    """In the order of the pair, which is the plan's: the same in all tables and figures."""
    placement: str
    """That of both; empty where it is what is compared."""
    replies: tuple[Reply, ...]
    """Leads first, the most points first; then equivalent, then undecided."""

    @property
    def points(self) -> tuple[Compared, ...]:
        """Return every point at which the two were set against each other."""
        return tuple(point for reply in self.replies for point in reply.points)

    @property
    def curve_count(self) -> int:
        """Return of how many pairs of curves."""
        return len({point.pair for point in self.points})

    @property
    def is_decided(self) -> bool:
        """Return whether anything was decided."""
        return any(reply.verdict != UNDECIDED for reply in self.replies)

    @property
    def is_reliable(self) -> bool:
        """Return whether anything that was decided can be told as an answer."""
        return any(reply.verdict != UNDECIDED and reply.is_reliable for reply in self.replies)


def questions(
    compared: Iterable[Compared], estimates: Sequence[GradedEstimate], asked: Sequence[str] = ()
) -> list[Question]:
    """Return each question with its replies: decided ones first, then reliable ones, in the order of PLACES, by lead.

    `asked` are the kinds of comparison that the plan names; with none every kind is a question, the control never.
    """
    known: dict[Key, GradedEstimate] = {(row.curve, row.metric_id, row.message_size_bytes): row for row in estimates}
    kinds = set(asked or PLACES)
    rows = [row for row in compared if row.pair.kind in kinds and row.pair.kind != CONTROL]
    return sorted((_question(part, known) for part in parts(rows, _name)), key=_rank)


def _name(point: Compared) -> tuple[str, str, str, str]:
    pair = point.pair
    one, other = pair.left_curve.placement, pair.right_curve.placement
    return pair.kind, pair.left, pair.right, one if one == other else ""


def _rank(question: Question) -> tuple[bool, bool, int, float]:
    leads = [reply for reply in question.replies if reply.verdict in LEADS]
    largest = max((abs(math.log(reply.most_ratio)) for reply in leads), default=0.0)
    return not question.is_decided, not question.is_reliable, PLACES.index(question.kind), -largest


def _question(rows: Sequence[Compared], known: Mapping[Key, GradedEstimate]) -> Question:
    kind, left, right, placement = _name(rows[0])
    by_verdict = {verdict: tuple(row for row in rows if row.verdict == verdict) for verdict in VERDICTS}
    leads = sorted(LEADS, key=lambda verdict: -len(by_verdict[verdict]))
    order = [verdict for verdict in (*leads, EQUIVALENT, UNDECIDED) if by_verdict[verdict]]
    replies = tuple(_reply(verdict, by_verdict[verdict], known) for verdict in order)
    return Question(kind, left, right, placement, replies)


def _reply(verdict: str, points: tuple[Compared, ...], known: Mapping[Key, GradedEstimate]) -> Reply:
    left, right = points[0].pair.left, points[0].pair.right
    leader, follower = {FASTER: (left, right), SLOWER: (right, left)}.get(verdict, ("", ""))
    sides = [_sides(point, known) for point in points]
    grades = Counter(max(grades) for both in sides if (grades := [row.grade for row in both if row.grade]))
    transport = Counter(_worst([row.transport for row in both]) for both in sides)
    return Reply(verdict, leader, follower, points, grades, transport, is_inverse=verdict == SLOWER)


def _sides(point: Compared, known: Mapping[Key, GradedEstimate]) -> list[GradedEstimate]:
    """Return the estimates of both sides of a point, as far as there are any."""
    pair = point.pair
    keys = [(curve, pair.metric_id, point.message_size_bytes) for curve in (pair.left_curve, pair.right_curve)]
    return [known[key] for key in keys if key in known]


def _worst(transports: Sequence[str | None]) -> str:
    """Return the worse of what is known of what carried two numbers; empty where nobody watched one of them."""
    return "" if not transports or None in transports else max(str(one) for one in transports)
