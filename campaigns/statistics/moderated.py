"""Would a variance that sizes or entries share decide more with few blocks, and would error rates be kept?

python -m campaigns.statistics.moderated [--runs 2000]

Smyth's moderated t ("Linear models and empirical Bayes methods for assessing differential expression", Statistical
Applications in Genetics and Molecular Biology 3, 2004): each variance is drawn to a common one, with as many degrees of
freedom as the variances' own differences say. Over eight sizes of one pair, over the same size of eight pairs, each
with launches of its own, and over eight such pairs whose spreads differ (lognormal, 70 %). Beside each number, in
brackets, that of the plain t, which the project uses.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator

import numpy as np
import scipy
from campaigns.statistics.asked import asked
from campaigns.statistics.noises import EQUAL_SIDES, NOISES, Floats, Noise, true_logs

from fabriscope.analysis.numbers.evidence import CONFIDENCE
from fabriscope.analysis.numbers.intervals import family_wise
from fabriscope.analysis.values.stopping import Rules

TOGETHER = 8
BLOCKS = (3, 4, 5, 8)
EFFECT = 0.05
APART = 0.7
MOST = 1e6


def moderated(variances: Floats, freedom: int) -> tuple[Floats, Floats]:
    """Return the moderated variances, (runs, tests), and their degrees of freedom, (runs, 1), which are never more than
    all variances have together."""
    half = freedom / 2
    logs = np.log(np.maximum(variances, 1e-12)) - scipy.special.digamma(half) + math.log(half)
    excess = logs.var(axis=1, ddof=1) - scipy.special.polygamma(1, half)
    prior = np.array([2 * trigamma_inverse(one) if one > 0 else MOST for one in excess])[:, None]
    common = np.exp(logs.mean(axis=1, keepdims=True) + scipy.special.digamma(prior / 2) - np.log(prior / 2))
    shared = (prior * common + freedom * variances) / (prior + freedom)
    return shared, np.minimum(prior + freedom, variances.shape[1] * freedom)


def trigamma_inverse(value: float) -> float:
    """Return where the trigamma function has a value, by Newton's method on its reciprocal (Smyth 2004, appendix)."""
    place = 0.5 + 1 / value
    for _ in range(50):
        now = float(scipy.special.polygamma(1, place))
        step = now * (1 - now / value) / float(scipy.special.polygamma(2, place))
        place += step
        if -step / place < 1e-8:
            break
    return place


def differences(noise: Noise, generator: np.random.Generator, runs: int, blocks: int, *, is_curve: bool) -> Floats:
    """Return log ratios, (runs, blocks, tests)."""
    if is_curve:
        logs = noise.logs(generator, (runs, blocks, 2, TOGETHER))
        return np.asarray(logs[:, :, 1] - logs[:, :, 0])
    logs = noise.logs(generator, (runs * TOGETHER, blocks, 2, 1))[..., 0]
    apart = (logs[:, :, 1] - logs[:, :, 0]).reshape(runs, TOGETHER, blocks)
    return np.asarray(apart.swapaxes(1, 2))


def rates(logs: Floats) -> Iterator[tuple[float, float, float]]:
    """Yield for the moderated t and the plain one, of log ratios whose truth is 0: runs with a false lead,
    intervals that cover, and leads that are found where half of the tests have an effect."""
    blocks = logs.shape[1]
    centres, variances = logs.mean(axis=1), logs.var(axis=1, ddof=1)
    effects = np.where(np.arange(TOGETHER) % 2, math.log1p(EFFECT), 0.0)
    for spreads, freedom in (moderated(variances, blocks - 1), (variances, np.full((1, 1), blocks - 1.0))):
        errors = np.sqrt(np.maximum(spreads, 1e-24) / blocks)
        reach = scipy.special.stdtrit(freedom, 0.5 + CONFIDENCE / 2) * errors
        covers = float(np.mean(np.abs(centres) <= reach))
        leads = [
            np.array(
                [family_wise(one) < Rules().error_rate for one in 2 * scipy.special.stdtr(freedom, -np.abs(shown))]
            )
            for shown in (centres / errors, (centres + effects) / errors)
        ]
        yield float(leads[0].any(axis=1).mean()), covers, float(leads[1][:, 1::2].mean())


def main() -> None:
    """Print a table for the sizes of a pair, and one for pairs."""
    runs, generator = asked(__doc__, runs=2000)
    tables = ("Eight sizes of a pair", True, 0.0), ("Eight pairs", False, 0.0), ("Eight unlike pairs", False, APART)
    for title, is_curve, apart in tables:
        sys.stdout.write(f"\n{title}: runs with a false lead; intervals that cover; leads found of 5 %\n\n")
        sys.stdout.write("| noise | " + " | ".join(f"{blocks} blocks" for blocks in BLOCKS) + " |\n")
        sys.stdout.write("|---" * (1 + len(BLOCKS)) + "|\n")
        for name in EQUAL_SIDES:
            if NOISES[name].step:
                continue  # the rule that knows of steps is not asked here
            cells = []
            for blocks in BLOCKS:
                logs = differences(NOISES[name], generator, runs, blocks, is_curve=is_curve)
                scales = np.exp(generator.normal(0, apart, (runs, 1, TOGETHER))) if apart else 1.0
                shared, plain = rates(scales * (logs - true_logs(name)[1]))
                cells.append("; ".join(f"{one:.1%} ({other:.1%})" for one, other in zip(shared, plain, strict=True)))
            sys.stdout.write(f"| {name} | " + " | ".join(cells) + " |\n")
            sys.stdout.flush()


if __name__ == "__main__":
    main()
