"""Which transport carried the bytes: a table of cases, and properties that hold for any traffic."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.analysis.book_cases import CASES, HARD_ROCE, MB, ROCE, SECOND, TCP, Case, hard, scene, sends, soft, tcp
from tests.analysis.hand_watches import HEADERS, Scene

from fabriscope.analysis.proof.books import balance
from fabriscope.analysis.proof.evidence import ELSEWHERE_SHARE
from fabriscope.model.counters import BESIDE, OTHER, PROVED, REFUTED, UNDECIDED, Expectation, Watch


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_the_verdict_on(case: Case) -> None:
    books = balance(case.happened.watches(), case.asked)
    assert books.verdict == case.verdict, books.because
    assert case.carried_by in ("", books.carried_by), books
    assert case.says in books.because
    if books.verdict != UNDECIDED and case.happened["a"].interfaces["eth0"]["tx_bytes"] > 10**6:
        assert books.closure_error is not None
        assert books.closure_error < 0.02 or "weak" in case.name


def spoilt(name: str) -> tuple[Mapping[str, Watch], Expectation]:
    watches = dict(scene(tcp(100 * MB)).watches())
    one = watches["b"]
    first, last = one.readings
    if name == "missing":
        del watches["b"]
    elif name == "once":
        watches["b"] = replace(one, readings=(first,))
    elif name == "problem":
        watches["b"] = replace(one, problems={"connections": "sock_diag: not permitted"})
    elif name == "harmless":
        watches["b"] = replace(one, problems={"ethtool -S": "40 interfaces; the first 16 were asked"})
    elif name == "went back":
        back = {**last.interfaces, "eth0": dict.fromkeys(last.interfaces["eth0"], 7)}
        watches["b"] = replace(one, readings=(first, replace(last, interfaces=back)))
    elif name == "went away":
        gone = {key: value for key, value in last.interfaces.items() if key != "eth0"}
        watches["b"] = replace(one, readings=(first, replace(last, interfaces=gone)))
    return watches, sends(TCP, 100 * MB)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("missing", "b was not watched"), ("once", "not read both before and after"), ("problem", "sock_diag"),
        ("went back", "eth0 of b"), ("went away", "it went away"),
    ],
)  # fmt: skip
def test_counters_that_cannot_be_believed_decide_nothing(name: str, words: str) -> None:
    watches, asked = spoilt(name)
    books = balance(watches, asked)
    assert books.verdict == UNDECIDED
    assert words in books.because


def test_what_no_verdict_rests_on_may_be_missing() -> None:
    watches, asked = spoilt("harmless")
    assert balance(watches, asked).verdict == PROVED


def test_the_idle_background_is_taken_off() -> None:
    busy, quiet = scene(tcp(1 * MB)), scene()
    busy.noise(800_000, packets=10)
    quiet.noise(80_000, packets=1)
    without = balance(busy.watches(10), sends(TCP, 1 * MB))
    books = balance(busy.watches(10), sends(TCP, 1 * MB), quiet.watches(1))
    assert without.closure_error is not None
    assert without.closure_error > 0.3
    assert books.closure_error is not None
    assert books.closure_error < 0.01


def read_early(made: Scene, size: int) -> None:
    """Let the interfaces be read before so much had gone from a to b that the connections count."""
    made["a"].count("eth0", "tx", -size, 0)
    made["b"].count("eth0", "rx", -size, 0)


def test_what_goes_on_while_counters_are_read_is_no_error() -> None:
    made = scene(tcp(1 * MB), lambda one: one.tcp("a", "b", 500 * MB, role=OTHER, is_open=True))
    read_early(made, 4 * MB)
    books = balance(made.watches(10), sends(TCP, 1 * MB))
    assert books.verdict == PROVED
    assert books.closure_error is not None
    assert books.closure_error < 0.01
    read_early(made, 40 * MB)
    worse = balance(made.watches(10), sends(TCP, 1 * MB)).closure_error
    assert worse is not None
    assert worse > 0.05


def test_what_only_sends_tells_nobody_what_is_missing() -> None:
    """Options that tell what is missing stand in answers: a lossy sender's packets have no room for 1 MB."""
    made = scene(tcp(4 * MB), lambda one: one.tcp("a", "b", 60 * MB, over="eth1", role=OTHER, again=1 * MB))
    made.noise(1 * MB, over="eth1", packets=0)
    books = balance(made.watches(), TCP)
    assert books.verdict == UNDECIDED
    assert "1.00 MB on eth1 of a" in books.because


def test_a_program_without_a_library_tells_no_addresses_before_it_begins() -> None:
    def alone(one: Scene) -> None:
        for host in one.hosts.values():
            host.processes = [replace(process, rank=None) for process in host.processes]

    little = scene(tcp(1 * MB), tcp(50_000, over="eth1"))
    assert balance(little.watches(), TCP).verdict == UNDECIDED
    alone(little)
    books = balance(little.watches(), TCP)
    assert books.verdict == REFUTED
    assert "95.2 % went over tcp over eth0" in books.because


def test_what_loopback_sent_again_came_in_again() -> None:
    books = balance(
        scene(lambda one: one.tcp("a", "a", 1 * MB, again=MB // 4), hosts=("a",)).watches(),
        replace(TCP, interfaces={"a": "eth0"}),
    )
    assert books.closure_error is not None
    assert books.closure_error < 0.01


@pytest.mark.parametrize(("again", "is_closed"), [(0, False), (50_000, True)])
def test_acknowledgements_over_a_lossy_wire_say_what_is_missing(again: int, is_closed: bool) -> None:
    made = scene(lambda one: one.tcp("a", "b", 200_000, 20_000, again=again))
    made.noise(300, packets=0)  # of the 14 packets that went back each carries 21 bytes more than stands in the books
    error = balance(made.watches(), sends(TCP, 200_000, 20_000)).closure_error
    assert error is not None
    assert (error < 0.01) == is_closed


def test_the_carriers_are_told_by_host() -> None:
    books = balance(scene(tcp(60 * MB, 10 * MB), tcp(40 * MB, 0, "eth1")).watches(), TCP)
    told = {(one.host, one.kind, one.name): (one.sent_bytes, one.received_bytes) for one in books.carriers}
    assert told == {
        ("a", "tcp", "eth0"): (60 * MB, 10 * MB), ("b", "tcp", "eth0"): (10 * MB, 60 * MB),
        ("a", "tcp", "eth1"): (40 * MB, 0), ("b", "tcp", "eth1"): (0, 40 * MB),
    }  # fmt: skip


sizes = st.integers(min_value=0, max_value=200 * MB)


@settings(max_examples=150)
@given(
    payload=st.integers(min_value=1, max_value=200 * MB), share=st.floats(min_value=0, max_value=1),
    overhead=st.floats(min_value=1, max_value=1.05), other=sizes, noise=st.integers(min_value=0, max_value=2 * MB),
    asked_second=st.booleans(), knows=st.booleans(), segment=st.sampled_from((1, 60, 1448, 65_160)),
)  # fmt: skip
def test_no_traffic_makes_it_say_what_is_not_true(
    payload: int, share: float, overhead: float, other: int, noise: int, asked_second: bool, knows: bool, segment: int
) -> None:
    """Payload goes over eth0 and eth1 in any shares, beside any traffic of others."""
    first = round(payload * share)
    segment = max(segment, payload // 10**6)
    made = scene()
    made.tcp("a", "b", round(first * overhead), round(first * overhead), segment=segment)
    made.tcp(
        "a", "b", round((payload - first) * overhead), round((payload - first) * overhead), "eth1", segment=segment
    )
    made.others(other)
    made.noise(noise)
    asked = SECOND if asked_second else TCP
    books = balance(made.watches(), sends(asked, payload) if knows else asked)
    truly = (payload - first if asked_second else first) / payload
    if books.verdict == PROVED:
        assert truly >= 1 - ELSEWHERE_SHARE - 0.05
    if books.verdict == REFUTED:
        assert truly < 1
    if noise < 1000 and payload > 10 * MB and truly in (0, 1):
        assert books.verdict == (PROVED if truly else REFUTED)


@settings(max_examples=100)
@given(
    payload=st.integers(min_value=200, max_value=200 * MB), moved=st.floats(min_value=0, max_value=1.1),
    by_tcp=st.floats(min_value=0, max_value=1.1), shared=st.booleans(), asks_roce=st.booleans(), is_soft=st.booleans(),
)  # fmt: skip
def test_rdma_and_tcp_are_never_taken_for_each_other(
    payload: int, moved: float, by_tcp: float, shared: bool, asks_roce: bool, is_soft: bool
) -> None:
    made = scene((soft if is_soft else hard)(round(payload * moved)), tcp(round(payload * by_tcp)), one_kernel=shared)
    if shared:
        made.shares()
    roce = ROCE if is_soft else HARD_ROCE
    books = balance(made.watches(), sends(roce if asks_roce else TCP, payload))
    mine, others = (moved, by_tcp) if asks_roce else (by_tcp, moved)
    if books.verdict == PROVED:
        assert mine >= 0.97
    if books.verdict == REFUTED:
        assert mine < 0.99
        assert others > 0.01 or shared


@pytest.mark.parametrize(("opened", "verdict"), [(3_000, PROVED), (0, UNDECIDED)])
def test_what_opens_a_connection_has_longer_options(opened: int, verdict: str) -> None:
    """3,000 connections that are refused leave packets of eight bytes more each, and no connection."""
    made = scene(tcp(MB, 0))
    for name in ("a", "b"):
        made[name].protocols |= {"Tcp.ActiveOpens": opened, "Tcp.PassiveOpens": 0}
        for way in ("tx", "rx"):
            made[name].count("eth1", way, 3_000 * (HEADERS + 8), 3_000)
    books = balance(made.watches(), TCP)
    assert books.verdict == verdict, books.because


def test_what_leaves_the_host_refutes_memory_that_nobody_saw() -> None:
    made = scene(hosts=("a", "b"))
    made["b"].processes = []
    made["a"].processes = [replace(made["a"].processes[0], pid=pid, rank=pid) for pid in (1, 2)]
    made.tcp("a", "b", 20 * MB, role=BESIDE, there=OTHER)
    books = balance(made.watches(), Expectation("shm", ""))
    assert books.verdict == REFUTED, books.because
    assert "the job also moved 20.0 MB by tcp over eth0" in books.because
