"""What each setting of a screening does, alone and together with another: least squares, with intervals.

A launch of run i in block b has the logarithm y = block_b + sum of e_j x_ij / 2 + sum of e_jk x_ij x_ik / 2 + noise,
with levels x of -1 and 1: e_j is the logarithm of how many times as fast the upper level is as the lower one, over all
levels of the others. The noise is what the launches of one run differ by once each block's own mean is taken out (pure
error), so that interactions of three and more do not count as noise. In a balanced design the variance of each effect
is 4 s^2 / n for n launches, whichever of the runs are noisier than others.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import scipy

from fabriscope.analysis.numbers.evidence import CONFIDENCE, Floats, student_tail

Signs = Mapping[str, Mapping[str, int]]
"""Run to setting to level."""


@dataclass(frozen=True)
class Cell:
    """One launch of one run."""

    run: str
    block: int
    log: float


@dataclass(frozen=True)
class Effect:
    """Of one setting, or of two together: by how much the effect of either changes with the other, halved."""

    knobs: tuple[str, ...]
    log: float
    low: float
    high: float
    """95 % interval of this effect alone."""
    p: float
    """Two-sided, of the hypothesis that there is none."""
    also: tuple[tuple[str, ...], ...] = ()
    """Interactions that the design does not tell from it."""


@dataclass(frozen=True)
class Fit:
    """The effects of a screening."""

    effects: tuple[Effect, ...]
    freedom: int
    """Of the noise; 0 where there are no effects."""
    has_pairs: bool
    """Whether interactions could be told."""
    spread: float = 0.0
    """Standard deviation of a launch, once its block's mean is taken out."""


@dataclass(frozen=True)
class _Term:
    knobs: tuple[str, ...]
    also: tuple[tuple[str, ...], ...]
    column: tuple[int, ...]
    """Of each run."""


def fitted(cells: Sequence[Cell], signs: Signs) -> Fit:
    """Return the effects; without launches enough for the noise, or with runs too few to tell, none.

    Where launches are missing interactions are left out if they cannot be told any more.
    """
    seen = [cell for cell in cells if cell.run in signs and math.isfinite(cell.log)]
    error, freedom = _noise(seen)
    mains, pairs = _terms(signs)
    for terms in ((*mains, *pairs), mains) if pairs else (mains,):
        effects = _solved(seen, signs, terms, error, freedom) if freedom > 0 else ()
        if effects:
            return Fit(effects, freedom, len(terms) > len(mains) or not pairs, error)
    return Fit((), 0, has_pairs=False)


def _terms(signs: Signs) -> tuple[tuple[_Term, ...], tuple[_Term, ...]]:
    """Return main effects, and interactions of two; those with one column, up to its sign, are one."""
    knobs = list(next(iter(signs.values()), {}))
    columns = {knob: tuple(levels[knob] for levels in signs.values()) for knob in knobs}
    alike: dict[tuple[int, ...], list[tuple[str, ...]]] = {}
    for pair in itertools.combinations(knobs, 2):
        column = tuple(a * b for a, b in zip(columns[pair[0]], columns[pair[1]], strict=True))
        same = next((one for one in (column, tuple(-level for level in column)) if one in alike), column)
        alike.setdefault(same, []).append(pair)
    pairs = tuple(_Term(found[0], tuple(found[1:]), column) for column, found in alike.items())
    return tuple(_Term((knob,), (), columns[knob]) for knob in knobs), pairs


def _noise(cells: Sequence[Cell]) -> tuple[float, int]:
    """Return the standard deviation of a launch, and its degrees of freedom: what runs and blocks leave over."""
    if not cells:
        return math.nan, 0
    design = np.column_stack([_dummies([cell.run for cell in cells]), _dummies([cell.block for cell in cells])])
    logs = np.array([cell.log for cell in cells])
    freedom = len(cells) - int(np.linalg.matrix_rank(design))
    if freedom <= 0:
        return math.nan, 0
    rest = logs - design @ np.linalg.lstsq(design, logs, rcond=None)[0]
    return math.sqrt(float(rest @ rest) / freedom), freedom


def _dummies(names: Sequence[object]) -> Floats:
    return np.array([[float(name == one) for one in dict.fromkeys(names)] for name in names])


def _solved(
    cells: Sequence[Cell], signs: Signs, terms: Sequence[_Term], error: float, freedom: int
) -> tuple[Effect, ...]:
    places = {run: place for place, run in enumerate(signs)}
    levels = np.array([[term.column[places[cell.run]] for term in terms] for cell in cells], dtype=np.float64)
    design = np.column_stack([_dummies([cell.block for cell in cells]), levels])
    if np.linalg.matrix_rank(design) < design.shape[1]:
        return ()
    inverse = np.linalg.inv(design.T @ design)
    solution = inverse @ design.T @ np.array([cell.log for cell in cells])
    quantile = float(scipy.special.stdtrit(freedom, 0.5 + CONFIDENCE / 2))
    effects = []
    for term, place in zip(terms, range(design.shape[1] - len(terms), design.shape[1]), strict=True):
        log, spread = 2 * float(solution[place]), 2 * error * math.sqrt(float(inverse[place, place]))
        p = min(1.0, 2 * student_tail(abs(log), spread, freedom))
        effects.append(Effect(term.knobs, log, log - quantile * spread, log + quantile * spread, p, term.also))
    return tuple(effects)
