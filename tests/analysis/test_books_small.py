"""Small things: what has no owner, what is left to be sent, what no address places, and headers to the byte."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.analysis.book_cases import MB, scene
from tests.analysis.hand_watches import SEGMENT, Scene
from tests.analysis.programs import judged, program, sent, stamped

from fabriscope.analysis.proof.books import balance
from fabriscope.analysis.proof.expected import meant
from fabriscope.model.counters import OTHER, PROVED, REFUTED, UNDECIDED, UNHELD, Watch


@pytest.mark.parametrize("many", [60_000, 12_000, 300_000])
def test_nine_kilobytes_of_datagrams_elsewhere_count_in_a_small_job(many: int) -> None:
    made = program(lambda one: one.tcp("a", "b", many, over="eth1"))
    made.udp("a", "b", 9_000)
    made.has_udp()
    books = judged(made, "eth1")
    assert books.verdict == UNDECIDED, books.because
    assert sent(books)["udp", "eth0"] == pytest.approx(9_000, rel=0.01)


def test_in_a_large_job_they_are_nothing() -> None:
    made = program(lambda one: one.tcp("a", "b", MB, over="eth1"))
    made.udp("a", "b", 9_000)
    made.has_udp()
    assert judged(made, "eth1").verdict == PROVED


@pytest.mark.parametrize("size", [100, 42])
def test_questions_for_hardware_addresses_are_no_doubt_of_a_small_job(size: int) -> None:
    made = program(lambda one: one.tcp("a", "b", 2_000, over="eth1"))
    made.noise(3 * size, "eth0", packets=3)
    assert judged(made, "eth1").verdict == PROVED


@pytest.mark.parametrize("interfaces", [("eth0",), ("eth0", "eth2", "eth3")])
def test_what_nobody_owns_is_added_up_over_interfaces(interfaces: tuple[str, ...]) -> None:
    """400 kB beside 5 kB on one interface, and on three."""
    made = program(lambda one: one.tcp("a", "b", 400_000, over="eth1"))
    for host in made.hosts.values():
        for name in interfaces:
            host.interfaces.setdefault(name, dict.fromkeys(host.interfaces["eth0"], 0))
    for name in interfaces:
        made.noise(2_700, name, packets=3)
    books = judged(made, "eth1")
    assert books.verdict == (UNDECIDED if len(interfaces) > 1 else PROVED), books.because
    assert len(interfaces) == 1 or "have no known owner" in books.because


def test_what_nobody_owns_is_added_to_what_was_found_elsewhere() -> None:
    """1.5 % by TCP over eth0, and 1.8 % without an owner on eth1, where TCP was asked for."""
    made = program(lambda one: one.tcp("a", "b", 3_200_000, over="eth1"), lambda one: one.tcp("a", "b", 50_000))
    assert judged(made, "tcp:eth1").verdict == PROVED
    made.noise(60_000, "eth1", packets=42)
    books = judged(made, "tcp:eth1")
    assert books.verdict == UNDECIDED, books.because
    assert "50.0 kB went elsewhere" in books.because


@pytest.mark.parametrize("others", [0, 500 * MB])
def test_beside_others_connections_readings_differ_by_as_much(others: int) -> None:
    made = program(lambda one: one.tcp("a", "b", 10 * MB, over="eth1"))
    if others:
        made.others(others)
    made.noise(190_000, "eth0", packets=130)
    assert judged(made, "eth1").verdict == (PROVED if others else UNDECIDED)


@pytest.mark.parametrize("over", ["eth0", "eth1"])
def test_where_nothing_was_asked_for_datagrams_are_told_like_connections(over: str) -> None:
    made = program(lambda one: one.tcp("a", "b", 5 * MB, over="eth1"))
    made.udp("a", "b", MB, over)
    made.has_udp()
    made.noise(96, over, packets=1)
    books = judged(made, "")
    assert books.verdict == PROVED, books.because
    assert sent(books)["udp", over] == pytest.approx(MB, rel=0.001)


def test_a_socket_that_nobody_saw_has_its_datagrams_told() -> None:
    made = program(lambda one: one.tcp("a", "b", 5 * MB, over="eth1"))
    made.udp("a", "b", 400_000)
    assert judged(made, "eth1").verdict == UNDECIDED
    books = judged(made, "eth1", lambda watch: replace(watch, has_datagrams=True))
    assert books.verdict == REFUTED, books.because
    assert sent(books)["udp", "eth0"] == pytest.approx(400_000, rel=0.001)


def test_few_datagrams_of_a_host_may_all_have_gone_by_one_interface() -> None:
    """72 of them: connections hide where they went, whose segments were counted as fewer packets."""
    made = program(lambda one: one.tcp("a", "b", 10 * MB, over="eth1"), lambda one: one.tcp("a", "b", 900_000))
    for name, way in (("a", "tx"), ("b", "rx")):
        for interface, payload in (("eth0", 900_000), ("eth1", 10 * MB)):
            less = -(-payload // SEGMENT) - payload // 15_000
            made[name].count(interface, way, -less * 66, -less)
    made.udp("a", "b", 100_000)
    made.has_udp()
    books = judged(made, "eth1")
    assert books.verdict == REFUTED
    assert sent(books)["udp", "eth0"] == pytest.approx(100_000, rel=0.05)


@pytest.mark.parametrize(("asked", "verdict"), [("tcp", PROVED), ("", PROVED), ("eth1", REFUTED), ("udp", REFUTED)])
@pytest.mark.parametrize("share", [0.5, 0.95])
def test_connections_of_no_interfaces_address_are_told_by_the_wire(asked: str, verdict: str, share: float) -> None:
    """Both ends have addresses on loopback, and two routes carry them; a socket of UDP sends nothing."""
    made = program()
    made.has_udp()
    for name, share_of in (("eth0", 1 - share), ("eth1", share)):
        made.tcp("a", "b", round(15 * MB * share_of), over=name)
    for number, host in enumerate(made.hosts.values(), start=1):
        host.connections = [
            replace(one, local_address=f"172.16.0.{number}", remote_address=f"172.16.0.{3 - number}")
            for one in host.connections
        ]

    def on_loopback(watch: Watch) -> Watch:
        own = f"172.16.0.{1 if watch.host == 'a' else 2}"
        return replace(watch, addresses={**watch.addresses, "lo": ("127.0.0.1", own)})

    books = judged(made, asked, on_loopback)
    assert books.verdict == verdict, books.because
    assert not any(kind == "udp" for kind, _ in sent(books))
    assert sent(books)["tcp", "eth1"] == pytest.approx(15 * MB * share, rel=0.001)
    if asked == "eth1":
        assert books.found_share == pytest.approx(share, abs=0.001)


@pytest.mark.parametrize(("unsent", "verdict"), [(0, PROVED), (40_000, PROVED), (MB, UNDECIDED)])
def test_what_is_left_to_be_sent_may_go_elsewhere(unsent: int, verdict: str) -> None:
    made = program(lambda one: one.tcp("a", "b", 3 * MB, over="eth1"))
    books = judged(made, "eth1", lambda watch: replace(watch, unsent_bytes=unsent if watch.host == "a" else 0))
    assert books.verdict == verdict, books.because
    assert verdict == PROVED or "still unsent" in books.because


@pytest.mark.parametrize(("unsent", "verdict"), [(MB, REFUTED), (100 * MB, UNDECIDED)])
def test_it_may_be_so_much_that_what_was_found_elsewhere_is_little(unsent: int, verdict: str) -> None:
    made = program(lambda one: one.tcp("a", "b", 3 * MB, over="eth1"), lambda one: one.tcp("a", "b", MB))
    books = judged(made, "eth1", lambda watch: replace(watch, unsent_bytes=unsent if watch.host == "a" else 0))
    assert books.verdict == verdict, books.because


@pytest.mark.parametrize(("forwarded", "verdict"), [(0, REFUTED), (4_000, UNDECIDED), (80, UNDECIDED)])
def test_what_a_host_passes_on_for_others_may_be_what_looks_like_the_jobs_datagrams(
    forwarded: int, verdict: str
) -> None:
    made = program(lambda one: one.tcp("a", "b", 5 * MB, over="eth1"))
    made.has_udp()
    made.udp("a", "b", 4 * MB)
    made["a"].protocols["Ip.ForwDatagrams"] = forwarded
    assert judged(made, "eth1").verdict == verdict


def test_one_question_by_udp_does_not_make_all_that_is_passed_on_the_jobs() -> None:
    made = program(lambda one: one.tcp("a", "b", 5 * MB, over="eth1"))
    made.has_udp()
    made["a"].protocols |= {"Udp.OutDatagrams": 1, "Ip.ForwDatagrams": 4_000}
    made["a"].count("eth0", "tx", 4_000 * 1_042, 4_000)
    books = judged(made, "eth1")
    assert books.verdict == UNDECIDED
    assert ("udp", "eth0") not in sent(books)


@pytest.mark.parametrize("has_raw", [True, False])
def test_what_the_idle_host_moved_may_be_a_raw_sockets_of_the_job(has_raw: bool) -> None:
    """Somebody's packets, 130 kB a second, fill the time in which the host is idle."""
    made = program(lambda one: one.tcp("a", "b", 5 * MB, over="eth1"))
    made.noise(1_300_000, "eth0", packets=1_300)
    if has_raw:
        made["a"].processes = [replace(one, datagrams=("raw",)) for one in made["a"].processes]
    quiet = scene()
    quiet.noise(130_000, "eth0", packets=130)
    watches = {name: replace(watch, other_datagrams=()) for name, watch in made.watches(10).items()}
    books = balance(watches, meant("eth1", watches)[0], quiet.watches(1))
    assert books.verdict == (UNDECIDED if has_raw else PROVED), books.because


@pytest.mark.parametrize("is_the_jobs", [True, False])
def test_a_connection_that_a_host_translates_is_counted_once(is_the_jobs: bool) -> None:
    """70 kB are asked of b's eth1 and sent to its eth0, from a's: 1.2 % of 6 MB, counted twice 2.3 %."""
    made = program(lambda one: one.tcp("a", "b", 6 * MB, over="eth1"))
    made.tcp("a", "b", 70_000, 2 if is_the_jobs else 0, role=UNHELD if not is_the_jobs else "rank")
    asked = made["a"].connections[-1]
    made["a"].connections[-1] = replace(asked, local_address="10.1.0.1", remote_address="10.1.0.2")
    made["a"].connections = [stamped(one, has_stamps=True) for one in made["a"].connections]
    books = judged(made, "eth1")
    assert books.verdict == PROVED, books.because
    assert books.found_share == pytest.approx(6 / 6.07, abs=0.0005)


def test_of_two_that_are_as_large_the_one_goes_elsewhere_whose_other_end_is_not_known() -> None:
    made = program(lambda one: one.tcp("a", "b", 4 * MB), lambda one: one.tcp("a", "b", 4 * MB, over="eth1"))
    asked = made["a"].connections[0]
    made["a"].connections[0] = replace(asked, local_address="10.1.0.1", remote_address="10.1.0.2")
    books = judged(made, "eth1")
    assert books.verdict == REFUTED
    assert books.found_share == pytest.approx(0.5, abs=0.001)


def test_what_nobody_was_seen_to_hold_is_no_evidence_against_what_was_asked_for() -> None:
    """8 MB over eth1 by a connection without a holder, 50 kB over eth0 by one of the job's."""
    made = program(lambda one: one.tcp("a", "b", 50_000, there=OTHER))
    made.tcp("a", "b", 8 * MB, over="eth1", role="", there="")
    books = judged(made, "eth1")
    assert books.verdict == UNDECIDED, books.because
    assert "nobody was seen to hold" in books.because


@pytest.mark.parametrize(("mapped", "verdict"), [(True, UNDECIDED), (False, PROVED)])
def test_memory_of_the_only_process_that_was_seen_may_be_the_others_too(mapped: bool, verdict: str) -> None:
    made = Scene("a")
    made.tcp("a", "a", MB)
    made["a"].processes = [replace(one, rank=None) for one in made["a"].processes]
    if mapped:
        made.shares()
    books = judged(made, "lo")
    assert books.verdict == verdict, books.because
    assert verdict == PROVED or "the other one may have it too" in books.because


@pytest.mark.parametrize(("count", "verdict"), [(56, UNDECIDED), (1, PROVED)])
def test_a_few_large_datagrams_may_be_hidden_beside_a_steady_connection(count: int, verdict: str) -> None:
    """One carries 65 kB, 1.3 % of 5 MB; the kernel counts what it cuts later as one."""
    made = program(lambda one: one.tcp("a", "b", 5 * MB, over="eth1"))
    made.tcp("a", "b", 200 * MB, over="eth1", role=OTHER, was_there=MB, is_open=True)
    made.has_udp()
    made["a"].protocols["Udp.OutDatagrams"] = count
    made["a"].count("eth1", "tx", count * 12_042, count * 8)
    assert judged(made, "tcp:eth1").verdict == verdict
