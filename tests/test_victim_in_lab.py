"""A bystander in a lab: its two values of each launch are a pair, and what it shares with the incast is named."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests import needs
from tests.small_runs_of_streams import measured

from fabriscope.analysis.incast.victims import SLOWED, SPARED, UNDECIDED, shared_words
from fabriscope.analysis.results import results_of
from fabriscope.reports.sections.victim import found

PLAN = """
name: bystander
hosts: node[1-4]
fabrics: {pause: {lab: {preset: ethernet-100, rate: 50Mb/s, buffer: 64KiB, on_full: pause}}}
layers: [tcp]
many_to_one: {to: node1, from: 'node[2-3]', streams: [2], victim: {from: node3, to: node4}}
benchmarks: {victim_latency: {sizes: [8], incast_size: 16KiB}}
launches: 2
budget: 1s
floor: false
"""


@pytest.mark.parametrize(
    ("hosts", "second_switch", "words"),
    [
        ("a b r s t", "", "a switch"),
        ("s b r s t", "", "a sender's host and a switch"),
        ("a b r s t", "b,r", "the cable between the switches"),
        ("b a r s t", "b,r", "a switch"),
        ("a b r s t", "r,s,t", "nothing"),
        ("a b r s t", "r", "a switch"),
        ("a b r s t", None, "no host"),
    ],
)
def test_what_both_go_through_is_named(hosts: str, second_switch: str | None, words: str) -> None:
    assert shared_words(hosts.split(), second_switch) == words


def test_a_flow_of_a_sender_is_measured_with_and_without_the_incast(tmp_path: Path) -> None:
    needs.lab()
    data = measured(PLAN, tmp_path)
    assert [record.reason for record in data.journal if record.status != "ok"] == []
    (victim,) = found(results_of(data))
    assert (victim.stream_count, victim.pair_count, victim.shares) == (2, 2, "a sender's host and a switch")
    assert victim.alone.value is not None
    assert victim.beside.value is not None
    assert victim.state in (SLOWED, SPARED, UNDECIDED)
    assert "a flow to an idle port that shares a sender's host and a switch with 2 to one" in victim.sentence()
    assert victim.evidence.victim_pauses is not None
