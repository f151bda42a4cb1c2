"""Where the aggregate falls, and which state a fabric is in: pure functions of its points."""

from __future__ import annotations

from collections.abc import Sequence

from fabriscope.analysis.incast.points import (
    COLLAPSES,
    DROPPED,
    HOLDS,
    PAUSED,
    UNDECIDED,
    UNFAIR,
    IncastPoint,
    Knee,
)
from fabriscope.analysis.values.streams import AGGREGATE, SLOWEST
from fabriscope.analysis.words import bytes_text, value_text
from fabriscope.model.counting import listed

KEEPS = 0.9
"""An aggregate below this share of what fewer senders had has fallen."""
FILLS = 0.9
"""An aggregate of at least this share of what the wire allows fills it."""
LEAST_FAIRNESS = 0.8
"""Jain's index below which streams are told to be unfair to each other."""
MACHINE = "the machine is the limit, and of the fabric nothing can be told"
ONE_LAUNCH = ", in one launch: more launches would tell"


def knee_of(points: Sequence[IncastPoint]) -> Knee | None:
    """Return the first number of streams from which on the aggregate stays below KEEPS of the most that fewer had.

    `low` goes by the lower ends of the intervals, `high` by the upper ones against the lower end of the most.
    """
    found = _first_fallen([point.aggregate.value for point in points], [point.aggregate.value for point in points])
    if found is None:
        return None
    lows = [point.aggregate.low for point in points]
    highs = [point.aggregate.high for point in points]
    first = _first_fallen(lows, highs)
    sure = _first_fallen(highs, lows)
    low = found if first is None else min(found, first)
    return Knee(
        points[found].stream_count,
        points[low].stream_count,
        None if sure is None else points[max(found, sure)].stream_count,
    )


def _first_fallen(values: Sequence[float | None], mosts: Sequence[float | None]) -> int | None:
    """Return the first place from which on all `values` are below KEEPS of the most of `mosts` before it."""
    if any(value is None for value in (*values, *mosts)):
        return None
    for place in range(1, len(values)):
        most = max(value or 0.0 for value in mosts[:place])
        if all((value or 0.0) < KEEPS * most for value in values[place:]):
            return place
    return None


def state_of(points: Sequence[IncastPoint], knee: Knee | None) -> tuple[str, str]:
    """Return the state of a curve, and the evidence for it."""
    told = [point for point in points if point.aggregate.value is not None]
    if not points:
        return UNDECIDED, "nothing was measured"
    if missing := [point for point in points if point.aggregate.value is None]:
        return UNDECIDED, _lacking(missing)
    return _steady(told) if knee is None else _fallen(told, knee)


def _fallen(told: Sequence[IncastPoint], knee: Knee) -> tuple[str, str]:
    """Return the state of a curve that has a knee, and the evidence for it."""
    fall, counts = _fall(told, knee), _counted(told)
    beyond = [point for point in told if point.stream_count >= knee.value]
    if _nothing_was_full(beyond):
        return UNDECIDED, f"{fall}, yet the switch dropped and paused nothing: {_limit(beyond)}"
    if full := _wire_was_full(beyond):
        return UNDECIDED, f"{fall}, yet {full}; {counts}"
    if knee.high is not None:
        return COLLAPSES, f"{fall}; {counts}"
    fall = f"{fall}, and the launches do not tell whether it did"
    unfair = _unfairness(told)
    if unfair and not _is_one_launch(told):
        return UNFAIR, f"{unfair}; {fall}; {counts}"
    return UNDECIDED, f"{fall}; {counts}"


def _steady(told: Sequence[IncastPoint]) -> tuple[str, str]:
    """Return the state of a curve that falls nowhere, and the evidence for it."""
    if machine := _machine_is_the_limit(told):
        return UNDECIDED, machine
    counts = _counted(told)
    if unfair := _unfairness(told):
        once = _is_one_launch(told)
        return (UNDECIDED if once else UNFAIR, f"{unfair}{ONE_LAUNCH if once else ''}; {counts}")
    if never_full := _never_full(told):
        return UNDECIDED, f"{never_full}; {counts}"
    words = f"{_share_words(told[-1])}; {counts}"
    if any(point.evidence.has_losses for point in told):
        return DROPPED, words
    return PAUSED if any(point.evidence.pauses for point in told) else HOLDS, words


def _is_one_launch(points: Sequence[IncastPoint]) -> bool:
    return max(point.launch_count for point in points) < 2


def _lacking(points: Sequence[IncastPoint]) -> str:
    """Return which numbers of streams have no aggregate, and why: whatever the others tell, these may be the knee."""
    reasons: dict[str, list[str]] = {}
    for point in points:
        reasons.setdefault(point.lacks_because, []).append(str(point.stream_count))
    return "; ".join(
        f"with {listed(counts)} {'stream' if counts == ['1'] else 'streams'} there is no aggregate: {why}"
        for why, counts in reasons.items()
    )


def _unfairness(points: Sequence[IncastPoint]) -> str:
    """Return where streams are least fair to each other; nothing where they are nowhere unfair."""
    several = [point for point in points if point.sending_host_count != 1]  # one host's queue divides its own streams
    worst = min(several, key=_fairness, default=None)
    if worst is None or (index := _fairness(worst)) >= LEAST_FAIRNESS:
        return ""
    whose = "" if index == worst.fairness else " of the hosts that send"
    words = f"Jain's index{whose} is {index:.2f} with {worst.stream_count} streams, the slowest of which has"
    return f"{words} {value_text(worst.slowest_bytes_per_s or 0.0, SLOWEST)}"


def _fairness(point: IncastPoint) -> float:
    return 1.0 if point.judged_fairness is None else point.judged_fairness


def _fall(points: Sequence[IncastPoint], knee: Knee) -> str:
    at = next(point for point in points if point.stream_count == knee.value)
    most = max(
        (point for point in points if point.stream_count < knee.value), key=lambda point: point.aggregate.value or 0.0
    )
    left, right = (value_text(point.aggregate.value or 0.0, AGGREGATE) for point in (most, at))
    where = f" (by the intervals it begins with {knee.low} to {knee.high})" if knee.high not in (None, knee.low) else ""
    return f"the aggregate falls from {left} with {most.stream_count} to {right} with {at.stream_count}{where}"


def _share_words(point: IncastPoint) -> str:
    value = value_text(point.aggregate.value or 0.0, AGGREGATE)
    share = point.share_of_limit
    of_wire = f", {share:.0%} of what the wire allows" if share is not None else ""
    return f"{value} with {point.stream_count}{of_wire}"


def _machine_is_the_limit(points: Sequence[IncastPoint]) -> str:
    """Return why the hosts and not the fabric are what was measured; empty where that is not so.

    Where no number of streams fills the wire, and the switch counted neither a drop nor a pause, nothing of the fabric
    was ever full.
    """
    shares = [share for point in points if (share := point.share_of_limit) is not None]
    if not shares or max(shares) >= FILLS:
        return ""
    full = [point.evidence.has_losses or point.evidence.pauses for point in points]
    if any(full):
        return ""
    what = f"the hosts send or receive at most {max(shares):.0%} of what the wire allows"
    return f"{what}, and nothing was dropped or paused: {_limit(points)}"


def _limit(points: Sequence[IncastPoint]) -> str:
    """Return what was measured where nothing of the fabric was full: the machine, unless it may be something else."""
    waits = next((point.waits_for for point in points if point.waits_for), "")
    return f"{waits}, so that nothing tells what the limit is" if waits else MACHINE


def _never_full(points: Sequence[IncastPoint]) -> str:
    """Return that no number of streams fills the wire, which then tells nothing of what fills it; else nothing."""
    shares = [share for point in points if (share := point.share_of_limit) is not None]
    if not shares:
        return "nobody says what the wire allows: the fabric's `line_rate` would (`--line-rate`)"
    if max(shares) >= FILLS:
        return ""
    most = f"the streams have at most {max(shares):.0%} of what the wire allows"
    return f"{most}, with any number that was measured: whether hosts or the fabric limit them is not told"


def _wire_was_full(points: Sequence[IncastPoint]) -> str:
    """Return that the switch filled the wires to those that receive though less came to programs; else nothing."""
    shares = [point.carried_share for point in points]
    if any(share is None or share < FILLS for share in shares):
        return ""
    least = min(share for share in shares if share is not None)
    held = "the rest was sent again, or waited in the receivers for frames that were lost"
    return f"the switch delivered {least:.0%} of what the wire carries in these windows: {held}"


def _nothing_was_full(points: Sequence[IncastPoint]) -> bool:
    """Return whether a switch counted, and neither dropped a frame nor paused a host, and no cable lost one.

    Then what fell did so in the hosts: no buffer of the fabric was full.
    """
    known = [point.evidence for point in points]
    return all(one.dropped_frames == 0 and not one.has_losses and not one.pauses for one in known)


def _counted(points: Sequence[IncastPoint]) -> str:
    """Return what the counters say, of all points together."""
    words = []
    for name, what in (
        ("dropped_frames", "frames dropped"),
        ("lost_frames", "frames lost on cables"),
        ("pauses", "pauses"),
        ("marked_frames", "frames marked"),
        ("retransmitted_bytes", "sent again"),
        ("rdma_retries", "retries of RDMA"),
        ("not_ready_retries", "times the receiver was not ready"),
        ("notifications", "notifications of congestion"),
    ):
        numbers = [number for point in points if (number := getattr(point.evidence, name)) is not None]
        if numbers and (sum(numbers) or name == "dropped_frames"):
            total = sum(numbers)
            words.append(f"{bytes_text(total) if name == 'retransmitted_bytes' else total} {what}")
    return ", ".join(words) or "no counter tells of drops"
