"""The end of a collector: what the job left to be sent is waited for, and told as it was before the last reading."""

from __future__ import annotations

from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest


@pytest.mark.parametrize(
    ("left", "told"), [([0, 7], 0), ([50_000, 20_000, 9_000, 7], 9_000), ([50_000] * 1_000, 50_000)]
)
def test_what_is_left_is_waited_for_and_told_as_before_the_last_reading(
    parts: dict[str, Any], left: list[int], told: int
) -> None:
    said: list[Any] = []
    sizes: Iterator[int] = iter(left)
    parts |= {"say": said.append, "SENDING_S": 0.0005, "SENDING_LIMIT_S": 0.05, "LAST_WORDS_S": 0.0001}
    collector = parts["Collector"].__new__(parts["Collector"])
    collector.unsent = lambda: next(sizes)
    collector.reading = lambda *_: said.append("reading")
    collector.processes = SimpleNamespace(look=lambda *_: None)
    collector.sockets = SimpleNamespace(look=lambda: None, hear=lambda: 0, owes=lambda: False, lost_count=0)
    collector.rdma = SimpleNamespace(lag_s=lambda: 0)
    collector.end()
    assert said == ["reading", {"kind": "unsent", "size_bytes": told}]


@pytest.mark.parametrize("debts", [[False], [True, False], [True] * 30 + [False]])
def test_the_kernels_last_word_on_a_connection_of_the_job_is_waited_for(
    parts: dict[str, Any], debts: list[bool]
) -> None:
    left: Iterator[bool] = iter(debts)
    parts |= {"LAST_WORDS_S": 0.0001, "LAST_WORDS_LIMIT_S": 0.001, "OWED_LIMIT_S": 100.0}
    collector = parts["Collector"].__new__(parts["Collector"])
    collector.sockets = SimpleNamespace(look=lambda: None, hear=lambda: 0, owes=lambda: next(left))
    collector.wait_for_last_words()
    assert list(left) == []


def test_a_last_word_that_never_comes_ends_the_wait(parts: dict[str, Any]) -> None:
    parts |= {"LAST_WORDS_S": 0.0001, "OWED_LIMIT_S": 0.01}
    collector = parts["Collector"].__new__(parts["Collector"])
    collector.sockets = SimpleNamespace(look=lambda: None, hear=lambda: 0, owes=lambda: True)
    collector.wait_for_last_words()
