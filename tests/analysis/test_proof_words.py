"""A proof in rows and sentences."""

from __future__ import annotations

from dataclasses import replace

import pytest

from fabriscope.analysis.proof import words as proof_words
from fabriscope.model.counters import PROVED, Books, Carrier
from fabriscope.model.proof import Observed, Proof

OBSERVED = Observed(("mpirun", "./a b"), "eth0", ("a", "b"), 0, 1_500_000_000, 0, False, {}, {})
PROOF = Proof("eth0", Books(PROVED, "all of it", carriers=(Carrier("a", "tcp", "eth0", 1, 2),), closure_error=0.013))


def test_the_largest_carrier_of_a_host_comes_first_and_memory_is_not_counted() -> None:
    carriers = (
        Carrier("a", "tcp", "eth1", 1_000_000, 0),
        Carrier("a", "roce", "rxe0/1", 0, 3_000_000),
        Carrier("a", "shm", "0:1 /dev/shm/one, 0:2 /SYSV0, 0:3 /dev/shm/three", None, None),
        Carrier("b", "tcp", "eth1", 0, 0),
    )
    assert [tuple(vars(one).values()) for one in proof_words.rows(carriers)] == [
        ("a", "roce over rxe0/1", "0 B", "3.00 MB", "75.0 %"),
        ("a", "tcp over eth1", "1.00 MB", "0 B", "25.0 %"),
        ("a", "shared memory (one and 2 others)", "cannot be counted", "cannot be counted", "–"),
        ("b", "tcp over eth1", "0 B", "0 B", "–"),
    ]


@pytest.mark.parametrize(
    ("status", "was_signalled", "words"),
    [
        (0, False, ""),
        (9, False, "the program ended with status 9 after 1.50 s: the verdict is on what it moved until then"),
        (-11, False, "the program was ended by SIGSEGV after 1.50 s: the verdict is on what it moved until then"),
        (1, True, "the program was interrupted after 1.50 s: the verdict is on what it moved until then"),
    ],
)
def test_how_the_program_ended(status: int, was_signalled: bool, words: str) -> None:
    ended = replace(OBSERVED, exit_status=status, was_signalled=was_signalled)
    assert proof_words.ending_sentence(ended) == words


def test_the_librarys_word_is_told_where_it_was_asked() -> None:
    asked, told = replace(OBSERVED, was_asked=True), replace(PROOF, library=("UCX: tcp over eth0",))
    assert proof_words.library_sentences(OBSERVED, told) == []
    assert proof_words.library_sentences(asked, PROOF) == ["the library says nothing of its transport"]
    assert proof_words.library_sentences(asked, told)[1] == "the counters do not contradict it"
    odd = replace(told, contradiction="UCX says rc, the counters say tcp")
    assert proof_words.library_sentences(asked, odd)[1] == "contradiction: UCX says rc, the counters say tcp"


def test_sentences_and_the_command() -> None:
    assert proof_words.verdict_sentence(PROOF) == "proved (eth0): all of it"
    assert proof_words.closure_sentence(PROOF) == "Of what the interfaces counted, 1.3 % is not accounted for."
    assert proof_words.command_text(OBSERVED) == "mpirun './a b'"
