"""What goes on beside a job: others' frames and connections that hide its datagrams, and what its ranks start."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.analysis.book_cases import MB, scene
from tests.analysis.programs import judged, program

from fabriscope.model.counters import BESIDE, OTHER, PROVED, REFUTED, UNDECIDED


def test_frames_for_others_are_not_the_jobs_datagrams_though_they_came_in() -> None:
    """A bridge floods what somebody sends to an address that it does not know: IP counts none of it."""
    made = program(lambda one: one.tcp("a", "b", 6 * MB, over="eth1"))
    made.udp("a", "b", 2 * MB, "eth1")
    made.has_udp()
    made["b"].count("eth0", "rx", 7_000 * 1_042, 7_000)
    for host, way in ((made["a"], "Out"), (made["b"], "In")):
        host.protocols[f"IpExt.{way}Octets"] = 8 * MB + 4_144 * 52 + 1_429 * 28
    books = judged(made, "eth1")
    assert books.verdict == UNDECIDED
    assert {(one.kind, one.name) for one in books.carriers} == {("tcp", "eth1"), ("udp", "eth1")}


def test_what_others_connections_hide_of_the_jobs_datagrams_is_said_where_it_was_asked_for() -> None:
    made = program(lambda one: one.tcp("a", "b", 40_000, over="eth1"))
    made.tcp("a", "b", 200 * MB, over="eth1", role=OTHER, was_there=MB, is_open=True)
    made.udp("a", "b", 2 * MB, "eth1")
    made.has_udp()
    books = judged(made, "eth1")
    assert books.verdict == PROVED
    assert "more, which others' connections hide" in books.because


@pytest.mark.parametrize("kind", ["raw", "udp"])
def test_what_a_steady_connection_of_others_hides_is_a_doubt_of_sockets_without_counters(kind: str) -> None:
    """4 MB more or less are not known of eth0: 200 kB of raw packets, or of datagrams beside others' sockets."""
    made = program(lambda one: one.tcp("a", "b", 5 * MB, over="eth1"))
    made.tcp("a", "b", 200 * MB, role=OTHER, was_there=MB, is_open=True)
    made["a"].processes = [replace(one, datagrams=(kind,)) for one in made["a"].processes]
    made["a"].count("eth0", "tx", 214_000, 200)
    made["a"].protocols["Udp.OutDatagrams"] = 200 if kind == "udp" else 0
    books = judged(made, "eth1", lambda watch: replace(watch, other_datagrams=("port 53",)))
    assert books.verdict == UNDECIDED, books.because


@pytest.mark.parametrize(("size", "verdict"), [(100_000, UNDECIDED), (200_000, REFUTED), (40_000, PROVED)])
def test_what_a_rank_starts_beside_its_messages_counts_from_two_percent_on(size: int, verdict: str) -> None:
    made = scene(lambda one: one.tcp("a", "b", 3 * MB, over="eth1"), lambda one: one.tcp("a", "b", size, there=OTHER))
    made["a"].connections[-1] = replace(made["a"].connections[-1], role=BESIDE)
    books = judged(made, "eth1")
    assert books.verdict == verdict, books.because
