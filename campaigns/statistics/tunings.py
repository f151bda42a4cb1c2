"""Does a tuning claim what is not there, and do its intervals hold what is? Made-up tunings, whose truth is known.

python -m campaigns.statistics.tunings [--runs 1000] [--seed 1]

Each makes the rounds that a run makes, by the run's own functions, on launches under the noises of `noises.py`: five
settings of 2, 2, 2, 3 and 4 values (16 configurations, twice), halving, six blocks of confirmation. Nothing has an
effect, or three settings have, and two of them more together. Printed: tunings that claim anything; the shares of
intervals that hold the true effect of a setting, of a setting without one, of two together, and the true gain of the
set that was confirmed; how often that is the best of all 96; and the launches, beside those that all 96 take twice.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass

from campaigns.statistics.asked import asked
from campaigns.statistics.noises import EQUAL_SIDES, NOISES, Generator, Noise

from fabriscope.analysis.numbers.intervals import LogRatio, judge
from fabriscope.analysis.tuning.choice import adjusted
from fabriscope.analysis.tuning.designs import designs
from fabriscope.analysis.tuning.effects import Fit
from fabriscope.analysis.tuning.points import Record
from fabriscope.analysis.tuning.steps import confirmed, gained, next_step, screened
from fabriscope.analysis.values.stopping import ERROR_RATE
from fabriscope.model.tuning import Configuration, Factor, Trials

LEVELS = {"a": ("0", "1"), "b": ("0", "1"), "c": ("0", "1"), "d": ("0", "1", "2"), "e": ("0", "1", "2", "3")}
SCREENING_BLOCKS, HALVING_BLOCKS, CONFIRMING_BLOCKS = 2, 2, 6
BASE = "base"
COMBINATIONS = 96


@dataclass(frozen=True)
class Truth:
    """What settings do to the logarithm of speed; at their first values, nothing."""

    alone: Mapping[str, tuple[float, ...]]
    together: float = 0.0
    """Of a and b more, where both have their second values."""

    def log(self, settings: Configuration) -> float:
        """Return how fast a configuration is."""
        own = sum(of[int(settings.get(knob, "0"))] for knob, of in self.alone.items())
        return own + (self.together if settings.get("a") == settings.get("b") == "1" else 0.0)

    def effect(self, knobs: tuple[str, ...]) -> float:
        """Return the true effect of one setting between its ends, over all values of the others, or of two together."""
        if len(knobs) == 2:
            return self.together / 2 if knobs == ("a", "b") else 0.0
        ends = self.alone.get(knobs[0], (0.0,))
        return ends[-1] - ends[0] + (self.together / 2 if knobs[0] in ("a", "b") else 0.0)


NOTHING = Truth({})
PLANTED = Truth({"a": (0.0, 0.10), "b": (0.0, 0.05), "d": (0.0, 0.20, 0.15)}, 0.10)
"""The best value of d is the one between the ends that are screened."""
BEST = {"a": "1", "b": "1", "d": "1"}


@dataclass(frozen=True)
class Tuned:
    """What came of one tuning."""

    fit: Fit
    found: Configuration | None
    gain: LogRatio | None
    launches: int

    @property
    def claims(self) -> bool:
        """Return whether it says that anything has an effect."""
        of_effects, of_gain = adjusted(self.fit, self.gain.p_different if self.gain else None)
        return any(p < ERROR_RATE for p in (*of_effects, of_gain))


def tuned(generator: Generator, noise: Noise, truth: Truth) -> Tuned:
    """Return what came of a tuning of made-up launches."""
    factors = tuple(Factor(knob, values[0], values[-1]) for knob, values in LEVELS.items())
    runs = [
        {one.knob: (one.low, one.high)[sign > 0] for one, sign in zip(factors, signs, strict=True)}
        for signs in designs(len(factors))[0].runs
    ]
    current = {knob: {"host": "0"} for knob in LEVELS}
    names: dict[tuple[tuple[str, str], ...], str] = {}
    named = _named(names, runs)
    rounds = [Trials("screening", BASE, "", named, factors, "V", LEVELS, current)]
    blocks = [frozenset(range(1, SCREENING_BLOCKS + 1))]
    logs: dict[str, dict[int, float]] = {}
    _launch(generator, noise, truth, logs, named, blocks[-1])
    while (step := next_step(Record(tuple(rounds), tuple(blocks), logs))) is not None:
        named = _named(names, step.configurations)
        count = HALVING_BLOCKS if step.stage == "halving" else CONFIRMING_BLOCKS
        first = max(blocks[-1]) + 1
        rounds.append(Trials(step.stage, BASE, "", named))
        blocks.append(frozenset(range(first, first + count)))
        _launch(generator, noise, truth, logs, named, blocks[-1])
    record = Record(tuple(rounds), tuple(blocks), logs)
    both = confirmed(record)
    found = next(iter(rounds[-1].configurations.values())) if both else None
    gain = judge(gained(both)) if both else None
    return Tuned(screened(record), found, gain, sum(map(len, logs.values())))


def _named(
    names: dict[tuple[tuple[str, str], ...], str], tried: list[dict[str, str]] | tuple[Configuration, ...]
) -> dict[str, Configuration]:
    return {names.setdefault(tuple(sorted(one.items())), f"try-{len(names)}"): one for one in tried}


def _launch(
    generator: Generator,
    noise: Noise,
    truth: Truth,
    logs: dict[str, dict[int, float]],
    named: Mapping[str, Configuration],
    blocks: frozenset[int],
) -> None:
    entries: dict[str, Configuration] = {BASE: {}, **named}
    drawn = noise.logs(generator, (1, len(blocks), len(entries), 1))[0, :, :, 0]
    for row, block in enumerate(sorted(blocks)):
        for column, (name, settings) in enumerate(entries.items()):
            logs.setdefault(name, {})[block] = truth.log(settings) - float(drawn[row, column])


def counts(every: list[Tuned], truth: Truth) -> dict[str, float]:
    """Return the shares of a row of the table."""
    effects = [effect for one in every for effect in one.fit.effects]
    held: dict[str, list[bool]] = {"setting": [], "none": [], "pair": []}
    for effect in effects:
        true = truth.effect(effect.knobs)
        kind = "pair" if len(effect.knobs) > 1 else "setting" if true else "none"
        held[kind].append(effect.low <= true <= effect.high)
    gains = [
        one.gain.low <= truth.log(one.found) <= one.gain.high
        for one in every
        if one.gain is not None and one.found is not None
    ]
    shares = {name: _share(values) for name, values in {**held, "gain": gains}.items()}
    best = _share([one.found is not None and truth.log(one.found) == truth.log(BEST) for one in every])
    return {
        "claims": _share([one.claims for one in every]), **shares, "best": best,
        "launches": sum(one.launches for one in every) / len(every),
    }  # fmt: skip


def _share(values: list[bool]) -> float:
    return sum(values) / len(values) if values else float("nan")


def main() -> None:
    """Print a row for each noise and truth."""
    run_count, generator = asked(__doc__)
    columns = ("claims", "setting", "none", "pair", "gain", "best")
    sys.stdout.write(f"| noise | truth | {' | '.join(columns)} | launches |\n{'|---' * (len(columns) + 3)}|\n")
    for name in EQUAL_SIDES:
        for words, truth in (("nothing", NOTHING), ("planted", PLANTED)):
            row = counts([tuned(generator, NOISES[name], truth) for _ in range(run_count)], truth)
            told = " | ".join(f"{row[column]:.1%}" for column in columns)
            full = COMBINATIONS * SCREENING_BLOCKS
            sys.stdout.write(f"| {name} | {words} | {told} | {row['launches']:.0f} of {full} |\n")
            sys.stdout.flush()


if __name__ == "__main__":
    main()
