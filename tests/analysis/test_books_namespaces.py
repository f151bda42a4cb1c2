"""What a job sends from network namespaces of its own left the host by an interface of the host's all the same."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pytest
from tests.analysis.book_cases import MB, SECOND, TCP, tcp
from tests.analysis.hand_watches import HEADERS, SEGMENT
from tests.analysis.test_books_outward import program

from fabriscope.analysis.proof.books import balance
from fabriscope.model.counters import OTHER, PROVED, REFUTED, UNDECIDED, Expectation, Watch

INNER, SPACE = "10.40.0.2", "4026532201"


def contained(size: int, *, passed: int | None = None, nat: bool = False) -> Mapping[str, Watch]:
    """Return the watches of a program in a namespace of a's behind `v0`, which sends to a server of b over eth0.

    `passed` is what came through `v0`, if that is not what was sent.
    """
    made = program(tcp(MB // 5, over="eth1"))
    made.tcp("a", "b", size, over="eth0", there=OTHER)
    packets = -(-size // SEGMENT)
    a, b = made["a"], made["b"]
    a.interfaces["v0"] = dict.fromkeys(("tx_bytes", "tx_packets"), 0)
    a.interfaces["v0"] |= {"rx_bytes": (size if passed is None else passed) + packets * HEADERS, "rx_packets": packets}
    a.connections[-1] = replace(a.connections[-1], local_address=INNER, space=SPACE)
    if not nat:
        b.connections[-1] = replace(b.connections[-1], remote_address=INNER)
    watches = made.watches()
    addresses = {**watches["a"].addresses, "v0": ("10.40.0.1",)}
    behind = replace(watches["a"], addresses=addresses, spaces={SPACE: (INNER,)}, doors={"v0": (SPACE,)})
    return {**watches, "a": behind}


@pytest.mark.parametrize("nat", [False, True])
@pytest.mark.parametrize(("asked", "verdict"), [(TCP, PROVED), (SECOND, REFUTED)])
def test_it_is_found_on_the_interface_that_counted_it(asked: Expectation, verdict: str, nat: bool) -> None:
    books = balance(contained(90 * MB, nat=nat), asked)
    assert books.verdict == verdict, books.because
    assert books.closure_error == pytest.approx(0, abs=0.02)


@pytest.mark.parametrize("nat", [False, True])
def test_what_a_host_translates_is_counted_once(nat: bool) -> None:
    assert "all 90.4 MB" in balance(contained(90 * MB, nat=nat), replace(TCP, interfaces={})).because


def test_a_door_that_is_closed_at_the_end_carried_nothing_elsewhere() -> None:
    watches = contained(90 * MB)
    last = watches["a"].readings[-1]
    without = replace(last, interfaces={name: counts for name, counts in last.interfaces.items() if name != "v0"})
    gone = replace(watches["a"], readings=(watches["a"].readings[0], without))
    assert balance({**watches, "a": gone}, TCP).verdict == PROVED
    others = replace(gone, doors={}, spaces={})
    assert balance({**watches, "a": others}, TCP).verdict == UNDECIDED


def test_what_came_through_the_door_and_nobody_sent_has_no_owner() -> None:
    books = balance(contained(90 * MB, passed=130 * MB), TCP)
    assert books.verdict == UNDECIDED
    assert "on v0 of a have no known owner" in books.because


def test_what_stays_inside_a_namespace_is_on_no_interface_of_the_host() -> None:
    watches = contained(90 * MB)
    talk = watches["a"].readings[-1].connections[-1]
    pair = (
        replace(talk, local_address="127.0.0.1", remote_address="127.0.0.1", local_port=1, remote_port=2),
        replace(talk, local_address="127.0.0.1", remote_address="127.0.0.1", local_port=2, remote_port=1, sent_bytes=0),
    )
    last = replace(watches["a"].readings[-1], connections=(*watches["a"].readings[-1].connections, *pair))
    inside = replace(watches["a"], readings=(watches["a"].readings[0], last))
    books = balance({**watches, "a": inside}, TCP)
    assert books.verdict == PROVED, books.because
    assert "inside hosts stayed 90.0 MB by connections" in books.because


def behind_a_program(size: int, carried: int, *, has_tunnel: bool = True) -> Mapping[str, Watch]:
    """Return the watches of a program that sends from a namespace which no interface of the host leads to.

    Another program of the job has the other end of the namespace's interface (slirp4netns), and sent `carried` on.
    """
    made = program(tcp(MB // 5, over="eth1"))
    made.tcp("a", "b", carried, over="eth0", there=OTHER)
    if has_tunnel:
        made.opens("/dev/net/tun")
    watches = made.watches()
    last = watches["a"].readings[-1]
    inner = replace(
        last.connections[-1], local_address=INNER, local_port=1, space=SPACE, sent_bytes=size, received_bytes=0
    )
    readings = (watches["a"].readings[0], replace(last, connections=(*last.connections, inner)))
    return {**watches, "a": replace(watches["a"], readings=readings, spaces={SPACE: (INNER,)})}


@pytest.mark.parametrize(("asked", "verdict"), [(TCP, PROVED), (SECOND, REFUTED)])
def test_what_a_program_of_the_job_carries_out_of_a_namespace_counts_once(asked: Expectation, verdict: str) -> None:
    books = balance(behind_a_program(90 * MB, 90 * MB), asked)
    assert books.verdict == verdict, books.because
    assert "unknown interface" not in books.because
    assert "180" not in books.because


@pytest.mark.parametrize(("carried", "has_tunnel"), [(40 * MB, True), (90 * MB, False)])
def test_what_nobody_was_seen_to_carry_out_of_a_namespace_is_not_proved(carried: int, has_tunnel: bool) -> None:
    assert balance(behind_a_program(90 * MB, carried, has_tunnel=has_tunnel), TCP).verdict != PROVED
