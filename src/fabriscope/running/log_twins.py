"""A run that stands twice among logs is one launch: a copy of a file would halve every interval.

Two launches seldom agree to the last digit, and the more digits agree, the seldomer. What agrees in many is a copy and
is left out; what agrees in few may be chance, is kept, and is told.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from fabriscope.model.case import Case
from fabriscope.running.log_values import LogValue

CERTAIN_DIGITS = 12
"""Digits behind the first one of each number, of all numbers of a curve: so many that agree are no chance."""
MOST_DIGITS = 6
"""Counted of one number: what follows from others has more, and says nothing more."""
_DIGIT = re.compile(rb"\d")
Values = Sequence[tuple[Case, LogValue]]
_Key = tuple[str, ...]
_TEST = slice(2, None)
"""What was measured, of what makes a curve."""
_Curve = dict[object, float]


@dataclass(frozen=True)
class Source:
    """Where the numbers of a launch stand."""

    place: str
    """As words."""
    data: bytes
    """What the file holds."""


@dataclass(frozen=True)
class Untwinned:
    """What is left of launches."""

    values: list[list[tuple[Case, LogValue]]]
    """Of each launch; empty where all of it is a copy."""
    left_out: list[str]
    noted: list[str]
    """What agrees and is kept, a sentence each: in few digits, or under other labels."""


def untwinned(launches: Iterable[tuple[Source, Values]]) -> Untwinned:
    """Return what is left of launches without the curves that stand in an earlier one to the last digit."""
    known: dict[_Key, list[tuple[_Key, Source, _Curve]]] = {}
    done = Untwinned([], [], [])
    for source, values in launches:
        copies: dict[str, set[_Key]] = {}
        for key, curve in _curves(values).items():
            earlier = [one for one in known.get(key[_TEST], ()) if curve.items() <= one[2].items()]
            of_entry, others = ([one for one in earlier if (one[0] == key) is same] for same in (True, False))
            if of_entry and _is_copy(of_entry[0][1], source, curve):
                copies.setdefault(of_entry[0][1].place, set()).add(key)
                continue
            if of_entry or (others and _is_copy(others[0][1], source, curve)):
                done.noted.append(_doubtful((of_entry or others)[0][1], source, key, is_same_entry=bool(of_entry)))
            known.setdefault(key[_TEST], []).append((key, source, curve))
        gone = {key for keys in copies.values() for key in keys}
        done.values.append([one for one in values if _key(*one) not in gone])
        done.left_out.extend(
            f"{source.place}: {_names(keys)} has the numbers of {place} to the last digit, and a copy is no launch"
            for place, keys in copies.items()
        )
    return done


def _doubtful(earlier: Source, source: Source, key: _Key, *, is_same_entry: bool) -> str:
    what = f"{source.place}: {key[-2]} has the numbers of {earlier.place} to the last digit"
    if is_same_entry:
        return f"{what}, which are so few that it may be chance: both count; if one is a copy, import it without"
    return f"{what}, and other labels: if one is a copy, its labels are wrong"


def _names(keys: Iterable[_Key]) -> str:
    return ", ".join(sorted({key[-2] for key in keys}))


def _key(case: Case, value: LogValue) -> _Key:
    """Return what makes a curve: its entry and labels, and what was measured."""
    return (case.entry.entry_id, case.series, value.series, str(case.window_size), value.benchmark, value.metric_id)


def _curves(values: Values) -> Mapping[_Key, _Curve]:
    curves: dict[_Key, _Curve] = {}
    for case, value in values:
        curves.setdefault(_key(case, value), {})[case.message_size_bytes] = value.value
    return curves


def _is_copy(earlier: Source, source: Source, curve: _Curve) -> bool:
    """Return whether so many digits agree: those of the numbers, or of two files that are the same to the byte."""
    if earlier.data == source.data and earlier.place != source.place:
        return len(_DIGIT.findall(source.data)) >= CERTAIN_DIGITS
    return sum(_digits(value) for value in curve.values()) >= CERTAIN_DIGITS


def _digits(value: float) -> int:
    """Return how many digits a number has behind its first one."""
    significant = f"{value:.{MOST_DIGITS}e}".partition("e")[0].replace(".", "").rstrip("0")
    return max(len(significant) - 1, 0)
