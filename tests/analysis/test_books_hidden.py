"""What the account of the wire could hide: small datagrams, options, others' connections, holders that nobody saw."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pytest
from tests.analysis.book_cases import HARD_ROCE, MB, hard, scene, sends, tcp, wire_up
from tests.analysis.hand_watches import Scene
from tests.analysis.test_books_datagrams import expected, seen

from fabriscope.analysis.proof.books import balance
from fabriscope.model.counters import OTHER, PROVED, RANK, REFUTED, UNDECIDED, Books, Connection, Watch


def judged(made: Scene, asked: str, idle: Mapping[str, Watch] | None = None) -> Books:
    watches = seen(made)
    return balance(watches, expected(asked, watches), idle or {})


@pytest.mark.parametrize("each", [4, 12, 20, 24, 48])
@pytest.mark.parametrize("others", [0, 30 * MB])
def test_small_datagrams_are_no_headers(each: int, others: int) -> None:
    made = scene(tcp(MB, 0, over="eth1"))
    if others:
        made.others(others)
    made.udp("a", "b", 50_000 * each, "eth0", each)
    made.has_udp()
    books = judged(made, "eth1")
    assert books.verdict == REFUTED, books.because
    told = {(one.host, one.kind, one.name): one.sent_bytes for one in books.carriers}
    assert told["a", "udp", "eth0"] == pytest.approx(50_000 * each, rel=0.02)


@pytest.mark.parametrize(
    ("size", "count", "each"), [(30 * MB, 30_000, 17), (18 * MB, 20_000, 17), (20 * MB, 20_000, 1)]
)
def test_small_datagrams_are_not_counted_too_high(size: int, count: int, each: int) -> None:
    made = scene(tcp(size, 0, over="eth1"))
    made.udp("a", "b", count * each, "eth0", each)
    made.has_udp()
    books = judged(made, "eth1")
    assert books.verdict == PROVED, books.because


def test_segments_that_a_card_cuts_later_leave_room_for_datagrams() -> None:
    made = scene(tcp(20 * MB, 0))
    for host, way in (("a", "tx"), ("b", "rx")):  # packets of 64 KiB
        made[host].interfaces["eth0"][f"{way}_packets"] -= 20 * MB // 1448 - 20 * MB // 65_536
        made[host].interfaces["eth0"][f"{way}_bytes"] -= (20 * MB // 1448 - 20 * MB // 65_536) * 66
    made.udp("a", "b", MB, "eth0", 20)
    made.has_udp()
    books = judged(made, "udp:eth0")
    assert books.verdict == REFUTED
    told = {(one.host, one.kind): one.sent_bytes for one in books.carriers}
    assert told["a", "udp"] == pytest.approx(MB, rel=0.05)


def test_options_of_ip_are_not_taken_for_one_datagram() -> None:
    made = scene(tcp(80_000, 0, over="eth1", segment=4))
    for host, way in (("a", "tx"), ("b", "rx")):
        made[host].count("eth1", way, 40 * 20_000, 0)
    made.udp("a", "b", 10, "eth1", 10)
    made.has_udp()
    books = judged(made, "tcp:eth1")
    assert books.verdict == UNDECIDED, books.because


def small_connections(count: int, size: int, role: str = "") -> Scene:
    """Let a job download 20 MB over eth1, and as many small connections go by eth0, all from a host nobody watches."""
    made = Scene("a")
    host = made["a"]
    host.processes = [replace(host.processes[0], role=RANK, rank=None)]
    for number in range(count + 1):
        over, bytes_in = ("eth1", 20 * MB) if number == count else ("eth0", size)
        there, holder = f"10.{over[-1]}.0.9", RANK if number == count else role
        packets = -(-bytes_in // 1448)
        ends = (host.address(over), 41_000 + number, there, 80)
        host.connections.append(Connection(*ends, 80, bytes_in, 1, packets, role=holder, is_closed=True))
        host.count(over, "rx", bytes_in + 66 * packets, packets)
        host.count(over, "tx", 80 + 66, 1)
    return made


def test_connections_of_which_nobody_saw_the_holder_prove_nothing() -> None:
    watches = small_connections(100, 30_000).watches()
    books = balance(watches, expected("eth1", watches))
    assert books.verdict == UNDECIDED
    assert books.because == "tcp over eth0 carried 3.01 MB, it is not known for whom"
    few = small_connections(10, 30_000).watches()
    assert balance(few, expected("eth1", few)).verdict == PROVED
    others = small_connections(100, 30_000, OTHER).watches()
    assert balance(others, expected("eth1", others)).verdict == PROVED


def test_a_job_of_which_no_holder_was_seen_has_not_sent_nothing() -> None:
    made = small_connections(100, 30_000)
    made["a"].connections.pop()
    watches = made.watches()
    books = balance(watches, expected("eth0", watches))
    assert books.verdict == UNDECIDED
    assert "3.01 MB went over connections that nobody was seen to hold (tcp over eth0)" in books.because


def test_what_others_send_by_connections_is_no_background_of_datagrams() -> None:
    """The idle host's bytes were a connection's, and so are those beside the job: neither explains datagrams."""
    idle = scene()
    idle.tcp("a", "b", 2 * MB, 0, "eth0", OTHER)
    made = scene(tcp(5 * MB, 0, over="eth1"))
    made.tcp("a", "b", 10 * MB, 0, "eth0", OTHER)
    made.udp("a", "b", 1_400_000, "eth0", 1400)
    made.has_udp()
    books = judged(made, "eth1", idle.watches(seconds=2))
    assert books.verdict == REFUTED, books.because


def test_datagrams_may_hide_beside_a_connection_that_is_always_moving() -> None:
    made = scene(tcp(5 * MB, 0, over="eth1"))
    made.tcp("a", "b", 200 * MB, 0, "eth0", OTHER, was_there=MB, is_open=True)
    made.udp("a", "b", 1_400_000, "eth0", 1400)
    made.has_udp()
    books = judged(made, "eth1")
    assert books.verdict == UNDECIDED, books.because
    assert "up to 1.50 MB" in books.because
    asked = judged(made, "eth0")  # there it does no harm
    assert asked.verdict == REFUTED


@pytest.mark.parametrize("kind", ["udp", "raw"])
@pytest.mark.parametrize("one_kernel", [False, True])
def test_a_payload_that_has_no_room_in_what_was_asked_for_went_elsewhere(kind: str, one_kernel: bool) -> None:
    """Its bulk goes by what no socket counts, over another interface: that is no memory, whatever hosts share."""
    made = scene(tcp(MB, 0, over="eth1"), one_kernel=one_kernel)
    made.udp("a", "b", 40 * MB)
    if kind == "raw":
        for host in ("a", "b"):
            made[host].protocols.update({"Udp.OutDatagrams": 0, "Udp.InDatagrams": 0})
    for one in made.hosts.values():
        one.processes[:] = [replace(process, datagrams=(kind,)) for process in one.processes]
    watches = seen(made)
    asked = replace(expected("eth1", watches), transport="tcp", payload_bytes={("a", "b"): 41 * MB})
    books = balance(watches, asked, {})
    assert books.verdict == REFUTED, books.because
    assert books.carried_by == {"udp": "tcp over eth1 and udp over eth0", "raw": "tcp over eth1"}[kind]
    fits = balance(watches, replace(asked, payload_bytes={("a", "b"): MB}), {})
    assert fits.verdict == PROVED, fits.because


def test_what_a_card_sends_past_its_interface_is_not_missed_there() -> None:
    """Half of the payload by a device's own counters, and others are busy on another interface."""
    made = scene(hard(50 * MB), wire_up)
    made.noise(200 * MB, "eth1", 150_000)
    books = balance(made.watches(), sends(HARD_ROCE, 100 * MB))
    assert books.verdict == UNDECIDED, books.because
    assert "50.0 % of 200 MB found on" in books.because
