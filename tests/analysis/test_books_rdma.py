"""RDMA in software and the books: which device it was, what was sent again, and whose it was."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pytest
from tests.analysis.book_cases import HARD_ROCE, MB, SECOND, TCP, Step, hard, scene, sends, soft, tcp, wire_up
from tests.analysis.hand_watches import HARD, SOFT, Scene

from fabriscope.analysis.proof.books import balance
from fabriscope.analysis.proof.wire import (
    JOBS_QUEUE_PAIRS,
    MOST_UNACKNOWLEDGED,
    OLD_QUEUE_PAIRS,
    OTHERS_QUEUE_PAIRS,
    VERBS_NUMBER,
)
from fabriscope.model.counters import PROVED, REFUTED, UNDECIDED, Expectation, Watch

ROCE, IWARP = Expectation("roce", ""), Expectation("iwarp", "")
SIW, SECOND_SOFT = "siw1/1", "rxe1/1"
OVER = {SOFT: "eth0", SIW: "eth1", SECOND_SOFT: "eth1"}


def watches(made: Scene, *, knows_siw: bool = True) -> Mapping[str, Watch]:
    """Return the watches of hosts with rxe0 over eth0, and siw1 and rxe1 over eth1."""
    over = {port: name for port, name in OVER.items() if knows_siw or port != SIW}
    return {name: replace(watch, rdma_interfaces=over) for name, watch in made.watches().items()}


def siw(size: int) -> Step:
    """Let siw move so much: connections that the kernel holds itself."""

    def step(one: Scene) -> None:
        one.opens()
        for host in one.hosts.values():
            host.rdma.setdefault(SIW, {})
        one.tcp("a", "b", size, size // 10, "eth1", role="")

    return step


def queue_pairs(port: str, jobs: int, others: int, old: int = 0) -> Step:
    """Let the kernel tell who has queue pairs."""

    def step(one: Scene) -> None:
        for host in one.hosts.values():
            host.rdma.setdefault(port, {"hw.sent_pkts": 0, "hw.rcvd_pkts": 0})
            host.rdma[port] |= {JOBS_QUEUE_PAIRS: jobs, OTHERS_QUEUE_PAIRS: others, OLD_QUEUE_PAIRS: old}

    return step


def lossy(late: int, twice: int = 0) -> Step:
    """Let b receive packets that it did not take: `late` times some came after a lost one, and others twice."""

    def step(one: Scene) -> None:
        one["b"].rdma[SOFT] |= {"hw.out_of_seq_request": late, "hw.duplicate_request": twice}

    return step


def from_zero(made: Scene) -> Mapping[str, Watch]:
    """Return the watches with counters that begin at 0, so that what is no count of bytes is what it says."""
    found = {name: host.watch(start=0) for name, host in made.hosts.items()}
    return {name: replace(watch, rdma_interfaces=OVER) for name, watch in found.items()}


def test_roce_is_no_iwarp_though_both_have_devices() -> None:
    made = scene(soft(20 * MB), siw(0), wire_up)
    books = balance(watches(made), IWARP)
    assert (books.verdict, books.carried_by) == (REFUTED, f"RDMA over {SOFT}")


@pytest.mark.parametrize("knows_siw", [True, False])
def test_what_siw_carried_is_iwarp_with_and_without_a_known_payload(knows_siw: bool) -> None:
    made = watches(scene(siw(20 * MB), wire_up), knows_siw=knows_siw)
    for asked in (IWARP, sends(IWARP, 20 * MB, 2 * MB)):
        books = balance(made, asked)
        assert (books.verdict, books.carried_by) == (PROVED, f"iwarp over {SIW}"), books.because
        assert [one.sent_bytes for one in books.carriers if one.kind == "iwarp" and one.host == "a"] == [20 * MB]


def test_what_siw_carried_is_no_roce() -> None:
    made = scene(siw(20 * MB), wire_up)
    made.idle_port()
    books = balance(watches(made), ROCE)
    assert (books.verdict, books.carried_by) == (REFUTED, "iwarp over eth1")


def test_any_device_is_named_by_what_it_was() -> None:
    books = balance(watches(scene(soft(20 * MB), wire_up)), ROCE)
    assert (books.verdict, books.carried_by) == (PROVED, f"roce over {SOFT}")
    assert books.because.endswith(f"carried by roce over {SOFT}")


def test_packets_that_were_sent_again_are_told_apart() -> None:
    late, twice = 20, 30
    again = 1024 * (MOST_UNACKNOWLEDGED * late + twice)
    made = scene(soft(20 * MB), lossy(late, twice), wire_up)
    books = balance(from_zero(made), ROCE)
    assert books.verdict == PROVED
    assert f"up to {again / MB:.2f} MB of what roce over {SOFT} carried may have been sent again" in books.because
    assert "again" not in balance(from_zero(scene(soft(20 * MB), wire_up)), ROCE).because


def test_what_was_sent_again_makes_nothing_else_little() -> None:
    steps: tuple[Step, ...] = (soft(20 * MB), tcp(500_000, 0))
    assert balance(from_zero(scene(*steps)), ROCE).verdict == PROVED
    books = balance(from_zero(scene(*steps, lossy(150))), ROCE)
    assert (books.verdict, "sent again" in books.because) == (UNDECIDED, True)


SMALL_PACKETS = 4000


def by_a_card_without_link_headers() -> Scene:
    """Return small packets of Soft RoCE both ways, whose link header the card does not count as they come in."""
    made = Scene()
    made.opens()
    for source, target in (("a", "b"), ("b", "a")):
        made.soft_roce(source, target, SMALL_PACKETS * 64, mtu=64)
    for host in made.hosts.values():
        host.interfaces["eth0"]["rx_bytes"] -= 14 * SMALL_PACKETS
        host.protocols |= {"IpExt.InOctets": host.interfaces["eth0"]["rx_bytes"], "Ip.InReceives": SMALL_PACKETS}
    return made


def test_small_packets_count_though_the_card_leaves_their_link_header_out() -> None:
    books = balance(from_zero(by_a_card_without_link_headers()), sends(ROCE, SMALL_PACKETS * 64))
    assert (books.verdict, books.closure_error) == (PROVED, 0)
    assert {one.received_bytes for one in books.carriers} == {SMALL_PACKETS * 64}


@pytest.mark.parametrize("pauses", [100, 2200, 9000])
def test_frames_that_ask_for_a_pause_hide_no_payload(pauses: int) -> None:
    """IP never sees them; the card counts them, less their link header."""
    made = by_a_card_without_link_headers()
    for host in made.hosts.values():
        host.count("eth0", "rx", 46 * pauses, pauses)
    books = balance(from_zero(made), sends(ROCE, SMALL_PACKETS * 64))
    assert books.verdict == PROVED, books.because


def test_a_port_that_others_use_too_decides_nothing() -> None:
    made = scene(soft(20 * MB), queue_pairs(SOFT, 1, 0), wire_up)
    assert balance(from_zero(made), ROCE).verdict == PROVED
    shared = scene(soft(20 * MB), queue_pairs(SOFT, 1, 2), wire_up)
    books = balance(from_zero(shared), ROCE)
    assert (books.verdict, f"use {SOFT} too" in books.because) == (UNDECIDED, True)
    assert balance(from_zero(shared), TCP).verdict == UNDECIDED


def test_queue_pairs_that_were_there_before_and_stood_still_are_no_doubt() -> None:
    made = scene(soft(20 * MB), queue_pairs(SOFT, 1, 0, 2), wire_up)
    assert balance(from_zero(made), ROCE).verdict == PROVED
    theirs = scene(queue_pairs(SOFT, 0, 0, 2), tcp(1 * MB))
    theirs.soft_roce("a", "b", 20 * MB)
    assert balance(from_zero(theirs), TCP).verdict == PROVED


def test_a_device_that_the_job_never_had_open_is_theirs_too() -> None:
    made = scene(soft(20 * MB), queue_pairs(SOFT, 0, 2), queue_pairs(SECOND_SOFT, 0, 0), tcp(20 * MB, over="eth1"))
    assert balance(from_zero(made), SECOND).verdict == UNDECIDED
    for host in made.hosts.values():
        host.rdma[SOFT][VERBS_NUMBER], host.rdma[SECOND_SOFT][VERBS_NUMBER] = 1, 0
    assert balance(from_zero(made), SECOND).verdict == PROVED


@pytest.mark.parametrize("whose", [(0, 2, 0), (0, 0, 2)])
def test_a_port_that_only_others_use_is_theirs(whose: tuple[int, int, int]) -> None:
    made = scene(soft(20 * MB), queue_pairs(SOFT, *whose), queue_pairs(SECOND_SOFT, 1, 0), tcp(20 * MB, over="eth1"))
    assert balance(from_zero(made), SECOND).verdict == PROVED
    assert balance(from_zero(made), ROCE).verdict == REFUTED


def test_what_others_moved_while_idle_makes_a_port_theirs_too() -> None:
    made = scene(soft(20 * MB), wire_up)
    idle = scene(soft(2 * MB))
    books = balance(watches(made), ROCE, {name: host.watch(seconds=10) for name, host in idle.hosts.items()})
    assert (books.verdict, f"use {SOFT} too" in books.because) == (UNDECIDED, True)


def test_a_port_of_those_who_took_turns_is_theirs_unless_the_job_used_it_too() -> None:
    shared = replace(HARD_ROCE, others_ports=frozenset({("a", SOFT), ("b", SOFT)}))

    def measured(of_soft: int, of_hard: int, here: int) -> Scene:
        made = scene(hard(of_hard), queue_pairs(SOFT, here, 0), queue_pairs(HARD, 1, 0), wire_up)
        for source, target in ("ab", "ba"):
            made.soft_roce(source, target, of_soft)
        return made

    def verdict(one: Scene, asked: Expectation = shared) -> str:
        return balance(from_zero(one), asked).verdict

    beside = measured(20 * MB, 20 * MB, 0)
    assert (verdict(beside, HARD_ROCE), verdict(beside)) == (REFUTED, PROVED)
    assert verdict(measured(20 * MB, 20 * MB, 1)) == REFUTED
    assert verdict(measured(40 * MB, 0, 1)) == REFUTED
    assert verdict(measured(40 * MB, 0, 0)) == UNDECIDED


@pytest.mark.parametrize("asked", [ROCE, TCP])
def test_what_went_by_a_device_that_nobody_was_seen_to_use_has_no_owner(asked: Expectation) -> None:
    made = scene(queue_pairs(SOFT, 0, 0), tcp(1 * MB))
    made.soft_roce("a", "b", 20 * MB)
    books = balance(from_zero(made), asked)
    assert (books.verdict, f"on {SOFT} of a" in books.because) == (UNDECIDED, True), books.because
    seen = scene(queue_pairs(SOFT, 1, 0), tcp(1 * MB))
    seen.soft_roce("a", "b", 20 * MB)
    assert balance(from_zero(seen), asked).verdict == REFUTED
