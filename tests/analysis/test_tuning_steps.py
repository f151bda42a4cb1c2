"""Designs, effects, and what a tuning tries next."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from fabriscope.analysis.tuning.choice import adjusted, best_levels, candidates, changed, survivors, together
from fabriscope.analysis.tuning.designs import Design, designs
from fabriscope.analysis.tuning.effects import Cell, Effect, Fit, fitted
from fabriscope.model.tuning import Factor

KNOBS = "abcdefghijklmnop"


def words(design: Design, length: int) -> int:
    """Return how many products of so many columns are constant: the words of a design that make its resolution."""
    columns = np.array(design.runs).T
    products = (np.prod(columns[list(some)], axis=0) for some in itertools.combinations(range(len(columns)), length))
    return sum(abs(int(product.sum())) == len(design.runs) for product in products)


@pytest.mark.parametrize("count", range(1, 17))
def test_designs_are_balanced_and_as_resolved_as_they_say(count: int) -> None:
    for design in designs(count):
        runs = np.array(design.runs)
        assert runs.shape[1] == count
        assert len({*design.runs}) == len(design.runs)
        assert not runs.sum(axis=0).any()
        assert (runs.T @ runs == len(runs) * np.eye(count)).all()
        short = 3 if design.resolution == "IV" else 4
        assert [words(design, length) for length in range(1, min(short, count) + 1)] == [0] * min(short, count)
        if design.resolution == "full":
            assert len(runs) == 2**count


@pytest.mark.parametrize(
    ("count", "runs"),
    [(1, [2]), (2, [4]), (3, [8]), (4, [16, 8]), (5, [16, 16]), (6, [32, 16]), (8, [64, 16]), (12, [32]), (16, [32])],
)
def test_how_many_runs(count: int, runs: list[int]) -> None:
    assert [len(design.runs) for design in designs(count)] == runs


def made_up(
    design: Design, effects: dict[tuple[str, ...], float], spread: float = 0.0, blocks: int = 3
) -> tuple[list[Cell], dict[str, dict[str, int]]]:
    """Return launches of each run of a design, and the levels of each run."""
    noise = np.random.default_rng(7)
    signs = {f"r{n}": dict(zip(KNOBS, row, strict=False)) for n, row in enumerate(design.runs)}
    cells = [
        Cell(
            run,
            block,
            10.0 * block
            + sum(log / 2 * math.prod(levels[one] for one in knobs) for knobs, log in effects.items())
            + float(noise.normal(0, spread)),
        )
        for block in range(blocks)
        for run, levels in signs.items()
    ]
    return cells, signs


@pytest.mark.parametrize("place", [0, 1])
def test_effects_are_told_and_blocks_taken_out(place: int) -> None:
    true = {("a",): 0.3, ("c",): -0.2, ("a", "c"): 0.1}
    fit = fitted(*made_up(designs(6)[place], true, 0.01))
    found = {effect.knobs: effect for effect in fit.effects}
    for knobs, log in true.items():
        effect = found[knobs]
        assert effect.low < log < effect.high
        assert effect.high - effect.low == pytest.approx(
            2 * 2.05 * 2 * 0.01 / math.sqrt(len(designs(6)[place].runs) * 3), rel=0.4
        )
    assert found["b",].low < 0 < found["b",].high
    assert fit.has_pairs


def test_interactions_that_a_design_does_not_tell_apart_are_one_effect_with_all_names() -> None:
    fit = fitted(*made_up(designs(6)[1], {}, 0.01))
    pairs = [{effect.knobs, *effect.also} for effect in fit.effects if len(effect.knobs) == 2]
    assert sorted(len(one) for one in pairs) == [2] * 6 + [3]
    assert len(set().union(*pairs)) == 15
    (full,) = {len(one.also) for one in fitted(*made_up(designs(5)[0], {}, 0.01)).effects}
    assert full == 0


def test_missing_launches_cost_interactions_first_and_then_everything() -> None:
    cells, signs = made_up(designs(4)[1], {("a",): 0.3}, 0.01)
    some = [cell for cell in cells if cell.run not in ("r0", "r1")]
    fit = fitted(some, signs)
    assert not fit.has_pairs
    assert next(one for one in fit.effects if one.knobs == ("a",)).log == pytest.approx(0.3, abs=0.03)
    assert fitted([cell for cell in cells if cell.run in ("r0", "r1")], signs).effects == ()
    assert fitted([cell for cell in cells if cell.block == 0], signs).effects == ()
    assert fitted([], signs).effects == ()


def test_equal_values_have_effects_of_nothing() -> None:
    fit = fitted(*made_up(designs(2)[0], {}))
    assert all(effect.p == 1.0 or abs(effect.log) < 1e-9 for effect in fit.effects)


def effect(knobs: str, log: float, p: float = 1e-9, also: tuple[tuple[str, ...], ...] = ()) -> Effect:
    return Effect(tuple(knobs), log, log - 0.01, log + 0.01, p, also)


FACTORS = [Factor(knob, f"{knob}-", f"{knob}+") for knob in "abc"]


@pytest.mark.parametrize(
    ("effects", "best"),
    [
        ([effect("a", 0.2), effect("b", -0.1), effect("c", 0.1, 0.9)], {"a": "a+", "b": "b-"}),
        ([effect("a", 0.2, 0.9)], {}),
        ([effect("a", 0.1), effect("b", -0.05), effect("ab", 0.3)], {"a": "a+", "b": "b+"}),
        ([effect("a", 0.1), effect("b", -0.05), effect("ab", 0.3, also=(("c", "d"),))], {"a": "a+", "b": "b+"}),
        ([effect("a", 0.1), effect("b", 0.05, 0.9), effect("ab", -0.3, also=(("a", "c"),))], {"a": "a+"}),
    ],
)
def test_the_best_of_what_has_an_effect(effects: list[Effect], best: dict[str, str]) -> None:
    fit = Fit(tuple(effects), 20, has_pairs=True)
    assert best_levels(fit, [*FACTORS, Factor("d", "d-", "d+")]) == best


def test_what_is_decided_stays_decided_whatever_the_confirmation_says() -> None:
    fit = Fit((effect("a", 0.2, 0.02), effect("b", 0.1, 0.026), effect("c", 0.1, 0.9)), 20, has_pairs=False)
    before = adjusted(fit, None)[0]
    for p in (0.0, 0.01, 0.04, 0.5, 1.0):
        assert all(now <= then for now, then in zip(adjusted(fit, p)[0], before, strict=True))


def test_candidates() -> None:
    current = {"a": {"n1": "a-", "n2": "a-"}, "b": {"n1": "x", "n2": "y"}}
    levels = {"a": ("a-", "a0", "a+"), "b": ("b-", "b+", None), "c": ("c-", "c+")}
    assert candidates({"a": "a+"}, levels, FACTORS, current) == [{"a": "a+"}, {"a": "a0"}]
    assert candidates({"a": "a-"}, levels, FACTORS, current) == [{"a": "a0"}]
    assert candidates({"b": "b+"}, levels, FACTORS, current) == [{"b": "b+"}, {"a": "a0", "b": "b+"}]
    assert candidates({}, {"c": ("c-", "c+")}, FACTORS, current) == []
    assert changed({"a": "a-", "b": "x"}, current) == {"b": "x"}


def test_the_better_half_goes_on_and_improvements_are_put_together() -> None:
    scored = [({"a": "1"}, 1.0), ({"a": "1", "b": "2"}, 1.2), ({"a": "2"}, 1.1), ({"a": "1", "c": "3"}, 0.5)]
    assert [one for one, _ in survivors(scored)] == [{"a": "1", "b": "2"}, {"a": "2"}]
    assert together({"a": "1"}, 1.0, scored, 0.05) == {"a": "2", "b": "2"}
    assert together({"a": "1"}, 1.0, scored, 0.15) == {"a": "1", "b": "2"}
    assert together({}, 0.0, [({"b": "2"}, 0.2), ({"b": "3"}, 0.3), ({"c": "1"}, -0.1)], 0.0) == {"b": "3"}
    assert together({"a": "1", "b": "1"}, 1.0, [({"b": "1"}, 1.5)], 0.1) == {"b": "1"}
