"""A rank that somebody killed is named in the reason of the case that failed by it."""

from __future__ import annotations

import pytest

from fabriscope.adapters.engine import ADAPTER
from fabriscope.model.case import Case, Entry
from fabriscope.model.command import Command, Outcome
from fabriscope.model.measurement import Launch


@pytest.mark.parametrize("status", [-9, 137])
def test_a_sender_that_was_killed_has_a_name(status: int) -> None:
    entry = Entry("tcp", "gige", "inter", ("to", "a", "b"))
    case = Case(entry, "many_to_one", 8)
    said = f'{{"type":"failure","case":"{case.case_id}","reason":"the peer closed its connection"}}\n'
    ends = {"to": (said, 1), "a": ("", None), "b": ("", status)}
    outcomes = [
        Outcome(Command(("/x/engine",), host), status, text.encode(), b"", 0, 1)
        for host, (text, status) in ends.items()
    ]
    (result,) = ADAPTER.parse(Launch(1, 1, entry, (case,), seed=1, budget_ns=1), outcomes).results
    assert (
        result.reason
        == "the peer closed its connection; the engine of rank 2 on b was ended by signal 9, saying nothing"
    )


def test_a_sender_that_a_signal_stopped_has_a_name() -> None:
    entry = Entry("tcp", "gige", "inter", ("to", "a"))
    case = Case(entry, "many_to_one", 8)
    said = f'{{"type":"failure","case":"{case.case_id}","reason":"no progress for 5.1 s"}}\n'.encode()
    outcomes = [
        Outcome(Command(("/x/engine",), "to"), 3, said, b"", 0, 1),
        Outcome(Command(("/x/engine",), "a"), None, b"", b"", 0, 1, stood_still=True),
    ]
    (result,) = ADAPTER.parse(Launch(1, 1, entry, (case,), seed=1, budget_ns=1), outcomes).results
    assert result.reason == (
        "no progress for 5.1 s; the engine of rank 1 on a stood still, stopped by a signal, saying nothing"
    )
