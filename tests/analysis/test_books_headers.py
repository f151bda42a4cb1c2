"""Headers to the byte: each interface's of IPv6, each connection's time stamps, and options that nobody counts."""

from __future__ import annotations

import pytest
from tests.analysis.book_cases import MB
from tests.analysis.hand_watches import Scene
from tests.analysis.programs import judged, program, sent, stamped

from fabriscope.model.counters import REFUTED, UNDECIDED


def counted6(made: Scene, interface: str, packets: int) -> None:
    for name, way in (("a", "tx"), ("b", "rx")):
        made[name].interfaces[interface][f"{way}_ipv6_packets"] = packets


def test_each_interface_has_its_own_headers_of_version_6() -> None:
    """3 MB of 20 B by IPv6 over eth1 and 150 kB of 20 B by IPv4 over eth0: 4.8 % elsewhere."""
    made = program()
    made.has_udp()
    made.udp("a", "b", 3 * MB, "eth1", each=20, version=6)
    made.udp("a", "b", 150_000, "eth0", each=20)
    counted6(made, "eth1", 150_000)
    counted6(made, "eth0", 0)
    books = judged(made, "eth1")
    assert books.verdict == REFUTED, books.because
    assert sent(books) == {("udp", "eth1"): 3 * MB, ("udp", "eth0"): 150_000}


def test_each_connection_has_time_stamps_or_has_none() -> None:
    """4 MB in small segments, half of them without time stamps, hide 120 kB of datagrams from a reckoning of hosts."""
    made = program()
    made.has_udp()
    for has_stamps in (True, False):
        made.tcp("a", "b", 2 * MB, over="eth1", segment=500)
        if not has_stamps:
            for name, way in (("a", "tx"), ("b", "rx")):
                made[name].count("eth1", way, -12 * 4_000, 0)
        for host in made.hosts.values():
            host.connections[-1] = stamped(host.connections[-1], has_stamps=has_stamps)
    made.udp("a", "b", 120_000, "eth1", each=60)
    books = judged(made, "tcp:eth1")
    assert books.verdict == REFUTED, books.because
    assert sent(books)["udp", "eth1"] == 120_000
    assert books.closure_error == 0


@pytest.mark.parametrize(("longer", "verdict"), [(0, REFUTED), (40, UNDECIDED)])
def test_options_that_nobody_counts_may_be_what_looks_like_datagrams(longer: int, verdict: str) -> None:
    """4,000 packets have 40 B more than is reckoned: as much as 22 kB of datagrams, and seven times that."""
    made = program(lambda one: one.tcp("a", "b", 2 * MB, over="eth1", segment=500))
    made.has_udp()
    for host, way in ((made["a"], "tx"), (made["b"], "rx")):
        host.count("eth1", way, 40 * 4_000, 0)
        host.connections = [stamped(one, has_stamps=True, longer=longer) for one in host.connections]
    made.udp("a", "b", 22_000, "eth1", each=60)
    assert judged(made, "tcp:eth1").verdict == verdict


@pytest.mark.parametrize("each", [100, 1200])
def test_what_the_kernel_cuts_when_it_leaves_is_counted_once(each: int) -> None:
    """A program hands the kernel 40 datagrams as one (UDP_SEGMENT)."""
    made = program(lambda one: one.tcp("a", "b", 4 * MB, over="eth1"))
    made.udp("a", "b", 40 * 50 * each, each=each)
    made["a"].protocols["Udp.OutDatagrams"] = 50
    made.has_udp()
    assert sent(judged(made, ""))["udp", "eth0"] == pytest.approx(40 * 50 * each, rel=0.001)
