"""What a job sent by UDP is its own where nobody else could have sent it, and nobody's elsewhere."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pytest
from tests.analysis.book_cases import MB, SECOND, TCP, scene, tcp
from tests.analysis.hand_watches import Scene

from fabriscope.analysis.proof.books import balance
from fabriscope.analysis.proof.expected import meant
from fabriscope.model.counters import OTHER, PROVED, RANK, REFUTED, UNDECIDED, Carrier, Expectation, Process, Watch

UDP = Expectation("udp", "")


def datagrams(size: int = 40 * MB, over: str = "eth0", decoy: int = MB, each: int = 1400) -> Scene:
    """Let ranks send by UDP, and a little by TCP over eth1."""
    made = scene(*((tcp(decoy, over="eth1"),) if decoy else ()))
    made.udp("a", "b", size, over, each)
    made.has_udp()
    return made


def seen(made: Scene, *others: str) -> Mapping[str, Watch]:
    """Return the watches where somebody looked who else had sockets of UDP."""
    return {name: replace(watch, other_datagrams=others) for name, watch in made.watches().items()}


def expected(text: str, watches: Mapping[str, Watch]) -> Expectation:
    return meant(text, watches)[0]


@pytest.mark.parametrize(
    ("asked", "verdict"),
    [("eth1", REFUTED), ("eth0", REFUTED), ("tcp:eth1", REFUTED), ("udp:eth0", REFUTED), ("udp", REFUTED)],
)
@pytest.mark.parametrize("each", [200, 1400, 60_000])
def test_a_decoy_of_tcp_proves_nothing_beside_the_jobs_datagrams(asked: str, verdict: str, each: int) -> None:
    watches = seen(datagrams(each=each))
    assert balance(watches, expected(asked, watches)).verdict == verdict


@pytest.mark.parametrize("asked", ["eth0", "udp", "udp:eth0", ""])
def test_datagrams_alone_are_proved_where_nobody_else_could_have_sent_them(asked: str) -> None:
    watches = seen(datagrams(decoy=0))
    books = balance(watches, expected(asked, watches))
    assert books.verdict == PROVED, books.because
    assert books.carried_by == "udp over eth0"
    assert [(one.host, one.kind, one.name) for one in books.carriers] == [("a", "udp", "eth0"), ("b", "udp", "eth0")]
    assert books.carriers[0].sent_bytes == pytest.approx(40 * MB, rel=0.01)


def test_tcp_was_asked_for_and_datagrams_went() -> None:
    watches = seen(datagrams(decoy=0))
    assert balance(watches, expected("tcp:eth0", watches)).verdict == REFUTED
    assert balance(watches, SECOND).verdict == REFUTED


@pytest.mark.parametrize("asked", [TCP, SECOND, UDP])
def test_others_who_could_have_sent_them_leave_it_open_and_are_named(asked: Expectation) -> None:
    books = balance(seen(datagrams(), "port 5353"), asked)
    assert (books.verdict, "others had such sockets too (port 5353)" in books.because) == (UNDECIDED, True)


def test_who_is_not_asked_for_datagrams_and_did_not_look_says_so() -> None:
    assert balance(datagrams().watches(), UDP).verdict == UNDECIDED


def test_frames_that_no_ip_layer_saw_are_nobodys_datagrams() -> None:
    made = datagrams(size=MB, decoy=0)
    made.noise(40 * MB, "eth0", 30_000)
    for host in made.hosts.values():
        host.protocols |= {"IpExt.OutOctets": MB + 30_000, "IpExt.InOctets": MB + 30_000}
    books = balance(seen(made), UDP)
    assert books.verdict == UNDECIDED
    assert "MB on eth0 of a" in books.because


def test_what_a_host_that_was_not_watched_sent_came_in() -> None:
    made = datagrams(decoy=0)
    watches = {"b": seen(made)["b"]}
    books = balance(watches, expected("eth0", watches))
    assert books.verdict == PROVED, books.because
    assert books.carriers[0].kind == Carrier("b", "udp", "eth0", 0, 0).kind


@pytest.mark.parametrize(("source", "target"), [("a", "b"), ("b", "a")])
def test_what_others_got_or_sent_at_the_other_end_of_the_jobs_datagrams_has_an_owner(source: str, target: str) -> None:
    made = scene()
    made.udp(source, target, 40 * MB)
    made["a"].processes = [Process(100, RANK, None, "app", datagrams=("udp",))]
    made["b"].processes = []
    watches = {"a": seen(made)["a"], "b": seen(made, "port 5201")["b"]}
    books = balance(watches, expected("eth0", watches))
    assert (books.verdict, books.carried_by) == (PROVED, "udp over eth0"), books.because
    made.noise(40 * MB, "eth0", 30_000)  # more than that has none
    watches = {"a": watches["a"], "b": seen(made, "port 5201")["b"]}
    assert balance(watches, expected("eth0", watches)).verdict == UNDECIDED


@pytest.mark.parametrize(("kind", "verdict"), [("packet", UNDECIDED), ("", PROVED)])
def test_an_interface_that_came_and_went_is_a_doubt_where_a_packet_socket_was(kind: str, verdict: str) -> None:
    watches = scene(tcp(40 * MB)).watches()
    last = watches["a"].readings[-1]
    sockets = tuple(replace(one, datagrams=(kind,) if kind else ()) for one in last.processes)
    readings = (*watches["a"].readings[:-1], replace(last, processes=sockets))
    removed = {"interfaces that came and went between two readings": "tap9 (11.2 MB)"}
    books = balance({**watches, "a": replace(watches["a"], readings=readings, problems=removed)}, TCP)
    assert books.verdict == verdict, books.because
    assert ("tap9 (11.2 MB) of a came and went" in books.because) == bool(kind)


@pytest.mark.parametrize(
    ("version", "options", "verdict"), [(4, 0, REFUTED), (6, 0, REFUTED), (4, 20, UNDECIDED), (4, 40, UNDECIDED)]
)
def test_headers_of_small_datagrams_are_no_payload(version: int, options: int, verdict: str) -> None:
    """30 MB in datagrams of 100 B beside 675 kB elsewhere are 97.8 %: with headers too short 98.2 would be told."""
    made = scene(lambda one: one.tcp("a", "b", 675_000))
    made.udp("a", "b", 30 * MB, "eth1", 100, version, options)
    made.has_udp()
    watches = seen(made)
    books = balance(watches, expected("udp:eth1", watches))
    assert books.verdict == verdict, books.because
    sent = {one.kind: one.sent_bytes for one in books.carriers if one.host == "a"}
    assert sent["udp"] == pytest.approx(30 * MB + 300_000 * options, rel=0.001)


def test_who_asks_and_who_answers_by_datagrams_are_two_ways() -> None:
    """Of the two hosts one was not seen to have a socket: what left it is what came to the other one."""
    made = scene()
    made.udp("a", "b", 1_880_000, "eth1", 470)
    made.udp("b", "a", 1_892_000, "eth1", 473)
    made.has_udp()
    made["a"].processes = [replace(one, datagrams=()) for one in made["a"].processes]
    watches = seen(made)
    books = balance(watches, expected("eth1", watches))
    assert books.verdict == PROVED, books.because
    assert "all 3.77 MB" in books.because


@pytest.mark.parametrize("mtu", [68, 576, 1500])
def test_parts_of_a_datagram_have_no_header_of_their_own(mtu: int) -> None:
    """20 MB in datagrams that IP cuts: of each the first packet has UDP's header, the others IP's alone."""
    each, room = 2000, (mtu - 20) // 8 * 8
    count, parts = 20 * MB // each, -(-(each + 8) // room)
    made = scene()
    made.has_udp()
    for name, way, key, many, whole in (
        ("a", "tx", "OutDatagrams", "FragCreates", "FragOKs"), ("b", "rx", "InDatagrams", "ReasmReqds", "ReasmOKs"),
    ):  # fmt: skip
        made[name].count("eth1", way, 20 * MB + count * (8 + parts * 34), count * parts)
        made[name].protocols |= {f"Udp.{key}": count, f"Ip.{many}": count * parts, f"Ip.{whole}": count}
    watches = seen(made)
    books = balance(watches, expected("udp:eth1", watches))
    assert books.verdict == PROVED, books.because
    assert [one.sent_bytes for one in books.carriers if one.host == "a"] == [pytest.approx(20 * MB, rel=0.001)]


@pytest.mark.parametrize(("aside", "verdict"), [(68_000, UNDECIDED), (1 * MB, REFUTED), (0, PROVED)])
def test_beside_a_steady_connection_datagrams_are_told_by_the_middle(aside: int, verdict: str) -> None:
    """Somebody's 20 MB/s, which go on at both readings, may have moved 4 MB more or less: 6 MB of the job's are known
    to these alone."""
    made = scene(lambda one: one.tcp("a", "b", 200 * MB, over="eth1", role=OTHER, was_there=MB, is_open=True))
    made.udp("a", "b", 6 * MB, "eth1")
    made.has_udp()
    if aside:
        made.tcp("a", "b", aside)
    made["a"].processes = [replace(one, rank=None) for one in made["a"].processes]
    made["b"].processes = []
    watches = seen(made)
    books = balance(watches, expected("udp:eth1", watches))
    assert books.verdict == verdict, books.because
    sent = {one.kind: one.sent_bytes for one in books.carriers if one.host == "a"}
    assert sent["udp"] == pytest.approx(6 * MB, rel=0.02)


@pytest.mark.parametrize(("strangers", "verdict"), [(0, REFUTED), (4_000, UNDECIDED)])
def test_somebodys_pings_may_be_what_looks_like_the_jobs_datagrams(strangers: int, verdict: str) -> None:
    """6 MB of another protocol stand in the rest of the interface: 480 kB elsewhere are 2.3 or 1.8 %."""
    made = scene(lambda one: one.tcp("a", "b", 480_000))
    made.udp("a", "b", 20 * MB, "eth1")
    made.has_udp()
    made["a"].processes = [replace(one, rank=None) for one in made["a"].processes]
    for name, way in (("a", "tx"), ("b", "rx")):
        made[name].count("eth1", way, strangers * 1500, strangers)
    watches = seen(made)
    assert balance(watches, expected("udp:eth1", watches)).verdict == verdict
