"""What a job moved where nobody watches: a network namespace of before, programs that still run, one machine twice."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.analysis.book_cases import MB, TCP, scene, tcp
from tests.analysis.test_books_outward import of_a, program, to_server

from fabriscope.analysis.proof.books import balance
from fabriscope.model.counters import PROVED, UNDECIDED, Expectation, Watch

ASKED = Expectation("tcp", "eth0", {"a": "eth0"})
ANY = Expectation("", "")


def strayed(size: int, number: str = "4026532999") -> dict[str, Watch]:
    watches = of_a(program(to_server(MB)))
    strays = {number: ("curl", size)}
    return {"a": replace(watches["a"], namespace="4026531840", strays=strays)}


@pytest.mark.parametrize("asked", [ASKED, ANY])
def test_what_another_namespace_counted_leaves_it_open(asked: Expectation) -> None:
    books = balance(strayed(20 * MB), asked)
    assert books.verdict == UNDECIDED
    assert books.because.startswith(
        "curl of the job was in a network namespace of a that was there before, and 20.0 MB"
    )


def test_a_few_bytes_of_another_namespace_do_not() -> None:
    assert balance(strayed(10_000), ASKED).verdict == PROVED


def test_the_namespace_of_a_watched_host_is_watched() -> None:
    watches = {
        name: replace(watch, namespace=f"40265318{name}") for name, watch in scene(tcp(9 * MB)).watches().items()
    }
    watches["a"] = replace(watches["a"], strays={watches["b"].namespace: ("app", 9 * MB)})
    assert balance(watches, TCP).verdict == PROVED


def test_one_machine_by_two_names_is_told() -> None:
    watches = {name: replace(one, kernel="k", namespace="1") for name, one in scene(tcp(9 * MB)).watches().items()}
    books = balance(watches, TCP)
    assert books.verdict == UNDECIDED
    assert books.because == "a and b are one machine: what they tell each other leaves by no interface"


def test_programs_that_still_run_are_named() -> None:
    watches = {"a": replace(of_a(program(to_server(MB)))["a"], left=("curl", "sleep"))}
    books = balance(watches, ASKED)
    assert books.verdict == PROVED
    assert books.because.endswith("; curl and sleep of the job still ran: what came later is not in this")
