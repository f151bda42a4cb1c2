"""What leaves a host where it was asked for what stays: by a program between whose processes nothing was found."""

from __future__ import annotations

import pytest
from tests.analysis.book_cases import MB, MEMORY
from tests.analysis.test_books_outward import program, to_server

from fabriscope.analysis.proof.books import balance
from fabriscope.model.counters import REFUTED, UNDECIDED, Expectation

STAYS = Expectation("tcp", "lo", {"a": "lo"})


@pytest.mark.parametrize("asked", [STAYS, MEMORY])
def test_a_program_that_only_leaves_the_host_is_refuted(asked: Expectation) -> None:
    books = balance(program(to_server(5 * MB)).watches(), asked)
    assert books.verdict == REFUTED
    assert books.because.endswith("but the job also moved 5.10 MB by tcp over eth0, to other hosts")
    assert "nothing was sent" not in books.because


def test_a_few_words_to_others_are_not() -> None:
    books = balance(program(to_server(2000)).watches(), STAYS)
    assert books.verdict == UNDECIDED
