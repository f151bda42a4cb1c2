"""The longest tests are begun first, and every test runs once."""

from __future__ import annotations

import pytest
from tests.needs import ROOT
from tests.order import LONGEST, spread


@pytest.mark.parametrize("name", LONGEST)
def test_what_is_called_long_is_there(name: str) -> None:
    path, _, test = name.partition("[")[0].partition("::")
    assert not test or f"def {test}(" in (ROOT / path).read_text()
    assert (ROOT / path).is_file()


@pytest.mark.parametrize("process_count", [1, 2, 4, 7, 40])
@pytest.mark.parametrize("count", [0, 3, 100])
def test_every_test_stands_once_and_each_process_begins_with_a_long_one(process_count: int, count: int) -> None:
    names = [*(f"tests/test_a.py::test_{number}" for number in range(count)), *LONGEST]
    order = spread(names, process_count)
    assert sorted(order) == list(range(len(names)))
    begun = [names[order[place]] for place in range(0, len(names), max(1, len(names) // process_count))]
    if count >= 100 and process_count < len(LONGEST):
        assert set(begun[:2]) <= set(LONGEST)


def test_the_tests_of_a_file_that_is_called_long_follow_each_other_in_one_process() -> None:
    file = next(one for one in LONGEST if one.endswith(".py"))
    names = [*(f"tests/test_a.py::test_{number}" for number in range(40)), *(f"{file}::test_{one}" for one in "abcde")]
    order = spread([*names, *(one for one in LONGEST if "::" in one)], 4)
    places = [order.index(40 + number) for number in range(5)]
    assert places == list(range(places[0], places[0] + 5))


def test_of_a_test_that_is_listed_twice_the_first_place_counts() -> None:
    case = next(one for one in LONGEST if one.endswith("[rank-hangs,host-dies,shared-lab]"))
    names = [
        f"{case.partition('[')[0]}[another]",
        LONGEST[-1],
        case,
        "tests/test_a.py::test_1",
        LONGEST[0],
    ]
    assert [names[index] for index in spread(names, 1)] == [LONGEST[0], case, names[0], LONGEST[-1], names[3]]
