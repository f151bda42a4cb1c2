"""From what the rounds of a tuning measured to what is tried next; the same data give the same answer."""

from __future__ import annotations

import math
from dataclasses import dataclass

from fabriscope.analysis.numbers.evidence import Mean
from fabriscope.analysis.tuning.choice import best_levels, candidates, changed, survivors, together
from fabriscope.analysis.tuning.effects import Cell, Fit, fitted
from fabriscope.analysis.tuning.points import Record
from fabriscope.model.tuning import Configuration, Stage, Trials


@dataclass(frozen=True)
class Step:
    """What is tried next."""

    stage: Stage
    configurations: tuple[Configuration, ...]


def signs_of(screening: Trials) -> dict[str, dict[str, int]]:
    """Return each run of a screening with the level of each setting."""
    return {
        name: {one.knob: 1 if settings.get(one.knob) == one.high else -1 for one in screening.factors}
        for name, settings in screening.configurations.items()
    }


def screened(record: Record) -> Fit:
    """Return the effects of a screening."""
    signs = signs_of(record.rounds[0])
    cells = [
        Cell(name, block, log)
        for name in signs
        for block, log in sorted(record.logs.get(name, {}).items())
        if block in record.blocks[0]
    ]
    return fitted(cells, signs)


def next_step(record: Record) -> Step | None:
    """Return what is tried after the rounds so far, all of which have ended; None for nothing more."""
    first, last = record.rounds[0], record.rounds[-1]
    if not last.configurations or last.stage == "confirmation":
        return None
    if last.stage == "screening":
        left = candidates(_best(record), first.levels, first.factors, first.current)
    else:
        left = _halved(record)
    if not left:
        return None
    return Step("halving" if len(left) > 1 else "confirmation", tuple(left))


def confirmed(record: Record) -> list[tuple[float, float]]:
    """Return the logarithms of speed, as the fabric is and with the set that was found, of each block that has both."""
    last = record.rounds[-1]
    if last.stage != "confirmation":
        return []
    now, then = (record.logs.get(name, {}) for name in (last.fabric, next(iter(last.configurations))))
    return [(now[block], then[block]) for block in sorted(record.blocks[-1] & now.keys() & then.keys())]


def gained(both: list[tuple[float, float]]) -> Mean:
    """Return the mean of the logarithms of how many times as fast the set that was found is."""
    return Mean([then - now for now, then in both])


def _best(record: Record) -> dict[str, str]:
    return best_levels(screened(record), record.rounds[0].factors)


def _halved(record: Record) -> list[Configuration]:
    """Return what is left of the last round: the best of the screening, and the better half of what challenges it.

    After the first round all that gained joins together, and the last one takes the place of the screening's best where
    it gains: by more than twice the error of a difference, so that no setting is changed for nothing.
    """
    fit, first = screened(record), record.rounds[0]
    best = changed(best_levels(fit, first.factors), first.current)
    scores, blocks = _scores(record)
    scored = [(settings, scores[name]) for name, settings in record.rounds[-1].configurations.items()]
    score = next((its for settings, its in scored if settings == best), scores[first.fabric])
    challengers = [(settings, its) for settings, its in scored if settings != best]
    error, kept = fit.spread * math.sqrt(2 / max(1, blocks)), survivors(challengers)
    left = [settings for settings, _ in kept]
    if len(record.rounds) == 2 and len(challengers) > 1:
        more = together(best, score, challengers, 2 * error)
        left += [more] if more not in [best, *(settings for settings, _ in challengers)] else []
    if len(left) == 1 and kept[0][1] <= score + 2 * error:
        left = []
    return left if len(left) == 1 or not best else [best, *left]


def _scores(record: Record) -> tuple[dict[str, float], int]:
    """Return how fast each configuration of the last round was, and the fabric as it is, where all were launched, and
    in how many blocks that is.

    What was never measured, since it could not be set, stands behind all others.
    """
    rounds = zip(record.rounds, record.blocks, strict=True)
    halving = {block for one, blocks in rounds if one.stage == "halving" for block in blocks}
    names = [*record.rounds[-1].configurations, record.rounds[-1].fabric]
    logs = {name: {b: log for b, log in record.logs.get(name, {}).items() if b in halving} for name in names}
    shared = halving.intersection(*(own for own in logs.values() if own))
    counted = {name: [log for b, log in own.items() if b in shared or not shared] for name, own in logs.items()}
    return {name: sum(own) / len(own) if own else -math.inf for name, own in counted.items()}, len(shared)
