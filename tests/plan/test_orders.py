"""Orders of blocks: drawn at random, and each turned round two blocks later."""

from __future__ import annotations

import itertools
import random

import pytest

from fabriscope.plan.orders import orders

ITEMS = "abcdef"


def of(seed: int, count: int, items: str = ITEMS, earlier: list[list[str]] | None = None) -> list[str]:
    found = orders(random.Random(seed), items, earlier or ())
    return ["".join(one) for one in itertools.islice(found, count)]


def test_of_four_blocks_two_are_drawn_and_two_turned_round() -> None:
    made = of(1, 10)
    assert all(sorted(one) == list(ITEMS) for one in made)
    for place in (2, 3, 6, 7):
        assert made[place] == made[place - 2][::-1]
    assert len({made[place] for place in (0, 1, 4, 5, 8, 9)}) == 6, "drawn"


@pytest.mark.parametrize("count", [3, 4, 5, 6])
def test_nobody_is_the_later_one_in_every_block(count: int) -> None:
    for seed in range(100):
        made = of(seed, count, "ab")
        assert {"ab", "ba"} <= set(made)


def test_each_of_two_comes_first_as_often() -> None:
    assert 150 < sum(of(seed, 1, "ab") == ["ab"] for seed in range(400)) < 250


def test_orders_go_on_from_those_before() -> None:
    pilots = of(3, 2)
    later = of(4, 3, earlier=[list(one) for one in pilots])
    assert later[:2] == [one[::-1] for one in pilots]
    assert later[2] not in (*pilots, *later[:2])
