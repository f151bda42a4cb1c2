"""Where the kernel counted the job's own datagrams, they are known whoever else has sockets for them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
from tests.analysis.book_cases import MB
from tests.analysis.hand_watches import Scene
from tests.analysis.programs import judged, packets, program, sent

from fabriscope.model.counters import PROVED, REFUTED, UNDECIDED, Watch

OTHERS = ("port 5353",)


def counted(
    own: dict[str, tuple[int, int, int]], *, into: str = "b", others: tuple[str, ...] = OTHERS
) -> Callable[[Watch], Watch]:
    """Return what says of a host what the job's sockets moved there: packets, bytes, bytes of options by interface."""

    def told(watch: Watch) -> Watch:
        zeros = (0, 0, 0)
        rows = {name: (*zeros, *row) if watch.host == into else (*row, *zeros) for name, row in own.items()}
        return replace(watch, own_datagrams=rows, ownership="birth", other_datagrams=others)

    return told


def made_of(tcp: int, udp: int, over: str = "eth0", *, has_socket: bool = True) -> Scene:
    made = program(lambda one: one.tcp("a", "b", tcp, over="eth1"))
    made.udp("a", "b", udp, over)
    if has_socket:
        made.has_udp()
    return made


@pytest.mark.parametrize(
    ("udp", "asked", "verdict"),
    [(400_000, "eth1", REFUTED), (400_000, "eth0", REFUTED), (50_000, "eth1", PROVED), (5 * MB, "tcp", REFUTED)],
)
def test_they_decide_beside_others_sockets(udp: int, asked: str, verdict: str) -> None:
    made = made_of(5 * MB, udp)
    assert judged(made, asked, lambda watch: replace(watch, other_datagrams=OTHERS)).verdict in (UNDECIDED, verdict)
    books = judged(made, asked, counted({"eth0": (packets(udp), udp, 0)}))
    assert books.verdict == verdict, books.because
    assert sent(books)["udp", "eth0"] == pytest.approx(udp, rel=0.001)


def test_without_the_count_others_sockets_leave_it_open() -> None:
    books = judged(made_of(5 * MB, 400_000), "eth1", lambda watch: replace(watch, other_datagrams=OTHERS))
    assert books.verdict == UNDECIDED, books.because


def test_what_others_sent_beside_them_has_no_owner() -> None:
    made = made_of(5 * MB, 400_000, "eth1")
    own = {"eth1": (packets(100_000), 100_000, 0)}
    books = judged(made, "eth1", counted(own))
    assert books.verdict == UNDECIDED, books.because
    assert "have no known owner" in books.because
    assert sent(books)["udp", "eth1"] == pytest.approx(100_000, rel=0.001)


@pytest.mark.parametrize("options", [0, 40])
def test_options_are_no_payload(options: int) -> None:
    """19 kB are 1.9 %; 12 bytes each in packets whose options have 40."""
    made = program(lambda one: one.tcp("a", "b", MB, over="eth1"))
    made.udp("a", "b", 19_000, "eth0", each=12, options=options)
    count = -(-19_000 // 12)
    books = judged(made, "eth1", counted({"eth0": (count, 19_000, count * options)}))
    assert books.verdict == PROVED, books.because
    assert sent(books)["udp", "eth0"] == 19_000


def test_of_a_queue_that_dropped_connections_segments_they_are_not_less() -> None:
    made = program(lambda one: one.tcp("a", "b", 4 * MB, over="eth1", again=130_000))
    made["a"].count("eth1", "tx", -132_000, -93)
    made.udp("a", "b", 200_000, "eth1")
    made.has_udp()
    books = judged(made, "tcp:eth1", counted({"eth1": (packets(200_000), 200_000, 0)}))
    assert books.verdict == REFUTED, books.because
    assert sent(books)["udp", "eth1"] == 200_000


def test_what_is_refused_a_connection_is_no_datagram() -> None:
    """4,000 packets that ask for one are longer than a datagram's headers by 24 bytes each."""
    made = program()
    made.udp("a", "b", 300_000, each=100)
    for host, way, name in ((made["a"], "tx", "Tcp.ActiveOpens"), (made["b"], "rx", "Tcp.OutRsts")):
        host.count("eth0", way, 74 * 4000, 4000)
        host.protocols[name] = 4000
    made.has_udp()
    books = judged(made, "udp:eth0", counted({"eth0": (3000, 300_000, 0)}))
    assert books.verdict == PROVED, books.because


@pytest.mark.parametrize("each", [100, 1200])
def test_those_that_the_kernel_cuts_as_they_leave_leave_nothing_over(each: int) -> None:
    """A program hands the kernel 40 datagrams as one (UDP_SEGMENT)."""
    size = 40 * 50 * each
    made = program(lambda one: one.tcp("a", "b", 32_000, over="eth1"))
    made.udp("a", "b", size, each=each)
    made["a"].protocols["Udp.OutDatagrams"] = 50
    made.has_udp()
    books = judged(made, "", counted({"eth0": (2000, size, 0)}))
    assert sent(books)["udp", "eth0"] == size
    assert not books.ownerless
    assert books.closure_error == 0


def test_what_a_queue_dropped_was_carried_by_nothing() -> None:
    made = made_of(5 * MB, 400_000)
    books = judged(made, "", counted({"eth0": (packets(900_000), 900_000, 0)}))
    assert sent(books)["udp", "eth0"] == pytest.approx(400_000, rel=0.01)


@pytest.mark.parametrize(
    "spoilt",
    [
        lambda watch: replace(watch, ownership="marks"),
        lambda watch: replace(watch, spaces={"77": ("10.0.0.9",)}),
    ],
)
def test_where_some_may_lack_the_count_is_not_used(spoilt: Callable[[Watch], Watch]) -> None:
    own = counted({"eth0": (1, 1000, 0)}, others=())
    books = judged(made_of(5 * MB, 400_000), "eth1", lambda watch: spoilt(own(watch)))
    assert sent(books)["udp", "eth0"] == pytest.approx(400_000, rel=0.001)
