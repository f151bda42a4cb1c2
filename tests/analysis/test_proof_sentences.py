"""The sentences of a proof, word by word: they are what most people read of it."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.analysis.book_cases import MB, MEMORY, SECOND, TCP, scene, tcp
from tests.analysis.hand_watches import Scene
from tests.analysis.test_books_outward import program, to_server

from fabriscope.analysis.proof.books import balance
from fabriscope.analysis.proof.ranks import memory_text
from fabriscope.analysis.proof.words import grade_sentence
from fabriscope.model.counters import UNDECIDED, Books, Expectation
from fabriscope.model.proof import Observed, Proof

ANY = Expectation("", "")


@pytest.mark.parametrize(
    ("made", "asked", "because"),
    [
        (
            program(to_server(40 * MB)),
            SECOND,
            "tcp over eth0 carried 40.8 MB between the job and other processes on b, tcp over eth1 carried nothing",
        ),
        (
            program(to_server(40 * MB), to_server(40 * MB, "eth1")),
            TCP,
            "of 81.6 MB between the job and other processes on b, 50.0 % went over tcp over eth0, "
            "the rest over tcp over eth1",
        ),
        (scene(tcp(9 * MB, 0)), TCP, "all 9.00 MB between ranks were carried by tcp over eth0"),
        (program(), ANY, "no byte was found between processes: nothing was counted"),
        (program(), TCP, "no byte was found between the processes of the job that were seen; nothing was counted"),
        (scene(), MEMORY, "no connection carried a byte between ranks; what went through memory has no counter"),
    ],
)
def test_a_sentence_says(made: Scene, asked: Expectation, because: str) -> None:
    assert balance(made.watches(), asked).because == because


@pytest.mark.parametrize(
    ("because", "is_said"),
    [
        ("no byte was found between processes: nothing was counted", False),
        ("ranks of node1 share a pipe, and that has no counter", False),
        ("1.02 kB went over connections that nobody was seen to hold (tcp over eth1)", True),
        ("1.20 MB on eth0 of a have no known owner: they may be the job's", True),
    ],
)
def test_root_is_named_where_it_would_tell_more(because: str, is_said: bool) -> None:
    watches = {host: replace(watch, ownership="marks") for host, watch in scene().watches().items()}
    observed = Observed((), "", tuple(watches), 0, 0, 0, was_signalled=False, idle={}, watches=watches)
    proof = Proof("", Books(UNDECIDED, because))
    assert grade_sentence(observed, proof).endswith("the kernel tells") == is_said


def test_memory_is_called_by_its_file() -> None:
    assert memory_text("00:3e:9 /dev/shm/vader_segment.node1 (deleted)") == (
        "memory (/dev/shm/vader_segment.node1 (deleted))"
    )
    assert memory_text("00:3e:9") == "memory (00:3e:9)"
