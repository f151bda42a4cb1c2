"""Ends of connections that a host does not list: of sockets that were shut down and are not closed, of the kernel."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.analysis.book_cases import MB, on_one
from tests.analysis.hand_watches import Scene
from tests.analysis.programs import judged, program

from fabriscope.model.counters import OTHER, PROVED, REFUTED, UNDECIDED


def forgotten(host: str, over: str = "eth1") -> Scene:
    made = program(lambda one: one.tcp("a", "b", 5 * MB, 10_000, over=over, there=OTHER))
    made[host].connections.clear()
    return made


@pytest.mark.parametrize(("asked", "verdict"), [("eth1", PROVED), ("eth0", REFUTED), ("", PROVED)])
def test_what_the_other_end_moved_this_one_did(asked: str, verdict: str) -> None:
    books = judged(forgotten("b"), asked)
    assert books.verdict == verdict, books.because
    assert books.closure_error == 0
    assert not books.ownerless


def test_it_explains_no_other_interface() -> None:
    made = forgotten("b")
    made.noise(MB, "eth0", packets=700)
    books = judged(made, "eth1")
    assert books.verdict == UNDECIDED, books.because
    assert {one.interface for one in books.ownerless} == {"eth0"}


def test_one_that_is_listed_is_not_counted_again() -> None:
    made = program(lambda one: one.tcp("a", "b", 5 * MB, 10_000, over="eth1", there=OTHER))
    made.noise(MB, "eth1", packets=700)
    books = judged(made, "eth1")
    assert books.verdict == UNDECIDED, books.because


@pytest.mark.parametrize("seen_by_ip", [False, True])
def test_what_a_switch_sends_to_every_port_is_the_same_datagrams(*, seen_by_ip: bool) -> None:
    made = Scene("a", "b", "c")
    for host in made.hosts.values():
        host.processes = [replace(one, rank=None) for one in host.processes]
    made.udp("a", "b", 3 * MB, each=1000)
    made["c"].count("eth0", "rx", 3 * MB + 42 * 3000, 3000)
    made["c"].protocols["IpExt.InOctets"] = (3 * MB + 28 * 3000) * seen_by_ip
    made.has_udp()
    books = judged(made, "eth0")
    assert books.verdict == (UNDECIDED if seen_by_ip else PROVED), books.because


@pytest.mark.parametrize("link_bytes", [14, 0])
def test_tunnels_may_count_what_they_send_without_the_links_header(link_bytes: int) -> None:
    """3,000 messages of 20 B."""
    made = program(lambda one: one.tcp("a", "b", 60_000, over="eth1", segment=20))
    made["a"].count("eth1", "tx", (link_bytes - 14) * 3000, 0)
    books = judged(made, "", lambda watch: replace(watch, lower_interfaces={"eth1": ("eth9",)}))
    assert books.verdict == PROVED, books.because
    assert books.closure_error == 0


@pytest.mark.parametrize(
    ("channels", "verdict"), [(("unix 7 to 8", "unix 8 to 7"), UNDECIDED), (("unix 7 to 8",), REFUTED)]
)
def test_a_pair_of_which_one_process_was_seen_may_have_carried_what_memory_was_asked_for(
    channels: tuple[str, ...], verdict: str
) -> None:
    """A look saw the parent before it gave one end to its child, or the child after it had closed it."""
    made = on_one(lambda one: one.tcp("a", "a", MB))
    host = made["a"]
    host.processes = [replace(one, rank=None) for one in host.processes]
    host.processes[0] = replace(host.processes[0], channels=channels)
    assert judged(made, "shm").verdict == verdict
