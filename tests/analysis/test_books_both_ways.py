"""Datagrams in both directions: what a host sent is not what it got, unless another one that is watched got it."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.analysis.book_cases import MB
from tests.analysis.programs import judged, packets, program

from fabriscope.analysis.proof.books import balance
from fabriscope.analysis.proof.expected import meant
from fabriscope.model.counters import PROVED, REFUTED, UNDECIDED, Books, Watch

Row = tuple[int, int]
"""Bytes out and in."""


def counted(rows: dict[str, Row]) -> dict[str, tuple[int, ...]]:
    return {name: (packets(out), out, 0, packets(back), back, 0) for name, (out, back) in rows.items()}


def of_one_host(rows: dict[str, Row], asked: str, tcp: int = 0) -> Books:
    """Judge a program of host a by its own host alone: datagrams by interface, and what it sent by TCP over eth1."""
    made = program()
    made["b"].processes = []
    for name, (out, back) in rows.items():
        made.udp("a", "b", out, name)
        made.udp("b", "a", back, name)
    if tcp:
        made.tcp("a", "b", tcp, 0, "eth1", there="")
    watch: Watch = replace(made.watches()["a"], own_datagrams=counted(rows), ownership="birth", other_datagrams=())
    return balance({"a": watch}, meant(asked, {"a": watch})[0])


@pytest.mark.parametrize("asked", ["eth0", "eth1"])
def test_replies_by_another_interface_are_no_echo_of_what_was_sent(asked: str) -> None:
    books = of_one_host({"eth0": (600_000, 0), "eth1": (0, 600_000)}, asked)
    assert books.verdict == REFUTED, books.because
    assert "1.20 MB" in books.because
    assert books.found_share == pytest.approx(0.5)


def test_a_little_elsewhere_is_set_against_both_directions() -> None:
    books = of_one_host({"eth0": (MB, MB), "eth1": (30_000, 0)}, "eth0")
    assert books.verdict == PROVED, books.because
    assert books.found_share == pytest.approx(2.0 / 2.03)


def test_connections_beside_them_too() -> None:
    books = of_one_host({"eth0": (MB, MB)}, "eth0", tcp=30_000)
    assert books.verdict == PROVED, books.because


@pytest.mark.parametrize("size", [100, 250])
def test_a_few_bytes_of_the_jobs_own_are_the_jobs(size: int) -> None:
    books = of_one_host({"eth0": (500, 0), "eth1": (size, 0)}, "eth0")
    assert books.verdict != PROVED, books.because


def test_what_another_watched_host_got_counts_once() -> None:
    made = program()
    made.udp("a", "b", 600_000)
    made.udp("b", "a", 600_000)
    made.has_udp()
    rows = counted({"eth0": (600_000, 600_000)})
    books = judged(made, "eth0", lambda watch: replace(watch, own_datagrams=rows, ownership="birth"))
    assert books.verdict == PROVED, books.because
    assert "1.20 MB" in books.because


@pytest.mark.parametrize(("more", "verdict"), [(0, PROVED), (200_000, UNDECIDED)])
def test_a_raw_socket_beside_them_hides_none_and_its_own_have_no_owner(more: int, verdict: str) -> None:
    """A ping before a program of UDP, in one script."""
    made = program()
    made.udp("a", "b", 3 * MB)
    made.noise(more, packets=more // 1400)
    for host in made.hosts.values():
        host.processes = [replace(one, datagrams=("raw", "udp")) for one in host.processes]
    rows = {"a": counted({"eth0": (3 * MB, 0)}), "b": counted({"eth0": (0, 3 * MB)})}
    books = judged(
        made,
        "eth0",
        lambda watch: replace(watch, own_datagrams=rows[watch.host], ownership="birth", other_datagrams=()),
    )
    assert books.verdict == verdict, books.because
