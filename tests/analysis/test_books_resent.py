"""What TCP sent again and the wire carried once: the host dropped the first before its interface counted it."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.analysis.book_cases import MB, TCP, scene, sends
from tests.analysis.hand_watches import HEADERS, SEGMENT

from fabriscope.analysis.proof.books import balance
from fabriscope.analysis.proof.segments import headers_and_dropped
from fabriscope.model.counters import OTHER, PROVED, UNDECIDED


def test_what_never_reached_the_wire_is_no_closure_error() -> None:
    made = scene(lambda one: one.tcp("a", "b", 10 * MB, 10 * MB, again=3 * MB))
    packets = 3 * MB // SEGMENT
    made["a"].count("eth0", "tx", -3 * MB - packets * HEADERS, -packets)
    books = balance(made.watches(), sends(TCP, 10 * MB))
    assert books.verdict == PROVED
    assert books.closure_error is not None
    assert books.closure_error < 0.001
    assert "sent again" not in books.because, "the wire carried it once"


@pytest.mark.parametrize(
    ("left", "again", "found"),
    [
        (660, 0, (660, 0)),
        (541, 0, (540, 0)),
        (-340, 1000, (660, 1000)),
        (160, 1000, (660, 500)),
        (-2000, 1000, (540, 1000)),
    ],
)
def test_headers_are_those_that_leave_least(left: int, again: int, found: tuple[int, int]) -> None:
    """Ten packets with time stamps have 660 bytes of headers, without 540; of two that explain all, the former."""
    assert headers_and_dropped(left, (660, 540), again) == found


@pytest.mark.parametrize(
    ("is_seen", "others", "verdict"), [(True, (), UNDECIDED), (False, (), UNDECIDED), (False, ("port 53",), UNDECIDED)]
)
def test_what_was_sent_again_may_have_been_datagrams(is_seen: bool, others: tuple[str, ...], verdict: str) -> None:
    """2 MB of TCP beside 1.4 MB of datagrams: what TCP sent again and the host dropped looks like the datagrams."""
    made = scene(lambda one: one.tcp("a", "b", 2 * MB, again=14 * MB // 10))
    if is_seen:
        made.has_udp()
    packets = 14 * MB // 10 // SEGMENT
    made["a"].count("eth0", "tx", -(14 * MB // 10) - packets * HEADERS, -packets)
    made.udp("a", "b", 14 * MB // 10)
    watches = {name: replace(watch, other_datagrams=others) for name, watch in made.watches().items()}
    judged = balance(watches, TCP)
    assert judged.verdict == verdict, judged.because
    assert ("have no known owner" if others else "had a UDP socket") in judged.because


@pytest.mark.parametrize(("others", "verdict"), [(60 * MB, UNDECIDED), (0, PROVED)])
def test_what_an_interface_did_not_count_may_have_gone_elsewhere_beside_others(others: int, verdict: str) -> None:
    """A rule of the routes sends 1.5 MB by eth1: eth0 lacks them as if the host had dropped what was sent again."""
    made = scene(lambda one: one.tcp("a", "b", 4 * MB, again=2 * MB))
    lost = 15 * MB // 10
    made["a"].count("eth0", "tx", -lost - lost // SEGMENT * HEADERS, -(lost // SEGMENT))
    if others:
        made.tcp("a", "b", others, over="eth1", role=OTHER, again=3 * MB)
    judged = balance(made.watches(), TCP)
    assert judged.verdict == verdict, judged.because
    assert verdict == PROVED or "sent 1.50 MB more than it counted, and beside others' bytes on eth1" in judged.because
